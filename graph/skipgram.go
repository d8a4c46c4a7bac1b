package graph

import (
	"fmt"
	"math"

	"github.com/chewxy/hm"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SkipGram is the skip-gram loss with negatives as one Gorgonia operation:
//
//	left: (B, N)  right: (V, N)  targets: (B, 1+K) rows of right
//	loss = sum over i of softplus(-s_i0) + sum over k>0 of softplus(s_ik)
//	s_ik = left_i . right_targets(i,k)
//
// (W2V-CL, section 3, equation 7; Mikolov et al. 2013, equation 4). The right
// side is frozen: there is no gradient for it, so nothing is scattered.
//
// Do makes one pass over memory: dots, loss and gradient of a row while it is
// in the cache. The gradient goes to one of two places. With an optimizer the
// row of left is updated in place at once and no gradient is kept. Without
// one, the gradient is kept for the derivative node that Gorgonia's Grad adds.
type SkipGram struct {
	lossOperation
	targets targets
	team    *team.Team
	update  optim.Optimizer // of left; nil: keep the gradient
	grad    *tensor.Dense   // (B, N); nil unless asked for

	loss    float64
	value   gorgonia.F32
	losses  []float64 // of each block, summed in order
	workers []*skipGramWorker
}

// skipGramWorker is one goroutine's scratch memory.
type skipGramWorker struct {
	targets              []uint32  // of a block of rows
	scores, coefficients []float32 // of a strip of rows, 1+K values each
	kinds                []uint32  // likewise
	gradient             []float32 // of one row
}

// blockRows is how many left rows a goroutine takes at a time. It fixes the
// order in which the loss is summed, so it does not depend on the threads.
const blockRows = 128

// A block is trained strip by strip: first the scores of all rows of a strip,
// then their losses and gradients, then the updates. A strip is so short that
// its rows and their targets stay in the first-level cache from one to the next.
// Meanwhile the targets of the rows ahead are fetched.
const (
	stripBytes = 24 << 10
	stripRows  = 8
	ahead      = 2
)

// StripRows returns how many rows are trained together for the given 1+K and N.
func StripRows(width, n int) int {
	return max(1, min(stripRows, stripBytes/(4*n*(1+width))))
}

// SkipGramLoss adds the operation to the graph of left and right and returns
// its loss, a float32 scalar. list may be changed between runs; a list that is
// too short or names a row that right does not have is an error of the run.
func SkipGramLoss(left, right *gorgonia.Node, list *List, threads int) (*gorgonia.Node, error) {
	return applyLoss(newSkipGram(list, team.New(threads), nil), left, right)
}

func newSkipGram(t targets, team *team.Team, update optim.Optimizer) *SkipGram {
	name := fmt.Sprintf("skip-gram loss, %d negatives", t.width()-1)
	if update != nil {
		name += ", updates left"
	}
	return &SkipGram{lossOperation: newLossOperation(name), targets: t, team: team, update: update}
}

func applyLoss(op gorgonia.Op, left, right *gorgonia.Node) (*gorgonia.Node, error) {
	loss, err := gorgonia.ApplyOp(op, left, right)
	if err != nil {
		return nil, fmt.Errorf("skip-gram loss of %v and %v: %w", left.Shape(), right.Shape(), err)
	}
	return loss, nil
}

// Loss returns the loss of the last run in float64; the node's value is
// rounded to float32.
func (s *SkipGram) Loss() float64 { return s.loss }

// run computes the loss and the gradient, or the update, for all rows of left.
func (s *SkipGram) run(left, right *tensor.Dense) error {
	rows, n := left.Shape()[0], left.Shape()[1]
	count := (rows + blockRows - 1) / blockRows
	if len(s.losses) != count {
		s.losses = make([]float64, count)
	}
	for len(s.workers) < s.team.Threads() {
		s.workers = append(s.workers, newSkipGramWorker(s.targets.width(), n))
	}
	l, r := left.Float32s(), right.Float32s()
	var kept []float32
	if s.grad != nil {
		kept = s.grad.Float32s()
	}
	err := s.team.Do(count, func(worker, b int) {
		first := b * blockRows
		s.losses[b] = s.block(s.workers[worker], l, r, kept, n, first, min(first+blockRows, rows))
	})
	if err != nil {
		return fmt.Errorf("skip-gram step: %w", err)
	}
	s.loss = 0
	for _, x := range s.losses {
		s.loss += x
	}
	return nil
}

func newSkipGramWorker(width, n int) *skipGramWorker {
	scores := StripRows(width, n) * width
	return &skipGramWorker{
		targets: make([]uint32, blockRows*width),
		scores:  make([]float32, scores), coefficients: make([]float32, scores), kinds: kindsOf(scores, width),
		gradient: make([]float32, n),
	}
}

// block trains left rows from first up to last and returns their loss.
// left: (B, n)  right: (V, n)  kept: (B, n) or nil
func (s *SkipGram) block(w *skipGramWorker, left, right, kept []float32, n, first, last int) float64 {
	width := s.targets.width()
	list := w.targets[:(last-first)*width]
	s.targets.fill(first, list)
	simd.Prefetch(right, list[:min(ahead, last-first)*width], n)
	loss := simd.NewLoss()
	strip := StripRows(width, n)
	for row := first; row < last; row += strip {
		s.strip(w, left, right, kept, n, row, min(strip, last-row), list[(row-first)*width:], &loss)
	}
	return loss.Total()
}

// strip trains the given number of rows from row first on. list holds their
// targets, then the targets of the rows behind them in the block.
func (s *SkipGram) strip(w *skipGramWorker, left, right, kept []float32, n, first, rows int, list []uint32, loss *simd.Loss) {
	width := s.targets.width()
	scores := w.scores[:rows*width]
	for i := range rows {
		if next := (i + ahead) * width; next < len(list) {
			simd.Prefetch(right, list[next:next+width], n)
		}
		t, out := list[i*width:][:width], scores[i*width:][:width]
		if t[0] == noTarget {
			withoutLoss(out)
			continue
		}
		simd.Dots(out, left[(first+i)*n:][:n], right, t)
	}
	simd.Gradients(w.coefficients, scores, w.kinds, descent, loss)
	for i := range rows {
		t, c := list[i*width:][:width], w.coefficients[i*width:][:width]
		if t[0] == noTarget {
			t, c = nil, nil // no terms: the gradient is zero
		}
		row := first + i
		if kept != nil {
			simd.Combine(kept[row*n:][:n], c, right, t)
		}
		if s.update != nil {
			s.update.UpdateCombination(row, left[row*n:][:n], c, right, t, w.gradient)
		}
	}
}

// Do runs the step on values of left and right.
func (s *SkipGram) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	left, right, err := twoMatrices(inputs)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", s, err)
	}
	if list, ok := s.targets.(*List); ok { // others are right by construction
		if err := list.check(left.Shape()[0], right.Shape()[0]); err != nil {
			return nil, fmt.Errorf("%v: %w", s, err)
		}
	}
	if err := s.run(left, right); err != nil {
		return nil, err
	}
	s.value = gorgonia.F32(s.loss)
	return &s.value, nil
}

