package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A columnReader reads columns of M in order, several at a time: a row of M is a
// line of memory, so one column alone would touch as many cache lines as there
// are words.
type columnReader struct {
	matrix  *wordcontext.Matrix
	team    *team.Team
	columns []uint32 // (readColumns, V), column by column
	first   int      // number of the first of them; -1: none yet
}

// readColumns is how many columns are read at a time. It keeps the memory of
// both readers small beside the tables.
const readColumns = 32

func newColumnReader(m *wordcontext.Matrix, workers *team.Team) columnReader {
	return columnReader{matrix: m, team: workers, columns: make([]uint32, readColumns*m.Rows()), first: -1}
}

// column returns the V entries of column j, good until the next call.
func (c *columnReader) column(j int) ([]uint32, error) {
	v := c.matrix.Rows()
	first := j - j%readColumns
	if first != c.first {
		count := min(readColumns, c.matrix.Contexts()-first)
		const rows = 512
		err := c.team.Do((v+rows-1)/rows, func(_, b int) {
			c.matrix.Columns(first, count, b*rows, min((b+1)*rows, v), c.columns)
		})
		if err != nil {
			return nil, fmt.Errorf("read columns %d to %d of M: %w", first, first+count-1, err)
		}
		c.first = first
	}
	return c.columns[(j-first)*v:][:v], nil
}
