package graph

import (
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/train/trainer"
	"golang.org/x/sys/cpu"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// partRows are rows that are means of parts and of words' own rows. Package composed has the map from parts to rows, and the
// gradient of an n-gram of a part. A part of which no word occurs is left alone.
type partRows struct {
	*composed.Composition
	words *table         // (V, N), the rows
	own   *ownRows       // nil: words have parts only
	parts *table         // (U, N)
	node  *gorgonia.Node // of parts
	team  *team.Team
	seed  uint64

	uses    *composed.Uses
	workers []partWorker
}

type partWorker struct {
	composed.Composer
	gradient []float32        // (N)
	_        cpu.CacheLinePad // as in windowScratch
}

// newPartRows returns the rows of a composition. A dry account gives them no memory.
func newPartRows(words *table, c Options, workers *team.Team) (*partRows, error) {
	x := c.Composition
	if err := x.Check(); err != nil {
		return nil, err
	}
	c.Account.Take(trainer.ForTables, x.TableBytes()) // resident when they are randomized
	p := &partRows{Composition: x, words: words, team: workers, seed: c.Seed}
	var err error
	if p.parts, err = tableOf("parts", x.Parts, c); err != nil {
		return nil, err
	}
	if x.Own != nil {
		p.own = &ownRows{team: workers}
		if p.own.table, err = tableOf("words", x.Own, c); err != nil {
			return nil, err
		}
	}
	c.Account.Take(trainer.ForWork, composed.UsesBytes(x)) // for update
	for range workers.Threads() {
		p.workers = append(p.workers, partWorker{Composer: composed.Composer{Composition: x}, gradient: make([]float32, x.Dim)})
	}
	return p, c.Account.Err()
}

// compose adds the composing of the rows that occur; the others stay as they are.
func (p *partRows) compose(g *iteration, s *step.Sampler) *gorgonia.Node {
	p.node = g.input(p.parts.name, p.parts.dense)
	from := gorgonia.Nodes{p.node}
	if p.own != nil {
		from = append(from, p.own.compose(g, s))
	}
	work := func([]*tensor.Dense) error {
		return p.team.Each(s.Len(), rowsTogether, func(worker, i int) { p.composeRow(worker, s.Row(i)) })
	}
	return g.node("compose words: means of their own rows and parts", p.words.dense, work, from...)
}

func (p *partRows) refresh() error { return p.team.Each(p.Words(), rowsTogether, p.composeRow) }

func (p *partRows) composeRow(worker, word int) {
	p.workers[worker].Compose(p.words.row(word), uint32(word), nil)
}

// update moves own rows along the gradient of the composed rows, and parts along the sums that composed.Composer says.
func (p *partRows) update(g *iteration, s *step.Sampler, gradient *gorgonia.Node, after ...*gorgonia.Node) {
	if p.own != nil {
		p.own.update(g, s, gradient, after...)
	}
	p.uses = composed.NewUses(p.Composition) // here, because a device does without
	for i := range p.workers {
		p.workers[i].Uses = p.uses
	}
	work := func(in []*tensor.Dense) error {
		p.parts.optimizer.Begin(g.step(), g.rate()*float64(p.Rate))
		for i := range s.Len() {
			p.uses.Trained[s.Row(i)] = len(s.Share(i)) > 0
		}
		gradients := in[1].Float32s()
		err := p.team.Each(p.PartCount(), rowsTogether, func(worker, part int) {
			if w := &p.workers[worker]; w.Gradient(w.gradient, part, gradients) {
				p.parts.move(part, 1, w.gradient) // as one sample: the gradient is a sum of means of words already
			}
		})
		for i := range s.Len() {
			p.uses.Trained[s.Row(i)] = false
		}
		return err
	}
	inputs := append(gorgonia.Nodes{p.node, gradient, g.clock}, after...)
	g.node("update parts: gradient, "+string(p.parts.method), p.parts.dense, work, inputs...)
}

func (p *partRows) state() []trainer.Tensor {
	all := p.parts.state()
	if p.own != nil {
		all = append(all, p.own.state()...)
	}
	return all
}

func (p *partRows) randomize() { p.Randomize(p.seed) }
