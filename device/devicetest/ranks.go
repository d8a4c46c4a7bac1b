package devicetest

import (
	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/sequential/combine"
)

var _ device.Joining = &Device{}

// NewSentencePart returns kernels that train as one of several GPUs does, with those of other ranks.
func (d *Device) NewSentencePart(c sentence.Config, ranks cluster.Comm) (device.SentencePart, error) {
	shards, err := c.Shards(ranks.Size())
	if err == nil {
		err = d.Fail
	}
	if err := cluster.Agree(ranks, err); err != nil {
		return nil, err
	}
	d.Open++
	p := &part{sentenceKernels: d.newSentenceKernels(shards[ranks.Rank()]), ranks: ranks, whole: c}
	p.baseWords, p.baseContexts = make([]float32, len(p.words)), make([]float32, len(p.contexts))
	p.combiner, err = combine.New(combine.Rule(c.Sync.Rule), ranks.Size())
	return p, err
}

// A part is the sentence-ordered kernels of a rank.
type part struct {
	*sentenceKernels
	ranks                   cluster.Comm
	whole                   sentence.Config // of all ranks
	combiner                *combine.Combiner
	baseWords, baseContexts []float32 // as they were combined last
}

func (p *part) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	for i, rate := range rates {
		p.unit(first+i, rate)
		losses, pairs = append(losses, p.loss), append(pairs, p.pairs)
		if err := p.combine(p.whole.CombinedAfter(first + i)); err != nil {
			return nil, nil, err
		}
	}
	return losses, pairs, p.device.launch(len(rates), &losses[0])
}

// combine combines the rows of the most frequent words.
func (p *part) combine(words int) error {
	for _, table := range []struct{ base, own []float32 }{{p.baseWords, p.words}, {p.baseContexts, p.contexts}} {
		all, err := cluster.Collect(p.ranks, table.own[:words*p.Dim])
		if err != nil {
			return err
		}
		for w := range words {
			row := table.base[w*p.Dim:][:p.Dim]
			changes := make([][]float32, len(all))
			for r := range all {
				for j, x := range all[r][w*p.Dim:][:p.Dim] {
					changes[r] = append(changes[r], x-row[j])
				}
			}
			p.combiner.Add(row, changes)
			copy(table.own[w*p.Dim:], row)
		}
	}
	return nil
}

func (p *part) SetTables(words, contexts []float32) error {
	copy(p.baseWords, words)
	copy(p.baseContexts, contexts)
	return p.sentenceKernels.SetTables(words, contexts)
}

func (p *part) Settle() error { return p.combine(p.whole.Vocabulary) }

func (p *part) Abort() {}

// NewCLPart returns kernels that compute all dimensions but give only those that a GPU of several has.
func (d *Device) NewCLPart(c cl.Config, ranks cluster.Comm) (device.CLPart, error) {
	k, err := d.NewCL(c, nil)
	if err := cluster.Agree(ranks, err); err != nil {
		return nil, err
	}
	return &clPart{k.(*clKernels), ranks}, nil
}

type clPart struct {
	*clKernels
	ranks cluster.Comm
}

// Receive leaves values of other ranks' quads as they are.
func (p *clPart) Receive(name string, values []float32) error {
	whole := make([]float32, len(values))
	err := p.clKernels.Receive(name, whole)
	for i, x := range whole {
		if i%p.Dim/4%p.ranks.Size() == p.ranks.Rank() {
			values[i] = x
		}
	}
	return err
}

func (p *clPart) Abort() {}
