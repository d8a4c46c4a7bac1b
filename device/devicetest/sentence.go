package devicetest

import (
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
)

// NewSentence returns kernels of a sentence-ordered mode, with one sentence in flight on each of Parts GPUs.
func (d *Device) NewSentence(c sentence.Config) (device.SentenceKernels, error) {
	d.TextTokens = c.TextTokens
	if d.Parts > 1 {
		return d.newSentences(c)
	}
	d.Open++
	return d.newSentenceKernels(c), d.Fail
}

func (d *Device) newSentenceKernels(c sentence.Config) *sentenceKernels {
	return &sentenceKernels{
		device: d, Config: c,
		words: make([]float32, c.Vocabulary*c.Dim), contexts: make([]float32, c.Vocabulary*c.Dim),
	}
}

type sentenceKernels struct {
	device *Device
	sentence.Config
	words, contexts []float32 // W and C

	oldWords, oldContexts []float32 // as they were before the product under way
	loss, pairs, rate     float64   // of the unit under way
	epoch                 uint32
}

func (k *sentenceKernels) Close() error { k.device.Open--; return nil }

func (k *sentenceKernels) SetTables(words, contexts []float32) error {
	copy(k.words, words)
	copy(k.contexts, contexts)
	return k.device.Fail
}

func (k *sentenceKernels) Tables(words, contexts []float32) error {
	copy(words, k.words)
	copy(contexts, k.contexts)
	return k.device.Fail
}

func (k *sentenceKernels) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	for i, rate := range rates {
		k.unit(first+i, rate)
		losses, pairs = append(losses, k.loss), append(pairs, k.pairs)
	}
	return losses, pairs, k.device.launch(len(rates), &losses[0])
}

// unit trains a unit, counted over the epochs.
func (k *sentenceKernels) unit(number int, rate float32) {
	units := len(k.Units) - 1
	k.loss, k.pairs, k.rate, k.epoch = 0, 0, float64(rate), uint32(number/units)
	for n := k.Units[number%units]; n < k.Units[number%units+1]; n++ {
		k.sentence(n)
	}
}

// sentence trains a sentence; see windows.cuh, word2vec.cu and parw2v.cu.
func (k *sentenceKernels) sentence(number int) {
	first := k.Text.Start(number)
	var kept []uint32 // words that subsampling leaves
	var widths []int  // of their windows
	tokens := make([]uint32, k.Text.Start(number+1)-first)
	k.Text.Copy(tokens, first)
	for i := first; i < k.Text.Start(number+1); i++ {
		if w := tokens[i-first]; k.random(corpus.StreamSubsample, uint64(i)) <= k.Keep[w] {
			kept = append(kept, w)
			width := k.Radius
			if k.Mode.Dynamic() {
				width = 1 + int(corpus.Below(k.random(corpus.StreamWindow, uint64(i)), uint32(k.Radius)))
			}
			widths = append(widths, width)
		}
	}
	for t, middle := range kept {
		around := append(slices.Clone(kept[max(0, t-widths[t]):t]), kept[t+1:min(t+widths[t]+1, len(kept))]...)
		number := uint64((first + t) * k.PerWindow())
		switch k.Mode {
		case sentence.Word2Vec:
			for i, word := range around {
				k.product([]uint32{word}, k.outputs(number+uint64(i*k.Negatives), middle), 0)
			}
		case sentence.CBOW:
			if len(around) > 0 {
				k.mean(around, k.outputs(number, middle))
			}
		case sentence.PARW2V:
			k.product(around, []uint32{middle}, 0)
		default:
			k.product(around, k.outputs(number, middle), 0)
		}
	}
	if k.Mode == sentence.PARW2V {
		k.repel(first, kept)
	}
}

func (k *sentenceKernels) random(s corpus.Stream, number uint64) uint32 {
	return randomBits(k.Seed, s.Sub(k.epoch), number)
}

// outputs returns the word in the middle of a window and the negatives drawn for it, from a
// number of the stream on.
func (k *sentenceKernels) outputs(number uint64, middle uint32) []uint32 {
	outputs := []uint32{middle}
	for j := number; j < number+uint64(k.Negatives); j++ {
		drawn := draw(k.Alias, k.random(corpus.StreamNegatives, j))
		for a := uint64(0); drawn == middle; a++ {
			drawn = draw(k.Alias, corpus.Philox(k.Seed, corpus.StreamRedraws.Sub(k.epoch), j|a/4<<56)[a%4])
		}
		outputs = append(outputs, drawn)
	}
	return outputs
}

// repel is the second part of a sentence of PAR-Word2Vec.
func (k *sentenceKernels) repel(first int, kept []uint32) {
	for b := 0; b < len(kept); b += k.Batch {
		most := 2 * k.Radius
		if b < k.Radius || len(kept)-1-b < k.Radius {
			most = k.Radius
		}
		number := uint64((first + b) * k.PerWindow())
		count := k.Negatives * (1 + int(corpus.Below(k.random(corpus.StreamNegatives, number), uint32(most))))
		var negatives []uint32
		for j := range count {
			negatives = append(negatives, draw(k.Alias, k.random(corpus.StreamNegatives, number+1+uint64(j))))
		}
		for eight := range slices.Chunk(negatives, 8) {
			k.product(kept[b:min(b+k.Batch, len(kept))], eight, -1)
		}
	}
}

// product trains rows of W with rows of C, of which one is positive.
func (k *sentenceKernels) product(inputs, outputs []uint32, positive int) {
	k.oldWords, k.oldContexts = append(k.oldWords[:0], k.words...), append(k.oldContexts[:0], k.contexts...)
	for _, input := range inputs {
		for n, output := range outputs {
			in, out := int(input)*k.Dim, int(output)*k.Dim
			g := k.pair(k.oldWords[in:][:k.Dim], k.oldContexts[out:][:k.Dim], n == positive)
			for j := range k.Dim {
				k.words[in+j] += float32(g * float64(k.oldContexts[out+j]))
				k.contexts[out+j] += float32(g * float64(k.oldWords[in+j]))
			}
		}
	}
}

// pair counts a pair and returns the coefficient of its step.
func (k *sentenceKernels) pair(a, b []float32, positive bool) float64 {
	score := dot(a, b)
	k.loss, k.pairs = k.loss+lossOf(score, positive), k.pairs+1
	if positive {
		return k.rate * (1 - sigmoid(score))
	}
	return -k.rate * sigmoid(score)
}

// mean trains the mean of rows of W with rows of C, of which the first is positive.
func (k *sentenceKernels) mean(inputs, outputs []uint32) {
	k.oldContexts = append(k.oldContexts[:0], k.contexts...)
	mean, step := make([]float32, k.Dim), make([]float64, k.Dim)
	for _, input := range inputs {
		for j := range mean {
			mean[j] += k.words[int(input)*k.Dim+j] / float32(len(inputs))
		}
	}
	for n, output := range outputs {
		out := int(output) * k.Dim
		g := k.pair(mean, k.oldContexts[out:][:k.Dim], n == 0)
		for j := range mean {
			step[j] += g * float64(k.oldContexts[out+j])
			k.contexts[out+j] += float32(g * float64(mean[j]))
		}
	}
	for _, input := range inputs {
		for j := range mean {
			k.words[int(input)*k.Dim+j] += float32(step[j])
		}
	}
}
