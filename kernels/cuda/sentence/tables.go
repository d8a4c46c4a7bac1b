//go:build gpu

package sentence

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// SetTables sends W and C, (V, N) in row-major order. A C of zeros, with which training begins, is not sent: that would take as long
// as some hundred million pairs.
func (t *Kernels) SetTables(words, contexts []float32) error {
	want := t.options.Vocabulary * t.options.Dim
	if len(words) != want || len(contexts) != want {
		return fmt.Errorf("tables of %d and %d values; there should be %d", len(words), len(contexts), want)
	}
	return t.device.Do(func() error {
		return errors.Join(
			t.numbers.send(t.args.words, words, t.options.Dim, t.options.HalfWords),
			t.sendContexts(contexts))
	})
}

func (t *Kernels) sendContexts(contexts []float32) error {
	c := &t.options
	if allZero(contexts) {
		return cu.MemsetD8(t.args.contexts, 0, int64(valueBytes(c.HalfPrecision)*t.numbers.values(c.Dim)))
	}
	return t.numbers.send(t.args.contexts, contexts, c.Dim, c.HalfPrecision)
}

// allZero reports whether all values are 0. It looks at others only until one is not.
func allZero(values []float32) bool {
	var other atomic.Bool
	cuda.Parallel(len(values), func(first, end int) {
		for part := range slices.Chunk(values[first:end], 1<<12) {
			if other.Load() {
				return
			}
			for _, x := range part {
				if math.Float32bits(x) != 0 {
					other.Store(true)
					return
				}
			}
		}
	})
	return !other.Load()
}

// Tables receives W and C into slices as SetTables takes them.
func (t *Kernels) Tables(words, contexts []float32) error {
	return t.device.Do(func() error {
		return errors.Join(
			t.numbers.receive(words, t.args.words, t.options.Dim, t.options.HalfWords),
			t.numbers.receive(contexts, t.args.contexts, t.options.Dim, t.options.HalfPrecision))
	})
}
