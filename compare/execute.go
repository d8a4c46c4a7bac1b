package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// Means are what a comparison needs beside its options.
type Means struct {
	// Source, if not nil, opens the text, whose name is the corpus. A text that can be read
	// only once serves variants that read it alike.
	Source func() io.Reader
	// Progress may be nil.
	Progress *progress.Progress
}

// A Finished comparison is all that [Summarize] needs.
type Finished struct {
	Options experiment.Options
	Records []*Record          // in the order of Options.Runs, then of Options.External
	Texts   []*corpus.Corpus   // of each record
	Items   [][]evaluate.Items // of each record
	Missing []string           // titles of the runs, and names of vectors, that an interruption left out

	Diverged []string // titles of runs that came to nothing, with the reason

	contained map[string]string // sets that repeat a larger one, which is the value
	spelling  string            // see Result.Spelling
	sum       string            // SHA-256 of the file of the text; "": there is none
}

// Execute trains the runs that are not finished, one after the other, on texts that are
// read once. When ctx is cancelled the current runs save a checkpoint and the error is
// [train.ErrInterrupted]; a call with the same options continues. With that error comes
// what is finished, unless nothing is.
func Execute(ctx context.Context, o experiment.Options, with Means) (*Finished, error) {
	e, err := newExecutor(ctx, o, with)
	if err != nil {
		return nil, err
	}
	defer e.close()
	for _, note := range e.judge.notes {
		with.Progress.Notef("%s", note)
	}
	f := &Finished{Options: o, spelling: e.spelling}
	if e.judge.known != nil {
		f.contained = e.judge.known.Contained()
	}
	if f.sum, err = e.sumOfText(ctx); err != nil {
		return nil, err
	}
	unlock, err := lockRuns(o.Out)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, r := range e.runs { // all records first: a wrong folder is refused before any training
		record, err := e.open(r)
		if err != nil {
			return nil, err
		}
		f.Records, f.Texts = append(f.Records, record), append(f.Texts, e.texts[r.TextKey()])
	}
	e.records = f.Records
	stop := e.runEach(ctx)
	if stop != nil && !errors.Is(stop, train.ErrInterrupted) {
		return nil, stop
	}
	finished := e.leaveOut(f)
	if stop != nil {
		ctx = context.WithoutCancel(ctx)
		for _, external := range o.External {
			f.Missing = append(f.Missing, external.Name)
		}
	}
	if len(finished) == 0 {
		return nil, cmp.Or(stop, fmt.Errorf("nothing is left to compare: %s", strings.Join(f.Diverged, "; ")))
	}
	with.Progress.Notef("Judging the differences against chance")
	if err := e.collect(ctx, f, finished); err != nil {
		return nil, err
	}
	if stop != nil {
		return f, stop
	}
	return f, e.external(ctx, f)
}

// collect appends the outcomes of single items of finished runs.
func (e *executor) collect(ctx context.Context, f *Finished, finished []experiment.Run) (err error) {
	for _, r := range finished {
		if ctx.Err() != nil {
			return stopped(ctx, ctx.Err())
		}
		items, ok := e.items[r.ID()]
		if !ok {
			if items, err = e.judge.items(ctx, r.Config.Out); err != nil {
				return stopped(ctx, err)
			}
		}
		f.Items = append(f.Items, items)
	}
	return nil
}

// lockRuns keeps others from a comparison: two that run at once would take each other's runs for strange ones.
func lockRuns(out string) (unlock func(), err error) {
	runs := filepath.Join(out, experiment.RunsFolder)
	if err := os.MkdirAll(runs, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make --out: %w", err)
	}
	return runfolder.Lock(runs)
}

type executor struct {
	Means
	options experiment.Options
	runs    []experiment.Run
	records []*Record                 // of the runs
	texts   map[string]*corpus.Corpus // by Run.TextKey
	judges  map[string]*judge         // likewise
	judge   *judge                    // one of them
	shared  matrices
	items   map[string][]evaluate.Items // of runs that were scored in this process, by Run.ID
	release func()                      // ends the limit of memory

	spelling string // why no variant composes words from it

	iterationPairs float64 // of mode cl
}

