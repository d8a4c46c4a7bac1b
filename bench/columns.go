package bench

import (
	"context"
	"time"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// trainingColumns is how many columns of M training reads at a time.
const trainingColumns = 32

// MeasureColumns returns the seconds that reading one entry of M takes, when
// so many columns are read at a time by all threads together: a column costs V
// times as much. Blocks follow each other through M, as training reads them.
func MeasureColumns(ctx context.Context, m *wordcontext.Matrix, count, threads int, e Effort) (Measurement, error) {
	count = min(count, m.Contexts())
	blocks := m.Contexts() / count
	dst := make([]uint32, count*m.Rows())
	// From the middle on: an average row is past its first round there.
	block := blocks / 2
	workers := team.New(threads)
	var perEntry []float64
	for range e.Repeat {
		var entries float64
		start := time.Now()
		for entries == 0 || time.Since(start) < e.Time {
			if err := ctx.Err(); err != nil {
				return Measurement{}, err
			}
			if err := readColumns(m, block%blocks*count, count, workers, dst); err != nil {
				return Measurement{}, err
			}
			block++
			entries += float64(len(dst))
		}
		perEntry = append(perEntry, time.Since(start).Seconds()/entries)
	}
	return Measured(perEntry), nil
}

// readColumns reads columns as graph does for training: threads share the rows.
func readColumns(m *wordcontext.Matrix, first, count int, workers *team.Team, dst []uint32) error {
	const rows = 512
	v := m.Rows()
	return workers.Do((v+rows-1)/rows, func(_, b int) {
		m.Block(first, count, b*rows, min((b+1)*rows, v), dst)
	})
}
