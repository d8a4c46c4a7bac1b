package device

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// columns reads the columns of M for the next iterations into memory of the
// kernels, while the device trains others. The nil columns reads nothing.
type columns struct {
	matrix *wordcontext.Matrix
	team   *team.Team
	series int         // iterations of a buffer
	memory [2][]uint32 // the two buffers, (2, series, V) each

	reading      chan error // of the reading under way; nil: none is
	buffer       int        // that is being filled
	first, count int        // iterations
}

// read begins to read the columns of count iterations from first on into a
// buffer. With a count of 0 or less it does nothing.
func (c *columns) read(buffer, first, count int) {
	if c == nil || count <= 0 {
		return
	}
	done := make(chan error, 1)
	c.reading, c.buffer, c.first, c.count = done, buffer, first, count
	go func() { done <- c.fill(c.memory[buffer], first, count) }()
}

// await returns when the columns of count iterations from first on are in a
// buffer. If others were read, it reads these now.
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

// wait waits for the reading under way.
func (c *columns) wait() error {
	if c == nil || c.reading == nil {
		return nil
	}
	err := <-c.reading
	c.reading = nil
	return err
}

// fill reads the columns of the two steps of each iteration.
func (c *columns) fill(to []uint32, first, count int) error {
	v := c.matrix.Rows()
	const rows = 256
	parts := (v + rows - 1) / rows
	return c.team.Do(2*parts, func(_, n int) {
		side, row0 := n/parts, n%parts*rows
		c.matrix.Samples(side, first, count, row0, min(row0+rows, v), to[side*c.series*v:])
	})
}
