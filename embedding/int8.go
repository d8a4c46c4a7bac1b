package embedding

import (
	"io"
	"math"

	"github.com/w2vcl/w2vcl/internal/safetensors"
)

// Files of int8 have the tensors "vectors", int8 (V, N), "scales", float32 (V), and "words" as
// [Safetensors] has: row i of the vectors is scales[i] times its bytes. A row's largest value
// is 127 or -127, so that cosines are right to a thousandth.

// writeInt8 writes the tensors, of which each row is rounded to 127 steps on either side of 0.
func writeInt8(w io.Writer, t *Table) error {
	rows, wordBytes := int64(t.Len()), t.wordBytes()
	metadata := map[string]string{
		"words":      "UTF-8, joined by line breaks; word i belongs to row i of vectors",
		"vectors":    "row i times scales[i]",
		checksumsKey: checksumsOn,
	}
	tensors := []safetensors.Tensor{
		{Name: "scales", Type: safetensors.Float32, Shape: []int64{rows}, Size: 4 * rows},
		{Name: "vectors", Type: safetensors.Int8, Shape: []int64{rows, int64(t.Dim)}, Size: rows * int64(t.Dim)},
		{Name: "words", Type: safetensors.Uint8, Shape: []int64{wordBytes}, Size: wordBytes},
	}
	scales := make([]float32, t.Len())
	for i := range scales {
		scales[i] = largest(t.Vector(i)) / math.MaxInt8
	}
	return safetensors.WriteSealed(w, metadata, tensors, func(w io.Writer) error {
		if err := safetensors.WriteFloats(w, scales); err != nil {
			return err
		}
		row := make([]byte, t.Dim)
		for i, scale := range scales {
			for k, x := range t.Vector(i) {
				row[k] = byte(int8(math.RoundToEven(float64(x) / max(float64(scale), math.SmallestNonzeroFloat64))))
			}
			if _, err := w.Write(row); err != nil {
				return err
			}
		}
		return t.writeWordBytes(w)
	})
}

// largest returns the largest magnitude of some values.
func largest(values []float32) (most float32) {
	for _, x := range values {
		most = max(most, x, -x)
	}
	return most
}
