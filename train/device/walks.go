package device

import (
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/walk"
)

// walksOf returns the walks that a text is, if a device with so many bytes free makes them itself. Otherwise it returns nil, and the
// host walks: the graph has to leave half of the memory for tables and text, and composed words are trained in pieces of sentences.
func walksOf(text *corpus.Corpus, c sequential.Options, free int64) *sentence.Walks {
	p, ok := text.Text().Source().(*walk.Plan)
	if !ok || c.Composition != nil {
		return nil
	}
	w := &sentence.Walks{
		Seed: p.Seed, Starts: p.Starts, Ends: p.Ends, Cells: p.Cells, FirstOrder: p.FirstOrder, Directed: p.Directed, Starters: p.Starters,
		Back: p.Back, Near: p.Near, Far: p.Far, Folded: p.Folded, FoldedAcceptance: p.FoldedAcceptance,
	}
	for round := range p.Rounds {
		o := p.Order(round)
		w.Orders = append(w.Orders, sentence.Order{Keys: o.Keys, Low: uint64(o.Low), High: uint64(o.High)})
	}
	if w.Bytes() > free/2 {
		return nil
	}
	return w
}
