package graph

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// VanillaOptions says which pairs W2V-Vanilla trains on.
type VanillaOptions struct {
	Window        int     // words on either side
	DynamicWindow bool    // draw the window of each position from 1 ... Window
	Sample        float64 // subsampling threshold of frequent words; 0: none
	Batch         int     // positive pairs of a minibatch
	Epochs        int     // passes over the corpus
	RunTokens     int     // about how many tokens are trained, if training ends before the epochs do; zero: it does not

	Unit int // tokens of a unit at least; zero: they follow from RunTokens

	// Dense minibatches update every row of both tables, those that they do not hold
	// by a gradient of zero: moments go on moving them. Others leave such rows alone.
	Dense bool
}

func (o VanillaOptions) validate() error {
	switch {
	case o.Window < 1:
		return fmt.Errorf("window is %d; it must be at least 1", o.Window)
	case !(o.Sample >= 0):
		return fmt.Errorf("subsampling threshold is %v; it must be 0 or more", o.Sample)
	case o.Batch < 1:
		return fmt.Errorf("batch is %d pairs; it must be at least 1", o.Batch)
	case o.Epochs < 1:
		return fmt.Errorf("number of epochs is %d; it must be at least 1", o.Epochs)
	}
	return nil
}

func (o VanillaOptions) sentenceOptions(seed uint64) corpus.SentenceOptions {
	return corpus.SentenceOptions{Seed: seed, Sample: o.Sample, Window: o.Window, Dynamic: o.DynamicWindow}
}

// Vanilla trains W2V-Vanilla (the W2V-CL paper, section 2.1): pairs of word and
// context in the order of the corpus, minibatches of a fixed number of pairs,
// look-ups on both sides. A row that occurs several times in a minibatch is
// updated once, by the sum of its gradients; see pairsStep.
//
// The paper's baseline is Chainer's Word2Vec, whose Adam moves every row of both
// tables in every minibatch: VanillaOptions.Dense. Without it a minibatch updates
// the rows that it holds and leaves the others alone, moments included ("lazy"
// Adam). Then training takes far less work, and wants another learning rate.
//
// A unit of training is a run of whole sentences, about unitTokens tokens. Its
// last minibatch may be smaller.
type Vanilla struct {
	*Model // with the number of minibatches, see Trained
	*iteration
	*Minibatches
	batch *pairBatch
	list  *batchList // of the words of batch, if words are composed, else nil
	step  *pairsStep
}

// Minibatches are those that W2V-Vanilla trains on, without what is trained.
type Minibatches struct {
	text      *corpus.Text
	noise     *corpus.Alias
	negatives int    // of a pair
	seed      uint64 // of the negatives
	pairs     VanillaOptions
	sentences *corpus.SentenceReader
	units     []int // first sentence of each unit of an epoch, and the end
}

// NewMinibatches returns the minibatches of a corpus. Negatives are drawn from noise, which must have one
// weight for each word.
func NewMinibatches(text *corpus.Corpus, noise *corpus.Alias, o VanillaOptions, c Options) (*Minibatches, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if noise.Len() != text.Vocabulary.Len() {
		return nil, fmt.Errorf("negatives are drawn from %d words, but the vocabulary has %d", noise.Len(), text.Vocabulary.Len())
	}
	m := &Minibatches{text: text.Text(), noise: noise, negatives: c.Negatives, seed: c.Seed, pairs: o}
	m.sentences = corpus.NewSentenceReader(text, o.sentenceOptions(c.Seed))
	if m.units = cut(m.text, o.UnitTokens()); len(m.units) < 2 {
		return nil, fmt.Errorf("the corpus has no sentence to train on")
	}
	return m, nil
}

var (
	_ trainer.Trainer   = (*Vanilla)(nil)
	_ trainer.Composing = (*Vanilla)(nil)
	_ trainer.Drawable  = (*Vanilla)(nil)
)

// MinibatchesTensor is the name of the tensor of State that counts the minibatches trained so far, as
// digits of base 2^20: so the number is exact as float32.
const MinibatchesTensor = "minibatches"

const minibatchesDigits = 2

// UnitPairs estimates the most positive pairs of a unit: those of windows of full size.
func UnitPairs(o VanillaOptions) int { return unitTokens * 2 * o.Window }

