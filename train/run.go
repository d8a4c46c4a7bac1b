package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/trainer"
)

// Run trains what c says and leaves the run folder c.Out. When ctx is
// cancelled the unit of work at hand is finished and what was trained is
// saved; the error is then [ErrInterrupted] and the summary is good. On any
// other error no run folder appears, and one that c.Force was to replace
// stays; c.Out.partial stays if there is a checkpoint in it, for [Resume].
func Run(ctx context.Context, c Config, p *terminal.Progress) (Summary, error) {
	return RunReader(ctx, c, nil, p)
}

// RunReader is [Run] on a text that is not a file: it is read from source,
// and c.Corpus is only its name. The nil source stands for c.Corpus itself.
func RunReader(ctx context.Context, c Config, source io.Reader, p *terminal.Progress) (Summary, error) {
	return RunWith(ctx, c, Extras{Source: source}, p)
}

// RunWith is [Run] with what a program adds to it.
func RunWith(ctx context.Context, c Config, x Extras, p *terminal.Progress) (Summary, error) {
	start := time.Now()
	if err := c.checkOutputs(); err != nil {
		return Summary{}, err
	}
	folder, err := createFolder(c.Out, c.Force)
	if err != nil {
		return Summary{}, err
	}
	defer folder.close()
	j := &job{config: c, extras: x}
	defer j.close()
	// First of all, so that a run that is killed can be resumed.
	if err := j.writeConfig(folder); err != nil {
		return Summary{}, err
	}
	if err := j.prepare(ctx, p); err != nil {
		return Summary{}, stopped(ctx, err)
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
func (j *job) run(ctx context.Context, folder *runFolder, start time.Time, p *terminal.Progress) (Summary, error) {
	if err := j.announce(ctx, p); err != nil {
		return Summary{}, stopped(ctx, err)
	}
	if ctx.Err() != nil {
		return Summary{}, errStopped
	}
	if err := j.writeDOT(); err != nil {
		return Summary{}, err
	}
	from, err := j.begin(folder, p)
	if err != nil {
		return Summary{}, err
	}
	result, err := j.train(ctx, folder, from, p)
	if err != nil {
		return Summary{}, j.advise(folder, err)
	}
	if err := j.export(folder); err != nil {
		j.saver.rescue(result.position)
		return Summary{}, j.advise(folder, err)
	}
	summary := j.summarize(result)
	summary.SecondsTotal = from.Seconds + time.Since(start).Seconds()
	summary.PeakRSS = machine.PeakRSS()
	summary.Memory.Peak = summary.PeakRSS
	if err = j.saver.metrics.finish(); err == nil {
		err = folder.finish(summary)
	}
	if err != nil {
		return Summary{}, j.advise(folder, err)
	}
	if result.Interrupted {
		err = fmt.Errorf("%w after %s of %s %ss; the vectors trained until then are in %s",
			ErrInterrupted, terminal.Number(result.Units), terminal.Number(j.trainer.Units()), j.mode.unit, j.config.Out)
		if folder.hasCheckpoint() {
			err = fmt.Errorf("%w, and 'w2vcl resume %s' goes on", err, j.config.Out)
		}
	}
	return summary, err
}

// announce prints the plan. Nobody reads it under --quiet, so nothing is
// measured then.
func (j *job) announce(ctx context.Context, p *terminal.Progress) error {
	if p == nil || j.extras.NoPlan {
		return nil
	}
	plan, err := j.plan(ctx)
	if err != nil {
		return err
	}
	return plan.Print(p.Writer())
}

// begin is where a run starts to leave something behind: OUT.partial, with
// settings and vocabulary. It returns the position to train from, with the
// trainer in its state.
func (j *job) begin(folder *runFolder, p *terminal.Progress) (position, error) {
	var from position
	if err := j.room().check(folder, p); err != nil {
		return from, err
	}
	if j.from != nil {
		if err := j.from.load(j.trainer); err != nil {
			return from, err
		}
		from = j.from.Position
		j.from.announce(j, p)
	}
	if err := folder.begin(); err != nil {
		return from, err
	}
	if err := j.writeConfig(folder); err != nil {
		return from, err
	}
	return from, atomicfile.Write(folder.path(VocabularyFile), j.vocabulary.WriteTSV)
}

// train runs the loop with the metrics file and the checkpoints of the folder.
func (j *job) train(ctx context.Context, folder *runFolder, from position, p *terminal.Progress) (result outcome, err error) {
	metricsBytes := int64(0)
	if j.from != nil {
		metricsBytes = j.from.Metrics
	}
	metrics, err := openMetrics(folder.path(MetricsFile), metricsBytes)
	if err != nil {
		return outcome{}, err
	}
	j.closers = append(j.closers, metrics.file.Close)
	if j.saver, err = j.newSaver(folder, metrics, from, p); err != nil {
		return outcome{}, err
	}
	units := j.trainer.Units()
	l := loop{
		trainer: j.trainer, from: from, rate: j.config.schedule(units), unitName: j.mode.unit,
		wordsPerUnit: float64(j.stats.TokensUsed) * j.epochs / float64(units),
		metrics:      metrics, saver: j.saver, progress: p,
		limit: j.extras.Limit, observe: j.observer(), observations: j.extras.Observations,
	}
	if result, err = l.run(ctx); err != nil {
		return outcome{}, err
	}
	p.Notef("Trained: %s %ss in %s (%s words/s, %s pairs/s), loss %.4f", terminal.Number(result.Units), j.mode.unit, terminal.Duration(result.Seconds),
		terminal.Rate(result.Words/max(result.Seconds, 1e-9)), terminal.Rate(result.Pairs/max(result.Seconds, 1e-9)), result.Last.Loss)
	return result, nil
}

// writeConfig writes the settings, with paths that hold from any folder.
func (j *job) writeConfig(folder *runFolder) error {
	c := j.config
	c.Matrix, c.Init = absolute(c.Matrix), absolute(c.Init)
	if j.extras.Source == nil { // otherwise Corpus is a name, not a path
		c.Corpus = absolute(c.Corpus)
	}
	config, err := c.TOML()
	if err != nil {
		return err
	}
	return atomicfile.Write(folder.path(ConfigFile), func(w io.Writer) error {
		_, err := w.Write(config)
		return err
	})
}

func (j *job) writeDOT() error {
	if j.config.GraphDOT == "" {
		return nil
	}
	dot := trainer.DOT(j.trainer)
	if dot == "" {
		return fmt.Errorf("mode %s has no Gorgonia graph to write: leave out --graph-dot", j.config.Mode)
	}
	return atomicfile.Write(j.config.GraphDOT, func(w io.Writer) error {
		_, err := io.WriteString(w, dot)
		return err
	})
}

// export writes the vectors to use, what composes others, and the context
// table, at the same time, or none of them.
func (j *job) export(folder *runFolder) error {
	if err := trainer.Pull(j.trainer, false); err != nil {
		return err
	}
	if err := j.refresh(); err != nil {
		return err
	}
	words, contexts := j.trainer.Tables()
	vectors := j.config.vectors(words, contexts)
	if err := j.exportEncoder(folder, vectors); err != nil {
		return err
	}
	var vectorsErr, contextsErr error
	var working sync.WaitGroup
	working.Go(func() { contextsErr = j.exportTable(folder.path(ContextFile), contexts) })
	vectorsErr = j.exportTable(folder.path(VectorsFile), vectors)
	working.Wait()
	err := vectorsErr
	if err == nil {
		err = contextsErr
	}
	if err != nil {
		// Room for a checkpoint. Without a summary nobody takes one of the two for a
		// result.
		os.Remove(folder.path(VectorsFile))
		os.Remove(folder.path(ContextFile))
	}
	return err
}

func (j *job) exportTable(path string, values []float32) error {
	table, err := embedding.NewTable(j.vocabulary.Words, j.config.Dim, values)
	if err != nil {
		return fmt.Errorf("%w: the trained vectors are not sound: %w", errDiverged, err)
	}
	return embedding.Save(path, table, embedding.Word2VecBinary)
}
