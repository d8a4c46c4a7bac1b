package graph

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A columnReader reads columns of M in order, a block of them at a time: a row
// of M is a line of memory, so one column alone would touch as many cache lines
// as there are words.
type columnReader struct {
	matrix *wordcontext.Matrix
	team   *team.Team
	block  []uint32 // columnBlock x V, column by column
	first  int      // column of the block; -1: none yet
}

// columnBlock keeps the memory of both readers small beside the tables.
const columnBlock = 32

// column returns the V entries of column j, good until the next call.
func (c *columnReader) column(j int) ([]uint32, error) {
	v := c.matrix.Rows()
	first := j - j%columnBlock
	if first != c.first {
		count := min(columnBlock, c.matrix.Contexts()-first)
		const rows = 512
		err := c.team.Do((v+rows-1)/rows, func(_, b int) {
			c.matrix.Block(first, count, b*rows, min((b+1)*rows, v), c.block)
		})
		if err != nil {
			return nil, fmt.Errorf("read columns %d to %d of M: %w", first, first+count-1, err)
		}
		c.first = first
	}
	return c.block[(j-first)*v:][:v], nil
}
