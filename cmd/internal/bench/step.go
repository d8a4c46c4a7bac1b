package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A StepCase is one training step to measure.
type StepCase struct {
	Vocabulary  int          `json:"words"`    // V
	Dim         int          `json:"dim"`      // N
	Negatives   int          `json:"negative"` // K
	Frequencies Frequencies  `json:"frequencies"`
	Samples                  // of a word
	Optimizer   optim.Method `json:"optimizer"`
	Form        graph.Form   `json:"form"`
	Kernels     simd.Level   `json:"kernels"`
	Threads     int          `json:"threads"`
}

func (c StepCase) String() string {
	threads := "threads"
	if c.Threads == 1 {
		threads = "thread"
	}
	return fmt.Sprintf("%d words x %d, %d negatives, %s%s, %s, %s, %s, %d %s",
		c.Vocabulary, c.Dim, c.Negatives, c.Frequencies, c.Samples, c.Optimizer, c.Form, c.Kernels, c.Threads, threads)
}

func (c StepCase) config(seed uint64) graph.Options {
	return graph.Options{
		Dim: c.Dim, Negatives: c.Negatives, SharedNegatives: c.Shared, Seed: seed, Threads: c.Threads, Form: c.Form,
		Optimizer: optim.Options{Method: c.Optimizer},
	}
}

// Memory estimates the bytes that measuring the case needs, without those of M and
// of copying.
func (c StepCase) Memory() int64 {
	slots := c.slots(c.Vocabulary)
	planned := trainer.Dry(func(a *trainer.Account) {
		_ = graph.PlanCL(a, c.Vocabulary, slots, c.config(0)) // measuring tells the error
	})
	return planned.Sum() + 4*trainingColumns*int64(slots)
}

// A StepResult says how long a step of W2V-CL takes, and compares that with the speed
// of memory.
type StepResult struct {
	StepCase

	// Step is the seconds of one step without reading M: drawing negatives,
	// gathering rows, loss, gradient, update, and the overhead of Gorgonia's
	// machine. Column is the seconds of reading the samples of a step from M, which
	// it needs, too. Seconds is the sum of both medians.
	Step    Measurement `json:"step_seconds"`
	Column  Measurement `json:"column_seconds"`
	Seconds float64     `json:"seconds"`

	Bytes          int64       `json:"bytes"`                 // see StepBytes
	BytesPerSecond float64     `json:"bytes_per_second"`      // Bytes / Seconds
	Copy           Measurement `json:"copy_bytes_per_second"` // read + written, by the same threads
	OfCopy         float64     `json:"of_copy"`               // BytesPerSecond / the median of Copy
	PairsPerSecond float64     `json:"pairs_per_second"`
	Loss           float64     `json:"loss"` // of the last iteration, per pair

	// WorkingSet is the memory that an iteration touches. If it fits the cache, a
	// step can be faster than memory, and says little about larger tables.
	WorkingSet int64   `json:"working_set_bytes"`
	OfCache    float64 `json:"working_set_of_cache"` // 0: the cache is unknown
	FitsCache  bool    `json:"fits_cache"`

	SpeedUp   float64 `json:"speed_up,omitempty"`   // over the first number of threads
	OverStock float64 `json:"over_stock,omitempty"` // over the stock form
}

// Relate fills in the fields that compare results with each other and with the size
// of the last-level cache (0: unknown).
func Relate(results []StepResult, cache int64) {
	firsts := map[StepCase]StepResult{} // by the case with 0 threads
	stock := map[StepCase]StepResult{}
	for _, r := range results {
		if r.Form == graph.FormStock {
			stock[r.StepCase] = r
		}
	}
	for i := range results {
		r := &results[i]
		if cache > 0 {
			r.OfCache = float64(r.WorkingSet) / float64(cache)
			r.FitsCache = r.WorkingSet <= cache
		}
		others := r.StepCase
		others.Threads = 0
		if first, ok := firsts[others]; ok {
			r.SpeedUp = rate(first.Seconds, r.Seconds)
		} else {
			firsts[others] = *r
		}
		others = r.StepCase
		others.Form = graph.FormStock
		if s, ok := stock[others]; ok && r.Form != graph.FormStock {
			r.OverStock = rate(s.Seconds, r.Seconds)
		}
	}
}

