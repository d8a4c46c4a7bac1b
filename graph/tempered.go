package graph

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// temperedLoss is the loss of a step of tempered W2V-CL as one Gorgonia operation:
//
//	left: (V, N)  right: (V, N)
//	loss = sum over rows i with a share: sum over its s positives p of softplus(-left_i . right_p)
//	       + s weight sum over its negatives q of softplus(left_i . right_q)
//
// The negatives are the row's own, K of weight 1, or H that all rows share, of weight
// K/H. The gradient of row i is that of its part of the loss, divided by s: the mean
// over its samples. The right side is frozen.
//
// As in SkipGram, the gradient updates the row at once, or is kept for the derivative
// node that Gorgonia's Grad adds. A row without a share is left alone, or gets a
// gradient of zero.
//
// The scores of shared negatives, and their part of the gradients, are two dense
// products for a strip of rows. Only positives are gathered.
type temperedLoss struct {
	lossOperation
	sampler *sampler
	team    *team.Team
	update  optim.Optimizer // of left; nil: keep the gradient
	grad    *tensor.Dense   // (V, N); nil unless asked for
	root    bool            // the kept gradient of s samples is root s times their mean

	blocks  []int // block b is the rows blocks[b] ... blocks[b+1]-1
	shared  sharedRows
	loss    float64
	value   gorgonia.F32
	losses  []float64 // of each block, summed in order
	workers []*temperedWorker
}

// newTemperedLoss makes the operation for rows in the given blocks, for an optimizer
// that updates left, or for one, of the method given, that uses the kept gradient.
func newTemperedLoss(s *sampler, blocks []int, workers *team.Team, update optim.Optimizer, method optim.Method) (*temperedLoss, error) {
	d, err := optim.Find(method)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("tempered skip-gram loss, %d negatives", s.negatives)
	if s.shared > 0 {
		name += fmt.Sprintf(" as %d of all rows", s.shared)
	}
	if update != nil {
		name += ", updates left"
	}
	return &temperedLoss{
		lossOperation: newLossOperation(name), sampler: s, team: workers, update: update, root: !d.Adaptive,
		blocks: blocks, losses: make([]float64, len(blocks)-1),
	}, nil
}

// balanced cuts rows into blocks of about equal cost, so that no thread is left with
// a long one at the end of a step; a row of a higher cost is a block of its own. The
// blocks fix the order in which the loss is summed. It does not depend on the threads.
func balanced(rows int, block float64, cost func(row int) float64) []int {
	blocks, sum := []int{0}, 0.0
	for i := range rows {
		c := cost(i)
		if sum > 0 && sum+c > block {
			blocks, sum = append(blocks, i), 0
		}
		sum += c
	}
	return append(blocks, rows)
}

// temperedBlocks returns the blocks of a matrix whose row i takes meanShare(i)
// samples an iteration. The costs are in samples; measured.
func temperedBlocks(rows int, s *sampler, meanShare func(row int) float64) []int {
	perRow := 8 + float64(s.negatives)
	if s.shared > 0 {
		perRow = 8 + float64(s.shared)/4
	}
	return balanced(rows, blockRows*(perRow+1), func(i int) float64 {
		share := meanShare(i)
		return .05 + share + min(share, 1)*perRow
	})
}

// sharedRows is the rows of the negatives that all rows of a step share, packed for
// both products.
type sharedRows struct {
	rows       []float32 // (H, N)
	transposed []float32 // (N, H)
}

// pack gathers the given rows of a table with n columns.
func (s *sharedRows) pack(table []float32, negatives []uint32, n int) {
	h := len(negatives)
	s.rows, s.transposed = memory.Resize(s.rows, h*n), memory.Resize(s.transposed, h*n)
	for k, row := range negatives {
		for j, x := range table[int(row)*n:][:n] {
			s.rows[k*n+j], s.transposed[j*h+k] = x, x
		}
	}
}

// Loss returns the loss of the last run in float64.
func (t *temperedLoss) Loss() float64 { return t.loss }

// run computes the loss and the gradient, or the update, for all rows of left.
func (t *temperedLoss) run(left, right *tensor.Dense) error {
	n := left.Shape()[1]
	for len(t.workers) < t.team.Threads() {
		t.workers = append(t.workers, newTemperedWorker(t.sampler, n))
	}
	l, r := left.Float32s(), right.Float32s()
	t.shared.pack(r, t.sampler.drawShared(), n)
	var kept []float32
	if t.grad != nil {
		kept = t.grad.Float32s()
	}
	err := t.team.Do(len(t.losses), func(worker, b int) {
		t.losses[b] = t.block(t.workers[worker], l, r, kept, n, t.blocks[b], t.blocks[b+1])
	})
	if err != nil {
		return fmt.Errorf("tempered step: %w", err)
	}
	t.loss = 0
	for _, x := range t.losses {
		t.loss += x
	}
	return nil
}

// Do runs the step on values of left and right.
func (t *temperedLoss) Do(inputs ...gorgonia.Value) (gorgonia.Value, error) {
	left, right, err := twoMatrices(inputs)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", t, err)
	}
	if rows := t.blocks[len(t.blocks)-1]; left.Shape()[0] != rows {
		return nil, fmt.Errorf("%v: left has %d rows, not %d", t, left.Shape()[0], rows)
	}
	if err := t.run(left, right); err != nil {
		return nil, err
	}
	t.value = gorgonia.F32(t.loss)
	return &t.value, nil
}

// DiffWRT says that there is a gradient for left only.
func (t *temperedLoss) DiffWRT(int) []bool { return []bool{true, false} }

// SymDiff returns the node of the gradient for left.
func (t *temperedLoss) SymDiff(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if t.update != nil {
		return nil, fmt.Errorf("%v has no gradient to give: it updates left itself", t)
	}
	t.grad = tensor.New(tensor.WithShape(inputs[0].Shape().Clone()...), tensor.Of(tensor.Float32))
	d, err := applyLossGradient(t, inputs[0], output, grad, t.grad)
	if err != nil {
		return nil, err
	}
	return gorgonia.Nodes{d, nil}, nil
}

// scaled multiplies a gradient by the root of the samples that it is the mean of.
func scaled(gradient []float32, samples int) {
	root := float32(math.Sqrt(float64(samples)))
	for j := range gradient {
		gradient[j] *= root
	}
}

// kindsOfAll returns n kinds that are all the same.
func kindsOfAll(n int, kind uint32) []uint32 {
	kinds := make([]uint32, n)
	if kind != simd.Negative {
		for i := range kinds {
			kinds[i] = kind
		}
	}
	return kinds
}
