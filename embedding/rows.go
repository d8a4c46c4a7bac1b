package embedding

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Rows are words and their vectors, which need not be in memory: they may be computed when they are written.
type Rows struct {
	Words []string // V, which differ
	Dim   int      // N
	// Vector returns the vector of a word, in the buffer of N values or elsewhere. Several goroutines call it.
	Vector func(i int, buffer []float32) []float32
}

const (
	writtenTogether = 256 << 10 // bytes of rows that are written in one call, about
	madeTogether    = 32 << 10  // bytes of these that one thread makes, at least
	mostMaking      = 8         // threads; they make rows faster than the system takes them
)

// WriteBinary writes word2vec's binary format as word2vec.c does, with a line break after each vector. While some rows are
// written, others are made on so many threads. Errors: those of [Write] and of w, a word as in [NewTable], and
// [ErrNotFinite] of a value that is NaN or infinite.
func (r Rows) WriteBinary(w io.Writer, threads int) error {
	m := &binaryRows{Rows: r, threads: min(max(threads, 1), mostMaking)}
	made, err := m.next(fmt.Appendf(nil, "%d %d\n", len(r.Words), r.Dim))
	if err == nil && len(r.Words) > 0 {
		err = checkBytes(made[:min(len(made), lookedAt(r.Words[0]))], Word2VecBinary)
	}
	var spare []byte
	for err == nil && len(made) > 0 {
		var more []byte
		var failed error
		var making sync.WaitGroup
		making.Go(func() { more, failed = m.next(spare[:0]) })
		_, err = w.Write(made)
		making.Wait()
		if err == nil {
			err = failed
		}
		made, spare = more, made
	}
	return err
}

// binaryRows makes the bytes of rows, some at a time.
type binaryRows struct {
	Rows
	threads int
	done    int   // rows
	starts  []int // of the rows that are being made, in the bytes, and the end
}

// next appends rows to b; none at the end.
func (m *binaryRows) next(b []byte) ([]byte, error) {
	first, at := m.done, len(b)
	m.starts = m.starts[:0]
	for m.done < len(m.Words) && at < writtenTogether {
		m.starts = append(m.starts, at)
		at += len(m.Words[m.done]) + 4*m.Dim + 2
		m.done++
	}
	m.starts = append(m.starts, at)
	if cap(b) < at { // the next rows may take a little more
		b = append(make([]byte, 0, max(at, min(at, writtenTogether)+4*m.Dim+64)), b...)
	}
	parts := min(m.threads, max((at-len(b))/madeTogether, 1), max(m.done-first, 1))
	b, errs := b[:at], make([]error, parts)
	// Without a context to cancel there is no error.
	_ = parallel.Do(context.Background(), parts, parts, func(part int) {
		rows := m.done - first
		errs[part] = m.put(b, first, rows*part/parts, rows*(part+1)/parts)
	})
	return b, cmp.Or(errs...)
}

// put makes the rows from, from+1, ... to-1 of those that begin with row first.
func (m *binaryRows) put(b []byte, first, from, to int) error {
	buffer := make([]float32, m.Dim)
	for i := from; i < to; i++ {
		word, at := m.Words[first+i], m.starts[i]
		if err := checkText(word, first+i); err != nil {
			return err
		}
		if err := checkWord(word, first+i, Word2VecBinary); err != nil {
			return err
		}
		at += copy(b[at:], word)
		b[at] = ' '
		vector := m.Vector(first+i, buffer)
		for k, v := range vector {
			if !Finite(v) {
				return notFinite(word, first+i, k, v)
			}
		}
		copy(b[at+1:], memory.BytesOf(vector))
		b[m.starts[i+1]-1] = '\n'
	}
	return nil
}

func notFinite(word string, i, k int, v float32) error {
	return fmt.Errorf("value %d of the vector of word %d (%q) is %v, %w", k+1, i+1, word, v, ErrNotFinite)
}

// checkText returns why word i is no word.
func checkText(word string, i int) error {
	switch {
	case word == "":
		return fmt.Errorf("word %d is empty", i+1)
	case !utf8.ValidString(word):
		return fmt.Errorf("word %d (%q) is not valid UTF-8", i+1, word)
	}
	return nil
}

// checkWord returns why a file in format f cannot hold word i.
func checkWord(word string, i int, f Format) error {
	if j := strings.IndexAny(word, forbidden(f)); j >= 0 {
		return fmt.Errorf("word %d (%q) contains %q, which format %s cannot hold", i+1, word, word[j], f)
	}
	return nil
}
