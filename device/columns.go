package device

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// launched is how many iterations are trained at a time, and columnBytes how
// much memory their columns of M may take.
const (
	launched    = 32
	columnBytes = 64 << 20
)

// columns reads the columns of M for blocks of iterations, the next block while
// the one at hand is trained.
type columns struct {
	matrix *wordcontext.Matrix
	team   *team.Team
	block  int // iterations that are read at a time

	ready  chan error // of the block that is being read; nil: none is
	buffer [2][]uint32
	next   int // buffer that is read into
	first  int // iteration of that block
	count  int
}

func newColumns(m *wordcontext.Matrix, threads *team.Team) columns {
	block := min(launched, max(1, columnBytes/(8*m.Rows())))
	c := columns{matrix: m, team: threads, block: block}
	for i := range c.buffer {
		c.buffer[i] = make([]uint32, 2*block*m.Rows())
	}
	return c
}

// take returns the columns of both half steps of count iterations, count at
// most block. They are good until take is called again twice.
func (c *columns) take(first, count int) ([][2][]uint32, error) {
	if c.ready == nil || first != c.first || count > c.count {
		_ = c.wait() // of columns that nobody needs
		c.start(first, count)
	}
	if err := c.wait(); err != nil {
		return nil, fmt.Errorf("read columns of M for iterations %d to %d: %w", first, first+count-1, err)
	}
	v := c.matrix.Rows()
	list := make([][2][]uint32, count)
	for i := range list {
		for side := range 2 {
			list[i][side] = c.buffer[c.next][(side*c.count+i)*v:][:v]
		}
	}
	c.next = 1 - c.next
	return list, nil
}

// prepare begins to read the columns of the block from iteration first on, of
// iterations in all.
func (c *columns) prepare(first, iterations int) {
	if count := min(c.block, iterations-first); count > 0 {
		c.start(first, count)
	}
}

func (c *columns) start(first, count int) {
	c.first, c.count = first, count
	done, to := make(chan error, 1), c.buffer[c.next]
	c.ready = done
	go func() { done <- c.read(to, first, count) }()
}

// wait waits for the block that is being read.
func (c *columns) wait() error {
	if c.ready == nil {
		return nil
	}
	err := <-c.ready
	c.ready = nil
	return err
}

// read reads count columns for each side, those that graph.TwoStep's iterations
// use.
func (c *columns) read(to []uint32, first, count int) error {
	v, l := c.matrix.Rows(), c.matrix.Contexts()
	const rows = 256
	parts := (v + rows - 1) / rows
	return c.team.Do(2*parts, func(_, n int) {
		side, part := n/parts, n%parts
		row0, row1 := part*rows, min((part+1)*rows, v)
		for done := 0; done < count; {
			column := (first + done + side*l/2) % l
			run := min(count-done, l-column) // up to the last column of M
			c.matrix.Block(column, run, row0, row1, to[(side*count+done)*v:])
			done += run
		}
	})
}
