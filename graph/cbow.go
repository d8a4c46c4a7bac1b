package graph

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// CBOW trains W2V-CL as large-batch CBOW: an iteration trains on a stretch of the text, and
// predicts each of its words from the mean h of the words in the window around it. As in CL, an
// iteration has two steps without conflicts, in which a row moves along the mean gradient of its
// share of the samples:
//
//   - Step 1 moves the rows of C of the words that occur. The samples of a word are its places, the
//     frozen vectors their windows' h.
//   - Step 2 moves W against the new C. A window has one sample, its word. The gradient of h goes
//     whole to each word in the window, and a word moves along the mean over all windows that it is
//     in. Every h is of the W that the iteration began with.
//
// All rows share the negatives of a step (see wordcontext.Stretch), each with weight K/H. Rows of
// words that do not occur stay as they are. The result is the same to the bit for any number of threads.
//
// Scores are biased: the probability that word t is the centre of window h, and no negative, is
//
//	σ(C_t · h - log K)
//
// A word has K negatives for each positive, drawn from the words of the text. So the loss is smallest where the argument of
// σ is log P(t|h) - log(K P(t)). Without the bias the product C_t · h would have to become PMI(t, h) - log K (Levy and
// Goldberg 2014); with it the product becomes PMI(t, h). Products start at 0, and weight decay pulls them back to 0, which
// now means that word and window are independent. There the gradient weighs a positive by K/(1+K), and so it does the K negatives
// together: a row moves only as far as its samples differ from the negatives. Without the bias the weights are 1/2 and
// K/2, and the first iterations move all rows in one direction, until products are near -log K.
//
// The W2V-CL paper has skip-gram only (see CL); this is CBOW of Mikolov et al. 2013 in its form. W may be composed
// of parts (Options.Composition), as in fastText, or of an encoder.
type CBOW struct {
	*Model
	*iteration
	iterations int
	ahead      *ahead
	updates    updates // (V): of the words' rows in both tables
	windows    *windows
	steps      [2]*skipGram
	each       []uint32 // (T+1): 0, 1, 2, ...
}

var (
	_ trainer.Trainer   = (*CBOW)(nil)
	_ trainer.Composing = (*CBOW)(nil)
	_ trainer.Preparing = (*CBOW)(nil)
	_ trainer.Drawable  = (*CBOW)(nil)
)

// UpdatesTensor is the name of the tensor of State that counts the updates of rows.
const UpdatesTensor = "updates"

// PlanCBOW asks an account for what NewCBOW takes.
func PlanCBOW(a *trainer.Account, s *wordcontext.Stretches, c Options) error {
	c.Account = a
	_, err := allocateCBOW(s, c)
	return err
}

// allocateCBOW returns the trainer without its graph. It takes what graph and stretches allocate.
func allocateCBOW(s *wordcontext.Stretches, c Options) (*CBOW, error) {
	if c.SharedNegatives != s.Options().Shared {
		return nil, fmt.Errorf("%d shared negatives, but stretches have %d", c.SharedNegatives, s.Options().Shared)
	}
	v, t := s.Rows(), s.Capacity()
	stretch, reader := s.Bytes()
	c.Account.Take(trainer.ForWork, 2*stretch+reader)
	model, err := NewModel(v, UpdatesTensor, v, c)
	if err != nil {
		return nil, err
	}
	c = model.options
	m := &CBOW{Model: model, updates: model.counts.Data}
	if m.encoder != nil {
		m.encoder.updates = m.updatesIn
		c.takeGraph()
	}
	m.windows = newWindows(v, s, m.team, c)
	m.each = trainer.Of[uint32](c.Account, trainer.ForWork, t+1)
	for i := range m.each {
		m.each[i] = uint32(i)
	}
	c.Account.Take(trainer.ForWork, 4*int64(t)*int64(c.Dim)+2*step.WorkBytes(max(v, t), c.Dim, c.SharedNegatives, c.Threads))
	return m, c.Account.Err()
}

// updatesIn returns how often a word's row was updated, with this iteration; 0 if the word does not occur.
func (t *CBOW) updatesIn(word int) int {
	if _, occurs := slices.BinarySearch(t.windows.stretch.Rows, uint32(word)); !occurs {
		return 0
	}
	return t.updates.of(word)
}

