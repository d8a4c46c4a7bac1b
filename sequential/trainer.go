package sequential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Trainer trains word vectors in the order of the sentences.
//
// A unit of training is a run of whole sentences. Its number of tokens follows
// from the text and the options, without the number of threads. It is about 1/256
// of the run, for a learning rate that is constant in a unit then decays in 256 steps or
// more, but at most unitTokens. Algorithms that span sentences have longer units, and rows that
// are composed shorter ones: see Descriptor.unit. Threads meet at the end of the unit.
//
// Each thread has a stretch of the text of its own, as in word2vec.c, and a unit
// is a piece of every stretch. Near each other in the text the same words come
// again: threads that were there at the same time would wait for each other's
// rows, and train from old ones. A thread that is done with its piece helps
// others, a few sentences at a time. If the number of threads changes between two
// units of an epoch, the rest of the epoch is cut anew: some sentences then come
// twice in it, and some not at all.
type Trainer struct {
	text            *corpus.Corpus
	sentences       *corpus.Text // of text
	options         Options
	units           []int     // first token of each unit of an epoch, with one thread, and the end
	chunk           int       // tokens of the sentences that a thread takes at a time, at least
	words, contexts []float32 // W and C, (V, N); the threads' copies of rows lie behind C
	nodes           []float32 // of the tree of hierarchical softmax, (V, N), with the copies behind it in place of C's; else nil
	workers         []*worker
}

const (
	unitTokens  = 1 << 20
	unitsOfRun  = 256
	chunkTokens = 1 << 8 // of the sentences that a thread takes at a time, at least

	// Of algorithms that span sentences. A thread has no longer a span than its part of a
	// unit. So units are as long as a good decay of the learning rate allows, and no longer
	// than a full span on each of many threads takes.
	unitsOfSpanningRun = 64
	spansOfUnit        = 16

	// Of rows that are composed: on a GPU the parts learn at the end of a unit.
	composedTokens = 1 << 17
)

// unit returns how many tokens a unit has at least, in a text of so many.
func (d Descriptor) unit(tokens int, c *Options) int {
	if c.Unit > 0 {
		return c.Unit
	}
	if d.spans {
		return min(max(c.partOfRun(tokens, unitsOfSpanningRun), 1), spansOfUnit*c.Span)
	}
	if c.Composition != nil {
		return min(ordinaryUnit(tokens, c), composedTokens)
	}
	return ordinaryUnit(tokens, c)
}

func ordinaryUnit(tokens int, c *Options) int {
	return min(max(c.partOfRun(tokens, unitsOfRun), 1), unitTokens)
}

// Run returns the length of a run on a text: so many tokens, so many times. A run that a budget ends has far more Epochs than it trains.
func (c *Options) Run(tokens int) (words, epochs int) {
	if c.RunTokens > 0 {
		return c.RunTokens, 1
	}
	return tokens, c.Epochs
}

// partOfRun returns the tokens of one of so many parts of a run on a text.
func (c *Options) partOfRun(tokens, parts int) int {
	words, epochs := c.Run(tokens)
	return words / parts * epochs
}

// chunk returns how many tokens the sentences have that a thread takes at a time, at
// least.
func (d Descriptor) chunk(c *Options) int {
	if d.spans {
		return c.Span
	}
	if c.Composition != nil {
		return c.Block
	}
	return chunkTokens
}

