package subword

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// startOfGates is the bias that gates start with: a layer then passes three quarters of a feature on.
const startOfGates = -1

// Highway adds to a graph a highway layer (Srivastava, Greff and Schmidhuber 2015), which changes features as far as its
// gates are open:
//
//	features: (V, D)  weights: (D+1, 2D), the last row the biases
//	h, t:     both (V, D); (h, t) = features weights[:D] + weights[D]
//	result:   (V, D) = gate ReLU(h) + (1 - gate) features, gate = sigmoid(t)
func Highway(features, weights *gorgonia.Node, threads int) (*gorgonia.Node, error) {
	f, w := features.Shape(), weights.Shape()
	if f.Dims() != 2 || w.Dims() != 2 || w[0] != f[1]+1 || w[1] != 2*f[1] {
		return nil, fmt.Errorf("a highway layer of weights %v cannot follow features %v", w, f)
	}
	h := newHighway(f[0], f[1], team.New(threads))
	return operation.Apply("highway layer", gorgonia.Nodes{features, weights}, f[0], f[1], h.forward, h.backward)
}

type highway struct {
	layer  *connection   // (V, 2D): h and the gates
	result *tensor.Dense // (V, D)

	// of the gradient; nil until backward is called
	gradient *tensor.Dense // of what the layer writes, (V, 2D)
}

func newHighway(rows, d int, t *team.Team) *highway {
	return &highway{layer: newConnection(rows, d, 2*d, t), result: newMatrix(rows, d)}
}

func (h *highway) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	if _, err := h.layer.forward(in); err != nil {
		return nil, err
	}
	d, features, layer, result := h.layer.d, in[0].Float32s(), h.layer.result.Float32s(), h.result.Float32s()
	return h.result, eachBlock(h.layer.team, h.layer.rows, func(_, first, last int) {
		for i := first; i < last; i++ {
			x, change, gates, out := features[i*d:][:d], layer[2*i*d:][:d], layer[(2*i+1)*d:][:d], result[i*d:][:d]
			for j, t := range gates {
				gates[j] = float32(1 / (1 + math.Exp(-float64(t))))
				out[j] = x[j] + gates[j]*(max(change[j], 0)-x[j])
			}
		}
	})
}

// backward has h and the gates of the run in the memory of the layer.
func (h *highway) backward(in []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	d, rows := h.layer.d, h.layer.rows
	if h.gradient == nil {
		h.gradient = newMatrix(rows, 2*d)
	}
	features, layer, dLayer, g := in[0].Float32s(), h.layer.result.Float32s(), h.gradient.Float32s(), gradient.Float32s()
	err := eachBlock(h.layer.team, rows, func(_, first, last int) {
		for i := first; i < last; i++ {
			x, change, gates := features[i*d:][:d], layer[2*i*d:][:d], layer[(2*i+1)*d:][:d]
			dChange, dGates := dLayer[2*i*d:][:d], dLayer[(2*i+1)*d:][:d]
			for j, gate := range gates {
				of := g[i*d+j]
				if dChange[j] = 0; change[j] > 0 {
					dChange[j] = of * gate
				}
				dGates[j] = of * (max(change[j], 0) - x[j]) * gate * (1 - gate)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	gradients, err := h.layer.backward(in, h.gradient)
	if err != nil {
		return nil, err
	}
	passed := gradients[0].Float32s()
	return gradients, eachBlock(h.layer.team, rows, func(_, first, last int) {
		for i := first; i < last; i++ {
			to := passed[i*d:][:d]
			for j, gate := range layer[(2*i+1)*d:][:d] {
				to[j] += g[i*d+j] * (1 - gate)
			}
		}
	})
}
