package cluster

import (
	"context"
	"errors"
	"os"
	"strconv"
)

// A Group lets rank 0 lead the ranks of a run: each call of rank 0 is an order that all ranks follow. They agree on errors, so no rank
// waits for one that failed, and a signal to any rank stops all.
//
// It connects one rank to the other ranks of a run. All ranks make the same calls in the same order, except that rank 0
// calls Do and the others Follow. The nil Group is a single process, which may call Lead, Agree, Known and Place.
type Group struct {
	Comm
	From string // what started the ranks

	// Ended says that all ranks know the end of the run, so that none waits for this one.
	Ended bool

	stop   context.CancelFunc // of the run, on rank 0; may be nil
	failed error              // after it no rank can be told anything
}

// Lead prepares rank 0 to lead a run: the context ends when any rank is told to stop.
func (g *Group) Lead(ctx context.Context) context.Context {
	if g == nil {
		return ctx
	}
	ctx, g.stop = context.WithCancel(ctx)
	return ctx
}

// Agree is [Agree] for an error that the ranks may agree on already.
func (g *Group) Agree(err error) error {
	if g == nil || errors.As(err, new(*RankError)) {
		return g.Known(err)
	}
	return g.Known(Agree(g, err))
}

// Known returns an error that ends the run, and notes whether the ranks agree on it.
func (g *Group) Known(err error) error {
	if errors.As(err, new(*RankError)) {
		g.Ended = true
	}
	return err
}

// Place is which of the ranks of its host this is, counted from 0; 0 for a single process.
func (g *Group) Place() (place int, err error) {
	if g == nil {
		return 0, nil
	}
	own, _ := os.Hostname() // without one it is as the others without
	all, err := Collect(g, []byte(own))
	if err != nil {
		return 0, err
	}
	if local, err := strconv.Atoi(os.Getenv("LOCAL_RANK")); err == nil && Launched().Address != "" {
		return local, nil
	}
	for _, name := range all[:g.Rank()] {
		if string(name) == own {
			place++
		}
	}
	return place, nil
}

// Stop stops the run if any rank was told to stop, which ends its context. Followers only pass this on.
func (g *Group) Stop(ctx context.Context) error {
	stopped, err := Stopped(ctx, g)
	if stopped && g.stop != nil {
		g.stop()
	}
	return err
}

// An Order says what all ranks do next.
type Order struct {
	What   int // a number of the user's, from 0
	Number int // of a unit or of values, say
	Buffer int
	Name   string
	Rates  []float64
}

const finish = -1

// Do has all ranks do something: the others obey the order in Follow, this one calls own. After an error every later call returns it.
func (g *Group) Do(o Order, own func() error) error {
	if g.failed == nil {
		g.failed = g.bring(&o)
	}
	if g.failed == nil {
		g.failed = own()
	}
	return g.failed
}

// Follow lets obey do what rank 0 orders, until training ends.
func (g *Group) Follow(obey func(o Order) error) error {
	for g.failed == nil {
		var o Order
		if g.failed = g.bring(&o); g.failed == nil && o.What == finish {
			return nil
		}
		if g.failed == nil {
			g.failed = obey(o)
		}
	}
	return g.failed
}

// Finish ends the others' Follow. After an error it does nothing, because they cannot be told.
func (g *Group) Finish() error {
	if g.Failed() || g.Rank() > 0 {
		return nil
	}
	err := g.Do(Order{What: finish}, func() error { return nil })
	g.Ended = g.Ended || err == nil
	return err
}

// Failed reports whether an order has failed.
func (g *Group) Failed() bool { return g.failed != nil }

// bring sends the order of rank 0 to all ranks.
func (g *Group) bring(o *Order) error {
	head := []uint64{uint64(o.What), uint64(o.Number), uint64(o.Buffer), uint64(len(o.Name)), uint64(len(o.Rates))}
	if err := BcastValues(g, head); err != nil {
		return err
	}
	o.What, o.Number, o.Buffer = int(head[0]), int(head[1]), int(head[2])
	name, rates := make([]byte, head[3]), make([]float64, head[4])
	copy(name, o.Name)
	copy(rates, o.Rates)
	if err := BcastValues(g, name); err != nil {
		return err
	}
	o.Name, o.Rates = string(name), rates
	return BcastValues(g, rates)
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
