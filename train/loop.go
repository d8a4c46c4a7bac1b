package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A loop trains the units of a trainer, one after the other, or as many at a
// time as the trainer likes.
type loop struct {
	trainer  trainer.Trainer
	from     runfolder.Position     // the zero position: the start
	rate     func(unit int) float64 // learning rate of a unit
	unitName string                 // a unit, for people
	// wordsPerUnit is how many train words a unit stands for: the words per
	// second that papers compare count the text, not the pairs drawn from it.
	wordsPerUnit float64

	limit        limit
	restore      func() // what --freeze keeps; may be nil
	observations int

	// observe returns scores for the line of metrics; may be nil.
	observe func(p runfolder.Position, fraction float64) (map[string]float64, error)

	// announce is called once, with the seconds and the pairs of a unit, when the first
	// units have shown how fast training is; may be nil.
	announce func(perUnit, pairs float64)

	metrics  io.Writer // of JSON lines; may be nil
	saver    *saver    // may be nil
	progress *progress.Progress
	now      func() time.Time // nil: time.Now
}

// An outcome says how far a loop came. The tables are in the trainer.
type outcome struct {
	runfolder.Position
	Interrupted bool // the context ended before the units did
}

// patience is how long a unit may go on after an interrupt. Launchers kill ten seconds after they asked, or later.
var patience = 5 * time.Second

// lingering returns a context that ends some time after another.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	inner, end := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { time.AfterFunc(patience, end) })
	return inner, func() { unhook(); end() }
}

// run trains until the units end or ctx does. It finishes the unit under way,
// unless that takes long, so the tables are good to save after an interrupt. A loss that is
// not a number is an error: the tables are ruined.
func (l *loop) run(ctx context.Context) (outcome, error) {
	t := l.begin()
	defer func() { t.ready(); t.stage.Stop() }()
	unit, end := lingering(ctx)
	defer end()
	// One unit is always trained: a run that began to train has something to
	// save.
	goesOn := func() bool { return ctx.Err() == nil || !trainer.PausesAfter(l.trainer, t.Units) }
	for first := true; !t.work.Done(t.Position) && (first || goesOn()); first = false {
		if err := t.next(unit); err != nil {
			return outcome{}, err
		}
	}
	interrupted := !t.work.Done(t.Position)
	if interrupted {
		// Before the line that the interrupt cuts short.
		if err := l.saver.interrupted(t.Position); err != nil {
			return outcome{}, l.diverged(err, t.Units-1, t.Last.LR)
		}
	}
	if err := t.Flush(t.Position.Seconds); err != nil {
		l.saver.rescue(t.Position)
		return outcome{}, err
	}
	return outcome{t.Position, interrupted}, nil
}

// A training is a loop under way.
type training struct {
	*loop
	*runfolder.Recorder // has the position
	work                *work
	stage               *progress.Stage    // nil until the plan is shown
	warm                runfolder.Position // after the first call of the trainer, which may take longer than others
	ready               func()             // ends the display until the plan is shown
	shown               speedometer
	began               time.Time
	paused              time.Duration // of the time since then
}

func (l *loop) begin() *training {
	if l.now == nil {
		l.now = time.Now
	}
	units, observations := l.trainer.Units(), 0
	if l.observe != nil {
		observations = l.observations
	}
	work := newWork(l.limit, units, observations, l.from)
	t := &training{
		loop: l, Recorder: runfolder.NewRecorder(l.metrics, units, l.from, work.Fraction), work: work,
		shown: speedometer{l.from.Words, l.from.Pairs, l.from.Seconds}, warm: l.from,
	}
	if t.ready = func() {}; l.announce == nil {
		t.show()
	} else {
		t.ready = l.progress.Busy("measuring the speed of training")
	}
	t.began = l.now()
	return t
}

func (t *training) show() {
	t.ready()
	t.stage = t.progress.Stage("training", t.work.Steps)
	t.stage.Skip(t.work.Step(t.from))
}

// measure announces the speed of training as soon as it is known: after some time or
// units, or at the end.
func (t *training) measure(done bool) {
	units, seconds := float64(t.Units-t.warm.Units), t.Position.Seconds-t.warm.Seconds
	switch {
	case t.announce == nil:
	case t.warm.Units == t.from.Units && !done:
		t.warm = t.Position
	case units >= calibrationUnits || seconds >= calibrationTime.Seconds() || done:
		t.show()
		t.announce(seconds/units, (t.Pairs-t.warm.Pairs)/units)
		t.announce = nil
	}
}

