package train

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"
)

// A loop trains all units of a trainer, one after the other.
type loop struct {
	trainer  Trainer
	rate     func(unit int) float64 // learning rate of a unit
	unitName string                 // "iteration" or "block", for people
	// wordsPerUnit is how many train words a unit stands for: the words per
	// second that papers compare count the text, not the pairs drawn from it.
	wordsPerUnit float64

	metrics  io.Writer // of JSON lines; may be nil
	progress *Progress
	now      func() time.Time // nil: time.Now
}

// An outcome is what a loop did. The tables are in the trainer.
type outcome struct {
	Units       int // finished
	Seconds     float64
	Words       float64
	Pairs       float64
	Loss        float64 // per pair, over the last line of metrics
	Interrupted bool    // the context ended before the units did
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
	recorder := newRecorder(l.metrics, units)
	stage := l.progress.Stage("training", int64(units))
	defer stage.Stop()

	start := now()
	shown := speedometer{}
	for unit := range units {
		// One unit is always trained: a run that began to train has something
		// to save.
		if unit > 0 && ctx.Err() != nil {
			break
		}
		lr := l.rate(unit)
		report, err := l.trainer.Advance(context.WithoutCancel(ctx), unit, lr)
		if err != nil {
			return outcome{}, fmt.Errorf("training failed at %s %s of %s: %w", l.unitName, Number(unit+1), Number(units), err)
		}
		if math.IsNaN(report.Loss) || math.IsInf(report.Loss, 0) {
			return outcome{}, divergedError(l.unitName, unit, units, report.Loss, lr)
		}
		if report.Words == 0 { // cl: M does not know its text
			report.Words = l.wordsPerUnit
		}
		seconds := now().Sub(start).Seconds()
		if err := recorder.add(report, lr, seconds); err != nil {
			return outcome{}, err
		}
		stage.Update(int64(unit+1), func() string { return shown.line(recorder, report, lr, seconds) })
	}
	seconds := now().Sub(start).Seconds()
	if err := recorder.flush(seconds); err != nil {
		return outcome{}, err
	}
	return outcome{
		Units: recorder.units, Seconds: seconds,
		Words: recorder.allWords, Pairs: recorder.allPairs, Loss: recorder.last.Loss,
		Interrupted: recorder.units < units,
	}, nil
}

func divergedError(unitName string, unit, units int, loss, lr float64) error {
	return fmt.Errorf("the loss became %v at %s %s of %s (learning rate %.3g): training diverged and its vectors are useless, so nothing was saved; "+
		"start again with a lower --lr (a tenth is a good first try)", loss, unitName, Number(unit+1), Number(units), lr)
}

// A speedometer measures speeds between the moments that are shown.
type speedometer struct{ words, pairs, seconds float64 }

func (s *speedometer) line(r *recorder, report Report, lr, seconds float64) string {
	elapsed := max(seconds-s.seconds, 1e-9)
	words, pairs := (r.allWords-s.words)/elapsed, (r.allPairs-s.pairs)/elapsed
	*s = speedometer{r.allWords, r.allPairs, seconds}
	return fmt.Sprintf("%s words/s  %s pairs/s  lr %.2e  loss %.4f", rate(words), rate(pairs), lr, report.Loss/max(report.Pairs, 1))
}
