package joint

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// This file has the orders by which rank 0 leads: what is called on it all ranks do. On another rank a Trainer can only Follow.
var (
	_ trainer.Trainer   = (*Trainer)(nil)
	_ trainer.Series    = (*Trainer)(nil)
	_ trainer.OnDevice  = (*Trainer)(nil)
	_ trainer.Pausing   = (*Trainer)(nil)
	_ trainer.Composing = (*Trainer)(nil)
	_ cluster.Follower  = (*Trainer)(nil)
)

// The orders.
const (
	orderTrain = iota
	orderPush
	orderReset
)

// Units is the number of units of all epochs.
func (t *Trainer) Units() int { return t.perRun }

// SeriesLength returns how many units there are until all rows are combined.
func (t *Trainer) SeriesLength() int {
	n := 1
	for t.next+n < t.perRun && !t.PausesAfter(t.next+n) {
		n++
	}
	return n
}

// Advance trains one unit on all ranks.
func (t *Trainer) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	return trainer.AdvanceOne(ctx, t, unit, rate)
}

// AdvanceSeries trains some units on all ranks.
func (t *Trainer) AdvanceSeries(ctx context.Context, first int, rates []float64) (reports []trainer.Report, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if first < 0 || first+len(rates) > t.perRun {
		return nil, fmt.Errorf("there are no units %d to %d: the last is %d", first, first+len(rates)-1, t.perRun-1)
	}
	o := cluster.Order{What: orderTrain, Number: first, Rates: rates}
	err = t.group.Do(o, func() (err error) {
		reports, err = t.obey(ctx, o)
		return err
	})
	return reports, err
}

// Pull does nothing: where training pauses every rank has all.
func (t *Trainer) Pull(bool) error { return nil }

// Push gives all ranks the tables of rank 0.
func (t *Trainer) Push() { t.order(orderPush) }

// Reset goes back to the start of training on all ranks.
func (t *Trainer) Reset() { t.order(orderReset) }

// order gives an order that has no result. Who trains next gets its error.
func (t *Trainer) order(what int) {
	o := cluster.Order{What: what}
	_ = t.group.Do(o, func() error {
		_, err := t.obey(context.Background(), o)
		return err
	})
}

// Follow does what rank 0 orders until training ends. When ctx ends the run stops.
func (t *Trainer) Follow(ctx context.Context) error {
	return t.group.Follow(func(o cluster.Order) error {
		_, err := t.obey(ctx, o)
		return err
	})
}

// obey is this rank's part of an order.
func (t *Trainer) obey(ctx context.Context, o cluster.Order) ([]trainer.Report, error) {
	switch o.What {
	case orderTrain:
		reports, err := t.train(o.Number, o.Rates)
		if err != nil {
			return nil, err
		}
		return reports, t.group.Stop(ctx)
	case orderPush:
		for _, x := range t.tables {
			if err := cluster.BcastValues(t.group, x.data); err != nil {
				return nil, err
			}
		}
		t.remember()
	case orderReset:
		t.next = 0
		t.own.Reset()
		t.remember()
	}
	return nil, nil
}

// Close ends the other ranks' Follow.
func (t *Trainer) Close() error { return t.group.Finish() }

// Device is the CPU.
func (t *Trainer) Device() (string, int64) { return "", 0 }

// Refresh composes W on this rank, if it is composed of parts.
func (t *Trainer) Refresh() error { return t.own.Refresh() }

// Tables returns W and C, live.
func (t *Trainer) Tables() (words, contexts []float32) { return t.own.Tables() }

// State returns what training changes, live.
func (t *Trainer) State() []trainer.Tensor { return t.own.State() }
