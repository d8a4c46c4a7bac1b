package wordcount

import (
	"context"
	"encoding/binary"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// removed is the id of words that are not in the vocabulary.
const removed = 1<<32 - 1

// A Piece is a part of the text, which hands out its tokens.
type Piece struct {
	Used     int      // tokens whose words are in the vocabulary
	LineEnds []uint32 // numbers of used tokens before each line end, without repetitions

	chunk encodedChunk
	ids   []uint32 // by the numbers of the chunk's table
}

// OnDisk reports whether a part of the text, or of its words, is on the disk.
func (r *Result) OnDisk() bool { return r.disk.written() }

// Pieces returns all pieces in order, measured, of a text that is not [Result.OnDisk]. They
// take the text's memory over: the result has none afterwards.
func (r *Result) Pieces(ctx context.Context, threads int) ([]Piece, error) {
	pieces := make([]Piece, len(r.chunks))
	for i, c := range r.chunks {
		pieces[i] = Piece{chunk: c, ids: r.ids[c.table]}
	}
	r.chunks = nil
	err := parallel.Do(ctx, threads, len(pieces), func(i int) { pieces[i].measure() })
	return pieces, err
}

// measure sets Used and LineEnds.
func (p *Piece) measure() {
	p.LineEnds = make([]uint32, 0, p.chunk.lines)
	codes := p.chunk.codes
	for i := 0; i < len(codes); i++ {
		number := uint32(codes[i])
		if number == 0 {
			if n := len(p.LineEnds); n == 0 || int(p.LineEnds[n-1]) != p.Used {
				p.LineEnds = append(p.LineEnds, uint32(p.Used))
			}
			continue
		}
		if number == escape {
			number = uint32(codes[i+1]) | uint32(codes[i+2])<<16
			i += 2
		}
		if p.ids[number] != removed {
			p.Used++
		}
	}
}

// Write writes the ids of the used tokens, Used of them, and frees the piece's memory.
func (p *Piece) Write(to []uint32) {
	codes := p.chunk.codes
	for i := 0; i < len(codes); i++ {
		number := uint32(codes[i])
		if number == escape {
			number = uint32(codes[i+1]) | uint32(codes[i+2])<<16
			i += 2
		}
		if id := p.ids[number]; id != removed { // the line end, ids[0], is removed
			to[0] = id
			to = to[1:]
		}
	}
	p.chunk.codes = nil
}

// A Chunk is a chunk of the text in the form of a file.
type Chunk struct {
	IDs      []byte   // of the used tokens, lowest byte first
	LineEnds []uint32 // numbers of used tokens before each line end, without repetitions

	codes []uint16
	ids   []uint32
	err   error
}

// Stream hands out the text in order, as ids of so many bytes, 2, 3 or 4; the chunks are made
// on several threads. A chunk is valid until each returns. An error of each ends the stream.
func (r *Result) Stream(ctx context.Context, threads, width int, each func(*Chunk) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// At most len(ring) chunks are made or wait at a time, so chunk i finds its place free.
	ring := make([]chan *Chunk, 4*threads)
	free := make(chan *Chunk, len(ring))
	for i := range ring {
		ring[i] = make(chan *Chunk, 1)
		free <- &Chunk{}
	}
	var next atomic.Int64
	made := parallel.Begin(func() error {
		return parallel.Try(ctx, threads, threads, func(_, _ int) error {
			for {
				var p *Chunk
				select {
				case p = <-free:
				case <-ctx.Done():
					return nil
				}
				i := int(next.Add(1)) - 1
				if i >= len(r.chunks) {
					return nil
				}
				p.err = r.chunk(i, width, p)
				ring[i%len(ring)] <- p
			}
		})
	})
	err := func() error {
		for i := range r.chunks {
			select {
			case p := <-ring[i%len(ring)]:
				if p.err != nil {
					return p.err
				}
				if err := each(p); err != nil {
					return err
				}
				free <- p
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}()
	stop()
	_ = made() // its only error is that of ctx
	return err
}

// chunk makes chunk i.
func (r *Result) chunk(i, width int, p *Chunk) error {
	c := &r.chunks[i]
	codes, err := r.disk.load(c, p.codes)
	if err != nil {
		return err
	}
	if c.length > 0 {
		p.codes = codes
	}
	ids, err := r.take(c.table)
	if err != nil {
		return err
	}
	p.translate(codes, ids, width)
	if r.ids == nil {
		r.disk.translation.done(c.table)
	}
	return nil
}

// translate sets the ids and line ends of codes.
func (p *Chunk) translate(codes []uint16, ids []uint32, width int) {
	p.LineEnds = p.LineEnds[:0]
	to := memory.Resize(p.ids, len(codes))
	used := 0
	for i := 0; i < len(codes); i++ {
		number := uint32(codes[i])
		if number == 0 {
			if n := len(p.LineEnds); n == 0 || int(p.LineEnds[n-1]) != used {
				p.LineEnds = append(p.LineEnds, uint32(used))
			}
			continue
		}
		if number == escape {
			number = uint32(codes[i+1]) | uint32(codes[i+2])<<16
			i += 2
		}
		id := ids[number]
		to[used] = id
		if id != removed {
			used++
		}
	}
	p.ids = to
	p.IDs = memory.Resize(p.IDs, width*used)
	switch width {
	case 2:
		for i, id := range to[:used] {
			binary.LittleEndian.PutUint16(p.IDs[2*i:], uint16(id))
		}
	case 3:
		for i, id := range to[:used] {
			p.IDs[3*i], p.IDs[3*i+1], p.IDs[3*i+2] = byte(id), byte(id>>8), byte(id>>16)
		}
	default:
		for i, id := range to[:used] {
			binary.LittleEndian.PutUint32(p.IDs[4*i:], id)
		}
	}
}

// take returns the ids by the numbers of a table.
func (r *Result) take(table int) ([]uint32, error) {
	if r.ids != nil {
		return r.ids[table], nil
	}
	return r.disk.translation.take(table)
}
