package embedding

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/safetensors"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// Our safetensors files hold two tensors: "vectors", float32 (V, N), and "words",
// the bytes of the words in UTF-8, joined by line breaks. The words are not in the
// metadata, because the library's load_file does not return metadata. In Python:
//
//	tensors = safetensors.numpy.load_file(path)
//	words = tensors["words"].tobytes().decode().split("\n")

// readSafetensors reads the tensors "vectors" and "words". It skips all others.
func readSafetensors(in input) (*Table, error) {
	content, err := safetensors.Open(in)
	if err == nil {
		err = checkTensors(content)
	}
	if err != nil {
		return nil, fmt.Errorf("safetensors header: %w", err)
	}
	var dim int64
	var vectors []float32
	var words bytes.Buffer
	size := int64(0)
	for _, t := range content.Tensors {
		size += t.Size
	}
	data := newInput(io.LimitReader(content, size), 0)
	data.most = in.most
	for _, t := range content.Tensors {
		switch t.Name {
		case "vectors":
			dim = t.Shape[1]
			if vectors, err = memory.Grow(vectors, int(data.capacity(t.Shape[0], dim, 4))); err == nil {
				vectors, err = appendFloats(vectors, data.Reader, t.Size/4, 4)
			}
		case "words":
			_, err = io.CopyN(&words, data, t.Size)
		default:
			_, err = io.CopyN(io.Discard, data, t.Size)
		}
		if err == io.EOF {
			err = errors.New("the file is cut")
		}
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
	}
	if err := content.Finish(); err != nil {
		return nil, err
	}
	names := strings.Split(words.String(), "\n")
	for i, name := range names {
		names[i] = textfile.ValidUTF8(name)
	}
	return newTableWith(names, int(dim), vectors)
}

// The entry of the metadata that says that a file was written with checksums.
// Libraries write files without.
const (
	checksumsKey = "checksums"
	checksumsOn  = "xxh64 of the header, with its own digits as zeros, and of all tensors"
)

// checkTensors checks that both tensors exist and have the right type and shape.
func checkTensors(content *safetensors.File) error {
	if _, promised := content.Metadata[checksumsKey]; promised && !content.Sealed {
		return fmt.Errorf("%w: its checksums are missing", safetensors.ErrDamaged)
	}
	checks := map[string]func(safetensors.Tensor) error{"vectors": checkVectors, "words": checkWordBytes}
	for _, t := range content.Tensors {
		if check, ok := checks[t.Name]; ok {
			if err := check(t); err != nil {
				return fmt.Errorf("tensor %q: %w", t.Name, err)
			}
			delete(checks, t.Name)
		}
	}
	for _, name := range []string{"vectors", "words"} {
		if _, missing := checks[name]; missing {
			return fmt.Errorf("there is no tensor %q; save the tensors vectors and words (bytes, joined by line breaks)", name)
		}
	}
	return nil
}

func checkVectors(t safetensors.Tensor) error {
	if t.Type != safetensors.Float32 || len(t.Shape) != 2 {
		return fmt.Errorf("type %s with %d dimensions cannot be read; save a float32 matrix, words by values", t.Type, len(t.Shape))
	}
	rows, dim := t.Shape[0], t.Shape[1]
	if err := checkDim(dim); err != nil {
		return err
	}
	if rows < 1 || t.Size%(4*dim) != 0 || t.Size/(4*dim) != rows {
		return fmt.Errorf("%d bytes do not hold %d by %d float32 values", t.Size, rows, dim)
	}
	return nil
}

func checkWordBytes(t safetensors.Tensor) error {
	if t.Type != safetensors.Uint8 || len(t.Shape) != 1 || t.Shape[0] != t.Size {
		return fmt.Errorf("type %s, shape %v cannot be read; save the words as bytes (uint8), joined by line breaks", t.Type, t.Shape)
	}
	return nil
}

// writeSafetensors writes the tensor "vectors", then "words".
func writeSafetensors(w io.Writer, t *Table) error {
	wordBytes := t.wordBytes()
	metadata := map[string]string{
		"words":      "UTF-8, joined by line breaks; word i belongs to row i of vectors",
		checksumsKey: checksumsOn,
	}
	tensors := []safetensors.Tensor{
		{Name: "vectors", Type: safetensors.Float32, Shape: []int64{int64(t.Len()), int64(t.Dim)}, Size: 4 * int64(len(t.Vectors))},
		{Name: "words", Type: safetensors.Uint8, Shape: []int64{wordBytes}, Size: wordBytes},
	}
	return safetensors.WriteSealed(w, metadata, tensors, t.writeTensors)
}

// writeTensors writes the bytes of both tensors.
func (t *Table) writeTensors(w io.Writer) error {
	if err := safetensors.WriteFloats(w, t.Vectors); err != nil {
		return err
	}
	return t.writeWordBytes(w)
}

// wordBytes is the size of the tensor "words".
func (t *Table) wordBytes() int64 {
	size := int64(len(t.Words) - 1) // the line breaks
	for _, word := range t.Words {
		size += int64(len(word))
	}
	return size
}

func (t *Table) writeWordBytes(w io.Writer) error {
	for i, word := range t.Words {
		if i > 0 {
			word = "\n" + word
		}
		if _, err := io.WriteString(w, word); err != nil {
			return err
		}
	}
	return nil
}
