package corpus

import (
	"context"
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// ReadLines reads the text at path, as Read does, and calls each with the tokens of
// every line, in order. A line of more than MaxSentence tokens comes in pieces; end
// is true with the last one. Lines without tokens come, too. The tokens are valid
// until each returns; their strings stay. Memory grows with the number of different
// words, not with the text. MinCount and Threads have no meaning here.
//
// An error of each ends the reading and is returned.
func ReadLines(ctx context.Context, path string, o Options, each func(tokens []string, end bool) error) (Stats, error) {
	sources, err := textfile.Find(path)
	if err != nil {
		return Stats{}, fmt.Errorf("corpus: %w", err)
	}
	return readLines(ctx, sources, o, each)
}

// ReadLinesFrom is ReadLines of r; the name stands for r in messages.
func ReadLinesFrom(ctx context.Context, r io.Reader, name string, o Options, each func(tokens []string, end bool) error) (Stats, error) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
	return readLines(ctx, []textfile.Source{{Name: name, Size: -1, Open: open}}, o, each)
}

func readLines(ctx context.Context, sources []textfile.Source, o Options, each func(tokens []string, end bool) error) (Stats, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Stats{}, fmt.Errorf("corpus: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the cutter then ends, also if it waits for a chunk to be taken
	chunks, spare := make(chan chunk, 2), make(chan []byte, 4)
	sources = textfile.With(sources, o.Field, o.Threads)
	cut := &cutter{
		sources: sources, tokenizer: o.Tokenizer, chunkSize: o.chunkSize, maxToken: o.maxToken, progress: o.Progress,
		chunks: chunks, spare: spare,
	}
	finished := make(chan error, 1)
	go func() { finished <- cut.run(ctx) }()

	s := lineReader{most: o.MaxSentence, each: each}
	s.encoder = encoder{tokenizer: o.Tokenizer, lowercase: o.Lowercase, maxToken: o.maxToken, table: newTable(1 << 9)}
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
