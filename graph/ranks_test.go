package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential/composed"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// onRanksOf runs work on rank 0 of so many, with the trainer of all.
func (x cbowCase) onRanksOf(t testing.TB, ranks, iterations int, work func(l *lead.Trainer) error) error {
	t.Helper()
	return cluster.Run(ranks, func(c cluster.Comm) error {
		o := x.options
		if x.parts != nil {
			o.Composition = x.parts()
		}
		m, err := NewRankCBOW(c, newStretches(t, x.corpus, x.words, o.SharedNegatives, 7), iterations, o)
		if err != nil {
			return err
		}
		defer m.CBOW.Close()
		l := lead.NewTrainer(&lead.Group{Comm: c}, m)
		if c.Rank() > 0 {
			return l.Follow(t.Context())
		}
		if err := work(l); err != nil {
			return err
		}
		return l.Close()
	})
}

// advanceOn trains some iterations and pulls the state. It returns losses and pairs.
func advanceOn(t testing.TB, m trainer.Trainer, from, to int) (losses []float64, err error) {
	for unit := from; unit < to; unit++ {
		r, err := m.Advance(t.Context(), unit, .05)
		if err != nil {
			return nil, err
		}
		losses = append(losses, r.Loss, r.Pairs, r.Words)
	}
	return losses, trainer.Pull(m, true)
}

func cloned(state []trainer.Tensor) (all []trainer.Tensor) {
	for _, s := range state {
		all = append(all, trainer.Tensor{Name: s.Name, Data: slices.Clone(s.Data)})
	}
	return all
}

func differs(got, want []trainer.Tensor) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d tensors, not %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i].Name != w.Name || !slices.Equal(got[i].Data, w.Data) {
			return fmt.Errorf("tensor %s differs from %s", got[i].Name, w.Name)
		}
	}
	return nil
}

// TestCBOWOnRanks: any number of ranks and threads trains what one process does, to the bit, with every optimizer, words as tables and
// composed, and goes on from a state in the middle.
func TestCBOWOnRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 5))
	const iterations, half = 8, 3
	groups := []int{1, 2, 3, 4, 9}
	if testing.Short() {
		groups = []int{3}
	}
	for i, x := range cbowCases(t, r) {
		for _, method := range optim.Methods() {
			if x.options.Optimizer.Method = method.Name; i > 0 && i < 4 && r.IntN(3) > 0 {
				continue
			}
			one := x.new(t, iterations, nil)
			want, err := advanceOn(t, one, 0, half)
			if err != nil {
				t.Fatal(err)
			}
			middle := cloned(one.State())
			rest, err := advanceOn(t, one, half, iterations)
			if err != nil {
				t.Fatal(err)
			}
			end := cloned(one.State())
			if err := one.Refresh(); err != nil {
				t.Fatal(err)
			}
			rows, _ := one.Tables()
			for _, ranks := range groups {
				x.options.Threads = 1 + r.IntN(3)
				err := x.onRanksOf(t, ranks, iterations, func(l *lead.Trainer) error {
					return checkOnRanks(t, l, slices.Concat(want, rest), middle, end, rows, half)
				})
				if err != nil {
					t.Fatalf("%s, %s on %d ranks: %v", x.name, method.Name, ranks, err)
				}
			}
		}
	}
}

// checkOnRanks trains from the start, again after Reset, and from the state in the middle.
func checkOnRanks(t *testing.T, l *lead.Trainer, want []float64, middle, end []trainer.Tensor, rows []float32, half int) error {
	if _, err := advanceOn(t, l, 0, half); err != nil {
		return err
	}
	if err := differs(l.State(), middle); err != nil {
		return fmt.Errorf("from the start: %w", err)
	}
	l.Reset()
	losses, err := advanceOn(t, l, 0, l.Units())
	if err != nil {
		return err
	}
	if !slices.Equal(losses, want) {
		return fmt.Errorf("losses are\n%v, not\n%v", losses, want)
	}
	if err := differs(l.State(), end); err != nil {
		return fmt.Errorf("after all: %w", err)
	}
	for i, s := range l.State() {
		copy(s.Data, middle[i].Data)
	}
	trainer.Push(l)
	if losses, err = advanceOn(t, l, half, l.Units()); err != nil {
		return err
	}
	if !slices.Equal(losses, want[3*half:]) {
		return fmt.Errorf("from the middle, losses are\n%v, not\n%v", losses, want[3*half:])
	}
	if err := l.Refresh(); err != nil {
		return err
	}
	if words, _ := l.Tables(); !slices.Equal(words, rows) {
		return errors.New("the composed rows differ")
	}
	return differs(l.State(), end)
}

// TestRankCBOWAccount: what a rank plans is what it takes, and ranks take fewer moments than one process.
func TestRankCBOWAccount(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for _, x := range cbowCases(t, r) {
		s := newStretches(t, x.corpus, x.words, x.options.SharedNegatives, 7)
		moments := int64(0)
		err := cluster.Run(2, func(c cluster.Comm) error {
			o := x.options
			if x.parts != nil {
				o.Composition = x.parts()
			}
			var err error
			planned := trainer.Dry(func(a *trainer.Account) { err = PlanRankCBOW(a, s, c.Size(), c.Rank(), o) })
			if err != nil {
				return err
			}
			o.Account = trainer.NewAccount(func(*trainer.Account) error { return nil })
			m, err := NewRankCBOW(c, s, 3, o)
			if err != nil {
				return err
			}
			defer m.CBOW.Close()
			if took := o.Account.Sum(); took != planned.Sum() {
				t.Errorf("%s, rank %d: took %d bytes of %d", x.name, c.Rank(), took, planned.Sum())
			}
			if c.Rank() == 1 {
				moments = planned.Sum(trainer.ForMoments)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		one := trainer.Dry(func(a *trainer.Account) {
			o := x.options
			if x.parts != nil {
				o.Composition = x.parts()
			}
			o.Account = a
			if err := PlanCBOW(a, s, o); err != nil {
				t.Error(err)
			}
		}).Sum(trainer.ForMoments)
		if moments > one {
			t.Errorf("%s: a rank takes %d bytes of moments, one process %d", x.name, moments, one)
		}
	}
}

func TestRankCBOWRefusals(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	x := cbowCases(t, r)[0]
	s := newStretches(t, x.corpus, x.words, x.options.SharedNegatives, 7)
	for want, change := range map[string]func(o *Options){
		"network":    func(o *Options) { o.Encoder = &tableEncoder{} },
		"--init":     func(o *Options) { o.Start = func(_, _ []float32) {} },
		"graph form": func(o *Options) { o.Form = FormStock },
		"--batch":    func(o *Options) { o.Dim = 1 << 24 },
	} {
		o := x.options
		change(&o)
		if err := CheckRankCBOW(s, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	o := x.options
	o.Composition, o.Encoder = &composed.Composition{}, &tableEncoder{}
	if err := CheckRankCBOW(s, o); err != nil {
		t.Error(err)
	}
}
