package devicetest

import (
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/kernels/cuda/fullw2v"
)

// NewFullW2V returns kernels of FULL-W2V, with one sentence in flight.
func (d *Device) NewFullW2V(c fullw2v.Config) (device.FullW2VKernels, error) {
	d.Open++
	d.TextTokens = c.TextTokens
	return &fullW2VKernels{
		device: d, Config: c,
		words: make([]float32, c.Vocabulary*c.Dim), contexts: make([]float32, c.Vocabulary*c.Dim),
	}, d.Fail
}

type fullW2VKernels struct {
	device *Device
	fullw2v.Config
	words, contexts []float32 // W and C
}

func (k *fullW2VKernels) Close() error { k.device.Open--; return nil }

func (k *fullW2VKernels) SetTables(words, contexts []float32) error {
	copy(k.words, words)
	copy(k.contexts, contexts)
	return k.device.Fail
}

func (k *fullW2VKernels) Tables(words, contexts []float32) error {
	copy(words, k.words)
	copy(contexts, k.contexts)
	return k.device.Fail
}

func (k *fullW2VKernels) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	units := len(k.Units) - 1
	losses, pairs = make([]float64, len(rates)), make([]float64, len(rates))
	for i, rate := range rates {
		epoch, unit := (first+i)/units, (first+i)%units
		for n := k.Units[unit]; n < k.Units[unit+1]; n++ {
			l, p := k.sentence(uint32(epoch), n, float64(rate))
			losses[i], pairs[i] = losses[i]+l, pairs[i]+p
		}
	}
	return losses, pairs, k.device.launch(len(rates), &losses[0])
}

// sentence trains a sentence; see fullw2v.cu.
func (k *fullW2VKernels) sentence(epoch uint32, number int, rate float64) (loss, pairs float64) {
	first := k.Sentences[number]
	var kept []uint32 // words that subsampling leaves
	for i := first; i < k.Sentences[number+1]; i++ {
		if w := k.Tokens[i]; randomBits(k.Seed, corpus.StreamSubsample.Sub(epoch), uint64(i)) <= k.Keep[w] {
			kept = append(kept, w)
		}
	}
	for t := range kept {
		l, p := k.window(epoch, first, kept, t, rate)
		loss, pairs = loss+l, pairs+p
	}
	return loss, pairs
}

// window trains the window around word t of a sentence that begins with token first.
func (k *fullW2VKernels) window(epoch uint32, first int, kept []uint32, t int, rate float64) (loss, pairs float64) {
	outputs := k.outputs(epoch, first+t, kept[t])
	oldWords, oldContexts := slices.Clone(k.words), slices.Clone(k.contexts)
	for i := max(0, t-k.Radius); i <= min(t+k.Radius, len(kept)-1); i++ {
		if i == t {
			continue
		}
		for n, output := range outputs {
			in, out := int(kept[i])*k.Dim, int(output)*k.Dim
			score := dot(oldWords[in:][:k.Dim], oldContexts[out:][:k.Dim])
			g := -sigmoid(score)
			if n == 0 {
				g++
			}
			loss, pairs = loss+lossOf(score, n == 0), pairs+1
			for j := range k.Dim {
				k.words[in+j] += float32(rate * g * float64(oldContexts[out+j]))
				k.contexts[out+j] += float32(rate * g * float64(oldWords[in+j]))
			}
		}
	}
	return loss, pairs
}

// outputs returns the word in the middle of a window and the negatives drawn for it. token
// numbers the window.
func (k *fullW2VKernels) outputs(epoch uint32, token int, middle uint32) []uint32 {
	outputs := []uint32{middle}
	perWindow := (k.Negatives + 3) / 4 * 4
	for n := range k.Negatives {
		j := uint64(token*perWindow + n)
		drawn := draw(k.Alias, randomBits(k.Seed, corpus.StreamNegatives.Sub(epoch), j))
		for a := uint64(0); drawn == middle; a++ {
			drawn = draw(k.Alias, corpus.Philox(k.Seed, corpus.StreamRedraws.Sub(epoch), j|a/4<<56)[a%4])
		}
		outputs = append(outputs, drawn)
	}
	return outputs
}
