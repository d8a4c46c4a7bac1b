package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A columnReader reads the samples of iterations in order, several iterations at a
// time: a row of M is a line of memory, so one iteration alone would touch as many
// cache lines as there are words.
type columnReader struct {
	matrix  *wordcontext.Matrix
	team    *team.Team
	samples []uint32 // (readColumns, S), iteration by iteration
	first   int      // number of the first of these iterations; -1: none yet
}

// readColumns is how many iterations are read at a time. It keeps the memory of
// both readers small beside the tables.
const readColumns = 32

func newColumnReader(m *wordcontext.Matrix, workers *team.Team) columnReader {
	slots := m.Slots()
	return columnReader{matrix: m, team: workers, samples: make([]uint32, readColumns*slots[m.Rows()]), first: -1}
}

// column returns the S samples of a step of an iteration, good until the next call.
func (c *columnReader) column(step, iteration int) ([]uint32, error) {
	v, s := c.matrix.Rows(), int(c.matrix.Slots()[c.matrix.Rows()])
	first := iteration - iteration%readColumns
	if first != c.first {
		const rows = 512
		err := c.team.Do((v+rows-1)/rows, func(_, b int) {
			c.matrix.Samples(step, first, readColumns, b*rows, min((b+1)*rows, v), c.samples)
		})
		if err != nil {
			return nil, fmt.Errorf("read the samples of M for iterations %d to %d: %w", first, first+readColumns-1, err)
		}
		c.first = first
	}
	return c.samples[(iteration-first)*s:][:s], nil
}