// close closes the texts. They were only read; vocabularies and numbers stay.
func (e *executor) close() {
	e.release()
	for _, text := range e.texts {
		if text != nil {
			_ = text.Close()
		}
	}
}

// newExecutor resolves the runs, reads their texts and finds the evaluation sets.
func newExecutor(ctx context.Context, o experiment.Options, with Means) (_ *executor, err error) {
	runs, err := o.Runs()
	if err != nil {
		return nil, err
	}
	e := &executor{
		Means: with, options: o, runs: runs,
		texts:  map[string]*corpus.Corpus{},
		judges: map[string]*judge{},
		items:  map[string][]evaluate.Items{},
	}
	if e.release, err = train.LimitMemory(runs[0].Config); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	for _, r := range runs {
		key := r.TextKey()
		if e.texts[key] != nil {
			continue
		}
		var source io.Reader
		if with.Source != nil {
			source = with.Source()
		}
		if e.texts[key], err = train.ReadText(ctx, r.Config, source, with.Progress); err != nil {
			return nil, err
		}
		if e.judges[key], err = newJudge(ctx, o, e.texts[key], runs[0].Config); err != nil {
			return nil, err
		}
	}
	first := runs[0].TextKey()
	e.judge = e.judges[first]
	if _, e.spelling, err = o.EqualEncoder(); err != nil {
		return nil, err
	}
	if e.spelling != "" {
		e.judge.notes = append(e.judge.notes, e.spelling)
	}
	e.iterationPairs, err = o.IterationPairs(runs, e.texts[first].Vocabulary)
	return e, err
}

// runEach trains and judges the runs that are not finished, one after the other. A run on a
// GPU is judged while the next one trains.
func (e *executor) runEach(ctx context.Context) (err error) {
	records := e.records
	if err := e.checkTraining(ctx, records); err != nil {
		return err
	}
	defer e.shared.close()
	begun := newAgenda(e, records)
	judged := func() error { return nil } // waits for the run before
	defer func() {
		if later := judged(); err == nil {
			err = later
		}
	}()
	for i, r := range e.runs {
		title := begun.title(i)
		switch {
		case records[i].Finished:
			e.Progress.Notef("%s: done before", title)
		case records[i].Diverged != "":
			e.Progress.Notef("%s: diverged before", title)
		default:
			e.Progress.Notef("%s%s", title, begun.begin(i))
		}
		if !e.due(records[i]) {
			continue
		}
		if err := e.run(ctx, r, records[i]); err != nil {
			return err
		}
		e.shared.keepFor(e.runs[i+1:], e.texts, func(k int) bool { return !records[i+1+k].Finished })
		if err := judged(); err != nil {
			return err
		}
		judged = func() error { return nil }
		if !records[i].trained() { // it diverged
			continue
		}
		if r.Config.Device == settings.DeviceCPU {
			err = e.finish(ctx, r, records[i], 0)
		} else {
			judged = e.finishBeside(ctx, r, records[i])
		}
		if err != nil {
			return err
		}
		begun.end(i)
	}
	return nil
}

