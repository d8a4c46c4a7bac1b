package split

import (
	"context"
	"fmt"
	"time"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/trainer"
)

// A Leader is the trainer of rank 0. What it is told to do the other ranks do, too: they
// Follow.
type Leader struct {
	*CL
	stop    func()           // of the run; called when a rank was told to stop
	mirror  []trainer.Tensor // whole tables and moments, which Pull fills
	pulled  bool
	perUnit time.Duration // of the last series
}

var (
	_ trainer.Trainer   = (*Leader)(nil)
	_ trainer.Series    = (*Leader)(nil)
	_ trainer.OnDevice  = (*Leader)(nil)
	_ trainer.Preparing = (*Leader)(nil)
)

// Lead returns the trainer of rank 0. It calls stop when another rank was told to stop.
func Lead(t *CL, stop func()) *Leader {
	l := &Leader{CL: t, stop: stop}
	if t.byRows != nil {
		l.mirror = t.state()
		return l
	}
	for _, s := range t.state() { // memory that nobody touches before Pull
		l.mirror = append(l.mirror, trainer.Tensor{Name: s.Name, Data: memory.Floats(t.rows * t.config.Dim)})
	}
	return l
}

// The orders of rank 0.
const (
	advance uint64 = iota
	pullTables
	pullAll
	push
	restart
	finish
)

// series is the most units of an order, and seriesTime about how long they may take: signals
// are seen between two orders.
const (
	series     = 32
	seriesTime = 200 * time.Millisecond
)

// An order is what all ranks do next.
type order struct {
	what, first, count uint64
	rates              [series]float64
}

// broadcast brings the order of rank 0 to all.
func (t *CL) broadcast(o *order) error {
	numbers := [3]uint64{o.what, o.first, o.count}
	message := append(append([]byte(nil), cluster.Bytes(numbers[:])...), cluster.Bytes(o.rates[:])...)
	if err := t.comm.Bcast(message, 0); err != nil {
		return err
	}
	copy(cluster.Bytes(numbers[:]), message)
	copy(cluster.Bytes(o.rates[:]), message[len(numbers)*8:])
	o.what, o.first, o.count = numbers[0], numbers[1], numbers[2]
	return nil
}

// Follow does what rank 0 orders until training ends. When ctx ends the run stops.
func (t *CL) Follow(ctx context.Context) error {
	for {
		var o order
		err := t.broadcast(&o)
		if err == nil && o.what == finish {
			return nil
		}
		if err == nil {
			_, _, err = t.obey(ctx, &o, nil)
		}
		if err != nil {
			return err
		}
	}
}

// obey does what an order says. whole are the tables of rank 0. stop says that a rank was
// told to stop.
func (t *CL) obey(ctx context.Context, o *order, whole []trainer.Tensor) (reports []trainer.Report, stop bool, err error) {
	switch o.what {
	case advance:
		for i := range int(o.count) {
			report, err := t.iteration(int(o.first)+i, o.rates[i])
			if err != nil {
				return nil, false, err
			}
			reports = append(reports, report)
		}
		stop, err = cluster.Stopped(ctx, t.comm)
		return reports, stop, err
	case restart:
		t.reset()
		return nil, false, nil
	default:
		return nil, false, t.moveState(o.what, whole)
	}
}

// order has all ranks do something.
func (l *Leader) order(ctx context.Context, o *order) ([]trainer.Report, error) {
	if err := l.broadcast(o); err != nil {
		return nil, err
	}
	reports, stop, err := l.obey(ctx, o, l.mirror)
	if stop {
		l.stop()
	}
	return reports, err
}

// Units is the number of iterations, fixed in advance.
func (l *Leader) Units() int { return l.iterations }

// Ready gives the tables their memory.
func (l *Leader) Ready() error { return nil }

// SeriesLength returns how many iterations fit between two looks at signals.
func (l *Leader) SeriesLength() int {
	if l.perUnit == 0 {
		return 1
	}
	return int(min(max(seriesTime/l.perUnit, 1), series))
}

// Advance runs one iteration.
func (l *Leader) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	return trainer.AdvanceOne(ctx, l, unit, rate)
}

