package device

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// samples reads the samples of M for the next iterations into memory of the
// kernels, while the device trains others. The nil samples reads nothing.
type samples struct {
	matrix *wordcontext.Matrix
	team   *team.Team
	series int         // iterations of a buffer
	steps  int         // of an iteration that have samples of their own
	memory [2][]uint32 // the two buffers, (2, series, S) each

	reading      chan error // of the reading under way; nil: none is
	buffer       int        // that is being filled
	first, count int        // iterations
}

// read begins to read the samples of count iterations from first on into a
// buffer. With a count of 0 or less it does nothing.
func (s *samples) read(buffer, first, count int) {
	if s == nil || count <= 0 {
		return
	}
	done := make(chan error, 1)
	s.reading, s.buffer, s.first, s.count = done, buffer, first, count
	go func() { done <- s.fill(s.memory[buffer], first, count) }()
}

// await returns when the samples of count iterations from first on are in a
// buffer. If others were read, it reads these now.
func (s *samples) await(buffer, first, count int) error {
	if s == nil {
		return nil
	}
	ready := s.reading != nil && s.buffer == buffer && s.first == first && s.count >= count
	err := s.wait()
	if !ready {
		s.read(buffer, first, count)
		err = s.wait()
	}
	if err != nil {
		return fmt.Errorf("read samples of M for iterations %d to %d: %w", first, first+count-1, err)
	}
	return nil
}

// wait waits for the reading under way.
func (s *samples) wait() error {
	if s == nil || s.reading == nil {
		return nil
	}
	err := <-s.reading
	s.reading = nil
	return err
}

// fill reads the samples of the steps of each iteration.
func (s *samples) fill(to []uint32, first, count int) error {
	v := s.matrix.Rows()
	slots := int(s.matrix.Slots()[v])
	const rows = 256
	parts := (v + rows - 1) / rows
	return s.team.Do(s.steps*parts, func(_, n int) {
		side, row0 := n/parts, n%parts*rows
		s.matrix.Samples(side, first, count, row0, min(row0+rows, v), to[side*s.series*slots:])
	})
}
