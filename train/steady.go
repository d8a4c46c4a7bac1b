package train

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// steadySeconds is the processor time of each thread for all of a measurement, at most: a run is not measured for longer than it takes.
const steadySeconds = 2.

// steadySlices is how many slices a measurement has, unless units are long. Systems count processor time in ticks of some milliseconds, so
// slices must be long, and the fastest is not the best of them.
const steadySlices = 12

// A steady measurement is that of a run with so many threads and a limit.
type steady struct {
	threads int
	limit   limit
}

// speed returns the time of one unit and its pairs on average, as [calibrate] does, but a time that other programs change less than that of the clock: the
// processor time for each thread. Other programs slow it down as well, by their use of caches and while threads wait for each other, so it is the lower
// quartile of several slices.
func (m steady) speed(ctx context.Context, t trainer.Trainer, rate float64) (seconds, pairs float64, err error) {
	now := processorClock(m.threads)
	start := now()
	if _, err := trainer.Advance(ctx, t, 0, []float64{rate}); err != nil {
		return 0, 0, err
	}
	var speeds []float64 // seconds a pair, of slices
	var sum, ofSlice float64
	trained, units := 0, t.Units()
	most := min(steadySeconds, (now()-start)*float64(units))
	if m.limit.Kind == trainer.BudgetSeconds {
		most = min(most, m.limit.Amount)
	}
	start = now()
	began := start
	for done := 1; units > 1 && (len(speeds) < 3 && (trained < 3 || sum+ofSlice > 0) || now()-start < most); {
		reports, err := trainer.Advance(ctx, t, done, slices.Repeat([]float64{rate}, min(units-done, trainer.SeriesLength(t))))
		if err != nil {
			return 0, 0, err
		}
		trained += len(reports)
		if done += len(reports); done == units { // a short run is measured several times
			done = 1
		}
		for _, r := range reports {
			ofSlice += r.Pairs
		}
		if elapsed := now() - began; elapsed >= most/steadySlices && ofSlice > 0 {
			sum += ofSlice
			speeds = append(speeds, elapsed/ofSlice)
			began, ofSlice = now(), 0
		}
	}
	if sum == 0 { // one unit, or nothing to train on
		return calibrate(ctx, t, rate)
	}
	slices.Sort(speeds)
	pairs = (sum + ofSlice) / float64(trained)
	return speeds[len(speeds)/4] * pairs, pairs, nil
}

// processorClock returns a clock of the processor time that each thread of a run has had on average, or a clock on the wall where the
// system does not count it.
func processorClock(threads int) (seconds func() float64) {
	start := time.Now()
	return func() float64 {
		if t, ok := machine.ProcessorTime(); ok {
			return t.Seconds() / float64(min(threads, runtime.GOMAXPROCS(0)))
		}
		return time.Since(start).Seconds()
	}
}
