package graph

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The stock form of a step is Gorgonia's own operations and differentiation. It is slow.

// A stockPair is a row of left that meets one of right: a sample, or a negative.
type stockPair struct {
	left, right   int
	sign          float32 // -1 for a sample, 1 for a negative
	share, weight float32 // of the pair's loss in the objective, and in the loss that is reported
}

// stockLoss returns the loss of pairs, and the gradients of their objective for the rows of left and right. The rows are
// gathered before the graph runs, and their gradients are summed after it:
//
//	objective = sum of shares * softplus(signs * (left.right + bias))
func stockLoss(
	left, right *tensor.Dense, pairs []stockPair, bias float32,
) (loss float64, ofLeft, ofRight []float32, err error) {
	n := left.Shape()[1]
	row := func(of *tensor.Dense, i int) []float32 { return of.Float32s()[i*n:][:n] }
	column := func(width int, value func(p stockPair) []float32) *tensor.Dense {
		var all []float32
		for _, p := range pairs {
			all = append(all, value(p)...)
		}
		return dense(all, len(pairs), width)
	}
	g := newIteration()
	x := g.input("left", column(n, func(p stockPair) []float32 { return row(left, p.left) }))
	y := g.input("right", column(n, func(p stockPair) []float32 { return row(right, p.right) }))
	signs := g.input("signs", column(1, func(p stockPair) []float32 { return []float32{p.sign} }))
	shares := g.input("shares", column(1, func(p stockPair) []float32 { return []float32{p.share} }))
	ones := g.input("ones", dense(slices.Repeat([]float32{1}, n), n, 1))
	products := gorgonia.Must(gorgonia.Mul(gorgonia.Must(gorgonia.HadamardProd(x, y)), ones))
	scores := gorgonia.Must(gorgonia.Add(products, gorgonia.NewConstant(bias)))
	losses := gorgonia.Must(gorgonia.Softplus(gorgonia.Must(gorgonia.HadamardProd(scores, signs))))
	objective := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(losses, shares))))
	one := g.graph.AddNode(gorgonia.NewConstant(float32(1)))
	gradients := g.backpropagate(objective, one, gorgonia.Nodes{x, y})
	if err := g.compile(); err != nil {
		return 0, nil, nil, err
	}
	if err := g.run(1, 0); err != nil {
		return 0, nil, nil, err
	}
	ofLeft, ofRight = make([]float32, len(left.Float32s())), make([]float32, len(right.Float32s()))
	for i, p := range pairs {
		loss += float64(p.weight * losses.Value().Data().([]float32)[i])
		for j := range n {
			ofLeft[p.left*n+j] += gradients[0].Value().Data().([]float32)[i*n+j]
			ofRight[p.right*n+j] += gradients[1].Value().Data().([]float32)[i*n+j]
		}
	}
	return loss, ofLeft, ofRight, g.Close()
}

// stockPairs lists the pairs of a step. A word without contexts has none.
func stockPairs(s *step.Sampler) (pairs []stockPair) {
	own := s.DrawOwn(0, s.Len(), nil)
	for i := range s.Len() {
		targets, samples := s.AppendTargets(nil, i, 0, own)
		for k, target := range targets {
			p := stockPair{s.Row(i), int(target), -1, 1 / float32(samples), 1}
			if k >= samples {
				p.sign, p.share, p.weight = 1, 1, float32(samples)
			}
			pairs = append(pairs, p)
		}
		if s.Shared == 0 || samples == 0 || s.Share(i)[0] == wordcontext.NoContext {
			continue
		}
		for _, target := range s.DrawShared() {
			weight := float32(s.Weight())
			pairs = append(pairs, stockPair{s.Row(i), int(target), 1, weight, weight * float32(samples)})
		}
	}
	return pairs
}