// New prepares training on a text. Negatives are drawn from noise, which must
// have one weight for each word; hierarchical softmax needs none.
func New(text *corpus.Corpus, noise *corpus.Alias, c Options) (*Trainer, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := check(text, noise, c); err != nil {
		return nil, err
	}
	if c.Composition != nil {
		if err := checkComposition(c.Composition, text); err != nil {
			return nil, err
		}
	}
	d, err := Find(c.Algorithm)
	if err != nil {
		return nil, err
	}
	v, sentences := text.Vocabulary.Len(), text.Text()
	units := c.Part.cut(sentences, d, &c)
	unit := sentences.Tokens() / (len(units) - 1)
	copied := copiedWords(v, unit, &c)
	words, contexts, outputs := allocate(v, unit, &d, &c)
	if err := c.Account.Err(); err != nil {
		return nil, err
	}
	t := &Trainer{
		text: text, sentences: sentences, options: c, units: units, chunk: d.chunk(&c),
		words: words, contexts: outputs[: v*c.Dim : v*c.Dim],
	}
	var tree *tree
	if c.HierarchicalSoftmax {
		t.nodes, t.contexts = t.contexts, contexts
		tree = newTree(text.Vocabulary.Counts)
	}
	if c.Idle {
		return t, nil
	}
	t.Reset()
	reader := corpus.NewSentenceReader(text, corpus.SentenceOptions{
		Seed: c.Seed, Sample: c.Sample, Window: c.Window, Dynamic: !d.FixedWindow,
	}).From(c.Part.First)
	for thread := range c.Threads {
		m := &model{
			Options: c, words: t.words, contexts: outputs, noise: noise, tree: tree,
			copies: newCopies(outputs, v, copied, thread, &c),
		}
		m.product.dim = c.Dim
		w := &worker{reader: reader.Clone(), text: sentences, part: c.Part.First, model: m, algorithm: d.create(m)}
		if c.Composition != nil {
			w.block = newBlock(&c)
		}
		t.workers = append(t.workers, w)
	}
	return t, nil
}

// check returns why a text and its noise cannot be trained on.
func check(text *corpus.Corpus, noise *corpus.Alias, c Options) error {
	v := text.Vocabulary.Len()
	switch {
	case !c.HierarchicalSoftmax && noise.Len() != v:
		return fmt.Errorf("negatives are drawn from %d words, but the vocabulary has %d", noise.Len(), v)
	case v < 2:
		return fmt.Errorf("the vocabulary has %d word; two are needed, for a word cannot be its own negative", v)
	}
	return text.Text().Check(v) // the kernels do not look
}

// cut cuts the sentences into units of so many tokens at least: it returns the first token
// of each, and the end.
func cut(sentences *corpus.Text, tokens int) []int {
	end := sentences.Start(sentences.Sentences())
	units := []int{0}
	for {
		// The first sentence that starts so many tokens behind the last unit's.
		_, next := sentences.FindStart(units[len(units)-1] + tokens)
		units = append(units, next)
		if next == end {
			return units
		}
	}
}

// Bounds returns what [Trainer.Bounds] of a trainer of the whole text does.
func Bounds(sentences *corpus.Text, c Options) ([]int, error) {
	unit, err := UnitTokens(sentences, c)
	if err != nil {
		return nil, err
	}
	return firsts(sentences, cut(sentences, unit)), nil
}

// UnitTokens returns how many tokens a unit of a trainer of the whole text has at least.
func UnitTokens(sentences *corpus.Text, c Options) (int, error) {
	d, err := Find(c.Algorithm)
	c.Span = cmp.Or(c.Span, DefaultSpan)
	return d.unit(sentences.Tokens(), &c), err
}

func firsts(sentences *corpus.Text, tokens []int) (found []int) {
	for _, token := range tokens {
		found = append(found, sentences.Find(token))
	}
	return found
}

// piece returns the first and the end of the sentences of unit u of an epoch in
// a thread's stretch: with one thread the unit itself, with more as much of the
// stretch as the unit was of the text.
func (t *Trainer) piece(u, thread int) (first, end int) {
	tokens := t.sentences.Tokens()
	at := func(u int) int { return t.sentences.Find((tokens*thread + t.units[u]) / len(t.workers)) }
	return at(u), at(u + 1)
}

// Units is the number of units of all epochs.
func (t *Trainer) Units() int { return t.options.Epochs * (len(t.units) - 1) }

// Bounds returns the number of the first sentence of each unit of an epoch, and
// the end.
func (t *Trainer) Bounds() []int { return firsts(t.sentences, t.units) }

// Batch returns how many words share negatives in PAR-Word2Vec.
func (t *Trainer) Batch() int { return t.options.Batch }

