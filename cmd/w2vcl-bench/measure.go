package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A stepCase is a training step to measure.
type stepCase struct {
	vocabulary, dim, negatives int // V, N, K
	optimizer                  optim.Method
	threads                    int
}

func (c stepCase) options() graph.Options {
	return graph.Options{
		Dim: c.dim, Negatives: c.negatives, Seed: 1, Threads: c.threads,
		Optimizer: optim.Options{Method: c.optimizer},
	}
}

// memory estimates the bytes that measuring the case needs, without those of copying.
func (c stepCase) memory() int64 {
	planned := trainer.Dry(func(a *trainer.Account) {
		_ = graph.PlanCL(a, c.vocabulary, c.vocabulary, c.options()) // measuring tells the error
	})
	return planned.Sum() + textMemory(c.vocabulary)
}

// A stepResult says how long a step takes, and how fast memory is.
type stepResult struct {
	stepCase
	seconds    measurement
	copied     measurement // bytes read and written a second, by the same threads
	bytes      int64       // see stepBytes
	workingSet int64
	loss       float64 // of the last iteration, per pair
}

// stepBytes counts the memory traffic of a step, as if a cache kept nothing of a table
// from one row to the next: V rows of N float32 for each of the 1+K gathered rows, and
// read and write of the row itself and of its optimizer's state.
func (c stepCase) stepBytes() int64 {
	return 4*int64(c.vocabulary)*int64(c.dim)*int64(1+c.negatives) + c.workingSet()
}

// workingSet is the memory that an iteration touches: both tables and the state of their
// optimizers.
func (c stepCase) workingSet() int64 {
	return 2 * (4*int64(c.vocabulary)*int64(c.dim) + optim.Options{Method: c.optimizer}.Bytes(c.vocabulary, c.dim))
}

// measureStep trains on text for as long as asked, and measures copying before and after
// each repetition.
func measureStep(ctx context.Context, c stepCase, text *text, copier *copier, repeat int, atLeast time.Duration) (stepResult, error) {
	r := stepResult{stepCase: c, bytes: c.stepBytes(), workingSet: c.workingSet()}
	runtime.GC() // the case before may have left gigabytes
	trainer, err := graph.NewCL(text.matrix, text.noise, math.MaxInt32, c.options())
	if err != nil {
		return r, err
	}
	copied := []float64{copier.measure(c.threads, atLeast/10)}
	var seconds []float64
	l := stepLoop{trainer: trainer}
	for range repeat {
		if _, err = l.run(ctx, 0); err != nil { // brings the tables back into the caches
			break
		}
		var took float64
		if took, err = l.run(ctx, atLeast); err != nil {
			break
		}
		seconds = append(seconds, took)
		copied = append(copied, copier.measure(c.threads, atLeast/10))
	}
	if err := errors.Join(err, trainer.Close()); err != nil {
		return r, err
	}
	r.seconds, r.copied, r.loss = measured(seconds), measured(copied), l.loss
	return r, nil
}

// A stepLoop runs iterations one after the other.
type stepLoop struct {
	trainer *graph.CL
	unit    int
	loss    float64
}

// stepRate is a learning rate so small that thousands of iterations do not change the
// loss. With a usual rate, training soon knows the made-up text by heart, and gradients
// become denormal numbers: real training has none, and processors are slow with them.
const stepRate = 1e-6

// run trains for at least the given time, one iteration or more, and returns the seconds
// of one step.
func (l *stepLoop) run(ctx context.Context, atLeast time.Duration) (secondsPerStep float64, err error) {
	first, start := l.unit, time.Now()
	for l.unit == first || time.Since(start) < atLeast {
		report, err := l.trainer.Advance(ctx, l.unit, stepRate)
		if err != nil {
			return 0, err
		}
		l.unit++
		if l.loss = report.Loss / report.Pairs; math.IsNaN(l.loss) || math.IsInf(l.loss, 0) {
			return 0, fmt.Errorf("the loss is %v: the kernels compute nonsense", l.loss)
		}
	}
	return time.Since(start).Seconds() / float64(2*(l.unit-first)), nil
}

// A measurement sums up repetitions.
type measurement struct{ median, least, most float64 }

// measured sums up the values of repetitions, and sorts them.
func measured(values []float64) measurement {
	n := len(values)
	slices.Sort(values)
	return measurement{(values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]}
}

// spread is the distance of the extremes, as a fraction of the median.
func (m measurement) spread() float64 { return (m.most - m.least) / m.median }
