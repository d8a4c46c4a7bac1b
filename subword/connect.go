package subword

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Connect adds a fully connected layer to a graph:
//
//	features: (V, D)  weights: (D+1, N), the last row the bias
//	result:   (V, N) = features weights[:D] + weights[D]
func Connect(features, weights *gorgonia.Node, threads int) (*gorgonia.Node, error) {
	f, w := features.Shape(), weights.Shape()
	if f.Dims() != 2 || w.Dims() != 2 || w[0] != f[1]+1 {
		return nil, fmt.Errorf("a layer of weights %v cannot follow features %v: it needs a row for each feature and one for the bias", w, f)
	}
	c := newConnection(f[0], f[1], w[1], team.New(threads))
	return operation.Apply("fully connected layer", gorgonia.Nodes{features, weights}, c.rows, c.n, c.forward, c.backward)
}

type connection struct {
	rows, d, n int // V, D, N
	team       *team.Team
	result     *tensor.Dense // (V, N)

	// of the gradient; nil until backward is called
	features   *tensor.Dense // (V, D)
	weights    *tensor.Dense // (D+1, N), total of shards
	shards     *shards
	transposed []float32 // weights (N, D)
}

func newConnection(rows, d, n int, t *team.Team) *connection {
	return &connection{rows: rows, d: d, n: n, team: t, result: newMatrix(rows, n)}
}

func (c *connection) forward(in []*tensor.Dense) (*tensor.Dense, error) {
	features, weights, result := in[0].Float32s(), in[1].Float32s(), c.result.Float32s()
	err := eachBlock(c.team, c.rows, func(_, first, last int) {
		connect(result[first*c.n:last*c.n], features[first*c.d:last*c.d], weights, c.d, c.n)
	})
	return c.result, err
}

// connect computes the layer for the rows of features.
func connect(result, features, weights []float32, d, n int) {
	rows := len(result) / n
	for i := range rows {
		copy(result[i*n:][:n], weights[d*n:])
	}
	simd.AddProduct(result, n, simd.RowMajor(features, d), weights, n, rows, n, d)
}

func (c *connection) backward(in []*tensor.Dense, gradient *tensor.Dense) ([]*tensor.Dense, error) {
	d, n := c.d, c.n
	if c.features == nil {
		c.features, c.transposed = newMatrix(c.rows, d), make([]float32, d*n)
		c.shards = newShards(c.rows, (d+1)*n)
		c.weights = matrixOf(c.shards.total, d+1, n)
	}
	features, g, result := in[0].Float32s(), gradient.Float32s(), c.features.Float32s()
	transpose(c.transposed, in[1].Float32s()[:d*n], d, n)
	err := c.shards.do(c.team, func(_ int, sum []float32, first, last int) {
		rows, of, dx := last-first, g[first*n:last*n], result[first*d:last*d]
		clear(dx)
		simd.AddProduct(dx, d, simd.RowMajor(of, n), c.transposed, d, rows, d, n)
		simd.AddProduct(sum, n, simd.Transposed(features[first*d:last*d], d), of, n, d, n, rows)
		bias := sum[d*n:]
		for ; len(of) > 0; of = of[n:] {
			simd.SGD(bias, of[:n], 1, -1)
		}
	})
	return []*tensor.Dense{c.features, c.weights}, err
}

func newMatrix(rows, columns int) *tensor.Dense {
	return matrixOf(floats(rows*columns), rows, columns)
}

func matrixOf(data []float32, rows, columns int) *tensor.Dense {
	return tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(data))
}
