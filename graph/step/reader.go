package step

import (
	"fmt"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Reader reads the samples that a step trains on, several iterations at a
// time: a row of M is a line of memory, so one iteration alone would touch as many
// cache lines as there are words.
type Reader struct {
	matrix  *wordcontext.Matrix
	team    *team.Team
	step    int
	blocks  []int          // a task is the rows blocks[b] ... blocks[b+1]-1
	samples []uint32       // (iterations, S)
	counts  []atomic.Int64 // of samples, by iteration
	first   int            // number of the first of these iterations; -1: none yet
}

// MaxIterations is the most iterations that are read at a time; more do not make
// reading faster.
const MaxIterations = 64

// readBytes is the most memory of the readers; they also take no more than the tables.
const readBytes = 64 << 20

// readSlots is the number of slots of an iteration that a task reads, so few that all
// threads finish at about the same time.
const readSlots = 512

// idleRow is the cost of looking at a row, in samples.
const idleRow = .05

// Iterations is how many iterations are read at a time if each has the given
// number of slots, and the tables take the given memory.
func Iterations(slots int, tableBytes int64) int {
	bytes := min(tableBytes, readBytes)
	return int(min(max(bytes/ReaderBytes(slots, 1), 1), MaxIterations))
}

// ReaderBytes is the memory of the readers of both steps.
func ReaderBytes(slots, iterations int) int64 {
	return 2 * 4 * int64(max(slots, 1)) * int64(iterations)
}

// NewReaders returns the readers of the two steps; one for both if they train on the same
// samples.
func NewReaders(m *wordcontext.Matrix, same bool, iterations int, workers *team.Team) (first, second *Reader) {
	first = NewReader(m, 0, iterations, workers)
	if same {
		return first, first
	}
	return first, NewReader(m, 1, iterations, workers)
}

// NewReader returns a reader of the samples of a step, 0 or 1, of the given number of
// iterations at a time.
func NewReader(m *wordcontext.Matrix, step, iterations int, workers *team.Team) *Reader {
	slots := m.Slots()
	return &Reader{
		matrix: m, team: workers, step: step, first: -1,
		blocks: balanced(m.Rows(), readSlots, func(i int) float64 {
			return idleRow + float64(slots[i+1]-slots[i])
		}),
		samples: make([]uint32, iterations*int(slots[m.Rows()])), counts: make([]atomic.Int64, iterations),
	}
}

// Iteration returns the slots of all rows in an iteration, (S), and how many of them
// have a sample. They are good until the next call.
func (s *Reader) Iteration(number int) (slots []uint32, samples int, err error) {
	first := number - number%len(s.counts)
	if first != s.first {
		if err := s.read(first); err != nil {
			return nil, 0, fmt.Errorf("read the samples of iterations %d to %d: %w", first, first+len(s.counts)-1, err)
		}
		s.first = first
	}
	size := len(s.samples) / len(s.counts)
	return s.samples[(number-first)*size:][:size], int(s.counts[number-first].Load()), nil
}

func (s *Reader) read(first int) error {
	for k := range s.counts {
		s.counts[k].Store(0)
	}
	slots := s.matrix.Slots()
	size := int(slots[s.matrix.Rows()])
	return s.team.Do(len(s.blocks)-1, func(_, b int) {
		row0, row1 := s.blocks[b], s.blocks[b+1]
		s.matrix.Samples(s.step, first, len(s.counts), row0, row1, s.samples)
		for k := range s.counts {
			count := 0
			for _, sample := range s.samples[k*size:][slots[row0]:slots[row1]] {
				if sample != wordcontext.NoSample {
					count++
				}
			}
			s.counts[k].Add(int64(count))
		}
	})
}