// checkTraining refuses a comparison of which a run would be refused, before any run is trained. The error is that of the
// run that needs most.
func (e *executor) checkTraining(ctx context.Context, records []*Record) error {
	var most error
	need := int64(0)
	for i, r := range e.runs {
		if records[i].Finished || r.Config.Device != settings.DeviceCPU {
			continue
		}
		var refused *memory.NeedError
		_, err := train.CheckMemory(ctx, r.Config, e.runOptions(ctx, r, records[i]))
		if errors.As(err, &refused) && refused.Enough > need {
			need, most = refused.Enough, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return most
}

// open returns the record of a run, as an earlier process left it if there was one.
func (e *executor) open(r experiment.Run) (*Record, error) {
	key := r.TextKey()
	record := &Record{
		Variant: r.Variant, Seed: r.Config.Seed, Settings: e.settingsOf(r), Budget: e.options.Budget.String(),
		Observations: e.options.Points, Fingerprint: corpus.Hex(e.texts[key].Fingerprint()), Sets: e.judge.sets,
	}
	if err := record.reload(e.options.Out); err != nil {
		return nil, err
	}
	record.restart(r.Config.Out)
	return record, nil
}

// due reports whether there is anything to do for a run.
func (e *executor) due(record *Record) bool {
	return !record.Finished && record.Diverged == "" || e.options.Classify && !slices.Equal(record.ClassSets, e.judge.classes.Names)
}

// run trains one run, unless that was done before.
func (e *executor) run(ctx context.Context, r experiment.Run, record *Record) (err error) {
	if record.Finished {
		return nil
	}
	if err := e.fixLength(ctx, &r, record); err != nil {
		return stopped(ctx, err)
	}
	if err := record.save(e.options.Out); err != nil {
		return err
	}
	summary, err := e.train(ctx, r, record)
	if errors.Is(err, train.ErrDiverged) {
		e.Progress.Notef("%s: %v", r.Title(), err)
		record.Diverged = err.Error()
		return record.save(e.options.Out)
	}
	if err != nil {
		return stopped(ctx, err)
	}
	record.Summary = summary
	return nil
}

// finish judges a trained run on so many threads, 0 for all, as far as that was not done
// before.
func (e *executor) finish(ctx context.Context, r experiment.Run, record *Record, threads int) error {
	if !record.Finished {
		scores, items, err := e.judge.all(ctx, r.Config.Out, threads)
		if err != nil {
			return stopped(ctx, err)
		}
		e.items[r.ID()] = items
		record.Scores, record.Finished = scores, true
		if err := record.save(e.options.Out); err != nil {
			return err
		}
	}
	return e.classify(ctx, r, record, threads)
}

// finishBeside is finish while other work goes on, which has half of the processors. The
// returned function waits for it, also when it is called again.
func (e *executor) finishBeside(ctx context.Context, r experiment.Run, record *Record) func() error {
	done := make(chan error, 1)
	go func() { done <- e.finish(ctx, r, record, max(1, runtime.GOMAXPROCS(0)/2)) }() // training has the other half
	return sync.OnceValue(func() error { return <-done })
}

// train trains a run from its beginning, or from where it was interrupted.
func (e *executor) train(ctx context.Context, r experiment.Run, record *Record) (runfolder.Summary, error) {
	options := e.runOptions(ctx, r, record)
	if !begun(r.Config.Out) {
		return train.Run(ctx, r.Config, options, e.Progress)
	}
	changes := map[string]string{}
	if r.Config.Device != settings.DeviceCPU { // another process may have begun it
		changes["device"] = r.Config.Device
	}
	summary, err := train.Resume(ctx, nil, r.Config.Out, changes, func(string) train.Options { return options }, e.Progress)
	if errors.Is(err, train.ErrComplete) {
		err = nil
	}
	return summary, err
}

// runOptions are what the run of a comparison is told beside its settings.
func (e *executor) runOptions(ctx context.Context, r experiment.Run, record *Record) train.Options {
	key := r.TextKey()
	text := e.texts[key]
	options := train.Options{
		Text: text, NoPlan: true,
		Matrix:       e.shared.get,
		Observations: e.options.Points,
		Observe: func(o train.Observation) error {
			// An interrupt waits for the observation, which takes about a second.
			point, err := e.judges[key].point(context.WithoutCancel(ctx), o)
			if err != nil {
				return err
			}
			record.add(point)
			return record.save(e.options.Out)
		},
	}
	if e.Source != nil {
		options.Source = e.Source() // only says that the corpus is a name
	}
	return options
}