// stepRate is a learning rate so small that thousands of iterations do not change
// the loss. With a usual rate, training soon knows the one column of M by heart, and
// gradients become denormal numbers: real training has none, and processors are slow
// with them.
const stepRate = 1e-6

// MeasureStep trains on text for as long as e asks, with the kernels in use, and
// measures copying before and after each repetition. Errors are those of an
// impossible case, of training, or of the cancelled context.
func MeasureStep(ctx context.Context, c StepCase, text *Text, copier *Copier, seed uint64, e Effort) (StepResult, error) {
	r := StepResult{StepCase: c, WorkingSet: WorkingSet(c.Vocabulary, c.Dim, c.Optimizer)}
	var err error
	a := amountOf(text.Matrix)
	if r.Bytes, err = stepBytes(a, c.Dim, c.Negatives, c.Shared, c.Optimizer); err != nil {
		return r, err
	}
	if rows := text.Matrix.Rows(); rows != c.Vocabulary {
		return r, fmt.Errorf("the vocabulary of the text is %d, not %d", rows, c.Vocabulary)
	}
	runtime.GC() // the case before may have left gigabytes
	trainer, err := graph.NewCL(text.Matrix, text.Noise, math.MaxInt32, c.config(seed))
	if err != nil {
		return r, err
	}
	l := stepLoop{ctx: ctx, trainer: trainer, epoch: text.Matrix.Contexts()}
	err = r.measure(&l, copier, e)
	if err := errors.Join(err, trainer.Close()); err != nil {
		return r, err
	}
	perEntry, err := MeasureColumns(ctx, text.Matrix, trainingColumns, c.Threads, Effort{e.Time / 10, e.Repeat})
	if err != nil {
		return r, err
	}
	r.Column = Measurement{a.samples * perEntry.Median, a.samples * perEntry.Min, a.samples * perEntry.Max, perEntry.Runs}
	r.finish(l.pairs)
	return r, nil
}

// measure alternates copying and training.
func (r *StepResult) measure(l *stepLoop, copier *Copier, e Effort) error {
	copyTime := e.Time / 10
	copies := []float64{copier.Measure(r.Threads, copyTime)}
	var steps []float64
	for range e.Repeat {
		if _, err := l.run(0); err != nil { // brings the tables back into the caches
			return err
		}
		seconds, err := l.run(e.Time)
		if err != nil {
			return err
		}
		steps = append(steps, seconds)
		copies = append(copies, copier.Measure(r.Threads, copyTime))
	}
	r.Step, r.Copy, r.Loss = Measured(steps), Measured(copies), l.loss
	return nil
}

// finish computes the fields that follow from the measurements, given the pairs of a
// step.
func (r *StepResult) finish(pairs float64) {
	r.Seconds = r.Step.Median + r.Column.Median
	r.BytesPerSecond = rate(float64(r.Bytes), r.Seconds)
	r.OfCopy = rate(r.BytesPerSecond, r.Copy.Median)
	r.PairsPerSecond = rate(pairs, r.Seconds)
}

// A stepLoop runs iterations one after the other.
type stepLoop struct {
	ctx     context.Context
	trainer *graph.CL
	epoch   int // iterations
	unit    int
	loss    float64
	pairs   float64 // of a step
}

// run trains for at least the given time, one iteration or more, and returns the
// seconds of one step. The numbers of its iterations are multiples of the length of
// an epoch. So all of them use the same samples of M, which the trainer has read
// already: reading is measured alone.
func (l *stepLoop) run(atLeast time.Duration) (secondsPerStep float64, err error) {
	iterations := 0
	start := time.Now()
	for iterations == 0 || time.Since(start) < atLeast {
		const turns = 1 << 16 // keeps the number within 32 bits
		report, err := l.trainer.Advance(l.ctx, l.unit%turns*l.epoch, stepRate)
		if err != nil {
			return 0, err
		}
		l.loss, l.pairs = report.Loss/report.Pairs, report.Pairs/2
		if math.IsNaN(l.loss) || math.IsInf(l.loss, 0) {
			return 0, fmt.Errorf("the loss of iteration %d is %v: the kernels compute nonsense", l.unit, l.loss)
		}
		iterations++
		l.unit++
	}
	return time.Since(start).Seconds() / float64(2*iterations), nil
}
