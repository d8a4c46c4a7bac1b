package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/graph/tempered"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// temperedStockStep is a step of tempered W2V-CL in Gorgonia's own operations. Rows
// are gathered outside the graph, by slot: what a slot without a sample holds has
// weight 0.
//
//	samples, positives: (S, N)  each: (S) 1 or 0  mean: (S) 1/s or 0
//	left: (V, N)  negatives[k]: (V, N) own ones, or (N, H) shared ones, each meets: (V, ...) weight or 0
//	objective = sum of mean * softplus(-samples.positives) + sum of meets * softplus(left.negatives)
//	loss = sum of each * softplus(-samples.positives) + sum of times * softplus(left.negatives)
//
// times is s times meets. The gradient of the objective for a row of left is that of
// its row of left, and those of its slots of samples.
type temperedStockStep struct {
	*machine
	left, right *table
	sampler     *tempered.Sampler

	samples, positives *tensor.Dense
	each, mean         *tensor.Dense // (S, 1)
	negatives          []*tensor.Dense
	meets, times       *tensor.Dense // (V, 1) or (V, H)
	loss               *gorgonia.Node
	gradients          gorgonia.Nodes // for left, samples
}

func newTemperedStockStep(left, right *table, s *tempered.Sampler) (t *temperedStockStep, err error) {
	defer operation.Recovered("build the stock graph", &err)
	slots, v, n := max(int(s.Slots[left.rows]), 1), left.rows, left.dim
	zeros := func(rows, columns int) *tensor.Dense { return dense(make([]float32, rows*columns), rows, columns) }
	t = &temperedStockStep{
		left: left, right: right, sampler: s, samples: zeros(slots, n), positives: zeros(slots, n),
		each: zeros(slots, 1), mean: zeros(slots, 1), meets: zeros(v, max(s.Shared, 1)), times: zeros(v, max(s.Shared, 1)),
	}
	g := gorgonia.NewGraph()
	x, samples := matrix(g, "left", left.dense), matrix(g, "samples", t.samples)
	ones := matrix(g, "ones", onesColumn(n))
	dots := func(a, b *gorgonia.Node) *gorgonia.Node {
		return gorgonia.Must(gorgonia.Mul(gorgonia.Must(gorgonia.HadamardProd(a, b)), ones))
	}
	softplus := func(scores *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Softplus(scores)) }
	weighed := func(losses, weights *gorgonia.Node) *gorgonia.Node {
		return gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(losses, weights))))
	}
	add := func(a, b *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Add(a, b)) }

	losses := softplus(gorgonia.Must(gorgonia.Neg(dots(samples, matrix(g, "positives", t.positives)))))
	objective, loss := weighed(losses, matrix(g, "mean", t.mean)), weighed(losses, matrix(g, "each", t.each))
	meets, times := matrix(g, "meets", t.meets), matrix(g, "times", t.times)
	negatives := func(scores *gorgonia.Node) {
		losses := softplus(scores)
		objective, loss = add(objective, weighed(losses, meets)), add(loss, weighed(losses, times))
	}
	if s.Shared > 0 {
		t.negatives = append(t.negatives, zeros(n, s.Shared))
		negatives(gorgonia.Must(gorgonia.Mul(x, matrix(g, "shared negatives", t.negatives[0]))))
	} else {
		for k := range s.Negatives {
			t.negatives = append(t.negatives, zeros(v, n))
			negatives(dots(x, matrix(g, fmt.Sprintf("negatives%d", k), t.negatives[k])))
		}
	}
	t.loss = loss
	if t.gradients, err = gorgonia.Grad(objective, x, samples); err != nil {
		return nil, fmt.Errorf("differentiate the stock graph: %w", err)
	}
	t.machine, err = newMachine(g)
	return t, err
}

func onesColumn(n int) *tensor.Dense {
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	return dense(ones, n, 1)
}

func (t *temperedStockStep) optimizers() []parameterOptimizer { return t.left.optimizers() }

func (t *temperedStockStep) compiled() *machine { return t.machine }

func (t *temperedStockStep) run() (float64, error) {
	t.gather()
	if err := t.machine.run(); err != nil {
		return 0, err
	}
	loss, ok := t.loss.Value().Data().(float32)
	if !ok {
		return 0, fmt.Errorf("stock graph: the loss is %v, not a float32", t.loss.Value())
	}
	ofLeft, err := floatsOf(t.gradients[0])
	if err != nil {
		return 0, fmt.Errorf("stock graph: the gradient of left: %w", err)
	}
	ofSamples, err := floatsOf(t.gradients[1])
	if err != nil {
		return 0, fmt.Errorf("stock graph: the gradient of samples: %w", err)
	}
	n := t.left.dim
	for i := range t.left.rows {
		share := t.sampler.Share(i)
		if len(share) == 0 {
			continue
		}
		g := ofLeft[i*n:][:n]
		for k := range share {
			for j, x := range ofSamples[(int(t.sampler.Slots[i])+k)*n:][:n] {
				g[j] += x
			}
		}
		t.left.optimizer.UpdateMean(i, t.sampler.Updates(i), len(share), t.left.row(i), g)
	}
	return float64(loss), nil
}

// gather fills the inputs of the graph for the sampler's step.
func (t *temperedStockStep) gather() {
	s, v, n := t.sampler, t.left.rows, t.left.dim
	each, mean := t.each.Float32s(), t.mean.Float32s()
	meets, times := t.meets.Float32s(), t.times.Float32s()
	clear(each)
	clear(mean)
	clear(meets)
	clear(times)
	columns := len(meets) / v
	for i := range v {
		share := s.Share(i)
		if len(share) == 0 || share[0] == wordcontext.NoContext {
			continue
		}
		for k, context := range share {
			slot := int(s.Slots[i]) + k
			copy(t.samples.Float32s()[slot*n:][:n], t.left.row(i))
			copy(t.positives.Float32s()[slot*n:][:n], t.right.row(int(context)))
			each[slot], mean[slot] = 1, 1/float32(len(share))
		}
		for k := range columns {
			meets[i*columns+k], times[i*columns+k] = float32(s.Weight()), float32(float64(len(share))*s.Weight())
		}
	}
	if s.Shared > 0 {
		to := t.negatives[0].Float32s()
		for k, row := range s.DrawShared() {
			for j, x := range t.right.row(int(row)) {
				to[j*s.Shared+k] = x
			}
		}
		return
	}
	for e, row := range s.DrawOwn(0, v, nil) {
		copy(t.negatives[e%s.Negatives].Float32s()[e/s.Negatives*n:][:n], t.right.row(int(row)))
	}
}
