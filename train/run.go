package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
)

// Run trains what c says and leaves the run folder c.Out. When ctx is
// cancelled the unit of work at hand is finished and what was trained is
// saved; the error is then [ErrInterrupted] and the summary is good. On any
// other error no run folder appears, and one that c.Force was to replace
// stays.
func Run(ctx context.Context, c Config, p *Progress) (Summary, error) {
	return RunReader(ctx, c, nil, p)
}

// RunReader is [Run] on a text that is not a file: it is read from source,
// and c.Corpus is only its name. The nil source stands for c.Corpus itself.
func RunReader(ctx context.Context, c Config, source io.Reader, p *Progress) (Summary, error) {
	start := time.Now()
	if err := c.checkOutputs(); err != nil {
		return Summary{}, err
	}
	folder, err := newRunFolder(c.Out, c.Force)
	if err != nil {
		return Summary{}, err
	}
	defer folder.abandon()
	j, err := newJob(ctx, c, source, false, p)
	if err != nil {
		return Summary{}, stopped(ctx, err)
	}
	defer j.close()
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
func (j *job) run(ctx context.Context, folder *runFolder, start time.Time, p *Progress) (Summary, error) {
	if err := j.announce(ctx, p); err != nil {
		return Summary{}, stopped(ctx, err)
	}
	if err := j.writeInputs(folder); err != nil {
		return Summary{}, err
	}
	trainer, err := j.newTrainer()
	if err != nil {
		return Summary{}, err
	}
	j.closers = append(j.closers, trainer.Close)
	if err := j.writeDOT(trainer); err != nil {
		return Summary{}, err
	}
	result, err := j.train(ctx, trainer, folder, p)
	if err != nil {
		return Summary{}, err
	}
	if err := j.export(trainer, folder); err != nil {
		return Summary{}, err
	}
	summary := j.summarize(result, trainer.Units())
	summary.SecondsTotal = time.Since(start).Seconds()
	summary.PeakRSS = PeakRSS()
	if err := atomicfile.Write(folder.path(SummaryFile), summary.writeJSON); err != nil {
		return Summary{}, err
	}
	if err := folder.commit(); err != nil {
		return Summary{}, err
	}
	if result.Interrupted {
		return summary, fmt.Errorf("%w after %s of %s %ss; the vectors trained until then are in %s",
			ErrInterrupted, Number(result.Units), Number(trainer.Units()), j.mode.unit, j.config.Out)
	}
	return summary, nil
}

// announce prints the plan. Nobody reads it under --quiet, so nothing is
// measured then.
func (j *job) announce(ctx context.Context, p *Progress) error {
	if p == nil {
		return nil
	}
	plan, err := j.plan(ctx)
	if err != nil {
		return err
	}
	return plan.Print(p.w)
}

// train runs the loop with the metrics file of the folder.
func (j *job) train(ctx context.Context, t Trainer, folder *runFolder, p *Progress) (outcome, error) {
	if ctx.Err() != nil {
		return outcome{}, errStopped
	}
	metrics, err := os.Create(folder.path(MetricsFile))
	if err != nil {
		return outcome{}, fmt.Errorf("cannot write metrics: %w", err)
	}
	l := loop{
		trainer: t, rate: j.config.schedule(t.Units()), unitName: j.mode.unit,
		wordsPerUnit: float64(j.stats.TokensUsed) * j.epochs / float64(t.Units()),
		metrics:      metrics, progress: p,
	}
	result, err := l.run(ctx)
	if closeErr := errors.Join(metrics.Sync(), metrics.Close()); err == nil && closeErr != nil {
		err = fmt.Errorf("cannot write metrics: %w", closeErr)
	}
	if err != nil {
		return outcome{}, err
	}
	p.Notef("Trained: %s %ss in %s (%s words/s, %s pairs/s), loss %.4f", Number(result.Units), j.mode.unit, Duration(result.Seconds),
		rate(result.Words/max(result.Seconds, 1e-9)), rate(result.Pairs/max(result.Seconds, 1e-9)), result.Loss)
	return result, nil
}

// writeInputs writes what is known before training: settings and vocabulary.
func (j *job) writeInputs(folder *runFolder) error {
	c := j.config
	c.Matrix = absolute(c.Matrix)
	if j.source == nil { // otherwise Corpus is a name, not a path
		c.Corpus = absolute(c.Corpus)
	}
	config, err := c.TOML()
	if err != nil {
		return err
	}
	err = atomicfile.Write(folder.path(ConfigFile), func(w io.Writer) error {
		_, err := w.Write(config)
		return err
	})
	if err != nil {
		return err
	}
	return atomicfile.Write(folder.path(VocabularyFile), j.vocabulary.WriteTSV)
}

func (j *job) writeDOT(t Trainer) error {
	if j.config.GraphDOT == "" {
		return nil
	}
	dot := t.DOT()
	if dot == "" {
		return fmt.Errorf("mode %s has no Gorgonia graph to write: leave out --graph-dot", j.config.Mode)
	}
	return atomicfile.Write(j.config.GraphDOT, func(w io.Writer) error {
		_, err := io.WriteString(w, dot)
		return err
	})
}

// export writes the vectors to use and the context table.
func (j *job) export(t Trainer, folder *runFolder) error {
	words, contexts := t.Tables()
	vectors := words
	if j.config.Vectors == VectorsSum {
		vectors = make([]float32, len(words))
		for i := range vectors {
			vectors[i] = words[i] + contexts[i]
		}
	}
	for _, file := range []struct {
		name string
		data []float32
	}{{VectorsFile, vectors}, {ContextFile, contexts}} {
		table, err := embedding.NewTable(j.vocabulary.Words, j.config.Dim, file.data)
		if err != nil {
			return fmt.Errorf("the trained vectors are not sound: %w; nothing was saved: start again with a lower --lr", err)
		}
		if err := embedding.Save(folder.path(file.name), table, embedding.Word2VecBinary); err != nil {
			return err
		}
	}
	return nil
}
