package graph

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
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
// W may be composed of parts (Options.Composition) or of an encoder. Then step 1 trains these, and step 2 meets the rows that
// step 1 began with, frozen. Of a tempered M it leaves alone what belongs to words without a share alone.
type CL struct {
	*Model
	matrix     *wordcontext.Matrix
	iterations int
	sampler    *step.Sampler
	steps      [2]clStep // train words, train contexts
	blocks     []int     // of rows
}

var (
	_ trainer.Trainer   = (*CL)(nil)
	_ trainer.Composing = (*CL)(nil)
	_ trainer.Preparing = (*CL)(nil)
	_ trainer.Drawable  = (*CL)(nil)
)

// A clStep is one of the two steps of an iteration.
type clStep struct {
	compiledStep
	samples *step.Reader
}

// PlanCL asks an account for what NewCL takes for a vocabulary of the given size and the given number
// of slots of an iteration, M not counted. Without tempering there are as many slots as words.
func PlanCL(a *trainer.Account, words, slots int, c Options) error {
	c.Account = a
	_, _, err := allocateCL(words, slots, c)
	return err
}

// allocateCL returns the model, and how many iterations the readers of samples read at a time. It
// takes what the readers, the steps, Gorgonia and the encoder allocate themselves.
func allocateCL(words, slots int, c Options) (m *Model, iterations int, err error) {
	if m, err = NewModel(words, "", 0, c); err != nil {
		return nil, 0, err
	}
	c = m.options
	iterations = step.Iterations(slots, 2*(4*int64(words)*int64(c.Dim)+c.Optimizer.Bytes(words, c.Dim)))
	c.Account.Take(trainer.ForWork, step.ReaderBytes(slots, iterations))
	c.Account.Take(trainer.ForWork, 2*step.WorkBytes(words, c.Dim, c.SharedNegatives, c.Threads))
	switch {
	case c.Composition != nil:
		c.takeComposed(words)
		if c.Form == FormStock {
			c.Account.Take(trainer.ForWork, 2*c.stockStepBytes(words, slots))
		}
	case c.Encoder != nil:
		c.takeGraph()
		c.Account.Take(trainer.ForWork, 4*int64(words)*int64(c.Dim)) // the gradient of the rows
	case c.Form == FormStock:
		c.Account.Take(trainer.ForWork, 2*c.stockStepBytes(words, slots))
	}
	return m, iterations, c.Account.Err()
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
	model, atATime, err := allocateCL(m.Rows(), int(slots[m.Rows()]), c)
	if err != nil {
		return nil, err
	}
	c = model.options
	t := &CL{Model: model, matrix: m, iterations: iterations}
	t.steps[0].samples, t.steps[1].samples = step.NewReaders(m, c.SameColumn, atATime, t.team)
	t.sampler = &step.Sampler{
		Noise: noise, Seed: c.Seed, Negatives: c.Negatives, Slots: slots, Shared: c.SharedNegatives,
		Updates: func(row int) int { return m.Updates(row, t.sampler.Iteration) },
	}
	t.blocks = step.Blocks(m.Rows(), t.sampler, func(i int) float64 {
		return float64(m.RowLength(i)) / float64(m.Contexts())
	})
	switch {
	case c.Composition != nil:
		err = t.trainComposed()
	case c.Encoder != nil:
		err = t.trainEncoder()
	default:
		t.steps[0].compiledStep, err = newTableStep(t.words, t.contexts, t.sampler, t.blocks, t.team, c)
	}
	if err != nil {
		return nil, err
	}
	t.steps[1].compiledStep, err = newTableStep(t.contexts, t.words, t.sampler, t.blocks, t.team, c)
	return t, err
}

// trainComposed makes the step that trains the parts of word vectors.
func (t *CL) trainComposed() error {
	rows := t.made.(*partRows)
	if rows.own != nil {
		rows.own.updates = t.sampler.Updates
	}
	s, err := newComposedStep(rows, t.words, t.contexts, t.sampler, t.blocks, t.team, t.options)
	t.steps[0].compiledStep = s
	return err
}

// trainEncoder makes the step that trains the encoder of word vectors.
func (t *CL) trainEncoder() error {
	op, err := newSkipGram(t.sampler, t.blocks, t.team, nil, t.options)
	if err != nil {
		return err
	}
	s, err := newEncoderStep(t.encoder, t.contexts, op)
	if err != nil {
		return err
	}
	rows := t.made.(*encoderRows)
	rows.graph, rows.rows = s.graph, s.rows
	if t.matrix.Tempered() || t.options.SharedNegatives > 0 {
		t.encoder.updates = t.sampler.UpdatesOf
	}
	t.steps[0].compiledStep = s
	return nil
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
	var report trainer.Report
	for i := range t.steps {
		s := &t.steps[i]
		samples, count, err := s.samples.Iteration(unit)
		if err != nil {
			return trainer.Report{}, err
		}
		t.sampler.Iteration, t.sampler.Step, t.sampler.Samples = unit, i, samples
		for _, o := range s.optimizers() {
			o.Begin(unit+1, rate*o.relativeRate)
		}
		loss, err := s.run()
		if err != nil {
			return trainer.Report{}, fmt.Errorf("iteration %d, step %d: %w", unit, i+1, err)
		}
		report.Loss += loss
		report.Pairs += float64(count) * float64(1+t.options.Negatives)
	}
	return report, nil
}

// DOT prints the graphs of both steps in the Graphviz language.
func (t *CL) DOT() string { return dot(t.steps[0].compiled(), t.steps[1].compiled()) }

// Close frees Gorgonia's memory.
func (t *CL) Close() error {
	for _, s := range t.steps {
		if err := s.compiled().close(); err != nil {
			return err
		}
	}
	return nil
}
