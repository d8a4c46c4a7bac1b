package bench

import (
	"context"
	"time"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// trainingColumns is the number of iterations whose samples training reads at a time.
const trainingColumns = 32

// MeasureColumns returns the seconds to read one sample of M, when all threads
// together read those of count iterations at a time: columns of M, if every word has
// one sample. The iterations follow each other, as in training.
func MeasureColumns(ctx context.Context, m *wordcontext.Matrix, count, threads int, e Effort) (Measurement, error) {
	count = min(count, m.Contexts())
	groups := m.Contexts() / count
	dst := make([]uint32, count*int(m.Slots()[m.Rows()]))
	samples := float64(count) * amountOf(m).samples
	// From the middle on: an average row is past its first round there.
	group := groups / 2
	workers := team.New(threads)
	var perEntry []float64
	for range e.Repeat {
		var entries float64
		start := time.Now()
		for entries == 0 || time.Since(start) < e.Time {
			if err := ctx.Err(); err != nil {
				return Measurement{}, err
			}
			if err := readColumns(m, group%groups*count, count, workers, dst); err != nil {
				return Measurement{}, err
			}
			group++
			entries += samples
		}
		perEntry = append(perEntry, time.Since(start).Seconds()/entries)
	}
	return Measured(perEntry), nil
}

// readColumns reads samples as graph does for training: each thread takes a block of
// rows at a time.
func readColumns(m *wordcontext.Matrix, first, count int, workers *team.Team, dst []uint32) error {
	const blockRows = 512
	v := m.Rows()
	return workers.Do((v+blockRows-1)/blockRows, func(_, b int) {
		m.Samples(0, first, count, b*blockRows, min((b+1)*blockRows, v), dst)
	})
}