const (
	unitTokens = 1 << 16
	countBase  = 1 << 20
)

// PlanVanilla asks an account for what NewVanilla takes for a vocabulary of the given size, the
// corpus not counted.
func PlanVanilla(a *trainer.Account, words int, o VanillaOptions, c Options) error {
	c.Account = a
	_, _, err := allocateVanilla(words, o, c)
	return err
}

// allocateVanilla returns the model and an empty batch. It takes what a minibatch, Gorgonia and the
// encoder allocate themselves.
func allocateVanilla(words int, o VanillaOptions, c Options) (m *Model, b *pairBatch, err error) {
	if m, err = NewModel(words, OfMinibatches, c); err != nil {
		return nil, nil, err
	}
	c = m.options
	a, entries := c.Account, o.Batch*(1+c.Negatives)
	b = &pairBatch{
		width: 1 + c.Negatives, words: trainer.Of[uint32](a, trainer.ForWork, entries), contexts: trainer.Of[uint32](a, trainer.ForWork, entries),
	}
	v := int64(words)
	batch := min(int64(o.Batch), v) // different words in a minibatch at most
	work := 40*int64(entries) + 8*v // the pairs grouped by their rows, and where these are
	if c.Encoder != nil {
		rows, gradient := c.Encoder.Bytes() // of the vocabulary; a minibatch has a part of it
		work += rows + (rows+gradient)*batch/v + 4*v
		for _, p := range m.encoder.parameters {
			work += 4 * int64(p.Value.Shape().TotalSize()) // its gradient
		}
	}
	a.Take(trainer.ForWork, work+4*batch*int64(c.Dim))
	return m, b, a.Err()
}

// NewVanilla prepares training on a corpus. Negatives are drawn from noise,
// which must have one weight for each word. An encoder's parameters are
// randomized.
func NewVanilla(text *corpus.Corpus, noise *corpus.Alias, o VanillaOptions, c Options) (*Vanilla, error) {
	v := text.Vocabulary.Len()
	if c.SharedNegatives > 0 || c.Composition != nil {
		return nil, fmt.Errorf("%d shared negatives, or rows that are means of parts: only W2V-CL has some", c.SharedNegatives)
	}
	minibatches, err := NewMinibatches(text, noise, o, c)
	if err != nil {
		return nil, err
	}
	model, batch, err := allocateVanilla(v, o, c)
	if err != nil {
		return nil, err
	}
	t := &Vanilla{Model: model, iteration: newIteration(), Minibatches: minibatches, batch: batch}
	t.build()
	return t, t.compile()
}

// build makes the graph: one node, or, if words are composed, the composing of a minibatch's words, its loss, and the
// updates of the parameters.
func (t *Vanilla) build() {
	size, everyRow := t.pairs.Batch, t.pairs.Dense
	if t.encoder == nil {
		t.step = newPairsStep(t.words, t.contexts, t.batch, everyRow, t.team)
		t.step.train(t.iteration)
		return
	}
	t.list = &batchList{slots: make([]uint32, t.encoder.encoder.Words()), words: make([]uint32, size)}
	step := newComposedPairs(size, t.contexts, t.batch, everyRow, t.team)
	t.step, t.encoder.sparse = step.pairs, !everyRow
	rows := t.encoder.composeBatch(t.iteration, t.list.words)
	t.encoder.update(t.iteration, nil, step.train(t.iteration, rows))
}

// UnitTokens returns how many tokens a unit has at least.
func (o VanillaOptions) UnitTokens() int {
	const unitsOfRun = 256
	if o.Unit == 0 && o.RunTokens > 0 {
		return min(max(o.RunTokens/unitsOfRun, 1), unitTokens)
	}
	return cmp.Or(o.Unit, unitTokens)
}

// cut returns the first sentence of each unit of an epoch, of so many tokens at least, and the end.
func cut(text *corpus.Text, tokens int) []int {
	units, sentence, last := []int{0}, 0, 0
	if text.Sentences() > 0 {
		text.EachStart(func(starts []int) {
			for _, start := range starts {
				if start-last >= tokens || sentence == text.Sentences() {
					units, last = append(units, sentence), start
				}
				sentence++
			}
		})
	}
	return units
}

// Units is the number of units of all epochs.
func (m *Minibatches) Units() int { return m.pairs.Epochs * (len(m.units) - 1) }

