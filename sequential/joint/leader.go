package joint

import (
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// This file has the orders of rank 0: package lead leads a Trainer on each rank.
var _ lead.Member = (*Trainer)(nil)

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

// Pull does nothing: where training pauses every rank has all.
func (t *Trainer) Pull(bool) error { return nil }

// Push gives all ranks the tables of rank 0.
func (t *Trainer) Push() error {
	for _, x := range t.tables {
		if err := cluster.BcastValues(t.comm, x.data, 0); err != nil {
			return err
		}
	}
	t.remember()
	return nil
}

// Reset goes back to the start of training.
func (t *Trainer) Reset() {
	t.next = 0
	t.own.Reset()
	t.remember()
}

// Refresh composes W on this rank, if it is composed of parts.
func (t *Trainer) Refresh() error { return t.own.Refresh() }

// Tables returns W and C, live.
func (t *Trainer) Tables() (words, contexts []float32) { return t.own.Tables() }

// State returns what training changes, live.
func (t *Trainer) State() []trainer.Tensor { return t.own.State() }
