package cluster_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/train/cluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestOrders: the others get the orders of rank 0, one after the other, until it finishes.
func TestOrders(t *testing.T) {
	orders := []cluster.Order{
		{Name: "", Rates: []float64{}},
		{What: 7, Number: 1 << 40, Buffer: 1, Name: "contexts.second-moment", Rates: []float64{0.5, 0.25}},
		{What: 2, Number: 3, Name: "", Rates: slices.Repeat([]float64{0.1}, 1000)},
	}
	for _, ranks := range []int{1, 2, 5} {
		err := cluster.Run(ranks, func(c cluster.Comm) error {
			g := &cluster.Group{Comm: c}
			if c.Rank() > 0 {
				var got []cluster.Order
				err := g.Follow(func(o cluster.Order) error {
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
			g := &cluster.Group{Comm: c}
			own := func() error {
				if c.Rank() == broken {
					return bad
				}
				_, err := cluster.Each(c, 0) // with the rank that fails
				return err
			}
			var err error
			if c.Rank() > 0 {
				err = g.Follow(func(cluster.Order) error { return own() })
			} else {
				err = g.Do(cluster.Order{}, own)
			}
			if c.Rank() != broken {
				return err
			}
			again := g.Do(cluster.Order{}, func() error { return errors.New("it is done") })
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
func TestGroupAgree(t *testing.T) {
	bad := errors.New("bad")
	err := cluster.Run(3, func(c cluster.Comm) error {
		g := &cluster.Group{Comm: c}
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
