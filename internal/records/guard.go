package records

import (
	"fmt"
	"io"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A rowGuard reads a table for a parser that keeps whole rows. It ends with an [Error] where a row has far more cells
// than the first one, or would take more memory than there is.
type rowGuard struct {
	in        io.Reader
	separator byte
	quotes    bool // a cell in quotation marks may have separators and line feeds
	columns   int

	line, first int   // lines until now, and until the row
	bytes       int64 // of the row
	asked       int64 // at so many bytes memory is asked for again
	cells       int
	within      bool // quotation marks
}

// moreCells than the first row, a row may have, so that the message about it can count them.
const moreCells = 1000

// askedFirst is how many bytes a row has when memory is asked for the first time, and rowFactor how many bytes of
// memory each takes in the parser, at most.
const (
	askedFirst = 1 << 20
	rowFactor  = 6
)

// Read implements io.Reader.
func (g *rowGuard) Read(p []byte) (int, error) {
	n, err := g.in.Read(p)
	for i, c := range p[:n] {
		if err := g.see(c); err != nil {
			return i, &Error{fmt.Sprintf("line %d", g.first+1), err}
		}
	}
	return n, err
}

// see looks at the next byte.
func (g *rowGuard) see(c byte) error {
	g.bytes++
	switch {
	case c == '"' && g.quotes:
		g.within = !g.within
	case c == '\n':
		if g.line++; !g.within {
			g.first, g.bytes, g.asked, g.cells = g.line, 0, 0, 0
			return nil
		}
	case c == g.separator && !g.within:
		if g.cells++; g.cells >= g.columns+moreCells {
			return fmt.Errorf("it has more than %d columns, and the first line %d", g.cells, g.columns)
		}
	}
	if g.bytes < max(g.asked, askedFirst) {
		return nil
	}
	done, err := memory.Room(rowFactor * g.bytes)
	if err != nil {
		return err
	}
	done()
	g.asked = 2 * g.bytes
	return nil
}
