package devicetest

import (
	"fmt"

	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
)

// NewComposed returns kernels whose W is composed of parts, with one sentence in flight.
func (d *Device) NewComposed(c sentence.Config, x sentence.Composition) (device.ComposedKernels, error) {
	if _, err := d.NewSentence(c); err != nil {
		return nil, err
	}
	k := &composedKernels{
		sentenceKernels: sentenceKernels{
			device: d, Config: c,
			words: make([]float32, c.Vocabulary*c.Dim), contexts: make([]float32, c.Vocabulary*c.Dim),
		},
		Composition: x, before: make([]float32, c.Vocabulary*c.Dim), parts: make([]float32, x.Parts*c.Dim),
	}
	if x.Own {
		k.own = make([]float32, c.Vocabulary*c.Dim)
	}
	return k, nil
}

// composedKernels do what composed.cu does.
type composedKernels struct {
	sentenceKernels
	sentence.Composition
	before, parts, own []float32
}

func (k *composedKernels) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	for i := range rates {
		k.compose()
		loss, count, err := k.sentenceKernels.Train(first+i, rates[i:][:1])
		if err != nil {
			return nil, nil, err
		}
		losses, pairs = append(losses, loss...), append(pairs, count...)
		k.spread(k.Undamped(rates[i], 1))
	}
	return losses, pairs, nil
}

// spread brings the changes of W to the parts.
func (k *composedKernels) spread(most float32) {
	users, damped := make([]int, k.Parts), make([]float32, k.Parts)
	sums := make([]float32, len(k.parts))
	for w := range k.Vocabulary {
		changed := false
		change := k.row(k.before, w)
		for j, x := range k.row(k.words, w) {
			change[j] = x - change[j]
			changed = changed || change[j] != 0
		}
		if !changed {
			continue
		}
		for _, g := range k.of(w) {
			users[g]++
			for j, x := range change {
				sums[int(g)*k.Dim+j] += k.Rate * x
			}
		}
	}
	for g, n := range users {
		damped[g] = 1
		if float32(n) > most {
			damped[g] = most / float32(n)
		}
		for j := range k.Dim {
			k.parts[g*k.Dim+j] += damped[g] * sums[g*k.Dim+j]
		}
	}
	for w := 0; w < k.Vocabulary && k.Own; w++ {
		rest := float32(1)
		for _, g := range k.of(w) {
			rest += 1 - k.Rate*damped[g]
		}
		own := k.row(k.own, w)
		for j, x := range k.row(k.before, w) {
			own[j] += rest * x
		}
	}
}

func (k *composedKernels) compose() {
	for w := range k.Vocabulary {
		row, rows := k.row(k.words, w), len(k.of(w))
		clear(row)
		if k.Own {
			copy(row, k.row(k.own, w))
			rows++
		}
		for _, g := range k.of(w) {
			for j := range row {
				row[j] += k.parts[int(g)*k.Dim+j]
			}
		}
		for j := range row {
			row[j] /= float32(rows)
		}
	}
	copy(k.before, k.words)
}

func (k *composedKernels) row(table []float32, w int) []float32 { return table[w*k.Dim:][:k.Dim] }

func (k *composedKernels) of(w int) []uint32 { return k.Symbols[k.Starts[w]:k.Starts[w+1]] }

func (k *composedKernels) Send(name string, values []float32) error {
	to, err := k.tensor(name)
	copy(to, values)
	return err
}

func (k *composedKernels) Receive(name string, values []float32) error {
	from, err := k.tensor(name)
	copy(values, from)
	return err
}

func (k *composedKernels) tensor(name string) ([]float32, error) {
	t, ok := map[string][]float32{"parts": k.parts, "own": k.own, "contexts": k.contexts}[name]
	if !ok {
		return nil, fmt.Errorf("there is no tensor %s", name)
	}
	return t, k.device.Fail
}
