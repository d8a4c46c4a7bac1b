package wordcount

import (
	"cmp"
	"context"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// Lines calls each with the tokens of every line, in order. A line of more than most tokens
// comes in pieces; end is true with the last one. Lines without tokens come, too. The tokens
// are valid until each returns; their strings stay. Memory grows with the number of different
// words, not with the text. MinCount and Threads have no meaning here.
//
// An error of each ends the reading and is returned.
func Lines(ctx context.Context, in *Input, o Options, most int, each func(tokens []string, end bool) error) (Stats, error) {
	o.ChunkSize, o.MaxToken = cmp.Or(o.ChunkSize, defaultChunkSize), cmp.Or(o.MaxToken, MaxTokenBytes)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the cutter then ends, also if it waits for a chunk to be taken
	chunks, spare := make(chan chunk, 2), make(chan []byte, 4)
	cut := &cutter{
		sources: textfile.With(in.sources, o.Field, o.Threads), tokenizer: o.Tokenizer,
		chunkSize: o.ChunkSize, maxToken: o.MaxToken, progress: o.Progress,
		chunks: chunks, spare: spare,
	}
	finished := make(chan error, 1)
	go func() { finished <- cut.run(ctx) }()

	s := lineReader{most: most, each: each}
	s.encoder = *newEncoder(o, nil)
	s.encoder.table.listed, s.encoder.table.words = true, []string{""}
	for {
		select {
		case <-ctx.Done():
			return Stats{}, ctx.Err()
		case c, more := <-chunks:
			if !more {
				err := <-finished
				stats := statsOf(cut, []*encoder{&s.encoder})
				stats.Lines = s.lines
				return stats, err
			}
			if err := s.take(c); err != nil {
				return Stats{}, err
			}
			select {
			case spare <- c.text:
			default:
			}
		}
	}
}

// A lineReader hands out the lines of chunks.
type lineReader struct {
	encoder encoder
	tokens  []string // of the line, or its piece, so far
	most    int
	lines   int64 // so far
	each    func(tokens []string, end bool) error
}

// take hands out the lines that end in a chunk.
func (s *lineReader) take(c chunk) error {
	s.encoder.encode(c)
	codes := s.encoder.chunks[0].codes
	s.lines += int64(s.encoder.chunks[0].lines)
	s.encoder.chunks = s.encoder.chunks[:0]
	for i := 0; i < len(codes); i++ {
		id := uint32(codes[i])
		if id == escape {
			id = uint32(codes[i+1]) | uint32(codes[i+2])<<16
			i += 2
		}
		if id != 0 && len(s.tokens) < s.most {
			s.tokens = append(s.tokens, s.encoder.table.words[id])
			continue
		}
		if err := s.each(s.tokens, id == 0); err != nil {
			return err
		}
		if s.tokens = s.tokens[:0]; id != 0 {
			s.tokens = append(s.tokens, s.encoder.table.words[id])
		}
	}
	return nil
}
