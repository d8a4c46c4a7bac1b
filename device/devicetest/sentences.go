package devicetest

import (
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/sequential/combine"
)

// sentenceGroup are the kernels of several GPUs, each with a part of the text.
type sentenceGroup struct {
	*sentenceKernels // of no text: the tables as they were combined last
	parts            []*sentenceKernels
	combiner         *combine.Combiner
	changes          [][]float32
}

func (d *Device) newSentences(c sentence.Config) (device.SentenceKernels, error) {
	shards, err := c.Shards(d.Parts)
	if err != nil {
		return nil, err
	}
	d.Open++
	g := &sentenceGroup{sentenceKernels: d.newSentenceKernels(c), changes: make([][]float32, d.Parts)}
	for i, shard := range shards {
		g.parts = append(g.parts, d.newSentenceKernels(shard))
		g.changes[i] = make([]float32, c.Dim)
	}
	if g.combiner, err = combine.New(combine.Rule(c.Sync.Rule), d.Parts); err != nil {
		return nil, err
	}
	return g, d.Fail
}

func (g *sentenceGroup) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	for i, rate := range rates {
		var loss, count float64
		for _, k := range g.parts {
			k.unit(first+i, rate)
			loss, count = loss+k.loss, count+k.pairs
		}
		losses, pairs = append(losses, loss), append(pairs, count)
		g.combine(g.CombinedAfter(first + i))
	}
	return losses, pairs, g.device.launch(len(rates), &losses[0])
}

// combine combines the rows of the most frequent words.
func (g *sentenceGroup) combine(words int) {
	for w := range words {
		g.combineRow(w, g.words, func(k *sentenceKernels) []float32 { return k.words })
		g.combineRow(w, g.contexts, func(k *sentenceKernels) []float32 { return k.contexts })
	}
}

func (g *sentenceGroup) combineRow(word int, table []float32, of func(k *sentenceKernels) []float32) {
	row := func(table []float32) []float32 { return table[word*g.Dim:][:g.Dim] }
	base := row(table)
	for i, k := range g.parts {
		for j, x := range row(of(k)) {
			g.changes[i][j] = x - base[j]
		}
	}
	g.combiner.Add(base, g.changes)
	for _, k := range g.parts {
		copy(row(of(k)), base)
	}
}

func (g *sentenceGroup) SetTables(words, contexts []float32) error {
	for _, k := range g.parts {
		copy(k.words, words)
		copy(k.contexts, contexts)
	}
	return g.sentenceKernels.SetTables(words, contexts)
}

func (g *sentenceGroup) Tables(words, contexts []float32) error {
	g.combine(g.Vocabulary)
	return g.sentenceKernels.Tables(words, contexts)
}
