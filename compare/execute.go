package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/train"
)

// A Finished comparison is all that [Summarize] needs.
type Finished struct {
	Options Options
	Text    *corpus.Corpus
	Records []*Record          // in the order of Options.Runs
	Items   [][]evaluate.Items // of each record
}

// Execute trains all runs that are not finished yet, one after the other on one
// text in memory. source, if not nil, is read instead of the corpus. When ctx
// is cancelled the run at hand saves what it needs to go on, and the error is
// [train.ErrInterrupted]: the same options continue.
func Execute(ctx context.Context, o Options, source io.Reader, p *terminal.Progress) (*Finished, error) {
	runs, err := o.Runs()
	if err != nil {
		return nil, err
	}
	text, err := train.ReadText(ctx, runs[0].Config, source, p)
	if err != nil {
		return nil, err
	}
	e := &executor{options: o, source: source, text: text, progress: p}
	if e.judge, err = newJudge(ctx, o.Data, text, runs[0].Config); err != nil {
		return nil, err
	}
	if o.Classify {
		if err := e.judge.findClasses(); err != nil {
			return nil, err
		}
	}
	for _, note := range e.judge.notes {
		p.Notef("%s", note)
	}
	f := &Finished{Options: o, Text: text}
	for _, r := range runs { // all records first: a wrong folder is no reason to train
		record, err := e.open(r)
		if err != nil {
			return nil, err
		}
		f.Records = append(f.Records, record)
	}
	for i, r := range runs {
		if err := e.run(ctx, r, f.Records[i], fmt.Sprintf("[%d of %d] %s, seed %d", i+1, len(runs), r.Name, r.Config.Seed)); err != nil {
			return nil, err
		}
		if err := e.classify(ctx, r, f.Records[i]); err != nil {
			return nil, err
		}
	}
	p.Notef("Judging what chance has to do with it")
	for _, r := range runs {
		items, err := e.judge.items(ctx, r.Config.Out)
		if err != nil {
			return nil, stopped(ctx, err)
		}
		f.Items = append(f.Items, items)
	}
	return f, nil
}

// An executor trains the runs.
type executor struct {
	options  Options
	source   io.Reader // not nil: the corpus is only a name
	text     *corpus.Corpus
	judge    *judge
	progress *terminal.Progress
}

// open returns the record of a run, with what is known of it already.
func (e *executor) open(r Run) (*Record, error) {
	record := &Record{
		Variant: r.Variant, Seed: r.Config.Seed, Settings: settingsOf(r.Config), Budget: e.options.Budget.String(),
		Observed: e.options.Points, Fingerprint: fmt.Sprintf("%016x", e.text.Fingerprint()), Sets: e.judge.sets,
	}
	return record, record.reload(e.options.Out)
}

// run trains and judges one run, if that was not done before.
func (e *executor) run(ctx context.Context, r Run, record *Record, what string) error {
	if record.Finished {
		e.progress.Notef("%s: done before", what)
		return nil
	}
	e.progress.Notef("%s", what)
	if err := os.MkdirAll(filepath.Dir(r.Config.Out), 0o755); err != nil {
		return fmt.Errorf("cannot make --out: %w", err)
	}
	if err := record.save(e.options.Out); err != nil {
		return err
	}
	var err error
	if record.Summary, err = e.train(ctx, r, record); err != nil {
		return stopped(ctx, err)
	}
	if record.Scores, err = e.judge.all(ctx, r.Config.Out); err != nil {
		return stopped(ctx, err)
	}
	record.Finished = true
	return record.save(e.options.Out)
}

// classify scores a finished run on the sets of sentences, if they are asked for
// and that was not done before.
func (e *executor) classify(ctx context.Context, r Run, record *Record) (err error) {
	if !e.options.Classify || slices.Equal(record.ClassSets, e.judge.classSets) {
		return nil
	}
	note := func(dataset string) { e.progress.Notef("Classes of sentences: %s", dataset) }
	if record.Classes, err = e.judge.classes(ctx, r.Config.Out, note); err != nil {
		return stopped(ctx, err)
	}
	record.ClassSets = e.judge.classSets
	return record.save(e.options.Out)
}

// train trains a run from its beginning, or from where it was interrupted.
func (e *executor) train(ctx context.Context, r Run, record *Record) (runfolder.Summary, error) {
	options := train.Options{
		Source: e.source, Text: e.text, Limit: e.options.Budget.limit(r.Config, e.text.Vocabulary.Len()), NoPlan: true,
		Observations: e.options.Points,
		Observe: func(o train.Observation) error {
			// An interrupt waits for it: a second or so.
			point, err := e.judge.point(context.WithoutCancel(ctx), o)
			if err != nil {
				return err
			}
			record.add(point)
			return record.save(e.options.Out)
		},
	}
	began := false
	for _, suffix := range []string{"", ".partial"} {
		_, err := os.Stat(r.Config.Out + suffix)
		began = began || err == nil
	}
	if !began {
		return train.Run(ctx, r.Config, options, e.progress)
	}
	summary, err := train.Resume(ctx, r.Config.Out, nil, func(string) train.Options { return options }, e.progress)
	if errors.Is(err, train.ErrComplete) {
		err = nil
	}
	return summary, err
}

// stopped makes the error of work that was cancelled one that says how to go
// on.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: what was done is kept; the same command goes on", train.ErrInterrupted)
}