// seconds returns the time of training until now.
func (t *training) seconds() float64 {
	return t.from.Seconds + (t.now().Sub(t.began) - t.paused).Seconds()
}

// next trains as many units as the trainer takes in one call, up to the next that something is due after. Then it records,
// observes and saves as far as that is due.
func (t *training) next(ctx context.Context) error {
	before, first, units := t.Position.Seconds, t.Units, t.trainer.Units()
	length := min(units-first, trainer.SeriesLength(t.trainer),
		t.saver.untilDue(t.Position), t.work.UntilDue(t.Position))
	rates := make([]float64, length)
	for i := range rates {
		rates[i] = t.rate(t.work.Scheduled(t.Position, i))
	}
	reports, err := trainer.Advance(ctx, t.trainer, first, rates)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w in %s %s, which takes longer than %v", ErrInterrupted, t.unitName, terminal.Number(first+1), patience)
	}
	if err != nil {
		return fmt.Errorf("training failed at %s: %w", t.place(first), err)
	}
	if t.restore != nil {
		t.restore()
	}
	if err := t.checkLosses(reports, rates); err != nil {
		return err
	}
	if err := t.report(reports, rates, before); err != nil {
		t.saver.rescue(t.Position)
		return err
	}
	t.measure(t.work.Done(t.Position))
	last, lr := reports[len(reports)-1], rates[len(rates)-1]
	if t.saver.due(t.Position) && !t.work.Done(t.Position) {
		if err := t.saver.periodic(t.Position, t.seconds); err != nil {
			return t.diverged(err, t.Units-1, lr)
		}
	}
	t.stage.Update(t.work.Step(t.Position), func() string { return t.shown.line(t.Position, last, lr) })
	return nil
}

// checkLosses refuses units whose loss is not a number.
func (t *training) checkLosses(reports []trainer.Report, rates []float64) error {
	for i, r := range reports {
		if math.IsNaN(r.Loss) || math.IsInf(r.Loss, 0) {
			return t.diverged(fmt.Errorf("the loss became %v", r.Loss), t.Units+i, rates[i])
		}
	}
	return nil
}

// report records the reports of a call that began after some seconds of training.
func (t *training) report(reports []trainer.Report, rates []float64, before float64) error {
	each := (t.seconds() - before) / float64(len(reports)) // units of a series end one after the other
	for i, r := range reports {
		if r.Words == 0 { // cl: M does not know its text
			r.Words = t.wordsPerUnit
		}
		if t.Due() {
			if err := t.Flush(t.Position.Seconds); err != nil {
				return err
			}
		}
		t.Add(r, rates[i], before+each*float64(i+1))
	}
	return t.look()
}

// look calls the observer and writes the line of metrics, if they are due. Scores make
// the line due.
func (t *training) look() error {
	line := t.work.LineDue(t.Position) || t.Due()
	if t.work.ObservationDue(t.Position) {
		from, at := t.now(), t.Position
		if line {
			at.Last.Loss = t.Loss()
		}
		var err error
		if t.Scores, err = t.observe(at, t.work.Fraction(t.Position)); err != nil {
			return err
		}
		t.paused += t.now().Sub(from)
	}
	if line || len(t.Scores) > 0 {
		return t.Flush(t.Position.Seconds)
	}
	return nil
}

// ErrDiverged is the error of a training whose tables are ruined.
var ErrDiverged = errors.New("training diverged")

func (l *loop) diverged(err error, unit int, lr float64) error {
	return fmt.Errorf("%w: %w at %s (learning rate %.3g)", ErrDiverged, err, l.place(unit), lr)
}

// place names a unit. How many there are of all is known only without a limit.
func (l *loop) place(unit int) string {
	place := l.unitName + " " + terminal.Number(unit+1)
	if l.limit == (limit{}) {
		place += " of " + terminal.Number(l.trainer.Units())
	}
	return place
}

// A speedometer measures speeds between the moments that are shown.
type speedometer struct{ words, pairs, seconds float64 }

func (s *speedometer) line(p runfolder.Position, report trainer.Report, lr float64) string {
	elapsed := max(p.Seconds-s.seconds, 1e-9)
	words, pairs := (p.Words-s.words)/elapsed, (p.Pairs-s.pairs)/elapsed
	*s = speedometer{p.Words, p.Pairs, p.Seconds}
	return fmt.Sprintf("%s words/s  loss %.4f  lr %.2e  %s pairs/s",
		terminal.Rate(words), report.Loss/max(report.Pairs, 1), lr, terminal.Rate(pairs))
}