// AdvanceSeries runs some iterations on all ranks.
func (l *Leader) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(rates) > series {
		return nil, fmt.Errorf("%d iterations in one call, more than %d", len(rates), series)
	}
	if l.pulled && l.byRows == nil { // the run needs the memory
		for _, s := range l.mirror {
			memory.Discard(cluster.Bytes(s.Data))
		}
		l.pulled = false
	}
	o := &order{what: advance, first: uint64(first), count: uint64(len(rates))}
	copy(o.rates[:], rates)
	start := time.Now()
	reports, err := l.order(ctx, o)
	l.perUnit = max(time.Since(start)/time.Duration(len(rates)), 1)
	return reports, err
}

// Tables returns W and C as Pull left them.
func (l *Leader) Tables() (words, contexts []float32) {
	return l.mirror[0].Data, l.mirror[len(l.mirror)/2].Data
}

// State returns tables and moments as Pull left them.
func (l *Leader) State() []trainer.Tensor { return l.mirror }

// Pull gathers the tables of all ranks, and with everything the moments, too.
func (l *Leader) Pull(everything bool) error {
	o := &order{what: pullTables}
	if everything {
		o.what = pullAll
	}
	l.pulled = true
	_, err := l.order(context.Background(), o)
	return err
}

// Push sends what State holds to all ranks.
func (l *Leader) Push() {
	l.pulled = true
	// Who trains next gets the error.
	_, _ = l.order(context.Background(), &order{what: push})
}

// Device is the CPU.
func (l *Leader) Device() (string, int64) { return "", 0 }

// Reset goes back to the start of training on all ranks.
func (l *Leader) Reset() { _, _ = l.order(context.Background(), &order{what: restart}) }

// Close ends the other ranks' Follow.
func (l *Leader) Close() error { return l.broadcast(&order{what: finish}) }

// movedBytes is how much of a table moves at a time.
const movedBytes = 4 << 20

// moveState moves tables between rank 0, which has them whole, and the columns of the ranks,
// some rows at a time.
func (t *CL) moveState(what uint64, whole []trainer.Tensor) error {
	if t.byRows != nil {
		return t.moveRows(what)
	}
	ranks, rank, dim := t.comm.Size(), t.comm.Rank(), t.config.Dim
	atATime := max(movedBytes/(4*dim), 1) // rows
	buffer, all := make([]float32, min(atATime, t.rows)*t.columns), []float32(nil)
	if rank == 0 {
		all = make([]float32, len(buffer)*ranks)
	}
	for i, s := range t.state() {
		isTable := i == 0 || i == len(t.state())/2
		if what == pullTables && !isTable {
			continue
		}
		for first := 0; first < t.rows; first += atATime {
			rows := min(atATime, t.rows-first)
			n := rows * t.columns
			one, each, none := make([]int, ranks), make([]int, ranks), make([]int, ranks)
			for g := range ranks {
				one[g], each[g] = 4*n, 4*n*(g+1)
			}
			own := cluster.Bytes(s.Data[first*t.columns:][:n])
			var err error
			switch {
			case what != push && rank == 0:
				err = t.comm.AllToAll(own, one, cluster.Bytes(all[:n*ranks]), each)
				t.interleave(whole[i].Data[first*dim:], all, rows, false)
			case what != push:
				err = t.comm.AllToAll(own, one, nil, none)
			case rank == 0:
				t.interleave(whole[i].Data[first*dim:], all, rows, true)
				err = t.comm.AllToAll(cluster.Bytes(all[:n*ranks]), each, own, one)
			default:
				err = t.comm.AllToAll(nil, none, own, one)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// interleave copies rows between a whole table and the columns of all ranks, (R, rows, columns).
func (t *CL) interleave(whole, parts []float32, rows int, apart bool) {
	_ = t.workers.Do(rows, func(_, r int) {
		for g, columns := range t.owned {
			part, row := parts[(g*rows+r)*t.columns:], whole[r*t.config.Dim:]
			if apart {
				clear(part[len(columns):t.columns])
			}
			for k, j := range columns {
				if apart {
					part[k] = row[j]
				} else {
					row[j] = part[k]
				}
			}
		}
	})
}
