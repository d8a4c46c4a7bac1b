package graph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
	"gorgonia.org/gorgonia"
)

// CBOW trains W2V-CL as large-batch CBOW: an iteration trains on a stretch of the text, and
// predicts each of its words from the mean h of the words in the window around it. As in CL, an
// iteration has two steps without conflicts:
//
//   - Step 1 moves the rows of C of the words that occur, along the mean over their samples. The samples of a word are its
//     places, the frozen vectors their windows' h.
//   - Step 2 moves W against the new C. A window has one sample, its word. The gradient of h goes
//     whole to each place in the window, and a word moves along the mean of what its places get.
//     Every h is of the W that the iteration began with.
//
// All rows share the negatives of a step (see wordcontext.Stretch), each with weight K/H. Rows of
// words that do not occur stay as they are. The result is the same to the bit for any number of threads.
//
// Scores are biased: the probability that word t is the centre of window h, and no negative, is
//
//	σ(C_t · h - log K)
//
// A word has K negatives for each positive, drawn from the words of the stretch. So the loss is
// smallest where the argument of σ is log P(t|h) - log(K P(t)). Without the bias the product C_t · h
// would have to become PMI(t, h) - log K (Levy and Goldberg 2014); with it the product becomes PMI(t,
// h). Products start at 0, and weight decay pulls them back to 0, which now means that word and window
// are independent. There the gradient weighs a positive by K/(1+K), and so it does the K negatives
// together: a row moves only as far as its samples differ from the negatives. Without the bias the
// weights are 1/2 and K/2, and the first iterations move all rows in one direction, until products are
// near -log K.
//
// With Options.Positions, the mean of a window is weighted by position, element by element (Mikolov et al. 2018, section 2.2).
// The weights are shared by all words, start at 1, and move once in an iteration.
//
// The W2V-CL paper has skip-gram only (see CL); this is CBOW of Mikolov et al. 2013 in its form. W may
// be composed of parts (Options.Composition), as in fastText, or by an encoder.
type CBOW struct {
	*Model
	*iteration
	iterations int
	ahead      *ahead
	windows    *windows
	steps      [2]*stepNode
}

var (
	_ trainer.Trainer   = (*CBOW)(nil)
	_ trainer.Composing = (*CBOW)(nil)
	_ trainer.Preparing = (*CBOW)(nil)
	_ trainer.Drawable  = (*CBOW)(nil)
)

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
	if o := s.Options(); c.Positions != 0 && (c.Positions != 2*o.Window || o.Dynamic) {
		return nil, fmt.Errorf("%d position weights, for windows of %d words on either side: there must be two for each word of a window's side, and windows of one width", c.Positions, o.Window)
	}
	v, t := s.Rows(), s.Capacity()
	stretch, reader := s.Bytes()
	c.Account.Take(trainer.ForWork, 2*stretch+reader)
	model, err := NewModel(v, OfUpdates, c)
	if err != nil {
		return nil, err
	}
	c = model.options
	m := &CBOW{Model: model}
	if m.encoder != nil {
		m.encoder.updates = m.updatesIn
		c.takeGraph()
	}
	m.windows = newWindows(v, s, m.team, m.positions, c)
	for i, gradients := range []int{0, t} { // step 2 makes the gradient of h
		m.steps[i] = newStepNode(i+1, max(v, t), gradients, m.team, c)
	}
	return m, c.Account.Err()
}

// updatesIn returns how often a word's row has moved, with this iteration; 0 if the word does not occur.
func (t *CBOW) updatesIn(word int) int {
	if _, occurs := slices.BinarySearch(t.windows.stretch.Rows, uint32(word)); !occurs {
		return 0
	}
	return t.contexts.counts.of(word)
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
	t.past = c.Before
	bias := -float32(math.Log(float64(c.Negatives)))
	for _, x := range t.steps {
		x.core.Sampler = &step.Sampler{Negatives: c.Negatives, Shared: c.SharedNegatives, Bias: bias}
	}
	t.build()
	return t, t.compile()
}

// build makes the graph:
//
//	words that occur, composed                      words: (V, N)
//	h = means of windows of words                   h: (T, N), with Options.Positions weighted by position
//	contexts after step 1, against frozen h         contexts: (V, N)
//	gradient of h in step 2, against frozen contexts
//	gradient of words, from those of the windows that they are in, and of position weights
//	position weights, and words, or what they are composed of, moved along these gradients
//
// Nodes change their matrices in place, so moved is also an input of what has to wait for step 1: back overwrites the h that step 1
// reads, and update reads the numbers of updates that step 1 counts.
func (t *CBOW) build() {
	occur := t.steps[0].core.Sampler
	contexts := t.input(t.contexts.name, t.contexts.dense)
	words := t.made.compose(t.iteration, occur)
	h := t.windows.forward(t.iteration, words)
	moved, gradient := t.bothSteps(contexts, h)
	ofWords := t.windows.back(t.iteration, words, h, gradient, moved)
	t.made.update(t.iteration, occur, ofWords, moved)
}

// bothSteps adds the steps. With Options.Together, an ablation, step 1 comes after the gradient of step 2, which then meets the old
// contexts.
func (t *CBOW) bothSteps(contexts, h *gorgonia.Node) (moved, gradient *gorgonia.Node) {
	if t.options.Together {
		gradient = t.steps[1].gradient(t.iteration, h, contexts)
		return t.steps[0].train(t.iteration, t.contexts, contexts, h, gradient), gradient
	}
	moved = t.steps[0].train(t.iteration, t.contexts, contexts, h)
	return moved, t.steps[1].gradient(t.iteration, h, moved)
}

// Units is the number of iterations, fixed in advance.
func (t *CBOW) Units() int { return t.iterations }

// Advance runs iteration number unit, counted from 0, at the given learning rate. The report's Words
// are the tokens of the stretch.
func (t *CBOW) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return trainer.Report{}, err
	}
	defer t.team.Until(ctx)()
	report, err := t.Train(t.ahead.stretch(unit, t.iterations), unit, rate)
	if err != nil {
		err = cmp.Or(ctx.Err(), err) // Gorgonia does not wrap
	}
	return report, err
}

// Train is Advance on a given stretch.
func (t *CBOW) Train(x *wordcontext.Stretch, unit int, rate float64) (trainer.Report, error) {
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

// begin gives the stretch to the windows and to both steps.
func (t *CBOW) begin(x *wordcontext.Stretch) {
	t.windows.stretch = x
	t.steps[0].core.Sampler.OfWords(x)
	t.steps[1].core.Sampler.OfPlaces(x)
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
