package embedding

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A safetensors file is a header's length, the header in JSON, and the tensors'
// bytes. Ours holds "vectors", float32 (V, N), and "words", the words in UTF-8
// joined by line breaks, as bytes: a tensor, because metadata do not come back
// from the library's load_file. In Python:
//
//	tensors = safetensors.numpy.load_file(path)
//	words = tensors["words"].tobytes().decode().split("\n")

// maxSafetensorsHeader is the library's own limit.
const maxSafetensorsHeader = 100_000_000

type tensor struct {
	Type    string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"` // first byte and the one after the last, counted from the header's end

	name string
}

func (t tensor) size() int64 { return t.Offsets[1] - t.Offsets[0] }

// readSafetensors reads the tensors "vectors" and "words" and skips others.
func readSafetensors(in input) (*Table, error) {
	header, err := readSafetensorsHeader(in)
	if err != nil {
		return nil, fmt.Errorf("safetensors header: %w", err)
	}
	tensors, err := parseSafetensorsHeader(header)
	if err != nil {
		return nil, fmt.Errorf("safetensors header: %w", err)
	}
	var dim int64
	var vectors []float32
	var words bytes.Buffer
	for _, t := range tensors {
		switch t.name {
		case "vectors":
			dim = t.Shape[1]
			vectors = make([]float32, 0, in.likely(t.Shape[0], dim, 4))
			vectors, err = appendFloats(vectors, in.Reader, t.size()/4, 4)
		case "words":
			_, err = io.CopyN(&words, in, t.size())
		default:
			_, err = io.CopyN(io.Discard, in, t.size())
		}
		if err == io.EOF {
			err = errors.New("the file is cut")
		}
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", t.name, err)
		}
	}
	if err := in.end(); err != nil {
		return nil, fmt.Errorf("after the last tensor: %w", err)
	}
	names := strings.Split(words.String(), "\n")
	for i, name := range names {
		names[i] = validWord([]byte(name))
	}
	return newTableOf(names, int(dim), vectors)
}

// readSafetensorsHeader reads the length and as many bytes.
func readSafetensorsHeader(in input) ([]byte, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(in, prefix[:]); err != nil {
		return nil, errors.New("the file is cut")
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxSafetensorsHeader {
		return nil, fmt.Errorf("its length of %d bytes is more than the format allows", length)
	}
	var header bytes.Buffer // grows with what is there
	if _, err := io.CopyN(&header, in, int64(length)); err != nil {
		return nil, fmt.Errorf("the file is cut after %d of its %d bytes", header.Len(), length)
	}
	return header.Bytes(), nil
}

// parseSafetensorsHeader returns the tensors in the order of their bytes,
// which fill the file without a gap, and checks vectors and words.
func parseSafetensorsHeader(header []byte) ([]tensor, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, err
	}
	delete(entries, "__metadata__")
	var tensors []tensor
	for name, entry := range entries {
		t := tensor{name: name}
		if err := json.Unmarshal(entry, &t); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		tensors = append(tensors, t)
	}
	for _, name := range []string{"vectors", "words"} {
		if _, ok := entries[name]; !ok {
			return nil, fmt.Errorf("there is no tensor %q; vectors and words (joined by line breaks, as bytes) are needed", name)
		}
	}
	slices.SortFunc(tensors, func(a, b tensor) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	position := int64(0)
	for _, t := range tensors {
		if t.Offsets[0] != position {
			return nil, fmt.Errorf("tensor %q begins at byte %d instead of %d", t.name, t.Offsets[0], position)
		}
		position = t.Offsets[1]
	}
	return tensors, nil
}

// check checks the bounds of any tensor, and type and shape of ours.
func (t tensor) check() error {
	if t.Offsets[0] < 0 || t.size() < 0 {
		return fmt.Errorf("bytes %d to %d are not a range", t.Offsets[0], t.Offsets[1])
	}
	switch t.name {
	case "vectors":
		if t.Type != "F32" || len(t.Shape) != 2 {
			return fmt.Errorf("type %s with %d dimensions is not read; save a float32 matrix of words by values", t.Type, len(t.Shape))
		}
		rows, dim := t.Shape[0], t.Shape[1]
		if err := checkDim(dim); err != nil {
			return err
		}
		if rows < 1 || t.size()%(4*dim) != 0 || t.size()/(4*dim) != rows {
			return fmt.Errorf("%d bytes are not %d by %d float32", t.size(), rows, dim)
		}
	case "words":
		if t.Type != "U8" || len(t.Shape) != 1 || t.Shape[0] != t.size() {
			return fmt.Errorf("type %s, shape %v is not read; save the words as bytes (uint8), joined by line breaks", t.Type, t.Shape)
		}
	}
	return nil
}

// writeSafetensors writes vectors, then words.
func writeSafetensors(w io.Writer, t *Table) error {
	vectorBytes := 4 * int64(len(t.Vectors))
	wordBytes := int64(len(t.Words) - 1) // the line breaks
	for _, word := range t.Words {
		wordBytes += int64(len(word))
	}
	header, err := json.Marshal(map[string]any{
		"__metadata__": map[string]string{"words": "UTF-8, joined by line breaks; word i belongs to row i of vectors"},
		"vectors":      tensor{Type: "F32", Shape: []int64{int64(t.Len()), int64(t.Dim)}, Offsets: [2]int64{0, vectorBytes}},
		"words":        tensor{Type: "U8", Shape: []int64{wordBytes}, Offsets: [2]int64{vectorBytes, vectorBytes + wordBytes}},
	})
	if err != nil {
		return err
	}
	for len(header)%8 != 0 { // aligns the data
		header = append(header, ' ')
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	if err := writeFloats(w, t.Vectors); err != nil {
		return err
	}
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