// useStock has the step computed in the stock form.
func (s *stepNode) useStock() {
	sampler, n := s.core.Sampler, s.core.Dim
	s.run = func(left, frozen []float32) (float64, error) {
		x, y := dense(left, len(left)/n, n), dense(frozen, len(frozen)/n, n)
		loss, gradients, _, err := stockLoss(x, y, stockPairs(sampler), sampler.Bias)
		for i := range sampler.Len() {
			row, samples := sampler.Row(i), len(sampler.Share(i))
			s.core.Give(row, samples, gradients[row*n:][:n])
		}
		return loss, err
	}
}

// netEncoder is a network in Gorgonia's operations: each word's row is that of its letters, behind a tangent.
type netEncoder struct {
	tableEncoder               // of the letters
	letters      *tensor.Dense // (V, letters)
}

func (e *netEncoder) Words() int { return e.letters.Shape()[0] }
func (e *netEncoder) Parameters() []Parameter {
	return []Parameter{{Name: "letters", Value: e.table, Rate: .5}}
}
func (e *netEncoder) Rows(parameters gorgonia.Nodes, _ []uint32, _ int) (*gorgonia.Node, error) {
	letters := gorgonia.NodeFromAny(parameters[0].Graph(), e.letters)
	return gorgonia.Tanh(gorgonia.Must(gorgonia.Mul(letters, parameters[0])))
}

func newNetEncoder(r *rand.Rand, words, dim int) *netEncoder {
	return &netEncoder{tableEncoder{dense(make([]float32, 7*dim), 7, dim)}, randomMatrix(r, words, 7)}
}

type stateful interface {
	trainer.Trainer
	State() []trainer.Tensor
}

// checkStock compares some iterations of a trainer with those of an equal one in the stock form.
func checkStock(t *testing.T, name string, fused, stock stateful) {
	t.Helper()
	for unit := range 4 {
		got, err := fused.Advance(context.Background(), unit, .05)
		if err != nil {
			t.Fatal(err)
		}
		want, err := stock.Advance(context.Background(), unit, .05)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Loss-want.Loss) > 1e-5*want.Loss {
			t.Errorf("%s, iteration %d: loss %v, stock %v", name, unit, got.Loss, want.Loss)
		}
	}
	for i, s := range fused.State() {
		if d := tableDifference(s.Data, stock.State()[i].Data); d > 1e-5 {
			t.Errorf("%s: %s differs from the stock form by %v", name, s.Name, d)
		}
	}
}

// Both models, with own rows, parts and a network, train as in the stock form. Epsilon is large: with a
// small one, the rounding error of a zero gradient would move a value by the whole rate, up or down.
func TestStockForm(t *testing.T) {
	r := freshRandom(t)
	for _, x := range cbowCases(t, r) {
		x.words = 1 + r.IntN(150)
		seed := r.Uint64()
		for name, change := range map[string]func(*Options){
			x.name: func(*Options) {},
			x.name + ", a network": func(o *Options) {
				o.Composition, o.Encoder = nil, newNetEncoder(rand.New(rand.NewPCG(seed, 1)), x.corpus.Vocabulary.Len(), o.Dim)
			},
		} {
			form := func() *CBOW {
				return x.new(t, 4, func(o *Options) {
					o.Optimizer.Epsilon = .01
					change(o)
				})
			}
			stock := form()
			for _, s := range stock.steps {
				s.useStock()
			}
			checkStock(t, name, form(), stock)
		}
	}
	for _, x := range composedCases(r) {
		m := x.matrix(t, r)
		for _, kind := range []string{"own rows", "parts", "network"} {
			form := func() *CL {
				o := x.options(2, m.Rows())
				o.Optimizer.Epsilon = .01
				if kind != "parts" {
					o.Composition = nil
				}
				if kind == "network" {
					o.Encoder = newNetEncoder(rand.New(rand.NewPCG(x.seed, 1)), m.Rows(), o.Dim)
				}
				return newCL(t, m, 4, o)
			}
			stock := form()
			for _, s := range stock.steps {
				s.useStock()
			}
			checkStock(t, fmt.Sprintf("%+v, %s", x, kind), form(), stock)
		}
	}
}
