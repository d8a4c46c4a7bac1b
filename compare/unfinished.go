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

// leaveOut takes the runs that diverged or are not finished out of a comparison, and returns the others.
func (e *executor) leaveOut(f *Finished) (finished []experiment.Run) {
	all, texts := f.Records, f.Texts
	f.Records, f.Texts = nil, nil
	for i, r := range e.runs {
		switch {
		case all[i].Diverged != "":
			f.Diverged = append(f.Diverged, r.Title()+": "+all[i].Diverged)
		case e.due(all[i]):
			f.Missing = append(f.Missing, r.Title())
		default:
			f.Records, f.Texts, finished = append(f.Records, all[i]), append(f.Texts, texts[i]), append(finished, r)
		}
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
