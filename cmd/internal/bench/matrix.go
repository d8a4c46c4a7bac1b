package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A MatrixResult says how fast M is built and read.
type MatrixResult struct {
	Vocabulary int   `json:"words"`    // V
	Contexts   int   `json:"contexts"` // l, iterations of an epoch
	Threads    int   `json:"threads"`
	Tokens     int64 `json:"tokens"` // of the text, once

	Found  uint64 `json:"contexts_found"`  // in all passes
	Stored uint64 `json:"contexts_stored"` // of them
	Bytes  int64  `json:"bytes"`           // M in memory

	Build             Measurement  `json:"build_seconds"`
	ContextsPerSecond float64      `json:"contexts_per_second"` // found, by the median
	TokensPerSecond   float64      `json:"tokens_per_second"`   // of all passes, by the median
	Read              []ColumnRead `json:"read"`

	Samples *wordcontext.Spread `json:"samples,omitempty"` // of a word in an iteration; none: each has one
}

// A ColumnRead says how long all threads together take to read a sample of M.
type ColumnRead struct {
	Columns int         `json:"columns"` // iterations whose samples are read at a time
	Entry   Measurement `json:"entry_seconds"`
	Column  float64     `json:"column_seconds"` // of the samples of a step, by the median
}

// columnCounts are the numbers of iterations whose samples are read at a time: the one
// of training, and one that is so large that more are not faster.
var columnCounts = []int{trainingColumns, 256}

// MeasureMatrix builds M of a text again and again, and reads the last one. e.Time
// is the time of reading; a repetition has one build. done, if not nil, is called
// after each build with its number from 1.
func MeasureMatrix(ctx context.Context, c *corpus.Corpus, o wordcontext.Options, e Effort, done func(build int)) (MatrixResult, error) {
	var (
		seconds []float64
		m       *wordcontext.Matrix
	)
	for i := range e.Repeat {
		if m != nil { // the next build needs its memory
			if err := m.Close(); err != nil {
				return MatrixResult{}, err
			}
		}
		start := time.Now()
		var err error
		if m, err = wordcontext.Build(ctx, c, o); err != nil {
			return MatrixResult{}, fmt.Errorf("cannot build the matrix M: %w", err)
		}
		seconds = append(seconds, time.Since(start).Seconds())
		if done != nil {
			done(i + 1)
		}
	}
	r := describeMatrix(m, c, o, Measured(seconds))
	err := r.measureReads(ctx, m, o.Threads, e)
	return r, errors.Join(err, m.Close())
}

func describeMatrix(m *wordcontext.Matrix, c *corpus.Corpus, o wordcontext.Options, build Measurement) MatrixResult {
	r := MatrixResult{
		Vocabulary: m.Rows(), Contexts: m.Contexts(), Threads: o.Threads, Tokens: int64(c.Text().Tokens()),
		Stored: m.Stored(), Bytes: m.Bytes(), Build: build, Samples: m.Spread(),
	}
	for i := range m.Rows() {
		r.Found += m.RowTotal(i)
	}
	r.ContextsPerSecond = rate(float64(r.Found), build.Median)
	r.TokensPerSecond = rate(float64(r.Tokens)*float64(o.Passes), build.Median)
	return r
}

func (r *MatrixResult) measureReads(ctx context.Context, m *wordcontext.Matrix, threads int, e Effort) error {
	samples := amountOf(m).samples
	for _, count := range columnCounts {
		count = min(count, m.Contexts())
		entry, err := MeasureColumns(ctx, m, count, threads, e)
		if err != nil {
			return err
		}
		r.Read = append(r.Read, ColumnRead{count, entry, entry.Median * samples})
		if count == m.Contexts() {
			break
		}
	}
	return nil
}
