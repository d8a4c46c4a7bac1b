package lead

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Member is one rank's trainer of a model that all ranks train together. All ranks call Train, Pull, Push and Reset at the same time;
// the rest is asked of rank 0.
type Member interface {
	// Train trains units on this rank, and returns the reports of all ranks together.
	Train(first int, rates []float64) ([]trainer.Report, error)
	Pull(everything bool) error // brings the tables to rank 0, or State
	Push() error                // brings State of rank 0 to all
	Reset()

	Units() int
	SeriesLength() int
	PausesAfter(units int) bool
	Tables() (words, contexts []float32)
	State() []trainer.Tensor
	Refresh() error
}

// A Trainer passes every call on rank 0 to the members of all ranks. On another rank it can only Follow.
type Trainer struct {
	Member
	group *Group
}

var (
	_ trainer.Trainer   = (*Trainer)(nil)
	_ trainer.Series    = (*Trainer)(nil)
	_ trainer.OnDevice  = (*Trainer)(nil)
	_ trainer.Pausing   = (*Trainer)(nil)
	_ trainer.Composing = (*Trainer)(nil)
	_ Follower          = (*Trainer)(nil)
)

// NewTrainer returns the trainer of a member.
func NewTrainer(g *Group, m Member) *Trainer { return &Trainer{m, g} }

// The orders.
const (
	train = iota
	pullTables
	pullState
	push
	reset
)

// Advance trains one unit on all ranks.
func (t *Trainer) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	return trainer.AdvanceOne(ctx, t, unit, rate)
}

// AdvanceSeries trains some units on all ranks.
func (t *Trainer) AdvanceSeries(ctx context.Context, first int, rates []float64) (reports []trainer.Report, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if first < 0 || first+len(rates) > t.Units() {
		return nil, fmt.Errorf("there are no units %d to %d: the last is %d", first, first+len(rates)-1, t.Units()-1)
	}
	o := Order{What: train, Number: first, Rates: rates}
	err = t.group.Do(o, func() (err error) {
		reports, err = t.obey(ctx, o)
		return err
	})
	return reports, err
}

// Pull brings the tables of all ranks here; with everything also the moments.
func (t *Trainer) Pull(everything bool) error {
	if everything {
		return t.order(pullState)
	}
	return t.order(pullTables)
}

// Push sends what State holds to all ranks.
func (t *Trainer) Push() { _ = t.order(push) } // who trains next gets the error

// Reset goes back to the start of training on all ranks.
func (t *Trainer) Reset() { _ = t.order(reset) }

// Device is the CPU.
func (t *Trainer) Device() (string, int64) { return "", 0 }

// Close ends the other ranks' Follow.
func (t *Trainer) Close() error { return t.group.Finish() }

// Follow does what rank 0 orders until training ends. When ctx ends the run stops.
func (t *Trainer) Follow(ctx context.Context) error {
	return t.group.Follow(func(o Order) error {
		_, err := t.obey(ctx, o)
		return err
	})
}

func (t *Trainer) order(what int) error {
	o := Order{What: what}
	return t.group.Do(o, func() error {
		_, err := t.obey(context.Background(), o)
		return err
	})
}

// obey is this rank's part of an order.
func (t *Trainer) obey(ctx context.Context, o Order) ([]trainer.Report, error) {
	switch o.What {
	case train:
		reports, err := t.Train(o.Number, o.Rates)
		if err != nil {
			return nil, err
		}
		return reports, t.group.Stop(ctx)
	case push:
		return nil, t.Member.Push()
	case reset:
		t.Member.Reset()
		return nil, nil
	default:
		return nil, t.Member.Pull(o.What == pullState)
	}
}

// A Follower is a trainer, or what trains for one, on another rank than 0.
type Follower interface {
	// Follow does what rank 0 orders until training ends. When ctx ends the run stops.
	Follow(ctx context.Context) error
}

// Follow lets a trainer, or what trains for one, follow rank 0.
func Follow(ctx context.Context, who any) error {
	if f, ok := who.(Follower); ok {
		return f.Follow(ctx)
	}
	return errors.New("this trainer has no other ranks")
}
