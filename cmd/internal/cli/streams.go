package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

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
func (s Streams) Narrow() bool { return s.width() < narrowWidth }

// width returns the letters of a line of the terminal that standard output is; many if it is none.
func (s Streams) width() int {
	if f, ok := s.Out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return terminal.Width(f)
	}
	return math.MaxInt
}

// Paragraph writes a text, on a terminal in lines that fit, with a head to the left of all.
func (s Streams) Paragraph(head, text string) error {
	lines := terminal.Wrap(terminal.VisibleLine(text), s.width()-len(head)-1) // some terminals wrap when a line is full
	_, err := fmt.Fprintln(s.Out, head+strings.ReplaceAll(lines, "\n  ", "\n"+strings.Repeat(" ", len(head))))
	return err
}

// Progress returns the display of a long command, which shows only warnings if it is quiet.
func (s Streams) Progress(quiet bool) *progress.Progress {
	if quiet {
		return progress.Warnings(s.Err)
	}
	return progress.New(s.Err)
}