// DiffWRT says that there is a gradient for left only.
func (s *SkipGram) DiffWRT(int) []bool { return []bool{true, false} }

// SymDiff returns the node of the gradient for left. Do computes it with the
// loss, and the node hands it out; its input is the loss, to run after it.
func (s *SkipGram) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if s.update != nil {
		return nil, fmt.Errorf("%v has no gradient to give: it updates left itself", s)
	}
	left := inputs[0]
	s.grad = tensor.New(tensor.WithShape(left.Shape().Clone()...), tensor.Of(tensor.Float32))
	d, err := applyLossGradient(s, left, output, grad, s.grad)
	if err != nil {
		return nil, err
	}
	return gorgonia.Nodes{d, nil}, nil
}

// lossGradient hands out the gradient that the operation of a loss has computed.
// Its inputs are the matrix that the gradient is for, the loss and the gradient
// of the loss.
type lossGradient struct {
	operation.Base
	gradient *tensor.Dense
}

// applyLossGradient adds the node that hands out the gradient of left.
func applyLossGradient(of fmt.Stringer, left, loss, ofLoss *gorgonia.Node, gradient *tensor.Dense) (*gorgonia.Node, error) {
	node, err := gorgonia.ApplyOp(&lossGradient{operation.New("gradient of "+of.String(), 3), gradient}, left, loss, ofLoss)
	if err != nil {
		return nil, fmt.Errorf("gradient of %v: %w", of, err)
	}
	return node, nil
}

func (d *lossGradient) Type() hm.Type {
	return hm.NewFnType(operation.MatrixType, tensor.Float32, tensor.Float32, operation.MatrixType)
}

func (d *lossGradient) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	shape, ok := in[0].(tensor.Shape)
	if !ok {
		return nil, fmt.Errorf("%v: the shape of left is unknown", d)
	}
	return shape.Clone(), nil
}

func (d *lossGradient) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	scale, ok := inputs[2].Data().(float32)
	if !ok || math.IsNaN(float64(scale)) {
		return nil, fmt.Errorf("%v: the gradient of the loss is %v, not a float32", d, inputs[2])
	}
	if scale != 1 {
		g := d.gradient.Float32s()
		for i := range g {
			g[i] *= scale
		}
	}
	return d.gradient, nil
}
