package train

import (
	"context"
	"runtime/debug"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
)

// Names of modes that are built.
const (
	ModeCL      = "cl"      // W2V-CL: the whole vocabulary is one batch
	ModeVanilla = "vanilla" // W2V-Vanilla: minibatches of pairs in corpus order
)

// A mode is what the rest of the room knows about one way of training.
type mode struct {
	name string
	unit string // what Trainer.Units counts, in the singular

	readsText bool // training needs the corpus, not only what prepare makes of it

	// prepare completes a job whose corpus has been read: it sets the
	// number of epochs, the memory the trainer needs and how to make it.
	prepare func(ctx context.Context, j *job, p *Progress) error
}

func modes() []mode {
	return []mode{
		{name: ModeCL, unit: "iteration", prepare: prepareCL},
		{name: ModeVanilla, unit: "block", readsText: true, prepare: prepareVanilla},
	}
}

// plannedModes are known names of modes that are not built yet.
var plannedModes = []string{"word2vec", "pword2vec", "psgnscc", "fullw2v", "fullregister", "parw2v", "blazingtext"}

// Modes lists the modes of this build.
func Modes() []string {
	var names []string
	for _, m := range modes() {
		names = append(names, m.name)
	}
	return names
}

func knownMode(name string) bool { return name == ModeCL || name == ModeVanilla }

func prepareCL(ctx context.Context, j *job, p *Progress) error {
	c := &j.config
	j.trainerBytes = graph.MemoryTwoStep(j.vocabulary.Len(), c.graph())
	if err := j.checkTraining(); err != nil { // before M is built in vain
		return err
	}
	matrix, err := j.openMatrix(ctx, p)
	if err != nil {
		return err
	}
	j.closers = append(j.closers, matrix.Close)
	var weights []float64
	switch c.Noise {
	case NoiseMatrix:
		weights = corpus.CountPower(matrix.ContextCounts(), c.NoiseExponent)
	default:
		weights = corpus.CountPower(j.vocabulary.Counts, c.NoiseExponent)
	}
	noise, err := corpus.NewAlias(weights)
	if err != nil {
		return noiseError(err)
	}
	iterations := c.Iterations
	if iterations == 0 {
		iterations = c.Epochs * c.Contexts
	}
	j.epochs = float64(iterations) / float64(c.Contexts)
	j.newTrainer = func() (Trainer, error) {
		return graph.NewTwoStep(matrix, noise, iterations, c.graph())
	}
	j.corpus = nil // everything training needs is in M
	debug.FreeOSMemory()
	return nil
}

func prepareVanilla(_ context.Context, j *job, _ *Progress) error {
	c, text := &j.config, j.corpus
	noise, err := corpus.NewAlias(corpus.CountPower(j.vocabulary.Counts, c.NoiseExponent))
	if err != nil {
		return noiseError(err)
	}
	options := graph.VanillaOptions{
		Window: c.Window, DynamicWindow: c.DynamicWindow, Sample: c.Sample,
		Batch: c.Batch, Epochs: c.Epochs,
	}
	j.epochs = float64(c.Epochs)
	j.trainerBytes = graph.MemoryVanilla(j.vocabulary.Len(), options, c.graph())
	j.newTrainer = func() (Trainer, error) {
		return graph.NewVanilla(text, noise, options, c.graph())
	}
	return nil
}

// graph returns the settings of both graph trainers.
func (c *Config) graph() graph.Config {
	return graph.Config{
		Dim: c.Dim, Negatives: c.Negative, Seed: c.Seed, Threads: c.threads(),
		Form: graph.Form(c.Form),
		Optimizer: optim.Config{
			Method:      optim.Method(c.Optimizer),
			WeightDecay: c.WeightDecay,
		},
	}
}

// schedule returns the learning rate of each unit.
func (c *Config) schedule(units int) func(unit int) float64 {
	s := optim.Schedule{Start: c.LR, End: c.LREnd}
	if c.Decay == DecayNone {
		s.End = c.LR
	}
	return func(unit int) float64 { return s.Rate(unit, units) }
}
