package device

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// columns reads the columns of M that iterations need, into memory of the
// kernels, while others are trained. The nil columns reads nothing.
type columns struct {
	matrix *wordcontext.Matrix
	team   *team.Team
	block  int
	memory [2][]uint32 // (2, block, V) each

	reading      chan error // of what is being read; nil: nothing is
	buffer       int        // that it is read into
	first, count int        // iterations
}

// read begins to read the columns of count iterations from first on into a
// buffer. A count of 0 or less is nothing.
func (c *columns) read(buffer, first, count int) {
	if c == nil || count <= 0 {
		return
	}
	done := make(chan error, 1)
	c.reading, c.buffer, c.first, c.count = done, buffer, first, count
	go func() { done <- c.fill(c.memory[buffer], first, count) }()
}

// await returns when the columns of count iterations from first on are in a
// buffer. If something else was read, it reads them now.
func (c *columns) await(buffer, first, count int) error {
	if c == nil {
		return nil
	}
	ready := c.reading != nil && c.buffer == buffer && c.first == first && c.count >= count
	err := c.wait()
	if !ready {
		c.read(buffer, first, count)
		err = c.wait()
	}
	if err != nil {
		return fmt.Errorf("read columns of M for iterations %d to %d: %w", first, first+count-1, err)
	}
	return nil
}

// wait waits for what is being read.
func (c *columns) wait() error {
	if c == nil || c.reading == nil {
		return nil
	}
	err := <-c.reading
	c.reading = nil
	return err
}

// fill reads the columns that graph.CL's iterations use.
func (c *columns) fill(to []uint32, first, count int) error {
	v, l := c.matrix.Rows(), c.matrix.Contexts()
	const rows = 256
	parts := (v + rows - 1) / rows
	return c.team.Do(2*parts, func(_, n int) {
		side, row0 := n/parts, n%parts*rows
		for done := 0; done < count; {
			column := c.matrix.StepColumn(first+done, side)
			run := min(count-done, l-column) // up to the last column of M
			c.matrix.Block(column, run, row0, min(row0+rows, v), to[(side*c.block+done)*v:])
			done += run
		}
	})
}