// Advance trains one unit at the given learning rate. The unit's pairs and their
// negatives follow from its number alone.
func (t *Vanilla) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	r := t.reader(unit, t.sentences)
	report := trainer.Report{Words: t.UnitWords(unit)}
	// An encoder standardizes by the whole vocabulary, but a minibatch holds a
	// part of it. So it is brought up to date once a unit.
	if err := t.Refresh(); err != nil {
		return trainer.Report{}, fmt.Errorf("unit %d: %w", unit, err)
	}
	for {
		if err := ctx.Err(); err != nil {
			return trainer.Report{}, err
		}
		r.fill(t.batch)
		if len(t.batch.words) == 0 {
			return report, nil
		}
		loss, err := t.minibatch(rate)
		if err != nil {
			return trainer.Report{}, fmt.Errorf("unit %d, minibatch %d: %w", unit, t.Trained(), err)
		}
		report.Loss += loss
		report.Pairs += float64(len(t.batch.words))
	}
}

// minibatch trains the one that batch has.
func (t *Vanilla) minibatch(rate float64) (loss float64, err error) {
	t.SetTrained(t.Trained() + 1)
	if t.list != nil {
		t.list.number(t.batch)
	}
	err = t.run(t.Trained(), rate)
	return t.step.loss, err
}

// Minibatch trains a minibatch of the form that Minibatches returns, wherever it comes from.
func (t *Vanilla) Minibatch(words, contexts []uint32, rate float64) (loss float64, err error) {
	t.batch.words, t.batch.contexts = append(t.batch.words[:0], words...), append(t.batch.contexts[:0], contexts...)
	return t.minibatch(rate)
}

// Of returns the minibatches of a unit in their order, without training: entry
// e = b(1+K)+k of a minibatch brings together row words[e] of W and row contexts[e] of C,
// and k = 0 is the positive. The slices are valid until the next one. Several goroutines
// may read different units.
func (m *Minibatches) Of(unit int) iter.Seq2[[]uint32, []uint32] {
	return func(yield func(words, contexts []uint32) bool) {
		r, b := m.reader(unit, m.sentences.Clone()), &pairBatch{width: 1 + m.negatives}
		for r.fill(b); len(b.words) > 0; r.fill(b) {
			if !yield(b.words, b.contexts) {
				return
			}
		}
	}
}

// UnitWords returns the number of words of a unit's text.
func (m *Minibatches) UnitWords(unit int) float64 {
	u := unit % (len(m.units) - 1)
	return float64(m.text.Start(m.units[u+1]) - m.text.Start(m.units[u]))
}

// A minibatchReader reads the minibatches of a unit.
type minibatchReader struct {
	pairs     *pairReader
	noise     *corpus.Alias
	negatives *draws
	size      int // positives of a minibatch
}

func (m *Minibatches) reader(unit int, sentences *corpus.SentenceReader) *minibatchReader {
	epoch, u := unit/(len(m.units)-1), unit%(len(m.units)-1)
	return &minibatchReader{
		pairs: newPairReader(sentences, m.pairs.Window, uint32(epoch), m.units[u], m.units[u+1]),
		noise: m.noise, negatives: newDraws(m.seed, corpus.StreamNegatives.Sub(uint32(unit)), 0), size: m.pairs.Batch,
	}
}

// fill makes the next minibatch: up to Batch positive pairs, K negatives each.
func (r *minibatchReader) fill(b *pairBatch) {
	b.words, b.contexts = b.words[:0], b.contexts[:0]
	for len(b.words) < r.size*b.width {
		word, context, ok := r.pairs.next()
		if !ok {
			return
		}
		b.words, b.contexts = append(b.words, word), append(b.contexts, context)
		for range b.width - 1 {
			b.words = append(b.words, word)
			b.contexts = append(b.contexts, r.noise.Draw(r.negatives.next()))
		}
	}
}

// Trained returns the number of minibatches that a model of W2V-Vanilla was trained on so far.
func (m *Model) Trained() int { return int(m.counts.Data[0])*countBase + int(m.counts.Data[1]) }

// SetTrained sets that number, for who trains the minibatches elsewhere.
func (m *Model) SetTrained(n int) {
	m.counts.Data[0], m.counts.Data[1] = float32(n/countBase), float32(n%countBase)
}
