package graph

import (
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// partRows are rows that are means of parts and of words' own rows (see composed.Composition). A
// part has the gradient
//
//	sum over its words w that occur of gradient_w / (1+G_w)      as often as w has it
//
// and is left alone if none does.
type partRows struct {
	*composed.Composition
	words     []float32 // (V, N), the rows
	own       *ownRows  // nil: words have parts only
	optimizer optim.Optimizer
	updates   updates // (U): of the parts; nil: as many as steps
	team      *team.Team
	seed      uint64

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
func newPartRows(words *table, c Options, counts func(word int) int, updates updates, workers *team.Team) (*partRows, error) {
	x := c.Composition
	if err := x.Check(); err != nil {
		return nil, err
	}
	v, u := x.Words(), x.PartCount()
	c.Account.Take(trainer.ForTables, x.TableBytes()) // resident when they are randomized
	p := &partRows{
		Composition: x, words: words.data, team: workers, seed: c.Seed,
		updates: updates,
		weights: trainer.Of[float32](c.Account, trainer.ForWork, v), occurs: trainer.Of[bool](c.Account, trainer.ForWork, v),
	}
	var err error
	if p.optimizer, err = optim.New(c.Optimizer, u, x.Dim); err != nil {
		return nil, err
	}
	if x.Own != nil {
		p.own = &ownRows{name: "words", rows: x.Own, dim: x.Dim, updates: counts, team: workers}
		if p.own.optimizer, err = optim.New(c.Optimizer, v, x.Dim); err != nil {
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

func (p *partRows) compose(words []uint32) error {
	return p.team.Each(len(words), rowsTogether, func(worker, a int) { p.composeRow(worker, int(words[a])) })
}

func (p *partRows) refresh() error { return p.team.Each(p.Words(), rowsTogether, p.composeRow) }

func (p *partRows) composeRow(worker, word int) {
	p.workers[worker].composer.Compose(p.words[word*p.Dim:][:p.Dim], uint32(word), nil)
}

func (p *partRows) update(words, slots []uint32, gradients []float32) error {
	if p.own != nil {
		if err := p.own.update(words, slots, gradients); err != nil {
			return err
		}
	}
	for _, w := range words {
		p.occurs[w] = true
	}
	err := p.team.Each(p.PartCount(), rowsTogether, func(worker, g int) { p.updatePart(&p.workers[worker], g, gradients) })
	for _, w := range words {
		p.occurs[w] = false
	}
	return err
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
	part := p.Parts[g*p.Dim:][:p.Dim]
	if p.updates != nil {
		p.updates[g]++
		p.optimizer.UpdateMean(g, p.updates.of(g), 1, part, s.gradient)
	} else {
		p.optimizer.UpdateRow(g, part, s.gradient)
	}
}

func (p *partRows) begin(step int, rate float64) {
	p.optimizer.Begin(step, rate*float64(p.Rate))
	if p.own != nil {
		p.own.optimizer.Begin(step, rate)
	}
}

func (p *partRows) state() []trainer.Tensor {
	all := tensors("parts", p.Parts, p.optimizer)
	if p.updates != nil {
		all = append(all, trainer.Tensor{Name: "parts.updates", Data: p.updates})
	}
	if p.own != nil {
		all = append(all, p.own.state()...)
	}
	return all
}

func (p *partRows) randomize() { p.Randomize(p.seed) }
