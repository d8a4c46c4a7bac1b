package joint

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/trainer"
)

// A Leader is the trainer of rank 0. What it is told to do the other ranks do, too: they Follow. Its tables are whole where it
// can be saved.
type Leader struct {
	*Trainer
	stop func() // of the run; called when a rank was told to stop
	next int    // unit to train
}

var (
	_ trainer.Trainer   = (*Leader)(nil)
	_ trainer.Series    = (*Leader)(nil)
	_ trainer.OnDevice  = (*Leader)(nil)
	_ trainer.Pausing   = (*Leader)(nil)
	_ trainer.Composing = (*Leader)(nil)
)

// Lead returns the trainer of rank 0. It calls stop when a rank was told to stop.
func Lead(t *Trainer, stop func()) *Leader { return &Leader{Trainer: t, stop: stop} }

// The orders of rank 0.
const (
	advance uint64 = iota
	push
	restart
	finish
)

// An order is what all ranks do next.
type order struct {
	what, first uint64
	rates       []float64
}

// broadcast brings the order of rank 0 to all.
func (t *Trainer) broadcast(o *order) error {
	head := []uint64{o.what, o.first, uint64(len(o.rates))}
	if err := t.comm.Bcast(cluster.Bytes(head), 0); err != nil {
		return err
	}
	if o.what, o.first = head[0], head[1]; head[2] == 0 {
		return nil
	}
	if t.comm.Rank() > 0 {
		o.rates = make([]float64, head[2])
	}
	return t.comm.Bcast(cluster.Bytes(o.rates), 0)
}

// Follow does what rank 0 orders until training ends. When ctx ends the run stops.
func (t *Trainer) Follow(ctx context.Context) error {
	for {
		var o order
		if err := t.broadcast(&o); err != nil {
			return err
		}
		if o.what == finish {
			return nil
		}
		if _, _, err := t.obey(ctx, &o); err != nil {
			return err
		}
	}
}

// obey does what an order says. stop says that a rank was told to stop.
func (t *Trainer) obey(ctx context.Context, o *order) (reports []trainer.Report, stop bool, err error) {
	switch o.what {
	case advance:
		if reports, err = t.train(int(o.first), o.rates); err != nil {
			return nil, false, err
		}
		if err := t.sum(reports); err != nil {
			return nil, false, err
		}
		stop, err = cluster.Stopped(ctx, t.comm)
		return reports, stop, err
	case push:
		return nil, false, t.share()
	default:
		t.own.Reset()
		t.remember()
		return nil, false, nil
	}
}

// share gives all ranks the tables of rank 0.
func (t *Trainer) share() error {
	for _, x := range t.tables {
		for first := 0; first < len(x.data); first += blockBytes / 4 {
			if err := t.comm.Bcast(cluster.Bytes(x.data[first:min(first+blockBytes/4, len(x.data))]), 0); err != nil {
				return err
			}
		}
	}
	t.remember()
	return nil
}

// order has all ranks do something.
func (l *Leader) order(ctx context.Context, o *order) ([]trainer.Report, error) {
	if err := l.broadcast(o); err != nil {
		return nil, err
	}
	reports, stop, err := l.obey(ctx, o)
	if stop {
		l.stop()
	}
	return reports, err
}

// Units is the number of units of all epochs.
func (l *Leader) Units() int { return l.perRun }

// SeriesLength returns how many units there are until all rows are combined.
func (l *Leader) SeriesLength() int {
	n := 1
	for l.next+n < l.perRun && !l.whole(l.next+n) {
		n++
	}
	return n
}

// PausesAfter reports whether training can stop, and be saved, after so many units: whether all rows are combined then.
func (l *Leader) PausesAfter(units int) bool { return l.whole(units) }

// Advance trains one unit.
func (l *Leader) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	return trainer.AdvanceOne(ctx, l, unit, rate)
}

// AdvanceSeries trains some units on all ranks.
func (l *Leader) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if first < 0 || first+len(rates) > l.perRun {
		return nil, fmt.Errorf("there are no units %d to %d: the last is %d", first, first+len(rates)-1, l.perRun-1)
	}
	l.next = first + len(rates)
	return l.order(ctx, &order{what: advance, first: uint64(first), rates: rates})
}

// Refresh composes W on this rank, if it is composed of parts.
func (l *Leader) Refresh() error { return l.own.Refresh() }

// Tables returns W and C, live.
func (l *Leader) Tables() (words, contexts []float32) { return l.own.Tables() }

// State returns what training changes, live.
func (l *Leader) State() []trainer.Tensor { return l.own.State() }

// Pull does nothing: this rank has all.
func (l *Leader) Pull(bool) error { return nil }

// Push sends what State holds to all ranks.
func (l *Leader) Push() { _, _ = l.order(context.Background(), &order{what: push}) } // who trains next gets the error

// Device is the CPU.
func (l *Leader) Device() (string, int64) { return "", 0 }

// Reset goes back to the start of training on all ranks.
func (l *Leader) Reset() {
	l.next = 0
	_, _ = l.order(context.Background(), &order{what: restart})
}

// Close ends the other ranks' Follow.
func (l *Leader) Close() error { return l.broadcast(&order{what: finish}) }
