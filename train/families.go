package train

import (
	"cmp"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A blueprint is how the trainer of a mode is made, and what it takes. Each family has its own.
type blueprint struct {
	// plan asks an account for the trainer's memory, and make makes the trainer from the job's live account.
	plan func(a *trainer.Account) error
	make func() (trainer.Trainer, error)

	// planOn and makeOn are the same on a device. planOn asks an account for the host's memory, and returns the bytes
	// that training takes of each GPU, which has so many free.
	planOn func(d device.Device, host *trainer.Account, free int64) (int64, error)
	makeOn func(d device.Device) (trainer.Trainer, error)

	noise      *corpus.Alias       // of negatives; nil: stretches have them
	matrix     *wordcontext.Matrix // of cl with skip-gram; nil: it is not made yet
	slots      int                 // of an iteration on the matrix, about
	sequential sequential.Options  // of the sentence-ordered modes
}

// draw returns the blueprint of the mode, without M, and sets the epochs.
func (j *job) draw(p *progress.Progress) (b *blueprint, err error) {
	c := &j.config
	j.live = trainer.NewAccount(j.check)
	j.epochs = float64(c.Epochs)
	o, err := j.graphOptions(p)
	if err != nil {
		return nil, err
	}
	switch j.mode.Family {
	case settings.LargeBatch:
		return j.drawCL(o), nil
	case settings.Stretches:
		return j.drawCBOW(o)
	}
	noise, err := c.Negatives(nil, j.text.vocabulary)
	if err != nil {
		return nil, err
	}
	if j.mode.Family == settings.Minibatch {
		return j.drawVanilla(o, noise), nil
	}
	return j.drawSequential(noise), nil
}

// drawCL is draw of mode cl with skip-gram. M knows the slots, once it is made.
func (j *job) drawCL(o graph.Options) *blueprint {
	c, words := &j.config, j.text.vocabulary.Len()
	iterations, precision := c.TotalIterations(), device.Precision(c.Precision)
	j.epochs = float64(iterations) / float64(c.Contexts)
	b := &blueprint{slots: wordcontext.EstimateSlots(words, c.MatrixOptions())}
	b.plan = func(a *trainer.Account) error { return graph.PlanCL(a, words, b.slots, o) }
	b.make = func() (trainer.Trainer, error) { return graph.NewCL(b.matrix, b.noise, iterations, o) }
	b.planOn = func(d device.Device, host *trainer.Account, _ int64) (int64, error) {
		if err := b.plan(host); err != nil {
			return 0, err
		}
		return device.MemoryCL(d, words, b.slots, o, precision)
	}
	b.makeOn = func(d device.Device) (trainer.Trainer, error) {
		return device.NewCL(d, b.matrix, b.noise, iterations, o, precision)
	}
	return b
}

// drawCBOW is draw of mode cl with CBOW.
func (j *job) drawCBOW(o graph.Options) (*blueprint, error) {
	c := &j.config
	iterations := c.TotalIterations()
	s, err := wordcontext.NewStretches(j.text.corpus, c.StretchOptions())
	if err != nil {
		return nil, err
	}
	if !s.HasContexts() {
		return nil, errNoContext(c)
	}
	j.epochs = float64(iterations) * s.Tokens() / float64(j.text.stats.TokensUsed)
	return &blueprint{
		plan: func(a *trainer.Account) error { return graph.PlanCBOW(a, s, o) },
		make: func() (trainer.Trainer, error) { return graph.NewCBOW(s, iterations, o) },
		planOn: func(_ device.Device, host *trainer.Account, _ int64) (int64, error) {
			return device.PlanCBOW(host, s, o)
		},
		makeOn: func(d device.Device) (trainer.Trainer, error) {
			return device.NewCBOW(d, s, iterations, o, device.Precision(c.Precision))
		},
	}, nil
}

// drawVanilla is draw of mode vanilla.
func (j *job) drawVanilla(o graph.Options, noise *corpus.Alias) *blueprint {
	c, text, words := &j.config, j.text.corpus, j.text.vocabulary.Len()
	pairs := c.VanillaOptions()
	c.Unit = pairs.UnitTokens()
	return &blueprint{
		plan: func(a *trainer.Account) error { return graph.PlanVanilla(a, words, pairs, o) },
		make: func() (trainer.Trainer, error) { return graph.NewVanilla(text, noise, pairs, o) },
		planOn: func(_ device.Device, host *trainer.Account, _ int64) (int64, error) {
			bytes, err := device.MemoryVanilla(words, pairs, o)
			return bytes, cmp.Or(err, device.PlanVanilla(host, words, pairs, o))
		},
		makeOn: func(d device.Device) (trainer.Trainer, error) {
			return device.NewVanilla(d, text, noise, pairs, o, device.Precision(c.Precision))
		},
	}
}

// drawSequential is draw of the sentence-ordered modes.
func (j *job) drawSequential(noise *corpus.Alias) *blueprint {
	c, text, words := &j.config, j.text.corpus, j.text.vocabulary.Len()
	tokens, precision := int(j.text.stats.TokensUsed), device.Precision(c.Precision)
	o := c.SequentialOptions(j.encoder)
	o.Account, o.Start = j.live, j.startTables()
	if j.options.Ranks == nil {
		c.Unit, _ = sequential.UnitTokens(text.Text(), o) // the error comes again
	}
	idle := o // on the host, while tables are trained on a device
	idle.Idle = true
	return &blueprint{
		noise: noise, sequential: o,
		plan: func(a *trainer.Account) error { return sequential.Plan(a, words, tokens, o) },
		make: func() (trainer.Trainer, error) { return sequential.New(text, noise, o) },
		planOn: func(d device.Device, host *trainer.Account, free int64) (int64, error) {
			if err := sequential.Plan(host, words, tokens, idle); err != nil {
				return 0, err
			}
			return device.MemorySequential(text, idle, precision, free, d.GPUs())
		},
		makeOn: func(d device.Device) (trainer.Trainer, error) {
			return device.NewSequential(d, text, noise, idle, precision)
		},
	}
}
