package compare

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/train"
)

// Work is a process of a comparison with runs side by side: it executes the runs whose names
// come on in, and answers on out.
func Work(ctx context.Context, o experiment.Options, with Means, in io.Reader, out io.Writer) error {
	return work(ctx, in, out, train.ErrInterrupted, func(ctx context.Context) (doer, func(), error) {
		e, err := newExecutor(ctx, o, with)
		if err != nil {
			return nil, nil, err
		}
		return e.do, e.close, nil
	})
}

// do trains and scores the run of an ID.
func (e *executor) do(ctx context.Context, id string) error {
	i := slices.IndexFunc(e.runs, func(r experiment.Run) bool { return r.ID() == id })
	if i < 0 {
		return fmt.Errorf("this comparison has no run %s", id)
	}
	r := e.runs[i]
	record, err := e.open(r)
	if err == nil {
		err = e.run(ctx, r, record)
		e.shared.close()
	}
	if err == nil {
		err = e.finish(ctx, r, record, 0)
	}
	return err
}
