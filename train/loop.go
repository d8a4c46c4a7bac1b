package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/trainer"
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

	limit        Limit
	observe      func(p position, share float64) error // may be nil
	observations int

	metrics  io.Writer // of JSON lines; may be nil
	saver    *saver    // may be nil
	progress *terminal.Progress
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
	work := l.newWork(units)
	stage := l.progress.Stage("training", work.steps)
	defer stage.Stop()
	stage.Skip(work.step(l.from))

	start := now()
	paused := time.Duration(0)
	seconds := func() float64 { return l.from.Seconds + (now().Sub(start) - paused).Seconds() }
	shown := speedometer{l.from.Words, l.from.Pairs, l.from.Seconds}
	// One unit is always trained: a run that began to train has something to
	// save.
	for first := true; !work.done(recorder.position) && (first || ctx.Err() == nil); first = false {
		before, unit := recorder.Seconds, recorder.Units
		most := min(units-unit, l.saver.untilDue(recorder.position), work.untilDue(recorder.position))
		reports, rates, err := l.block(ctx, unit, most, work.rates(l.rate, recorder.position))
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
		if work.lineDue(recorder.position) {
			if err := recorder.flush(recorder.Seconds); err != nil {
				l.saver.rescue(recorder.position)
				return outcome{}, err
			}
		}
		if work.observationDue(recorder.position) {
			from := now()
			if err := l.observe(recorder.position, work.share(recorder.position)); err != nil {
				l.saver.rescue(recorder.position)
				return outcome{}, err
			}
			paused += now().Sub(from)
		}
		if l.saver.due(recorder.position) && !work.done(recorder.position) {
			if err := l.saver.periodic(recorder.position, seconds); err != nil {
				return outcome{}, l.diverged(err, recorder.Units-1, lr)
			}
		}
		stage.Update(work.step(recorder.position), func() string { return shown.line(recorder.position, last, lr) })
	}
	interrupted := !work.done(recorder.position)
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

// block trains the units that the trainer takes at a time, at most most, with the
// learning rates of a schedule. It returns their reports and learning rates.
func (l *loop) block(ctx context.Context, first, most int, rate func(unit int) float64) ([]Report, []float64, error) {
	reports, rates, err := trainer.Advance(context.WithoutCancel(ctx), l.trainer, first, most, rate)
	if err != nil {
		return nil, nil, fmt.Errorf("training failed at %s %s of %s: %w", l.unitName, terminal.Number(first+1), terminal.Number(l.trainer.Units()), err)
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
	return fmt.Errorf("%w: %w at %s %s of %s (learning rate %.3g)", errDiverged, err, l.unitName, terminal.Number(unit+1), terminal.Number(l.trainer.Units()), lr)
}

// A speedometer measures speeds between the moments that are shown.
type speedometer struct{ words, pairs, seconds float64 }

func (s *speedometer) line(p position, report Report, lr float64) string {
	elapsed := max(p.Seconds-s.seconds, 1e-9)
	words, pairs := (p.Words-s.words)/elapsed, (p.Pairs-s.pairs)/elapsed
	*s = speedometer{p.Words, p.Pairs, p.Seconds}
	return fmt.Sprintf("%s words/s  %s pairs/s  lr %.2e  loss %.4f", terminal.Rate(words), terminal.Rate(pairs), lr, report.Loss/max(report.Pairs, 1))
}
