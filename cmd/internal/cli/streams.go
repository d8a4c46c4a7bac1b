package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"

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
	lines := terminal.Wrap(terminal.VisibleLine(text), s.width()-len(head))
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

// WriteJSON writes v as one line.
func WriteJSON(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot write the result as JSON: %w", err)
	}
	_, err = io.WriteString(w, terminal.Visible(string(line))+"\n")
	return err
}

// A Table is text in aligned columns, written at once. Tabs separate columns. The
// formats of callers right-align numbers. What a terminal would act upon in a word is shown escaped.
type Table struct{ buffer bytes.Buffer }

// Rowf adds a row.
func (t *Table) Rowf(format string, args ...any) {
	t.buffer.WriteString(terminal.Visible(fmt.Sprintf(format+"\n", args...)))
}

// Print writes the table.
func (t *Table) Print(w io.Writer) error {
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := aligned.Write(t.buffer.Bytes()); err != nil {
		return err
	}
	return aligned.Flush()
}

// Percent writes a fraction.
func Percent(fraction float64) string { return fmt.Sprintf("%.1f%%", 100*fraction) }
