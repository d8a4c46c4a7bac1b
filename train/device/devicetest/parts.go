package devicetest

import (
	"sync"

	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/device"
)

var _ device.Joining = &Device{}

// NewSentencePart returns kernels that train as one of several GPUs does, with those of other ranks.
func (d *Device) NewSentencePart(c sentence.Options, ranks cluster.Comm) (device.SentencePart, error) {
	p, err := d.newPart(c, ranks)
	if err := cluster.Agree(ranks, err); err != nil {
		return nil, err
	}
	d.Open++
	return p, nil
}

// newPart returns the part of a rank, which nobody has opened.
func (d *Device) newPart(c sentence.Options, ranks cluster.Comm) (*part, error) {
	shards, err := c.Shards(ranks.Size())
	if err != nil {
		return nil, err
	}
	p := &part{ranks: ranks, whole: c}
	if p.sentenceKernels, err = d.newSentence(shards[ranks.Rank()], nil); err != nil {
		return nil, err
	}
	d.Open--
	for i, t := range p.state {
		p.base[i] = make([]float32, len(t.Data))
	}
	return p, nil
}

// A part is the sentence-ordered kernels of a rank.
type part struct {
	*sentenceKernels
	ranks cluster.Comm
	whole sentence.Options // of all ranks
	base  [2][]float32     // W and C as they were combined last
}

func (p *part) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	if losses, pairs, err = p.train(first, rates); err != nil {
		return nil, nil, err
	}
	return losses, pairs, p.device.launch(len(rates), &losses[0])
}

func (p *part) train(first int, rates []float32) (losses, pairs []float64, err error) {
	for i, rate := range rates {
		r, err := p.unit(first+i, rate)
		if err == nil {
			err = p.combine(p.whole.CombinedAfter(first + i))
		}
		if err != nil {
			return nil, nil, err
		}
		losses, pairs = append(losses, r.Loss), append(pairs, r.Pairs)
	}
	return losses, pairs, nil
}

// combine combines the rows of the most frequent words.
func (p *part) combine(words int) error {
	for i, base := range p.base {
		own := p.state[i].Data
		all, err := cluster.Collect(p.ranks, own[:words*p.Dim])
		if err != nil {
			return err
		}
		changes := make([][]float32, len(all))
		for r := range changes {
			changes[r] = make([]float32, p.Dim)
		}
		for w := range words {
			row := base[w*p.Dim:][:p.Dim]
			for r := range all {
				for j, x := range all[r][w*p.Dim:][:p.Dim] {
					changes[r][j] = x - row[j]
				}
			}
			sequential.Combine(sequential.Rule(p.whole.Sync.Rule), row, changes)
			copy(own[w*p.Dim:], row)
		}
	}
	return nil
}

func (p *part) SetTables(words, contexts []float32) error {
	copy(p.base[0], words)
	copy(p.base[1], contexts)
	return p.sentenceKernels.SetTables(words, contexts)
}

func (p *part) Settle() error { return p.combine(p.whole.Vocabulary) }

func (p *part) Abort() {}

// A sentenceGroup is the kernels of several GPUs of one process, each with a part of the text.
type sentenceGroup struct {
	*part // of the first
	parts []*part
}

func (d *Device) newSentences(c sentence.Options) (device.SentenceKernels, error) {
	g := &sentenceGroup{}
	for _, ranks := range cluster.Local(d.Parts) {
		p, err := d.newPart(c, ranks)
		if err != nil {
			return nil, err
		}
		g.parts = append(g.parts, p)
	}
	d.Open++
	g.part = g.parts[0]
	return g, nil
}

// each calls f of all parts at the same time, and returns the first error.
func (g *sentenceGroup) each(f func(rank int, p *part) error) error {
	errs := make([]error, len(g.parts))
	var working sync.WaitGroup
	for rank, p := range g.parts {
		working.Go(func() { errs[rank] = f(rank, p) })
	}
	working.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *sentenceGroup) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	losses, pairs = make([]float64, len(rates)), make([]float64, len(rates))
	of := make([][2][]float64, len(g.parts))
	err = g.each(func(rank int, p *part) (err error) {
		of[rank][0], of[rank][1], err = p.train(first, rates)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, part := range of {
		for i := range rates {
			losses[i] += part[0][i]
			pairs[i] += part[1][i]
		}
	}
	return losses, pairs, g.device.launch(len(rates), &losses[0])
}

func (g *sentenceGroup) SetTables(words, contexts []float32) error {
	return g.each(func(_ int, p *part) error { return p.SetTables(words, contexts) })
}

// Tables combines what is not combined yet.
func (g *sentenceGroup) Tables(words, contexts []float32) error {
	if err := g.each(func(_ int, p *part) error { return p.Settle() }); err != nil {
		return err
	}
	return g.part.Tables(words, contexts)
}
