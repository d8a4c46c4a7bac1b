package compare

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/train"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// leaveOut takes the runs that are not finished out of an interrupted comparison, and returns the
// others.
func (e *executor) leaveOut(f *Finished) (finished []experiment.Run) {
	all, texts := f.Records, f.Texts
	f.Records, f.Texts = nil, nil
	for i, r := range e.runs {
		if e.due(all[i]) {
			f.Missing = append(f.Missing, r.Title())
			continue
		}
		f.Records, f.Texts, finished = append(f.Records, all[i]), append(f.Texts, texts[i]), append(finished, r)
	}
	for _, external := range e.options.External {
		f.Missing = append(f.Missing, external.Name)
	}
	return finished
}

// rows are the variants of which a run is finished, and the vectors of other programs.
func (f *Finished) rows() []experiment.Variant {
	return slices.DeleteFunc(f.Options.Rows(), func(v experiment.Variant) bool {
		return !slices.ContainsFunc(f.Records, func(r *Record) bool { return r.Variant.Name == v.Name })
	})
}

// stopped replaces the error of cancelled work by one that says how to continue.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: the same command continues with what is finished", train.ErrInterrupted)
}

// firstRun returns the summary of the first run, which is finished by now if others follow it.
func (e *executor) firstRun() (runfolder.Summary, error) {
	if !e.options.Budget.IsEqual() {
		return runfolder.Summary{}, nil
	}
	record, err := e.open(e.runs[0])
	if err == nil && !record.Finished {
		err = fmt.Errorf("%s is not trained yet, and the others train as long as it does", e.runs[0].Title())
	}
	if err != nil {
		return runfolder.Summary{}, err
	}
	return record.Summary, nil
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
