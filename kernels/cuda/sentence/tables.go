//go:build gpu

package sentence

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// SetTables sends W and C, (V, N) in row-major order.
func (t *Kernels) SetTables(words, contexts []float32) error {
	want := t.config.Vocabulary * t.config.Dim
	if len(words) != want || len(contexts) != want {
		return fmt.Errorf("tables of %d and %d values; there should be %d", len(words), len(contexts), want)
	}
	return t.device.Do(func() error {
		if err := cuda.Send(t.args.words, t.numbers.chunks(words, t.config.Dim)); err != nil {
			return err
		}
		chunks := t.numbers.chunks(contexts, t.config.Dim)
		if t.config.HalfPrecision {
			return cuda.Send(t.args.contexts, halves(chunks))
		}
		return cuda.Send(t.args.contexts, chunks)
	})
}

// Tables receives W and C into slices as SetTables takes them.
func (t *Kernels) Tables(words, contexts []float32) error {
	return t.device.Do(func() error {
		table := make([]float32, chunkValues*chunks(t.config.Dim)*t.config.Vocabulary)
		if err := cuda.Receive(table, t.args.words); err != nil {
			return err
		}
		t.numbers.rows(words, table, t.config.Dim)
		if err := t.receiveContexts(table); err != nil {
			return err
		}
		t.numbers.rows(contexts, table, t.config.Dim)
		return nil
	})
}

// receiveContexts receives C as it lies on the device.
func (t *Kernels) receiveContexts(table []float32) error {
	if !t.config.HalfPrecision {
		return cuda.Receive(table, t.args.contexts)
	}
	packed := make([]uint16, len(table))
	if err := cuda.Receive(packed, t.args.contexts); err != nil {
		return err
	}
	floats(table, packed)
	return nil
}
