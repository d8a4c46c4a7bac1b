package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// A generatedText has words by the law of Zipf and Mandelbrot, p(rank) ~ (rank+3)^-1.45,
// without an end: its vocabulary grows as in the 100 MB of English Wikipedia that the
// benchmarks use, to about 2.4·n^0.7 words in n. A line has 1 to 39 words.
type generatedText struct {
	bytes int64
	seed  uint64
}

// The exponent and the shift of the law.
const (
	textExponent = 1.45
	textShift    = 3
)

// linesAtOnce lines are made by a thread at a time.
const linesAtOnce = 4096

// write writes the text: whole lines, so many bytes or a line more. The bytes do not depend on
// the number of threads.
func (g generatedText) write(ctx context.Context, w io.Writer, threads int, progress func(done, total int64)) error {
	number := uint64(0) // of the next token
	blocks := parallel.NewBlocks(threads, func() (func() parallel.Block, io.Reader, error) {
		first := number
		for range linesAtOnce {
			number += g.length(number)
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		return func() parallel.Block { return parallel.Block{Data: g.lines(first, linesAtOnce)} }, nil, nil
	})
	defer func() { _ = blocks.Close() }() // it was only read
	lines, out := bufio.NewReaderSize(blocks, 1<<16), bufio.NewWriterSize(w, 1<<20)
	written := int64(0)
	for i := 0; written < g.bytes; i++ {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("write the text: %w", err)
		}
		written += int64(len(line))
		if i%linesAtOnce == 0 && progress != nil {
			progress(written, g.bytes)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	return nil
}

// length returns the number of words of the line that begins with a token.
func (g generatedText) length(token uint64) uint64 {
	return 1 + uint64(corpus.Below(corpus.Philox(g.seed, corpus.StreamGenerated.Sub(1), token)[0], 39))
}

// lines returns so many lines from a token on.
func (g generatedText) lines(token uint64, count int) (text []byte) {
	for range count {
		for end := token + g.length(token); token < end; token++ {
			text = append(appendName(text, g.word(token)), ' ')
		}
		text[len(text)-1] = '\n'
	}
	return text
}

// word returns the number of a token's word, from 0.
func (g generatedText) word(token uint64) uint64 {
	bits := corpus.Philox(g.seed, corpus.StreamGenerated, token)
	u := (float64(uint64(bits[1])<<32|uint64(bits[0])) + 1) / (1 << 63) / 2 // above 0, to 1
	rank := textShift * (math.Pow(u, -1/(textExponent-1)) - 1)
	return uint64(math.Mod(rank, 1<<48))
}

// appendName appends the name of a word: two syllables of two letters or more, digits to the
// base 100, so that frequent words are short, and an n behind every other name.
func appendName(to []byte, word uint64) []byte {
	const consonants, vowels = "bcdfghjklmnpqrstvwxz", "aeiou"
	odd := word%2 == 1
	word = word/2 + 100
	for first := true; first || word > 0; first = false {
		if !first {
			word--
		}
		to = append(to, consonants[word%20], vowels[word/20%5])
		word /= 100
	}
	if odd {
		to = append(to, 'n')
	}
	return to
}
