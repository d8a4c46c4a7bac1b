package graph

import (
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// partRows are rows that are means of parts and of words' own rows (see composed.Composition). A
// part has the gradient
//
//	sum over its words w that occur of gradient_w / (1+G_w)      as often as w has it
//
// and is left alone if none does.
type partRows struct {
	*composed.Composition
	words   *table         // (V, N), the rows
	own     *ownRows       // nil: words have parts only
	parts   *table         // (U, N)
	node    *gorgonia.Node // of parts
	updates updates        // (U): of the parts; nil: as many as steps
	team    *team.Team
	seed    uint64

	starts, users []uint32  // the words of part g are users[starts[g]:starts[g+1]]
	weights       []float32 // (V): 1/(1+G)
	occurs        []bool    // (V)
	workers       []partWorker
}

type partWorker struct {
	composer composed.Composer
	windowScratch
	gradient []float32 // (N)
}

// newPartRows returns the rows of a composition. A dry account gives them no memory.
func newPartRows(words *table, c Options, updates updates, workers *team.Team) (*partRows, error) {
	x := c.Composition
	if err := x.Check(); err != nil {
		return nil, err
	}
	v, u := x.Words(), x.PartCount()
	c.Account.Take(trainer.ForTables, x.TableBytes()) // resident when they are randomized
	p := &partRows{
		Composition: x, words: words, team: workers, seed: c.Seed,
		updates: updates,
		weights: trainer.Of[float32](c.Account, trainer.ForWork, v), occurs: trainer.Of[bool](c.Account, trainer.ForWork, v),
	}
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
	lists := 4 * int64(u+1+len(x.Symbols))
	if c.Account.Take(trainer.ForWork, lists) && p.occurs != nil {
		p.starts, p.users = x.Users()
		for w := range p.weights {
			p.weights[w] = x.Weight(uint32(w))
		}
	}
	for range workers.Threads() {
		p.workers = append(p.workers, partWorker{composer: composed.Composer{Composition: x}, gradient: make([]float32, x.Dim)})
	}
	return p, c.Account.Err()
}

// compose adds the composing of the rows that occur; the others stay as they are. Gradients end there: update takes
// them on.
func (p *partRows) compose(g *iteration, s *step.Sampler) (*gorgonia.Node, gorgonia.Nodes) {
	p.node = g.input(p.parts.name, p.parts.dense)
	from := gorgonia.Nodes{p.node}
	if p.own != nil {
		p.own.compose(g, s)
		from = append(from, p.own.node)
	}
	work := func([]*tensor.Dense) error {
		return p.team.Each(s.Len(), rowsTogether, func(worker, i int) { p.composeRow(worker, s.Row(i)) })
	}
	rows := g.node("compose words: means of their own rows and parts", p.words.dense, work, from...)
	return rows, gorgonia.Nodes{rows}
}

func (p *partRows) refresh() error { return p.team.Each(p.Words(), rowsTogether, p.composeRow) }

func (p *partRows) composeRow(worker, word int) {
	p.workers[worker].composer.Compose(p.words.row(word), uint32(word), nil)
}

// update moves own rows along the gradients of the composed rows, and each part along the sum of those of its words.
func (p *partRows) update(g *iteration, s *step.Sampler, gradients gorgonia.Nodes, after ...*gorgonia.Node) {
	if p.own != nil {
		p.own.update(g, s, gradients, after...)
	}
	work := func(in []*tensor.Dense) error {
		p.parts.optimizer.Begin(g.number(), g.rate()*float64(p.Rate))
		for i := range s.Len() {
			p.occurs[s.Row(i)] = len(s.Share(i)) > 0
		}
		gradient := in[1].Float32s()
		err := p.team.Each(p.PartCount(), rowsTogether, func(worker, part int) {
			p.updatePart(&p.workers[worker], part, gradient)
		})
		for i := range s.Len() {
			p.occurs[s.Row(i)] = false
		}
		return err
	}
	inputs := append(gorgonia.Nodes{p.node, gradients[0], g.clock}, after...)
	g.node("update parts: gradient, "+string(p.parts.method), p.parts.dense, work, inputs...)
}

func (p *partRows) updatePart(s *partWorker, g int, gradients []float32) {
	s.rows, s.windowScratch.weights = s.rows[:0], s.windowScratch.weights[:0]
	for _, w := range p.users[p.starts[g]:p.starts[g+1]] {
		if p.occurs[w] {
			s.rows, s.windowScratch.weights = append(s.rows, w), append(s.windowScratch.weights, p.weights[w])
		}
	}
	if len(s.rows) == 0 {
		return
	}
	simd.Combine(s.gradient, s.windowScratch.weights, gradients, s.rows)
	if p.updates != nil {
		p.updates[g]++
		p.parts.optimizer.UpdateMean(g, p.updates.of(g), 1, p.parts.row(g), s.gradient)
	} else {
		p.parts.updateRow(g, s.gradient)
	}
}

func (p *partRows) state() []trainer.Tensor {
	all := state(p.parts)
	if p.updates != nil {
		all = append(all, trainer.Tensor{Name: "parts.updates", Data: p.updates})
	}
	if p.own != nil {
		all = append(all, p.own.state()...)
	}
	return all
}

func (p *partRows) randomize() { p.Randomize(p.seed) }
