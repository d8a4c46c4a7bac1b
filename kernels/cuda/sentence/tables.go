//go:build gpu

package sentence

import (
	"errors"
	"fmt"
)

// SetTables sends W and C, (V, N) in row-major order.
func (t *Kernels) SetTables(words, contexts []float32) error {
	want := t.options.Vocabulary * t.options.Dim
	if len(words) != want || len(contexts) != want {
		return fmt.Errorf("tables of %d and %d values; there should be %d", len(words), len(contexts), want)
	}
	return t.device.Do(func() error {
		return errors.Join(
			t.numbers.send(t.args.words, words, t.options.Dim, false),
			t.numbers.send(t.args.contexts, contexts, t.options.Dim, t.options.HalfPrecision))
	})
}

// Tables receives W and C into slices as SetTables takes them.
func (t *Kernels) Tables(words, contexts []float32) error {
	return t.device.Do(func() error {
		return errors.Join(
			t.numbers.receive(words, t.args.words, t.options.Dim, false),
			t.numbers.receive(contexts, t.args.contexts, t.options.Dim, t.options.HalfPrecision))
	})
}
