// Package safetensors reads and writes safetensors files. A file holds the length
// of a header, the header in JSON, and the bytes of the tensors one after the
// other, without a gap. Callers give the tensors their meaning. Start at
// [WriteSealed] and [Open].
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Types of tensors.
const (
	Float32 = "F32"
	Uint8   = "U8"
)

// maxHeader is the longest header that is read, in bytes: room for 100,000 tensors.
// The safetensors library reads six times as many, but the header is in memory as a
// whole, and a damaged length must not take all of that.
const maxHeader = 16 << 20

// metadataKey is the key of the header's only entry that is not a tensor.
const metadataKey = "__metadata__"

// A Tensor describes one tensor of a file.
type Tensor struct {
	Name  string
	Type  string // such as Float32
	Shape []int64
	Size  int64 // bytes
}

// An entry is a tensor in the JSON of the header.
type entry struct {
	Type    string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"` // first byte and end, counted from the end of the header
}

func encodeHeader(metadata map[string]string, tensors []Tensor) ([]byte, error) {
	entries := map[string]any{metadataKey: metadata}
	end := int64(0)
	for _, t := range tensors {
		entries[t.Name] = entry{t.Type, t.Shape, [2]int64{end, end + t.Size}}
		end += t.Size
	}
	header, err := json.Marshal(entries)
	for len(header)%8 != 0 { // aligns the data
		header = append(header, ' ')
	}
	return header, err
}

// writeHeader writes the length of the header, then its JSON.
func writeHeader(w io.Writer, header []byte) error {
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err != nil {
		return err
	}
	_, err := w.Write(header)
	return err
}

// decodeHeader returns what the JSON of a header holds, the tensors in the order of
// their bytes.
func decodeHeader(header []byte) (metadata map[string]string, tensors []Tensor, err error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(header, &entries); err != nil {
		return nil, nil, err
	}
	if text, ok := entries[metadataKey]; ok {
		if err := json.Unmarshal(text, &metadata); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", metadataKey, err)
		}
		delete(entries, metadataKey)
	}
	tensors, err = inOrder(entries)
	return metadata, tensors, err
}

// readHeader reads the length of the header, then its JSON.
func readHeader(r io.Reader) ([]byte, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, errors.New("the file is cut")
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes is more than the format allows", length)
	}
	var header bytes.Buffer // grows with the bytes of the file, not with a damaged length
	if _, err := io.CopyN(&header, r, int64(length)); err != nil {
		return nil, fmt.Errorf("the file is cut after %d of its %d bytes", header.Len(), length)
	}
	return header.Bytes(), nil
}

// widths are the bytes of a value of the types that exist.
var widths = map[string]int64{
	"BOOL": 1, Uint8: 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
	"I32": 4, "U32": 4, Float32: 4, "F64": 8, "I64": 8, "U64": 8,
}

// checkSize returns an error unless type and shape make so many bytes. Types that are
// younger than this program may have any.
func (e *entry) checkSize(size int64) error {
	want, known := widths[e.Type]
	for _, n := range e.Shape {
		if n < 0 || n > 0 && want > math.MaxInt64/n {
			return fmt.Errorf("its shape %v is not possible", e.Shape)
		}
		want *= n
	}
	if known && want != size {
		return fmt.Errorf("it has %d bytes, but shape %v of type %s takes %d", size, e.Shape, e.Type, want)
	}
	return nil
}

// inOrder returns the tensors in the order of their bytes. Between their bytes
// there must be no gap.
func inOrder(entries map[string]json.RawMessage) ([]Tensor, error) {
	type placed struct {
		Tensor
		first, end int64
	}
	var all []placed
	for name, text := range entries {
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if e.Type == "" {
			return nil, fmt.Errorf("tensor %q has no type", name)
		}
		first, end := e.Offsets[0], e.Offsets[1]
		if first < 0 || end < first {
			return nil, fmt.Errorf("tensor %q: bytes %d to %d are not a range", name, first, end)
		}
		if err := e.checkSize(end - first); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		all = append(all, placed{Tensor{name, e.Type, e.Shape, end - first}, first, end})
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.end, b.end), cmp.Compare(a.Name, b.Name))
	})
	position := int64(0)
	tensors := make([]Tensor, len(all))
	for i, t := range all {
		if t.first != position {
			return nil, fmt.Errorf("tensor %q begins at byte %d instead of %d", t.Name, t.first, position)
		}
		position = t.end
		tensors[i] = t.Tensor
	}
	return tensors, nil
}

// WriteFloats writes all values as little-endian float32.
func WriteFloats(w io.Writer, values []float32) error {
	_, err := w.Write(memory.BytesOf(values))
	return err
}

// ReadFloats fills values with the next little-endian float32 of r.
func ReadFloats(r io.Reader, values []float32) error {
	_, err := io.ReadFull(r, memory.BytesOf(values))
	return err
}

// Finite reports whether no value is NaN or infinite.
func Finite(values []float32) bool {
	var other atomic.Bool
	parallel.Ranges(runtime.GOMAXPROCS(0), len(values), 1<<18, func(first, end int) {
		for _, v := range values[first:end] {
			if v-v != 0 {
				other.Store(true)
				return
			}
		}
	})
	return !other.Load()
}
