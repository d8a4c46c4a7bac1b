package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// ErrInterrupted is returned, wrapped, by [Run] when the context was cancelled. The
// message says what was saved.
var ErrInterrupted = errors.New("interrupted")

// ErrComplete is returned by [Resume] for a run that is finished.
var ErrComplete = errors.New("the run is complete")

// errStopped is the error of an interrupt before there is anything to save.
var errStopped = fmt.Errorf("%w before training began; nothing was saved", ErrInterrupted)

// Run trains what c says and leaves the run folder c.Out. When ctx is
// cancelled the unit of work at hand is finished and the vectors trained until
// then are saved; the error is then [ErrInterrupted] and the summary is good, or
// empty if there was nothing to save yet. On
// any other error no run folder appears, and one that c.Force was to replace
// stays; c.Out.partial stays if there is a checkpoint in it, for [Resume].
func Run(ctx context.Context, c settings.Config, o Options, p *progress.Progress) (runfolder.Summary, error) {
	start := time.Now()
	ctx = o.Ranks.Lead(ctx)
	folder, err := runfolder.Create(c.Out, c.Force)
	if err != nil {
		return runfolder.Summary{}, o.Ranks.Agree(err)
	}
	defer folder.Close()
	o.textFile = folder.Path(runfolder.TextFile)
	j := &job{config: c, options: o, folder: folder.Dir}
	defer j.close()
	// First of all, so that a run that is killed can be resumed.
	if err := j.writeConfig(folder); err != nil {
		return runfolder.Summary{}, o.Ranks.Agree(err)
	}
	if err := j.prepare(ctx, p); err != nil {
		return runfolder.Summary{}, stopped(ctx, err)
	}
	return j.run(ctx, folder, start, p)
}

// stopped replaces the error of work that a cancelled context cut short before
// there was anything to save.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errStopped
	}
	return err
}

// run plans, trains and saves a prepared job.
func (j *job) run(ctx context.Context, folder *runfolder.Folder, start time.Time, p *progress.Progress) (runfolder.Summary, error) {
	if ctx.Err() != nil {
		return runfolder.Summary{}, errStopped
	}
	if err := j.writeDOT(); err != nil {
		return runfolder.Summary{}, err
	}
	from, err := j.begin(folder, p)
	if err != nil {
		return runfolder.Summary{}, err
	}
	result, err := j.train(ctx, folder, from, p)
	if err != nil {
		return runfolder.Summary{}, j.advise(folder, err)
	}
	if folder.KeepCheckpoint = j.config.Checkpoint.Keep; folder.KeepCheckpoint && !result.Interrupted {
		if err := j.saver.save(result.Position); err != nil {
			return runfolder.Summary{}, j.advise(folder, err)
		}
	}
	if j.trained = result.Words; j.start.rows != nil {
		p.Notef("Saving:  %.2f of %s and %.2f of the new training, by the square roots of their words", j.share(), j.config.Init, 1-j.share())
	}
	saved, saving := time.Now(), p.Busy(j.saving())
	if err = folder.Lost(); err == nil {
		err = j.export(folder)
	}
	if saving(); err != nil {
		j.saver.rescue(result.Position)
		return runfolder.Summary{}, j.advise(folder, err)
	}
	summary := j.summarize(result)
	summary.SecondsSave = time.Since(saved).Seconds()
	summary.SecondsTotal = from.Seconds + time.Since(start).Seconds()
	summary.PeakRSS = machine.PeakRSS()
	summary.Memory.Peak = summary.PeakRSS
	if err = folder.Finish(summary); err != nil {
		return runfolder.Summary{}, j.advise(folder, err)
	}
	return summary, j.interrupted(folder, result)
}

// interrupted returns the error of a run that was cut short; nil if it was not.
func (j *job) interrupted(folder *runfolder.Folder, result outcome) error {
	if !result.Interrupted {
		return nil
	}
	err := fmt.Errorf("%w after %s; the vectors trained until then are in %s",
		ErrInterrupted, j.unitsOf(result.Units, j.trainer.Units()), j.config.Out)
	if folder.HasCheckpoint() {
		err = fmt.Errorf("%w, and 'w2vcl resume %s' goes on", err, j.config.Out)
	}
	return err
}

// unitsOf says how many units of all are trained. A run that a limit ends has none.
func (j *job) unitsOf(done, all int) string {
	if j.limit() != (limit{}) {
		return terminal.Quantity(terminal.Number(done), j.mode.Unit)
	}
	return fmt.Sprintf("%s of %s", terminal.Number(done), terminal.Quantity(terminal.Number(all), j.mode.Unit))
}

