package embedding

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// loadWords reads the words from the file beside a matrix.
func loadWords(ctx context.Context, path string) ([]string, error) {
	in, closeFile, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("the words are missing: %w", err)
	}
	defer closeFile()
	words, err := readWords(in.Reader)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return words, nil
}

// readWords reads one word a line. Spaces belong to the word.
func readWords(r *bufio.Reader) ([]string, error) {
	var words []string
	for {
		line, err := readLine(r, longestWord)
		if err == io.EOF {
			return words, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(words)+1, err)
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) == 0 {
			return nil, fmt.Errorf("line %d is empty: every line must hold a word", len(words)+1)
		}
		words = append(words, textfile.ValidUTF8(string(line)))
	}
}

// writeWords writes one word a line.
func writeWords(w io.Writer, words []string) error {
	for _, word := range words {
		if _, err := io.WriteString(w, word+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// newTableWith is NewTable for formats that keep words and vectors apart: their
// numbers may differ.
func newTableWith(words []string, dim int, vectors []float32) (*Table, error) {
	if rows := len(vectors) / dim; rows != len(words) {
		return nil, fmt.Errorf("there are %d vectors, but %d words", rows, len(words))
	}
	return NewTable(words, dim, vectors)
}
