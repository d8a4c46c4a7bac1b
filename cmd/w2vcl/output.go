package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot write the result as JSON: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// A table is text in aligned columns, written at once. Tabs separate columns. The
// formats of callers right-align numbers.
type table struct{ buffer bytes.Buffer }

// rowf adds a row.
func (t *table) rowf(format string, args ...any) {
	fmt.Fprintf(&t.buffer, format+"\n", args...)
}

func (t *table) writeTo(w io.Writer) error {
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := aligned.Write(t.buffer.Bytes()); err != nil {
		return err
	}
	return aligned.Flush()
}
