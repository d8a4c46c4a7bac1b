package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

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
