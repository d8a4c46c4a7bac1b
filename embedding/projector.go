package embedding

import (
	"fmt"
	"io"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// readProjector reads the files of TensorBoard's projector: a line of values for
// each word, separated by tabs. words returns the lines of the metadata.
func readProjector(in input, words func() ([]string, error)) (*Table, error) {
	var vectors []float32
	dim, rows := 0, 0
	for {
		line, err := readLine(in.Reader, longestLine(dim))
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", rows+1, err)
		}
		start := len(vectors)
		if vectors, err = memory.Grow(vectors, min(dim, len(line)/2+1)); err != nil {
			return nil, err
		}
		if vectors, err = appendValues(vectors, trimLineEnd(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", rows+1, err)
		}
		if rows == 0 {
			dim = len(vectors)
			if err := checkDim(int64(dim)); err != nil {
				return nil, fmt.Errorf("line 1: %w", err)
			}
			if vectors, err = in.growByLine(line, vectors); err != nil {
				return nil, err
			}
		}
		rows++
		if found := len(vectors) - start; found != dim {
			return nil, fmt.Errorf("line %d: %d values, but the first line has %d", rows, found, dim)
		}
	}
	metadata, err := words()
	if err != nil {
		return nil, err
	}
	return newTableWith(firstColumn(metadata), dim, vectors)
}

// firstColumn returns the words in lines of metadata. Metadata with several columns
// begin with a line of titles; a single column has none.
func firstColumn(lines []string) []string {
	if len(lines) == 0 || !strings.Contains(lines[0], "\t") {
		return lines
	}
	words := make([]string, len(lines)-1)
	for i, line := range lines[1:] {
		words[i], _, _ = strings.Cut(line, "\t")
	}
	return words
}

// writeProjector writes the values. Save writes the words to the file beside them.
func writeProjector(w io.Writer, t *Table) error {
	var line []byte
	for i := range t.Words {
		line = appendRow(line[:0], t.Vector(i), '\t', false)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
