package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/operation"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// stockPairs is the skip-gram loss of E pairs of rows in Gorgonia's own operations. The rows are
// gathered outside the graph, so no gradient flows into the gather:
//
//	left, right: (E, N)  signs: (E, 1), -1 for a positive, 1 for a negative
//	shares, weights: (E, 1), 0 where there is no pair
//	objective = sum of shares * softplus(signs * (left.right + bias))
//	loss = sum of weights * softplus(signs * (left.right + bias))
//
// Negatives that all rows share are a product instead:
//
//	rows: (V, N)  negatives: (N, H)  meets, times: (V, H)
//	objective += sum of meets * softplus(rows negatives + bias), loss += sum of times * softplus(rows negatives + bias)
type stockPairs struct {
	*machine
	left, right            *tensor.Dense
	signs, shares, weights *tensor.Dense
	negatives              *tensor.Dense
	meets, times           *tensor.Dense
	loss                   *gorgonia.Node
	gradients              gorgonia.Nodes // of the objective, for left, right, and rows if negatives are shared
}

func zeros(rows, columns int) *tensor.Dense {
	return dense(make([]float32, rows*columns), rows, columns)
}

// newStockPairs builds the graph for so many pairs of rows of n values. If the given number of
// shared negatives is not 0, all rows meet them; rows is used as it is, not copied.
func newStockPairs(pairs, n int, rows *tensor.Dense, shared int, bias float32) (s *stockPairs, err error) {
	defer operation.Recovered("build the stock graph", &err)
	s = &stockPairs{
		left: zeros(pairs, n), right: zeros(pairs, n),
		signs: zeros(pairs, 1), shares: zeros(pairs, 1), weights: zeros(pairs, 1),
	}
	g := gorgonia.NewGraph()
	product := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.HadamardProd(a, b)) }
	add := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Add(a, b)) }
	weighed := func(losses *gorgonia.Node, name string, weights *tensor.Dense) *gorgonia.Node {
		return gorgonia.Must(gorgonia.Sum(product(losses, matrix(g, name, weights))))
	}
	ones := zeros(n, 1)
	for i := range n {
		ones.Float32s()[i] = 1
	}
	left, right := matrix(g, "left", s.left), matrix(g, "right", s.right)
	biased := func(a, b *gorgonia.Node) *gorgonia.Node {
		return add(gorgonia.Must(gorgonia.Mul(a, b)), gorgonia.NewConstant(bias))
	}
	scores := biased(product(left, right), matrix(g, "ones", ones))
	losses := gorgonia.Must(gorgonia.Softplus(product(scores, matrix(g, "signs", s.signs))))
	objective := weighed(losses, "shares", s.shares)
	s.loss = weighed(losses, "weights", s.weights)
	of := gorgonia.Nodes{left, right}
	if shared > 0 {
		s.negatives = zeros(n, shared)
		s.meets, s.times = zeros(rows.Shape()[0], shared), zeros(rows.Shape()[0], shared)
		x := matrix(g, "rows", rows)
		losses := gorgonia.Must(gorgonia.Softplus(biased(x, matrix(g, "negatives", s.negatives))))
		objective = add(objective, weighed(losses, "meets", s.meets))
		s.loss = add(s.loss, weighed(losses, "times", s.times))
		of = append(of, x)
	}
	if s.gradients, err = gorgonia.Grad(objective, of...); err != nil {
		return nil, fmt.Errorf("differentiate the stock graph: %w", err)
	}
	s.machine, err = newMachine(g)
	return s, err
}

// clear makes all places empty.
func (s *stockPairs) clear() {
	clear(s.shares.Float32s())
	clear(s.weights.Float32s())
}

// set puts a pair of rows in a place.
func (s *stockPairs) set(place int, left, right []float32, sign, share, weight float32) {
	copy(s.left.Float32s()[place*len(left):], left)
	copy(s.right.Float32s()[place*len(left):], right)
	s.signs.Float32s()[place], s.shares.Float32s()[place], s.weights.Float32s()[place] = sign, share, weight
}

// run runs the graph and returns the loss, and the gradients for left, right and rows.
func (s *stockPairs) run() (loss float64, gradients [][]float32, err error) {
	if err := s.machine.run(); err != nil {
		return 0, nil, err
	}
	value, ok := s.loss.Value().Data().(float32)
	if !ok {
		return 0, nil, fmt.Errorf("stock graph: the loss is %v, not a float32", s.loss.Value())
	}
	for _, node := range s.gradients {
		g, err := floatsOf(node)
		if err != nil {
			return 0, nil, fmt.Errorf("stock graph: a gradient: %w", err)
		}
		gradients = append(gradients, g)
	}
	return float64(value), gradients, nil
}
