package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// A loop trains the units of a trainer, one after the other, or as many at a
// time as the trainer likes.
type loop struct {
	trainer  Trainer
	from     position               // the zero position: the start
	rate     func(unit int) float64 // learning rate of a unit
	unitName string                 // "iteration" or "block", for people
	// wordsPerUnit is how many train words a unit stands for: the words per
	// second that papers compare count the text, not the pairs drawn from it.
	wordsPerUnit float64

	metrics  io.Writer // of JSON lines; may be nil
	saver    *saver    // may be nil
	progress *Progress
	now      func() time.Time // nil: time.Now
}

// An outcome is what a loop did. The tables are in the trainer.
type outcome struct {
	position
	Interrupted bool // the context ended before the units did
}

// run trains until the units end or ctx does. A unit that was begun is always
// finished, so the tables are good to save after an interrupt. A loss that is
// not a number is an error: the tables are ruined.
func (l *loop) run(ctx context.Context) (outcome, error) {
	now := l.now
	if now == nil {
		now = time.Now
	}
	units := l.trainer.Units()
	recorder := newRecorder(l.metrics, units, l.from)
	stage := l.progress.Stage("training", int64(units))
	defer stage.Stop()
	stage.Skip(int64(l.from.Units))

	start := now()
	seconds := func() float64 { return l.from.Seconds + now().Sub(start).Seconds() }
	shown := speedometer{l.from.Words, l.from.Pairs, l.from.Seconds}
	// One unit is always trained: a run that began to train has something to
	// save.
	for unit := l.from.Units; unit < units && (unit == l.from.Units || ctx.Err() == nil); unit = recorder.Units {
		before := recorder.Seconds
		reports, rates, err := l.block(ctx, unit, min(units-unit, l.saver.untilDue(recorder.position)))
		if err != nil {
			return outcome{}, err
		}
		each := (seconds() - before) / float64(len(reports)) // units of a block end one after the other
		for i, report := range reports {
			if err := recorder.add(report, rates[i], before+each*float64(i+1)); err != nil {
				l.saver.rescue(recorder.position)
				return outcome{}, err
			}
		}
		last, lr := reports[len(reports)-1], rates[len(reports)-1]
		if l.saver.due(recorder.position) && recorder.Units < units {
			if err := l.saver.periodic(recorder.position, seconds); err != nil {
				return outcome{}, l.diverged(err, recorder.Units-1, lr)
			}
		}
		stage.Update(int64(recorder.Units), func() string { return shown.line(recorder.position, last, lr) })
	}
	interrupted := recorder.Units < units
	if interrupted {
		// Before the line that the interrupt cuts short.
		if err := l.saver.interrupted(recorder.position); err != nil {
			return outcome{}, l.diverged(err, recorder.Units-1, recorder.Last.LR)
		}
	}
	if err := recorder.flush(recorder.Seconds); err != nil {
		l.saver.rescue(recorder.position)
		return outcome{}, err
	}
	return outcome{recorder.position, interrupted}, nil
}

// block trains the units that the trainer takes at a time, at most most. It
// returns their reports and learning rates.
func (l *loop) block(ctx context.Context, first, most int) ([]Report, []float64, error) {
	reports, rates, err := advance(context.WithoutCancel(ctx), l.trainer, first, most, l.rate)
	if err != nil {
		return nil, nil, fmt.Errorf("training failed at %s %s of %s: %w", l.unitName, Number(first+1), Number(l.trainer.Units()), err)
	}
	for i := range reports {
		r := &reports[i]
		if math.IsNaN(r.Loss) || math.IsInf(r.Loss, 0) {
			return nil, nil, l.diverged(fmt.Errorf("the loss became %v", r.Loss), first+i, rates[i])
		}
		if r.Words == 0 { // cl: M does not know its text
			r.Words = l.wordsPerUnit
		}
	}
	return reports, rates, nil
}

// errDiverged marks errors of a training whose tables are ruined.
var errDiverged = errors.New("training diverged")

func (l *loop) diverged(err error, unit int, lr float64) error {
	return fmt.Errorf("%w: %w at %s %s of %s (learning rate %.3g)", errDiverged, err, l.unitName, Number(unit+1), Number(l.trainer.Units()), lr)
}

// A speedometer measures speeds between the moments that are shown.
type speedometer struct{ words, pairs, seconds float64 }

func (s *speedometer) line(p position, report Report, lr float64) string {
	elapsed := max(p.Seconds-s.seconds, 1e-9)
	words, pairs := (p.Words-s.words)/elapsed, (p.Pairs-s.pairs)/elapsed
	*s = speedometer{p.Words, p.Pairs, p.Seconds}
	return fmt.Sprintf("%s words/s  %s pairs/s  lr %.2e  loss %.4f", rate(words), rate(pairs), lr, report.Loss/max(report.Pairs, 1))
}
