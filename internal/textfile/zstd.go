package textfile

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Frames up to these sizes are decompressed in parallel. Larger ones are read as a
// stream.
const (
	mostFrame     = 8 << 20 // bytes compressed
	mostFrameText = 32 << 20
	leastWindow   = 8 << 20 // every decoder must have it
	mostWindow    = 2 << 30 // what the zstd command writes at most (--long=31)
)

// openZstd decompresses frames that say how long their text is side by side: files of
// pzstd, of the seekable format, and small ones one after the other. From the first
// other frame on the file is read as a stream.
func openZstd(in *bufio.Reader, threads int) (io.ReadCloser, error) {
	if threads < 2 {
		return Zstd(in)
	}
	most := min(uint64(memory.Left())/uint64(8*threads), mostFrameText)
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(threads), zstd.WithDecoderMaxMemory(mostFrameText),
		zstd.WithDecoderMaxWindow(mostFrameText))
	if err != nil {
		return nil, err
	}
	return &framesReader{decoder: decoder, Blocks: parallel.NewBlocks(threads, func() (func() parallel.Block, io.Reader, error) {
		frame, size, err := nextFrame(in, most)
		switch {
		case len(frame) == 0 && (err == io.EOF || err == io.ErrUnexpectedEOF):
			return nil, nil, err
		case err != nil: // what it is, the stream tells
			rest, err := Zstd(io.MultiReader(bytes.NewReader(frame), in))
			return nil, rest, err
		}
		return func() parallel.Block {
			text, err := decoder.DecodeAll(frame, make([]byte, 0, size))
			return parallel.Block{Data: text, Err: err}
		}, nil, nil
	})}, nil
}

// A framesReader closes the decoder of the frames, too.
type framesReader struct {
	*parallel.Blocks
	decoder *zstd.Decoder
}

func (r *framesReader) Close() error {
	err := r.Blocks.Close()
	r.decoder.Close()
	return err
}

// nextFrame reads a frame whose text has a known size, most bytes or fewer. With an error it returns what it
// has read.
func nextFrame(in *bufio.Reader, most uint64) (frame []byte, size uint64, err error) {
	var h zstd.Header
	for {
		head, err := in.Peek(zstd.HeaderMaxSize)
		if len(head) == 0 {
			return nil, 0, err
		}
		if err := h.Decode(head); err != nil {
			return nil, 0, err
		}
		if !h.Skippable {
			break
		}
		if _, err := io.CopyN(io.Discard, in, int64(h.HeaderSize)+int64(h.SkippableSize)); err != nil {
			return nil, 0, io.ErrUnexpectedEOF
		}
	}
	if !h.HasFCS || h.FrameContentSize > most || h.DictionaryID != 0 {
		return nil, 0, zstd.ErrDecoderSizeExceeded
	}
	// take reads more of the frame.
	take := func(n int) ([]byte, error) {
		if len(frame)+n > mostFrame {
			return nil, zstd.ErrDecoderSizeExceeded
		}
		at := len(frame)
		frame = append(frame, make([]byte, n)...)
		read, err := io.ReadFull(in, frame[at:])
		frame = frame[:at+read]
		return frame[at:], err
	}
	if _, err = take(h.HeaderSize); err != nil {
		return frame, 0, err
	}
	for last := false; !last; {
		head, err := take(3)
		if err != nil {
			return frame, 0, err
		}
		block := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		length := block >> 3
		if block>>1&3 == 1 { // one byte, repeated
			length = 1
		}
		if _, err = take(length); err != nil {
			return frame, 0, err
		}
		last = block&1 == 1
	}
	if h.HasCheckSum {
		if _, err = take(4); err != nil {
			return frame, 0, err
		}
	}
	return frame, h.FrameContentSize, nil
}

// Zstd returns the text of a zstd file.
func Zstd(r io.Reader) (io.ReadCloser, error) {
	in := bufio.NewReader(r) // r itself if it is one that is large enough
	var h zstd.Header
	head, _ := in.Peek(zstd.HeaderMaxSize)
	if h.Decode(head) != nil { // the decoder says what is wrong
		h.WindowSize = 0
	}
	window := min(max(uint64(memory.Left())/8, h.WindowSize, leastWindow), mostWindow) // of later frames, too
	done, err := memory.Room(2 * int64(min(h.WindowSize, mostWindow)))                 // the decoder keeps two
	if err != nil {
		return nil, zstd.ErrWindowSizeExceeded
	}
	done() // they grow with the text, which is watched
	d, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
