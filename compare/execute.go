package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/progress"
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

// Execute trains the runs that are not finished, one after the other, on one text. source, if not nil, is read instead of the corpus. When ctx is
// cancelled the current run saves a checkpoint and the error is
// [train.ErrInterrupted]; a call with the same options continues.
func Execute(ctx context.Context, o Options, source io.Reader, p *progress.Progress) (*Finished, error) {
	runs, err := o.Runs()
	if err != nil {
		return nil, err
	}
	text, err := train.ReadText(ctx, runs[0].Config, source, p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.Close() }() // it was only read; vocabulary and numbers stay
	e := &executor{options: o, source: source, text: text, progress: p}
	if e.positives, err = o.positives(runs, text.Vocabulary); err != nil {
		return nil, err
	}
	if e.judge, err = newJudge(ctx, o, text, runs[0].Config); err != nil {
		return nil, err
	}
	for _, note := range e.judge.notes {
		p.Notef("%s", note)
	}
	f := &Finished{Options: o, Text: text}
	for _, r := range runs { // all records first: a wrong folder is refused before any training
		record, err := e.open(r)
		if err != nil {
			return nil, err
		}
		f.Records = append(f.Records, record)
	}
	if err := e.runAll(ctx, runs, f.Records); err != nil {
		return nil, err
	}
	p.Notef("Judging the differences against chance")
	for _, r := range runs {
		items, err := e.judge.items(ctx, r.Config.Out)
		if err != nil {
			return nil, stopped(ctx, err)
		}
		f.Items = append(f.Items, items)
	}
	return f, nil
}

// runAll trains and judges the runs that are not finished. Runs whose folders are lost
// meanwhile are trained again, once.
func (e *executor) runAll(ctx context.Context, runs []Run, records []*Record) error {
	for again := false; ; again = true {
		if err := e.runEach(ctx, runs, records); err != nil {
			return err
		}
		lost := ""
		for i, r := range runs {
			if records[i].restart(r.Config.Out) {
				lost = r.Config.Out
				e.progress.Notef("Warning: %s was removed or moved away during the comparison; it is trained again", lost)
			}
		}
		switch {
		case lost == "":
			return nil
		case again:
			return fmt.Errorf("%s was removed or moved away during the comparison, twice: the same command trains it again", lost)
		}
	}
}

// runEach trains and judges the runs that are not finished, one after the other.
func (e *executor) runEach(ctx context.Context, runs []Run, records []*Record) error {
	pace := newPace()
	var rest []Run
	for i, r := range runs {
		if records[i].Finished {
			pace.known(records[i])
		} else {
			rest = append(rest, r)
		}
	}
	for i, r := range runs {
		title := fmt.Sprintf("[%d of %d] %s, seed %d", i+1, len(runs), r.Name, r.Config.Seed)
		begun := !records[i].Finished
		end := pace.begin(r)
		if begun {
			title += pace.note(rest)
			rest = rest[1:]
		}
		if err := e.run(ctx, r, records[i], title); err != nil {
			return err
		}
		if err := e.classify(ctx, r, records[i]); err != nil {
			return err
		}
		if begun {
			end()
		}
	}
	return nil
}

// An executor trains the runs.
type executor struct {
	options  Options
	source   io.Reader // not nil: the corpus is only a name
	text     *corpus.Corpus
	judge    *judge
	progress *progress.Progress

	positives float64 // of mode cl
}

// open returns the record of a run, as an earlier process left it if there was one.
func (e *executor) open(r Run) (*Record, error) {
	record := &Record{
		Variant: r.Variant, Seed: r.Config.Seed, Settings: settingsOf(r.Config), Budget: e.options.Budget.String(),
		Observations: e.options.Points, Fingerprint: corpus.Hex(e.text.Fingerprint()), Sets: e.judge.sets,
	}
	if err := record.reload(e.options.Out); err != nil {
		return nil, err
	}
	record.restart(r.Config.Out)
	return record, nil
}

// run trains and judges one run, unless that was done before.
func (e *executor) run(ctx context.Context, r Run, record *Record, title string) error {
	if record.Finished {
		e.progress.Notef("%s: done before", title)
		return nil
	}
	e.progress.Notef("%s", title)
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

// classify scores a finished run on the sets of sentences, if they were asked for
// and unless that was done before.
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
		Source: e.source, Text: e.text, Limit: e.options.Budget.limit(r.Config, e.text.Vocabulary.Len(), e.positives), NoPlan: true,
		Observations: e.options.Points,
		Observe: func(o train.Observation) error {
			// An interrupt waits for the observation, which takes about a second.
			point, err := e.judge.point(context.WithoutCancel(ctx), o)
			if err != nil {
				return err
			}
			record.add(point)
			return record.save(e.options.Out)
		},
	}
	if !begun(r.Config.Out) {
		return train.Run(ctx, r.Config, options, e.progress)
	}
	summary, err := train.Resume(ctx, r.Config.Out, nil, func(string) train.Options { return options }, e.progress)
	if errors.Is(err, train.ErrComplete) {
		err = nil
	}
	return summary, err
}

// begun reports whether there is a run to resume. If the folder cannot be read,
// train.Run says why.
func begun(out string) bool {
	run, err := runfolder.Open(out)
	if err != nil {
		return false
	}
	_, err = os.Stat(run.Path(runfolder.ConfigFile))
	return err == nil
}

// stopped replaces the error of cancelled work by one that says how to continue.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: finished work is kept; the same command continues", train.ErrInterrupted)
}