// begin is where a run starts to leave something behind: OUT.partial, with
// settings and vocabulary. It returns the position to train from, with the
// trainer in its state and ready.
func (j *job) begin(folder *runfolder.Folder, p *progress.Progress) (runfolder.Position, error) {
	var from runfolder.Position
	if err := j.diskSpace().Check(folder, p); err != nil {
		return from, err
	}
	if j.from != nil {
		if err := j.from.Load(j.trainer); err != nil {
			return from, err
		}
		if err := j.checkLonger(folder); err != nil {
			return from, err
		}
		from = j.from.Position
		j.announceResume(p)
	}
	if err := folder.Begin(); err != nil {
		return from, err
	}
	if err := folder.Lost(); err != nil { // reading the text may take long
		return from, err
	}
	if j.from != nil && j.from.Settings["context-weight"] != j.config.Recorded()["context-weight"] {
		if err := folder.RemoveVectors(); err != nil { // they have the other weight; the checkpoint has all that they say
			return from, err
		}
	}
	if err := j.writeConfig(folder); err != nil {
		return from, err
	}
	var written error
	var writing sync.WaitGroup
	writing.Go(func() { written = j.writeVocabulary(folder) })
	err := trainer.Ready(j.trainer) // a GPU gets its tables meanwhile
	writing.Wait()
	if err = cmp.Or(written, err); err != nil {
		err = j.advise(folder, err)
	}
	return from, err
}

// train runs the loop with the metrics file and the checkpoints of the folder.
func (j *job) train(ctx context.Context, folder *runfolder.Folder, from runfolder.Position, p *progress.Progress) (result outcome, err error) {
	metrics, err := folder.OpenMetrics(j.from)
	if err != nil {
		return outcome{}, err
	}
	j.closers = append(j.closers, func() { _ = metrics.Close() }) // Finish has told what went wrong
	if j.saver, err = j.newSaver(folder, metrics, from, p); err != nil {
		return outcome{}, err
	}
	if b := j.config.Budget; b.Kind == trainer.BudgetSeconds && j.secondsMatrix > b.Amount {
		p.Notef("Note: the %s of --budget were used up before training, so only one %s is trained", b, j.mode.Unit)
	}
	units := j.trainer.Units()
	l := loop{
		trainer: j.trainer, from: from, unitName: j.mode.Unit,
		rate:         func(unit int) float64 { return j.config.Rate(unit, units) },
		wordsPerUnit: float64(j.text.stats.TokensUsed) * j.epochs / float64(units),
		metrics:      metrics, saver: j.saver, progress: p, announce: j.announcer(p),
		limit: j.limit(), restore: j.frozen(), observe: j.observer(p), observations: j.options.Observations,
	}
	if result, err = l.run(ctx); err != nil {
		return outcome{}, err
	}
	if result.Pairs == 0 && j.config.Sample > 0 && !result.Interrupted {
		return outcome{}, fmt.Errorf("no word met another in training on %s of the %s words: --sample %g discards most of them; raise it, or give a longer --budget",
			terminal.Number(int(result.Words)), terminal.Number(int(j.text.stats.TokensUsed)), j.config.Sample)
	}
	seconds := max(result.Seconds, 1e-9)
	p.Notef("Trained: %s in %s (%s words/s, %s pairs/s), loss %.4f",
		terminal.Quantity(terminal.Number(result.Units), j.mode.Unit), terminal.Duration(result.Seconds),
		terminal.Rate(result.Words/seconds), terminal.Rate(result.Pairs/seconds), result.Last.Loss)
	return result, nil
}

// summarize makes the summary of a run, but for its last times and sizes.
func (j *job) summarize(o outcome) runfolder.Summary {
	c := &j.config
	epochs := j.epochs * float64(o.Units) / float64(j.trainer.Units())
	s := runfolder.Summary{
		Mode: c.Mode, Preset: c.Preset, Device: c.Device, Threads: c.ThreadCount(), Dim: c.Dim,
		Vocab: j.text.vocabulary.Len(), Lines: j.text.stats.Lines, Tokens: j.text.stats.Tokens, TrainWords: j.text.stats.TokensUsed,
		Iterations: o.Units, Epochs: epochs,
		Memory:      j.memory(),
		SecondsRead: j.text.seconds, SecondsMatrix: j.secondsMatrix, SecondsTrain: o.Seconds,
		Loss: o.Last.Loss, Seed: c.Seed, Interrupted: o.Interrupted, Go: runtime.Version(), Out: c.Out,
	}
	s.WordsTrained = j.start.Trained + o.Words
	s.DeviceName, s.PeakDevice = trainer.Device(j.trainer)
	s.Precision = c.DevicePrecision()
	if g := j.options.Ranks; g != nil {
		s.Ranks = g.Size()
	}
	if o.Seconds > 0 {
		s.WordsPerSecond = float64(j.text.stats.TokensUsed) * epochs / o.Seconds
		s.PairsPerSecond = o.Pairs / o.Seconds
	}
	return s
}
