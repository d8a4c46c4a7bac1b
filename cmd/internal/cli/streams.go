package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
)

// Streams are where a command reads and writes. Data goes to Out, messages for
// the person at the terminal go to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Notef writes a line for the person at the terminal. Nothing can be done about an
// error: there is nobody to tell.
func (s Streams) Notef(format string, args ...any) {
	_, _ = io.WriteString(s.Err, terminal.Visible(fmt.Sprintf(format+"\n", args...)))
}

// narrowWidth is the width below which a table leaves columns out that a reader of a
// terminal can do without.
const narrowWidth = 80

// Narrow reports whether standard output is a terminal with short lines.
func (s Streams) Narrow() bool {
	f, ok := s.Out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && terminal.Width(f) < narrowWidth
}

// Progress returns the display of a long command, which shows only warnings if it is quiet.
func (s Streams) Progress(quiet bool) *progress.Progress {
	if quiet {
		return progress.Warnings(s.Err)
	}
	return progress.New(s.Err)
}