// NewCBOW prepares training for the given number of iterations, each on a stretch of the text.
func NewCBOW(s *wordcontext.Stretches, iterations int, c Options) (*CBOW, error) {
	if iterations < 1 {
		return nil, fmt.Errorf("number of iterations is %d; it must be at least 1", iterations)
	}
	t, err := allocateCBOW(s, c)
	if err != nil {
		return nil, err
	}
	c = t.options
	t.iteration, t.iterations, t.ahead = newIteration(), iterations, newAhead(s, c.Threads)
	bias := -float32(math.Log(float64(c.Negatives)))
	for i, update := range []optim.Optimizer{t.contexts.optimizer, nil} {
		sampler := &step.Sampler{
			Negatives: c.Negatives, Shared: c.SharedNegatives, Bias: bias, Slots: []uint32{0}, Updates: t.updates.of,
		}
		if t.steps[i], err = newSkipGram(sampler, nil, t.team, update, c); err != nil {
			return nil, err
		}
	}
	t.steps[1].core.Root = false
	t.build()
	return t, t.compile()
}

// build makes the graph:
//
//	words that occur, composed                      words: (V, N)
//	h = means of windows of words                   h: (T, N)
//	contexts after step 1, against frozen h         contexts: (V, N)
//	loss of step 2: of h, against frozen contexts
//	words, or what they are composed of, moved along the gradient of the loss, through h
//
// With Options.Together, step 1 comes after the loss of step 2, which then meets the old contexts.
func (t *CBOW) build() {
	loss, occur := t.options.lossName(), t.steps[0].core.Sampler
	contexts := t.input(t.contexts.name, t.contexts.dense)
	words, of := t.made.compose(t.iteration, occur)
	h := t.windows.apply(t.iteration, words)
	name, frozen := trainName(1, t.contexts, loss), contexts
	if !t.options.Together {
		frozen = t.steps[0].train(t.iteration, name, contexts, h)
	}
	gradients := t.gradients(t.steps[1].apply(t.iteration, "step 2: "+loss, h, frozen), of)
	if t.options.Together {
		t.steps[0].train(t.iteration, name, contexts, h, gradients[0])
	}
	t.made.update(t.iteration, occur, gradients)
}

// Units is the number of iterations, fixed in advance.
func (t *CBOW) Units() int { return t.iterations }

// Advance runs iteration number unit, counted from 0, at the given learning rate. The report's Words
// are the tokens of the stretch.
func (t *CBOW) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return trainer.Report{}, err
	}
	x := t.ahead.stretch(unit, t.iterations)
	report := trainer.Report{Words: float64(x.Tokens), Pairs: 2 * float64(len(x.Words)) * float64(1+t.options.Negatives)}
	if len(x.Words) == 0 {
		return report, nil
	}
	t.begin(x)
	if err := t.run(unit+1, rate); err != nil {
		return trainer.Report{}, fmt.Errorf("iteration %d: %w", unit, err)
	}
	report.Loss = t.steps[0].loss + t.steps[1].loss
	return report, nil
}

// Train is Advance on a stretch from elsewhere, and returns the loss alone.
func (t *CBOW) Train(x *wordcontext.Stretch, iteration int, rate float64) (loss float64, err error) {
	t.ahead.given = x
	report, err := t.Advance(context.Background(), iteration, rate)
	t.ahead.given = nil
	return report.Loss, err
}

// begin sets the samples of both steps.
func (t *CBOW) begin(x *wordcontext.Stretch) {
	for _, row := range x.Rows {
		t.updates[row]++
	}
	contexts, windows := t.steps[0].core.Sampler, t.steps[1].core.Sampler
	contexts.Rows, contexts.Slots, contexts.Samples, contexts.Given = x.Rows, x.Slots, x.Places, x.Windows
	windows.Slots, windows.Samples, windows.Given = t.each[:len(x.Words)+1], x.Words, x.Targets
	t.windows.stretch = x
	for _, s := range t.steps {
		sampler := s.core.Sampler
		s.core.Blocks = step.Blocks(sampler.Len(), sampler, func(i int) float64 { return float64(len(sampler.Share(i))) })
	}
}

// Close frees Gorgonia's memory, and waits until nobody reads the text.
func (t *CBOW) Close() error {
	t.ahead.wait()
	return t.iteration.Close()
}
