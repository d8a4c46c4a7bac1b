package main

import (
	"context"
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
)

// streams are where a command reads and writes. Data goes to out, messages for
// the person at the terminal go to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// notef writes a line for the person at the terminal. Nothing can be done about an
// error: there is nobody to tell.
func (s streams) notef(format string, args ...any) {
	_, _ = fmt.Fprintf(s.err, format+"\n", args...)
}

// progress returns the display of a long command; nil, which shows nothing, if it
// is quiet.
func (s streams) progress(quiet bool) *progress.Progress {
	if quiet {
		return nil
	}
	return progress.New(s.err)
}

// interruptible returns a context that the first Ctrl-C cancels, so that the work
// stops in an orderly way.
func (s streams) interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return terminal.Interruptible(ctx, func() {
		s.notef("\nStopping after the current step. Press Ctrl-C again to quit at once.")
	})
}
