package train

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/settings"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A job is one run, from its settings to its trainer.
type job struct {
	config  settings.Config
	mode    settings.Mode
	options Options
	dry     bool                  // leave no files: M is built but not written
	folder  string                // of the run, for an M that does not fit the memory
	from    *runfolder.SavedState // the checkpoint to go on from; nil: start anew

	guard    memoryGuard
	gpu      *gpu // nil: the CPU
	text     *text
	start    trainer.Tables // vectors to go on from; may be none
	estimate estimate
	encoder  subword.Encoder     // of word vectors; nil: they are a table
	epochs   float64             // passes over one epoch of the mode
	samples  *wordcontext.Spread // of the words in M; nil: each has one

	newTrainer    func() (trainer.Trainer, error)
	trainer       trainer.Trainer
	saver         *saver                   // of checkpoints, once training began
	secondsMatrix float64                  // to open or build M
	matrixDisk    wordcontext.FileEstimate // of an M that plan did not make; else zero

	closers []func()
}

// prepare reads the text, prepares the mode and makes the trainer, without
// training anything. The caller closes the job, also after an error.
func (j *job) prepare(ctx context.Context, p *progress.Progress) (err error) {
	j.mode, _ = settings.FindMode(j.config.Mode) // a validated one
	if err := j.options.Ranks.Begin(&j.config); err != nil {
		return err
	}
	guard, release, err := newMemoryGuard(&j.config)
	if err != nil {
		return err
	}
	j.guard = guard
	gpu, reading := openGPU(ctx, j.config.Device, j.options.Ranks)
	j.gpu = gpu
	j.closers = append(j.closers, release, func() { _ = gpu.close() }) // nothing is lost with it
	j.text, err = readText(reading, &j.config, j.options, j.guard, p)
	if err = j.gpu.cause(reading, err); j.options.Ranks.OnGPUs(&j.config) {
		err = j.options.Ranks.Agree(err)
	}
	if err != nil {
		return err
	}
	j.closers = append(j.closers, func() { _ = j.text.close() }) // it was only read
	j.config.FitText(j.text.vocabulary)
	if err := j.readStart(ctx, p); err != nil {
		return err
	}
	if err := j.options.Ranks.Agree(j.checkText()); err != nil {
		return err
	}
	switch g := j.options.Ranks; {
	case g.OnGPUs(&j.config):
		if err = g.SameText(j.config.Corpus, j.text.fingerprint()); err == nil {
			err = g.Agree(j.prepareMode(ctx, p))
		}
	case g != nil:
		err = j.prepareRanks(ctx, p)
	default:
		err = j.prepareMode(ctx, p)
	}
	if err != nil {
		return err
	}
	defer p.Busy("preparing to train")()
	return j.options.Ranks.Agree(j.makeTrainer())
}

// checkText refuses a text that cannot be trained on, or that is not the one of
// the checkpoint.
func (j *job) checkText() error {
	if j.from != nil {
		fingerprint, vocabulary, err := j.text.hashes()
		if err != nil {
			return err
		}
		if err := j.from.CheckText(j.config.Corpus, vocabulary, fingerprint); err != nil {
			return err
		}
	}
	return j.text.check(&j.config)
}

// prepareMode sets what the mode's family needs to make a trainer: the number of
// epochs, the estimate of memory, and newTrainer.
func (j *job) prepareMode(ctx context.Context, p *progress.Progress) error {
	switch j.mode.Family {
	case settings.LargeBatch:
		return j.prepareCL(ctx, p)
	case settings.Minibatch:
		return j.prepareVanilla(p)
	case settings.SentenceOrdered:
		return j.prepareSequential(p)
	case settings.WholeMatrix:
		return j.prepareWholeMatrix(ctx, p)
	default:
		return fmt.Errorf("mode %s is of a family that has no trainer", j.mode.Name)
	}
}

func (j *job) prepareCL(ctx context.Context, p *progress.Progress) error {
	c, words := &j.config, j.text.vocabulary.Len()
	model, err := j.graphConfig(p)
	if err != nil {
		return err
	}
	slots := wordcontext.EstimateSlots(words, c.MatrixOptions()) // M knows
	j.estimate.trainer = graph.MemoryCL(words, slots, model) + j.start.Bytes()
	if err := j.checkTraining(); err != nil { // before M is built in vain
		return err
	}
	err = j.gpu.reserve(func(d device.Device, _ int64) (int64, error) {
		return device.MemoryCLOn(d, words, slots, model, device.Precision(c.Precision))
	}, j.lessMemory())
	if err != nil {
		return err
	}
	maker := newMatrixMaker(c, j.text.corpus, matrixMemory{Limit: j.guard.Limit, Asked: j.guard.Asked, Training: j.memory().Total + programBytes}).ShareBy(j.options.Matrix)
	if !j.dry {
		maker.Save(j.folder)
	}
	made, err := maker.Open(ctx, p)
	if err != nil {
		return err
	}
	m := made.Matrix
	if !made.Shared {
		j.closers = append(j.closers, func() { _ = m.Close() }) // it was only read
	}
	j.estimate.matrix, j.secondsMatrix, j.samples, j.matrixDisk = made.Resident, made.Seconds, m.Spread(), made.Disk
	j.estimate.building = made.Peak
	j.estimate.trainer = graph.MemoryCL(words, made.Expected, model) + j.start.Bytes()
	if !m.Bounded() {
		j.gpu.takeMatrix(m.Bytes())
	}
	noise, err := c.Negatives(m, j.text.vocabulary)
	if err != nil {
		return err
	}
	iterations := c.TotalIterations()
	j.epochs = float64(iterations) / float64(c.Contexts)
	j.newTrainer = func() (trainer.Trainer, error) {
		if d, err := j.gpu.wait(); d != nil || err != nil {
			return device.NewCL(d, m, noise, iterations, model, device.Precision(c.Precision))
		}
		return graph.NewCL(m, noise, iterations, model)
	}
	j.text.corpus = nil // everything training needs is in M
	_ = j.text.close()  // it was only read
	debug.FreeOSMemory()
	return nil
}

