package train

import (
	"context"
	"slices"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A job is one run, from its settings to its trainer.
type job struct {
	config  settings.Config
	mode    settings.Mode
	options Options
	dry     bool                  // only plan, and leave no files: M may be a guess, which is not to be trained on
	asks    bool                  // make neither M nor a trainer
	folder  string                // of the run, for an M that does not fit the memory
	from    *runfolder.SavedState // the checkpoint to go on from; nil: start anew
	whole   *runfolder.Summary    // of the run to make longer; nil: it is not finished

	guard    memoryGuard
	executor executor
	text     *text
	start    start               // model to go on from; may be none
	trained  float64             // words of the text, once training is over
	encoder  subword.Trained     // of word vectors; nil: they are a table
	unseen   *subword.NGrams     // fitted to the trained vectors for unseen words; nil: the encoder has them
	epochs   float64             // passes over one epoch of the mode
	samples  *wordcontext.Spread // of the words in M; nil: each has one

	live     *trainer.Account // that the trainer takes its memory from
	account  *trainer.Account // of the trainer: planned, or, once that is made, live
	matrix   int64            // bytes of M in training
	program  int64            // bytes that the process had before: Go's own, and what other runs hold
	prepared int64            // bytes that the process had at most until the trainer was made, or will have to build M

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
	j.mode = j.config.FindMode() // a validated one
	if err := agree(j.options.Ranks, &j.config); err != nil {
		return err
	}
	guard, release, err := newMemoryGuard(&j.config, j.options)
	if err != nil {
		return err
	}
	j.guard = guard
	j.program = guard.inUse
	j.executor = newExecutor(j)
	j.closers = append(j.closers, release, j.executor.close)
	if j.text, err = j.executor.read(ctx, p); j.text != nil {
		j.closers = append(j.closers, func() { _ = j.text.close() }) // it was only read
	}
	if err != nil {
		return err
	}
	j.config.FitText(j.text.vocabulary)
	if j.options.Text != nil { // it was there before
		j.program = max(j.program-j.memoryOf(&trainer.Account{}).Corpus, 0)
	}
	if err := j.readStart(ctx, p); err != nil {
		return err
	}
	if err := j.options.Ranks.Agree(j.checkText()); err != nil {
		return err
	}
	if err := j.options.Ranks.Agree(j.prepareMode(ctx, p)); err != nil {
		return err
	}
	if j.asks {
		return j.checkTraining()
	}
	defer p.Busy("preparing to train")()
	err = j.makeTrainer()
	if err == nil {
		err = j.keepStart(ctx)
	}
	return j.options.Ranks.Agree(err)
}

// checkText refuses a text that cannot be trained on, or that is not the one of
// the checkpoint.
func (j *job) checkText() error {
	if j.from != nil {
		fingerprint, vocabulary, err := j.text.hashes()
		if err != nil {
			return err
		}
		if err := j.from.CheckText(j.config.Input(), vocabulary, fingerprint); err != nil {
			return err
		}
	}
	return j.text.check(&j.config)
}

// prepareMode sets what the mode's family needs to make a trainer: the number of
// epochs, the plan of memory, and newTrainer.
func (j *job) prepareMode(ctx context.Context, p *progress.Progress) error {
	if j.mode.Family == settings.WholeMatrix {
		return j.prepareWholeMatrix(ctx, p)
	}
	b, err := j.draw(p)
	if err == nil {
		err = j.executor.plan(b)
	}
	if j.mode.Family == settings.LargeBatch {
		if err == nil {
			err = j.checkWithMatrix() // before M is made in vain
		}
		if err := j.options.Ranks.Agree(err); err != nil || j.asks {
			return err
		}
		err = j.makeMatrix(ctx, b, p)
	}
	j.newTrainer = func() (trainer.Trainer, error) { return j.executor.make(b, p) }
	return err
}

// checkWithMatrix checks training with an M that is not made yet.
func (j *job) checkWithMatrix() error {
	_, whole := wordcontext.EstimateBytes(j.text.corpus, j.config.MatrixOptions())
	onDisk := wordcontext.EstimateResident(j.text.corpus, j.config.MatrixOptions(), j.config.ThreadCount())
	j.matrix = min(whole, onDisk)
	defer func() { j.matrix = 0 }() // until it is there
	return j.checkTraining()
}

// makeMatrix completes a blueprint by M: from its file, or made of the text.
func (j *job) makeMatrix(ctx context.Context, b *blueprint, p *progress.Progress) error {
	maker := matrixMaker{
		config: &j.config, text: j.text.corpus, guard: j.guard.Guard, training: j.sum(), shared: j.options.Matrix,
		save: !j.dry, cache: j.folder, memoryOnly: j.options.Ranks != nil,
	}
	var err error
	if maker.memoryOnly && !maker.fits() {
		err = device.ErrMatrix
	}
	if err := j.options.Ranks.Agree(err); err != nil {
		return err
	}
	made, err := maker.open(ctx, p)
	if err != nil {
		return err
	}
	m := made.Matrix
	if !made.Shared {
		j.closers = append(j.closers, func() { _ = m.Close() }) // it was only read
	}
	j.matrix, j.secondsMatrix, j.matrixDisk = made.Resident, made.Seconds, made.Disk
	if j.prepared = made.Peak; made.Held {
		j.program = max(j.program-made.Resident, 0)
	}
	j.samples = m.Spread()
	if b.noise, err = j.config.Negatives(m, j.text.vocabulary); err != nil {
		return err
	}
	b.matrix, b.slots = m, made.Expected
	if err := j.executor.plan(b); err != nil {
		return err
	}
	j.text.release() // everything training needs is in M
	return nil
}

// graphOptions makes the encoder, if there is one, and returns the settings of the
// graph's trainer.
func (j *job) graphOptions(p *progress.Progress) (graph.Options, error) {
	c := &j.config
	if err := j.makeEncoder(); err != nil {
		return graph.Options{}, err
	}
	model := c.GraphOptions(j.encoder)
	model.Account, model.Start, model.StartPositions = j.live, j.startTables(), j.startPositions()
	if from := j.start.moments; from != nil {
		model.Before = from.Position.Units
	}
	if j.encoder != nil {
		if n := j.encoder.Truncated(); n > 0 {
			p.Notef("Note: %s longer than --max-chars %d: the encoder reads their first characters and their end",
				terminal.Quantity(terminal.Number(n), "word"), c.MaxChars)
		}
	}
	return model, nil
}

// makeTrainer allocates the trainer's tables, if there is memory for them.
func (j *job) makeTrainer() error {
	if err := j.options.Ranks.Agree(j.checkTraining()); err != nil {
		return err
	}
	j.prepared = max(j.prepared, machine.PeakRSS())
	t, err := j.newTrainer()
	j.newTrainer = nil // and what it holds
	if err != nil {
		return err
	}
	j.trainer, j.account = t, j.live
	j.text.corpus.GiveBack() // what was looked up all over it
	release := memory.Settle(j.memory().Total)
	if j.options.beside != nil {
		release = func() {} // others go on
	}
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
