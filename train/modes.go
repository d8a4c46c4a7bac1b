package train

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
)

// Names of modes that are built.
const (
	ModeCL      = "cl"      // W2V-CL: the whole vocabulary is one batch
	ModeVanilla = "vanilla" // W2V-Vanilla: minibatches of pairs in corpus order

	// The sentence-ordered modes have the names of package sequential's
	// algorithms.
	ModeWord2Vec  = string(sequential.Word2Vec)
	ModePWord2Vec = string(sequential.PWord2Vec)
	ModePSGNScc   = string(sequential.PSGNScc)
	ModeFullW2V   = string(sequential.FullW2V)
	ModePARW2V    = string(sequential.PARW2V)
)

var (
	onlyCNN         = []string{SubwordCNN}
	onlyNGram       = []string{SubwordNGram}
	encoders        = []string{SubwordCNN, SubwordNGram}
	onlyCL          = []string{ModeCL}
	onlyVanilla     = []string{ModeVanilla}
	graphModes      = []string{ModeCL, ModeVanilla}
	onlyWord2Vec    = []string{ModeWord2Vec}
	sequentialModes = []string{ModeWord2Vec, ModePWord2Vec, ModePSGNScc, ModeFullW2V, ModePARW2V}
)

// A mode is what the rest of the room knows about one way of training.
type mode struct {
	name string
	unit string // what Trainer.Units counts, in the singular

	readsText bool // training needs the corpus, not only what prepare makes of it

	// prepare completes a job whose corpus has been read: it sets the
	// number of epochs, the memory the trainer needs and how to make it.
	prepare func(ctx context.Context, j *job, p *terminal.Progress) error
}

func modes() []mode {
	all := []mode{
		{name: ModeCL, unit: "iteration", prepare: prepareCL},
		{name: ModeVanilla, unit: "block", readsText: true, prepare: prepareVanilla},
	}
	for _, name := range sequentialModes {
		all = append(all, mode{name: name, unit: "block", readsText: true, prepare: prepareSequential})
	}
	return all
}

// plannedModes are known names of modes that are not built yet.
var plannedModes = []string{"fullregister", "blazingtext"}

// Modes lists the modes of this build.
func Modes() []string {
	var names []string
	for _, m := range modes() {
		names = append(names, m.name)
	}
	return names
}

func knownMode(name string) bool { return slices.Contains(Modes(), name) }

func prepareCL(ctx context.Context, j *job, p *terminal.Progress) error {
	c := &j.config
	j.trainerBytes = graph.MemoryTwoStep(j.vocabulary.Len(), c.graph())
	j.momentBytes = c.momentBytes(j.vocabulary.Len())
	if err := j.makeEncoder(p); err != nil {
		return err
	}
	if j.encoder != nil {
		j.trainerBytes = graph.MemoryTwoStepWithEncoder(j.encoder, c.graph())
	}
	if err := j.checkTraining(); err != nil { // before M is built in vain
		return err
	}
	gpu, err := j.opened()
	if err != nil {
		return err
	}
	if gpu != nil {
		bytes := device.MemoryTwoStep(j.vocabulary.Len(), c.graph(), device.Precision(c.Precision))
		if j.encoder != nil {
			if bytes, err = device.MemoryTwoStepWithEncoder(j.encoder, c.graph()); err != nil {
				return err
			}
		}
		if err := j.checkDevice(gpu, bytes); err != nil {
			return err
		}
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
		switch {
		case gpu != nil && j.encoder != nil:
			return device.NewTwoStepWithEncoder(gpu, matrix, noise, iterations, j.encoder, c.graph())
		case gpu != nil:
			return device.NewTwoStep(gpu, matrix, noise, iterations, c.graph(), device.Precision(c.Precision))
		case j.encoder != nil:
			return graph.NewTwoStepWithEncoder(matrix, noise, iterations, j.encoder, c.graph())
		}
		return graph.NewTwoStep(matrix, noise, iterations, c.graph())
	}
	j.corpus = nil // everything training needs is in M
	debug.FreeOSMemory()
	return nil
}

func prepareVanilla(_ context.Context, j *job, p *terminal.Progress) error {
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
	j.momentBytes = c.momentBytes(j.vocabulary.Len())
	if err := j.makeEncoder(p); err != nil {
		return err
	}
	if j.encoder != nil {
		j.trainerBytes = graph.MemoryVanillaWithEncoder(j.encoder, options, c.graph())
	}
	j.newTrainer = func() (Trainer, error) {
		if j.encoder != nil {
			return graph.NewVanillaWithEncoder(text, noise, options, j.encoder, c.graph())
		}
		return graph.NewVanilla(text, noise, options, c.graph())
	}
	return nil
}

func prepareSequential(_ context.Context, j *job, _ *terminal.Progress) error {
	c, text := &j.config, j.corpus
	noise, err := corpus.NewAlias(corpus.CountPower(j.vocabulary.Counts, c.NoiseExponent))
	if err != nil {
		return noiseError(err)
	}
	j.epochs = float64(c.Epochs)
	j.trainerBytes = sequential.Memory(j.vocabulary.Len(), c.sequential()) + 4*int64(len(j.start.Words)+len(j.start.Contexts))
	gpu, err := j.opened()
	if err != nil {
		return err
	}
	if gpu != nil {
		free, _, err := gpu.Memory()
		if err != nil {
			return fmt.Errorf("ask %s for its memory: %w", gpu.Name(), err)
		}
		if err := j.checkDevice(gpu, device.MemoryFullW2V(text, c.sequential(), device.Precision(c.Precision), free)); err != nil {
			return err
		}
	}
	j.newTrainer = func() (Trainer, error) {
		if gpu != nil {
			return device.NewFullW2V(gpu, text, noise, j.start, c.sequential(), device.Precision(c.Precision))
		}
		return sequential.NewFrom(text, noise, j.start, c.sequential())
	}
	return nil
}

// sequential returns the settings of the sentence-ordered trainers.
func (c *Config) sequential() sequential.Config {
	return sequential.Config{
		Algorithm: sequential.Algorithm(c.Mode), Model: sequential.Model(c.Model),
		Dim: c.Dim, Window: c.Window, Negatives: c.Negative, Sample: c.Sample,
		Epochs: c.Epochs, Seed: c.Seed, Threads: c.threads(),
	}
}

// momentBytes is the memory of the optimizer of both tables.
func (c *Config) momentBytes(words int) int64 {
	return 2 * c.graph().Optimizer.Bytes(words, c.Dim)
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