func (j *job) prepareVanilla(p *progress.Progress) error {
	c, corpus := &j.config, j.text.corpus
	noise, err := c.Negatives(nil, j.text.vocabulary)
	if err != nil {
		return err
	}
	model, err := j.graphConfig(p)
	if err != nil {
		return err
	}
	pairs := c.VanillaOptions()
	j.estimate.trainer = graph.MemoryVanilla(j.text.vocabulary.Len(), pairs, model) + j.start.Bytes()
	if c.Device != settings.DeviceCPU {
		j.estimate.trainer += device.HostMemoryVanilla(j.text.vocabulary.Len(), pairs, model)
	}
	err = j.gpu.reserve(func(device.Device, int64) (int64, error) {
		return device.MemoryVanilla(j.text.vocabulary.Len(), pairs, model), nil
	}, j.lessMemory())
	if err != nil {
		return err
	}
	j.epochs = float64(c.Epochs)
	j.newTrainer = func() (trainer.Trainer, error) {
		if d, err := j.gpu.wait(); d != nil || err != nil {
			return device.NewVanilla(d, corpus, noise, pairs, model, device.Precision(c.Precision))
		}
		return graph.NewVanilla(corpus, noise, pairs, model)
	}
	return nil
}

func (j *job) prepareSequential(p *progress.Progress) error {
	c, corpus, model := &j.config, j.text.corpus, j.config.SequentialConfig()
	noise, err := c.Negatives(nil, j.text.vocabulary)
	if err != nil {
		return err
	}
	if j.encoder, err = c.NewEncoder(j.text.vocabulary.Words); err != nil {
		return err
	}
	if model.Composition, err = c.Composition(j.encoder); err != nil {
		return err
	}
	j.estimate.trainer = sequential.Memory(j.text.vocabulary.Len(), model) + j.start.Bytes()
	if j.text.share != nil {
		j.estimate.trainer += joint.Memory(j.text.vocabulary.Len(), model)
	}
	err = j.gpu.reserve(func(d device.Device, free int64) (int64, error) {
		return device.MemorySequential(corpus, model, device.Precision(c.Precision), free, d.GPUs())
	}, j.lessMemory())
	if err != nil {
		return err
	}
	j.epochs = float64(c.Epochs)
	j.newTrainer = func() (trainer.Trainer, error) {
		if j.text.share != nil {
			return j.options.Ranks.NewSequential(j.text.share, noise, model, p)
		}
		if d, err := j.gpu.wait(); d != nil || err != nil {
			return device.NewSequential(d, corpus, noise, j.start, model, device.Precision(c.Precision))
		}
		return sequential.NewFrom(corpus, noise, j.start, model)
	}
	return nil
}

// graphConfig makes the encoder, if there is one, and returns the settings of the
// graph's trainer.
func (j *job) graphConfig(p *progress.Progress) (graph.Config, error) {
	c := &j.config
	var err error
	if j.encoder, err = c.NewEncoder(j.text.vocabulary.Words); err != nil {
		return graph.Config{}, err
	}
	model := c.GraphConfig(j.encoder)
	if v := j.text.vocabulary; len(j.start.Words) > 0 {
		model.Start = func(words, contexts []float32) { j.start.CopyTo(v, words, contexts, c.Dim) }
	}
	j.estimate.moments = model.MomentBytes(j.text.vocabulary.Len())
	if j.encoder != nil {
		if n := j.encoder.Truncated(); n > 0 {
			p.Notef("Note: %s longer than --max-chars %d: the encoder reads their first characters and their end", terminal.Quantity(terminal.Number(n), "word"), c.MaxChars)
		}
	}
	return model, nil
}

// checkTraining refuses training that needs more memory than there is.
func (j *job) checkTraining() error { return j.guard.checkTraining(j.memory(), j.lessMemory()) }

// makeTrainer allocates the trainer's tables, if there is memory for them.
func (j *job) makeTrainer() error {
	if err := j.options.Ranks.Agree(j.checkTraining()); err != nil {
		return err
	}
	t, err := j.newTrainer()
	if err != nil {
		return err
	}
	j.trainer = t
	j.text.corpus.GiveBack() // what was looked up all over it
	garbage, release := memory.Settle()
	j.estimate.garbage = garbage
	j.closers = append(j.closers, func() { _ = t.Close() }, release) // its tables are in files by now
	return nil
}

// close releases what the job holds, last opened first.
func (j *job) close() {
	for _, closer := range slices.Backward(j.closers) {
		closer()
	}
	j.closers = nil
}
