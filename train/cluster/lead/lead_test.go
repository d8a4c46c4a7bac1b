package lead_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/trainer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestOrders: the others get the orders of rank 0, one after the other, until it finishes.
func TestOrders(t *testing.T) {
	orders := []lead.Order{
		{Name: "", Rates: []float64{}},
		{What: 7, Number: 1 << 40, Buffer: 1, Name: "contexts.second-moment", Rates: []float64{0.5, 0.25}},
		{What: 2, Number: 3, Name: "", Rates: slices.Repeat([]float64{0.1}, 1000)},
	}
	for _, ranks := range []int{1, 2, 5} {
		err := cluster.Run(ranks, func(c cluster.Comm) error {
			g := &lead.Group{Comm: c}
			if c.Rank() > 0 {
				var got []lead.Order
				err := g.Follow(func(o lead.Order) error {
					got = append(got, o)
					return nil
				})
				if !reflect.DeepEqual(got, orders) {
					err = errors.Join(err, fmt.Errorf("got %v", got))
				}
				return errors.Join(err, g.Finish())
			}
			done := 0
			for _, o := range orders {
				if err := g.Do(o, func() error { done++; return nil }); err != nil {
					return err
				}
			}
			if err := g.Finish(); err != nil || done != len(orders) || !g.Ended || g.Failed() {
				return fmt.Errorf("did %d of %d, ended %v, failed %v: %w", done, len(orders), g.Ended, g.Failed(), err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// TestFailed: after an error of a rank it is told nothing, and every call returns the error.
func TestFailed(t *testing.T) {
	bad := errors.New("bad")
	for broken := range 2 {
		err := cluster.Run(2, func(c cluster.Comm) error {
			g := &lead.Group{Comm: c}
			own := func() error {
				if c.Rank() == broken {
					return bad
				}
				return c.Barrier() // with the rank that fails
			}
			var err error
			if c.Rank() > 0 {
				err = g.Follow(func(lead.Order) error { return own() })
			} else {
				err = g.Do(lead.Order{}, own)
			}
			if c.Rank() != broken {
				return err
			}
			again := g.Do(lead.Order{}, func() error { return errors.New("it is done") })
			if !errors.Is(err, bad) || !errors.Is(again, bad) || !g.Failed() || g.Finish() != nil || g.Ended {
				t.Errorf("rank %d fails: %v, %v, failed %v, ended %v", broken, err, again, g.Failed(), g.Ended)
			}
			return err
		})
		if !errors.Is(err, bad) {
			t.Errorf("rank %d fails: %v", broken, err)
		}
	}
}

// TestAgree: ranks that agree on an error do not do so again, and none waits.
func TestAgree(t *testing.T) {
	bad := errors.New("bad")
	err := cluster.Run(3, func(c cluster.Comm) error {
		g := &lead.Group{Comm: c}
		if err := g.Agree(nil); err != nil || g.Ended {
			return fmt.Errorf("without an error: %w, ended %v", err, g.Ended)
		}
		var own error
		if c.Rank() == 2 {
			own = bad
		}
		err := g.Agree(own)
		if again := g.Agree(err); err == nil || !errors.Is(again, err) || !g.Ended {
			return fmt.Errorf("an error: %w, again %w, ended %v", err, again, g.Ended)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A member adds its rank to what it trains.
type member struct {
	lead.Member
	rank   int
	values []float32
}

func (m *member) Units() int { return 10 }

func (m *member) Train(first int, rates []float64) (reports []trainer.Report, err error) {
	for i := range rates {
		m.values[0] += float32(m.rank + 1)
		reports = append(reports, trainer.Report{Loss: float64(first + i)})
	}
	return reports, nil
}

func (m *member) Pull(everything bool) error {
	m.values[1] = map[bool]float32{true: 2}[everything] + 1
	return nil
}

func (m *member) Push() error { m.values[2]++; return nil }

func (m *member) Reset() { clear(m.values) }

// TestTrainer: what the trainer of rank 0 is told to do the members of all ranks do; a stop of any ends the run.
func TestTrainer(t *testing.T) {
	members := make([]*member, 3)
	err := cluster.Run(len(members), func(c cluster.Comm) error {
		g, m := &lead.Group{Comm: c}, &member{rank: c.Rank(), values: make([]float32, 3)}
		members[c.Rank()] = m
		l := lead.NewTrainer(g, m)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if c.Rank() > 0 {
			if c.Rank() == 2 {
				cancel()
			}
			return lead.Follow(ctx, l)
		}
		ctx = g.Lead(ctx)
		if _, err := l.AdvanceSeries(ctx, 8, []float64{1, 1, 1}); err == nil {
			return errors.New("it trains units that there are not")
		}
		l.Reset()
		reports, err := l.AdvanceSeries(ctx, 3, []float64{1, 1})
		if err != nil || len(reports) != 2 || reports[1].Loss != 4 || ctx.Err() == nil {
			return fmt.Errorf("reports %v, stopped %w: %w", reports, ctx.Err(), err)
		}
		if _, err := l.Advance(ctx, 5, 1); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("it goes on: %w", err)
		}
		l.Push()
		return errors.Join(l.Pull(true), l.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank, m := range members {
		if want := []float32{float32(2 * (rank + 1)), 3, 1}; !slices.Equal(m.values, want) {
			t.Errorf("rank %d has %v, want %v", rank, m.values, want)
		}
	}
	if err := lead.Follow(t.Context(), 7); err == nil {
		t.Error("7 follows")
	}
}
