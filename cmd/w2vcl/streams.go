package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/runfolder"
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

// narrowWidth is the width below which a table leaves columns out that a reader of a
// terminal can do without.
const narrowWidth = 80

// narrow reports whether standard output is a terminal with short lines.
func (s streams) narrow() bool {
	f, ok := s.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && terminal.Width(f) < narrowWidth
}

// progress returns the display of a long command; nil, which shows nothing, if it
// is quiet.
func (s streams) progress(quiet bool) *progress.Progress {
	if quiet {
		return nil
	}
	return progress.New(s.err)
}

// noteUnfinished tells that the vectors at a path are those of a run that is not
// finished, and how far it has come.
func (s streams) noteUnfinished(path string) {
	if note := runfolder.Unfinished(path); note != "" {
		s.notef("Note: %s; these are the vectors of its last checkpoint", note)
	}
}
