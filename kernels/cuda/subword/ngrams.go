//go:build gpu

package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"gorgonia.org/cu"
)

type ngrams struct {
	rows      *cl.PartRows
	table     matrix // a row a part
	ofRows    narrowMatrix
	gradients cl.Gradients
	coming    cu.DevicePtr
}

// NewParts is New of rows that are means of parts: of the options' composition.
func NewParts(d *cuda.Device, c cl.Options) (*Kernels, error) {
	x := c.Composition
	if x.Words() != c.Rows || x.Dim != c.Dim {
		return nil, fmt.Errorf("a composition of %d words of dimension %d; there are %d of dimension %d", x.Words(), x.Dim, c.Rows, c.Dim)
	}
	return newKernels(d, c, float64(x.Rate), x.Own != nil, func(a *allocator) (encoder, error) {
		table := a.matrix("n-grams", x.PartCount(), c.Dim, stride(c.Dim))
		rows := cl.NewPartRows(&a.Allocator, x, a.optimizer, table.table(a.optimizer))
		return &ngrams{rows: rows, table: table, ofRows: a.narrow("gradient of vectors", c.Rows, c.Dim)}, a.Err
	})
}

func (x *ngrams) matrices() map[string]matrix { return map[string]matrix{"parts": x.table} }

func (x *ngrams) target() (gradient narrowMatrix, weights cu.DevicePtr) {
	return x.ofRows, x.rows.Weights()
}

func (x *ngrams) skips(trained, coming cu.DevicePtr) bool {
	x.gradients, x.coming = cl.Gradients{Rows: x.ofRows, Weights: x.rows.Weights(), Trained: trained}, coming
	return true
}

func (x *ngrams) sent() error { return x.rows.Narrow() }

func (x *ngrams) prepare(rows, words cu.DevicePtr, m cl.StepMemory) error {
	met := x.coming
	if m.Met.Slots == 0 {
		met = 0
	}
	return x.rows.Compose(rows, words, met, m.Parameters)
}

// All that follows the gradient, and prepare, run beside step 2 as they are.
func (x *ngrams) compose(_, _ cu.DevicePtr) error { return nil }

func (x *ngrams) gradient(cu.DevicePtr) error { return nil }

func (x *ngrams) beside() int { return 0 }

func (x *ngrams) update(step cu.DevicePtr) error {
	return x.rows.Train(x.gradients, step, false)
}
