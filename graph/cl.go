package graph

import (
	"cmp"
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// CL trains W2V-CL (the W2V-CL paper, section 3): the batch is the whole
// vocabulary, one column of M an iteration. Step 1 updates every row of W
// against frozen rows of C, step 2 every row of C against the new W. In each
// step a row meets frozen rows only, so no two updates conflict, and the result
// is the same to the bit for any number of threads.
//
// M says which samples of a row the two steps of an iteration train on (see
// wordcontext.Matrix.Share): different ones, and in an epoch of l iterations every
// entry of M once in either step. Equal ones for both (SameColumn), as in the paper, score
// a little lower (benchmarks/tried/earlier.md). Each step draws fresh negatives.
//
// If M is tempered, rows have shares of different size. A row moves along the mean
// gradient of its share, or stays as it is if the share is empty; Adam's bias
// correction counts the updates of the row.
//
// W may be composed of parts (Options.Composition) or by an encoder. Then step 1 trains these, and step 2 meets the rows that
// step 1 began with, frozen. If M is tempered and all words of a part have empty shares, step 1 does not change that part.
type CL struct {
	*Model
	*iteration
	matrix     *wordcontext.Matrix
	iterations int
	steps      [2]clStep // train words, train contexts
}

var (
	_ trainer.Trainer   = (*CL)(nil)
	_ trainer.Composing = (*CL)(nil)
	_ trainer.Preparing = (*CL)(nil)
	_ trainer.Drawable  = (*CL)(nil)
)

type clStep struct {
	*stepNode
	reader  *step.Reader
	samples int // of the iteration
}

// PlanCL asks an account for what NewCL takes for a vocabulary of the given size and the given number
// of slots of an iteration, M not counted. Without tempering there are as many slots as words.
func PlanCL(a *trainer.Account, words, slots int, c Options) error {
	c.Account = a
	_, _, err := allocateCL(words, slots, c)
	return err
}

// allocateCL returns the trainer without its graph, and how many iterations the readers of samples
// read at a time. It takes what the readers, Gorgonia and the encoder allocate themselves.
func allocateCL(words, slots int, c Options) (t *CL, iterations int, err error) {
	t = &CL{}
	if t.Model, err = NewModel(words, NoCounts, c); err != nil {
		return nil, 0, err
	}
	c = t.options
	iterations = step.Iterations(slots, 2*(4*int64(words)*int64(c.Dim)+c.Optimizer.Bytes(words, c.Dim)))
	c.Account.Take(trainer.ForWork, step.ReaderBytes(slots, iterations))
	if c.Encoder != nil {
		c.takeGraph()
	}
	var gradients [2]int
	if t.words.optimizer == nil || c.Together {
		gradients[0] = words // along which other nodes move what the rows are made of
	}
	for i := range t.steps {
		t.steps[i].stepNode = newStepNode(i+1, words, gradients[i], t.team, c)
	}
	return t, iterations, c.Account.Err()
}

// NewCL prepares training on m for the given number of iterations. Negatives
// are drawn from noise, which must have one weight for each word. An encoder's
// parameters are randomized.
func NewCL(m *wordcontext.Matrix, noise *corpus.Alias, iterations int, c Options) (*CL, error) {
	if noise.Len() != m.Rows() {
		return nil, fmt.Errorf("negatives are drawn from %d words, but M has %d rows", noise.Len(), m.Rows())
	}
	if iterations < 1 {
		return nil, fmt.Errorf("number of iterations is %d; it must be at least 1", iterations)
	}
	slots := m.Slots()
	t, atATime, err := allocateCL(m.Rows(), int(slots[m.Rows()]), c)
	if err != nil {
		return nil, err
	}
	c = t.options
	t.iteration, t.matrix, t.iterations = newIteration(), m, iterations
	t.steps[0].reader, t.steps[1].reader = step.NewReaders(m, c.SameColumn, atATime, t.team)
	t.past = c.Before
	updates := func(row int) int { return m.Updates(row, t.step()-1) }
	t.count(updates)
	var blocks []int
	for i := range t.steps {
		sampler := &step.Sampler{
			Noise: noise, Seed: c.Seed, Negatives: c.Negatives, Slots: slots, Shared: c.SharedNegatives, Step: i,
		}
		if i == 0 {
			blocks = step.Blocks(m.Rows(), sampler, func(i int) float64 { return float64(m.RowLength(i)) / float64(m.Contexts()) })
		}
		t.steps[i].core.Sampler, t.steps[i].core.Blocks = sampler, blocks
	}
	if t.encoder != nil && (m.Tempered() || c.SharedNegatives > 0) {
		t.encoder.updates = func(word int) int {
			if len(t.steps[0].core.Sampler.Share(word)) == 0 {
				return 0
			}
			return updates(word)
		}
	}
	t.build()
	return t, t.compile()
}

// build makes the graph:
//
//	samples of each step, from M
//	words after step 1, against frozen contexts    words, contexts: (V, N)
//	contexts after step 2, against frozen words
//
// If the words are composed, or both tables are updated together, step 1 is a gradient. What they are composed of moves along
// it, after step 2: so both steps meet the same rows. To compose them anew would cost a fifth of the step of an encoder and changes no score
// (benchmarks/tried/recipes.md).
func (t *CL) build() {
	first, second := t.samples(0), t.samples(1)
	one, two := &t.steps[0], &t.steps[1]
	contexts := t.input(t.contexts.name, t.contexts.dense)
	words := t.made.compose(t.iteration, one.core.Sampler)
	if one.gradients == nil {
		words = one.train(t.iteration, t.words, words, contexts, first)
		two.train(t.iteration, t.contexts, contexts, words, second)
		return
	}
	gradient := one.gradient(t.iteration, words, contexts, first)
	trained := two.train(t.iteration, t.contexts, contexts, words, second, gradient)
	t.made.update(t.iteration, one.core.Sampler, gradient, trained)
}

// samples adds the node that reads a step's samples from M. Its value is their number.
func (t *CL) samples(i int) *gorgonia.Node {
	s, count := &t.steps[i], make([]float32, 1)
	work := func([]*tensor.Dense) (err error) {
		sampler := s.core.Sampler
		sampler.Iteration = t.number() - 1
		sampler.Samples, s.samples, err = s.reader.Iteration(sampler.Iteration)
		count[0] = float32(s.samples)
		return err
	}
	return t.node(fmt.Sprintf("samples of step %d, from M", i+1), dense(count, 1, 1), work, t.clock)
}

// Units is the number of iterations, fixed in advance.
func (t *CL) Units() int { return t.iterations }

// Advance runs iteration number unit, counted from 0, at the given learning
// rate. Training may begin with any iteration: everything random follows from
// its number. The report's Words are 0: M does not know its corpus.
func (t *CL) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return trainer.Report{}, err
	}
	defer t.team.Until(ctx)()
	if err := t.run(unit+1, rate); err != nil {
		return trainer.Report{}, cmp.Or(ctx.Err(), fmt.Errorf("iteration %d: %w", unit, err)) // Gorgonia does not wrap
	}
	var report trainer.Report
	for i := range t.steps {
		report.Loss += t.steps[i].loss
		report.Pairs += float64(t.steps[i].samples) * float64(1+t.options.Negatives)
	}
	return report, nil
}