// Advance trains one unit at the given learning rate. With one thread the
// result follows from the unit's number and the tables alone. The report's Words
// are tokens before subsampling. After an error the tables are of no use.
func (t *Trainer) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	if unit < 0 || unit >= t.Units() {
		return trainer.Report{}, fmt.Errorf("there is no unit %d: units are 0 to %d", unit, t.Units()-1)
	}
	if t.options.Idle {
		return trainer.Report{}, errors.New("the tables of a device are not trained on the host")
	}
	epoch, u := unit/(len(t.units)-1), unit%(len(t.units)-1)
	sentences := t.sentences
	var rest queues
	tokens := 0
	for thread := range t.workers {
		first, end := t.piece(u, thread)
		rest = append(rest, newQueue(first, end, (sentences.Sentences()+1)*t.chunk/sentences.Tokens()))
		tokens += sentences.Start(end) - sentences.Start(first)
	}

	t.each(func(thread int, w *worker) {
		w.begin(uint32(epoch), float32(rate))
		for ctx.Err() == nil {
			first, end := rest.take(thread)
			if first == end {
				return
			}
			w.train(first, end)
		}
	})
	if t.workers[0].model.copies.count > 0 {
		t.each(t.settle)
	}
	report := trainer.Report{Words: float64(tokens)}
	for _, w := range t.workers {
		report.Loss += w.model.loss.Total()
		report.Pairs += float64(w.model.pairs)
	}
	return report, ctx.Err()
}

// each calls f for each worker, on its thread, and waits for all.
func (t *Trainer) each(f func(thread int, w *worker)) {
	if len(t.workers) == 1 {
		f(0, t.workers[0])
		return
	}
	var working sync.WaitGroup
	for thread, w := range t.workers {
		working.Go(func() { f(thread, w) })
	}
	working.Wait()
}

// settle brings C up to date with all threads' copies, one part of them on each
// thread.
func (t *Trainer) settle(thread int, w *worker) {
	threads, count := len(t.workers), int(w.model.copies.count)
	for _, other := range t.workers {
		other.model.copies.settle(uint32(thread*count/threads), uint32((thread+1)*count/threads))
	}
}

// Tables returns W and C, (V, N) in row-major order, live. Refresh brings a W that is composed
// up to date.
func (t *Trainer) Tables() (words, contexts []float32) { return t.words, t.contexts }

// State returns everything that training changes, live, in a fixed order.
func (t *Trainer) State() []trainer.Tensor {
	state := []trainer.Tensor{{Name: "words", Data: t.words}, {Name: "contexts", Data: t.contexts}}
	if c := t.options.Composition; c != nil {
		state = composedState(c, t.contexts)
	}
	if t.nodes != nil {
		state = append(state, trainer.Tensor{Name: "nodes", Data: t.nodes})
	}
	return state
}

// Reset goes back to the start of training: W uniform in ±0.5/N and C zero, as
// in word2vec, except for what Options.Start says; nodes zero.
func (t *Trainer) Reset() {
	words, contexts := t.words, t.contexts
	if c := t.options.Composition; c != nil {
		c.Randomize(t.options.Seed)
		words = nil
	} else {
		trainer.Randomize(words, t.options.Dim, t.options.Seed)
	}
	trainer.Clear(t.contexts)
	if clear(t.nodes); t.nodes != nil {
		contexts = nil // they are not trained
	}
	if t.options.Start != nil {
		t.options.Start(words, contexts)
	}
}

// Close has nothing to release.
func (t *Trainer) Close() error { return nil }

// A worker trains sentences on one thread.
type worker struct {
	reader    *corpus.SentenceReader
	text      *corpus.Text
	part      int // number of the text's first token, if it is a part of a longer one
	epoch     uint32
	sentence  sentence
	model     *model
	algorithm algorithm
	block     *block // of composed rows; nil: W is a table
}

// begin sets the worker up for a unit.
func (w *worker) begin(epoch uint32, rate float32) {
	w.model.copies.take()
	w.epoch, w.model.negatives.epoch = epoch, epoch
	w.model.rate, w.model.loss, w.model.pairs = rate, simd.NewLoss(), 0
}

func (w *worker) train(first, end int) {
	for w.block != nil && first < end {
		first = w.trainBlock(first, end)
	}
	for n := first; n < end; n++ {
		words, widths := w.reader.Sentence(w.epoch, n)
		w.sentence = sentence{first: w.part + w.text.Start(n), words: words, inputs: words, widths: widths}
		w.algorithm.train(&w.sentence)
	}
	if s, ok := w.algorithm.(spanning); ok {
		s.flush()
	}
}
