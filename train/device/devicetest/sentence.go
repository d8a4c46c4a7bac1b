package devicetest

import (
	"context"
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// NewSentence returns kernels of a sentence-ordered mode on each of Parts GPUs.
func (d *Device) NewSentence(c sentence.Options) (device.SentenceKernels, error) {
	if d.Parts > 1 {
		return d.newSentences(c)
	}
	return d.newSentence(c, nil)
}

// NewComposed returns kernels whose W is composed of parts.
func (d *Device) NewComposed(c sentence.Options, x *composed.Composition) (device.ComposedKernels, error) {
	return d.newSentence(c, x)
}

func (d *Device) newSentence(c sentence.Options, x *composed.Composition) (*sentenceKernels, error) {
	k := &sentenceKernels{Options: c, composition: x}
	err := d.Fail
	if err == nil {
		k.sample, err = sampleOf(c.Counts, c.Keep)
	}
	if err == nil {
		k.noise, err = noiseOf(c.Alias)
	}
	if err == nil {
		k.vocabulary, err = vocabularyOf(c.Counts)
	}
	if err != nil {
		return nil, err
	}
	k.memory = newMemory(d, k.newState())
	d.Sentence = c
	d.Open++
	return k, nil
}

// sentenceKernels have a sequential.Trainer do the work: a new one for each unit, on the unit's text.
type sentenceKernels struct {
	memory
	sentence.Options
	composition *composed.Composition // nil: W is a table
	noise       *corpus.Alias
	sample      float64
	vocabulary  *corpus.Vocabulary
}

// newState returns the tensors of a trainer, which has no others.
func (k *sentenceKernels) newState() (state []trainer.Tensor) {
	add := func(name string, rows int) {
		state = append(state, trainer.Tensor{Name: name, Data: make([]float32, rows*k.Dim)})
	}
	switch x := k.composition; {
	case x == nil:
		add("words", k.Vocabulary)
	case x.Own != nil:
		add("parts", x.PartCount())
		add("own", k.Vocabulary)
	default:
		add("parts", x.PartCount())
	}
	add("contexts", k.Vocabulary)
	return state
}

func (k *sentenceKernels) Close() error { k.device.Open--; return nil }

func (k *sentenceKernels) SetTables(words, contexts []float32) error {
	_ = k.Send("words", words)
	return k.Send("contexts", contexts)
}

func (k *sentenceKernels) Tables(words, contexts []float32) error {
	_ = k.Receive("words", words)
	return k.Receive("contexts", contexts)
}

func (k *sentenceKernels) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	for i, rate := range rates {
		r, err := k.unit(first+i, rate)
		if err != nil {
			return nil, nil, err
		}
		losses, pairs = append(losses, r.Loss), append(pairs, r.Pairs)
	}
	return losses, pairs, k.device.launch(len(rates), &losses[0])
}

// unit trains a unit, counted over the epochs.
func (k *sentenceKernels) unit(number int, rate float32) (trainer.Report, error) {
	units := len(k.Units) - 1
	first, end := k.Units[number%units], k.Units[number%units+1]
	if first == end {
		return trainer.Report{}, nil
	}
	t, err := sequential.New(k.text(first, end), k.noise, k.options(k.Text.Start(first)))
	if err != nil {
		return trainer.Report{}, err
	}
	for i, tensor := range t.State() {
		copy(tensor.Data, k.state[i].Data)
	}
	r, err := t.Advance(context.Background(), number/units, float64(rate)) // the trainer has one unit an epoch
	for i, tensor := range t.State() {
		copy(k.state[i].Data, tensor.Data)
	}
	return r, err
}

func (k *sentenceKernels) text(first, end int) *corpus.Corpus {
	start := k.Text.Start(first)
	c := &corpus.Corpus{Vocabulary: k.vocabulary, Tokens: make([]uint32, k.Text.Start(end)-start)}
	k.Text.Copy(c.Tokens, start)
	for s := first; s <= end; s++ {
		c.Sentences = append(c.Sentences, k.Text.Start(s)-start)
	}
	return c
}

// options returns the options of the trainer of a unit, by number of its first token in the text.
func (k *sentenceKernels) options(token int) sequential.Options {
	c := sequential.Options{
		Algorithm: sequential.Algorithm(k.Mode), Dim: k.Dim, Window: k.Radius, Negatives: k.Negatives, Sample: k.sample, Epochs: k.Epochs,
		Seed: k.Seed, Threads: 1, Batch: k.Batch, Part: sequential.Part{First: token, Units: 1},
	}
	if k.Mode == sentence.CBOW {
		c.Algorithm, c.Model = sequential.Word2Vec, sequential.CBOW
	}
	if !k.Mode.Dynamic() {
		c.Window *= 2
	}
	if x := k.composition; x != nil {
		c.Composition = x.Empty()
		if c.Block = k.Block; k.Block == 0 {
			c.Block = math.MaxInt
		}
	}
	return c
}
