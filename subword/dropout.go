package subword

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Draw is what the features that Dropout leaves out follow from: training sets it before each step. Step 0 leaves none
// out.
type Draw struct {
	Seed uint64
	Step int
}

// Dropout adds to a graph features (B, D) of which a share, the rate, is zero in each step of training and the others
// are larger by 1/(1-rate) (Srivastava et al. 2014). Which, follows from the draw and their place alone.
func Dropout(features *gorgonia.Node, rate float64, draw *Draw, threads int) (*gorgonia.Node, error) {
	shape := features.Shape()
	if shape.Dims() != 2 || !(rate >= 0 && rate < 1) {
		return nil, fmt.Errorf("dropout of %v of features %v: the rate must be at least 0 and below 1", rate, shape)
	}
	d := &dropout{rows: shape[0], d: shape[1], draw: draw, team: team.New(threads), result: newMatrix(shape[0], shape[1])}
	d.least, d.scale = uint32(math.Round(rate*(1<<32-1))), float32(1/(1-rate))
	for range d.team.Threads() {
		d.bits = append(d.bits, make([]uint32, (d.d+3)/4*4))
	}
	return operation.Apply("dropout", gorgonia.Nodes{features}, d.rows, d.d, d.forward, d.backward)
}

type dropout struct {
	rows, d          int // B, D
	draw             *Draw
	least            uint32 // random bits below it leave a feature out
	scale            float32
	team             *team.Team
	bits             [][]uint32 // one a thread
	result, gradient *tensor.Dense
}

func (d *dropout) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	return d.result, d.apply(d.result.Float32s(), in[0].Float32s())
}

func (d *dropout) backward(_ []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	if d.gradient == nil {
		d.gradient = newMatrix(d.rows, d.d)
	}
	return []*tensor.Dense{d.gradient}, d.apply(d.gradient.Float32s(), gradient.Float32s())
}

// apply leaves out values of rows.
func (d *dropout) apply(dst, src []float32) error {
	stream := uint64(corpus.StreamDropout.Sub(uint32(d.draw.Step)))
	return eachBlock(d.team, d.rows, func(worker, first, last int) {
		if d.draw.Step == 0 {
			copy(dst[first*d.d:last*d.d], src[first*d.d:last*d.d])
			return
		}
		bits := d.bits[worker]
		for i := first; i < last; i++ {
			simd.Philox(bits, d.draw.Seed, stream, uint64(i)*uint64(len(bits)/4))
			to := dst[i*d.d:][:d.d]
			for j, x := range src[i*d.d:][:d.d] {
				if to[j] = 0; bits[j] >= d.least {
					to[j] = d.scale * x
				}
			}
		}
	})
}
