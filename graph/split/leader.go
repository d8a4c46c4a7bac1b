package split

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// This file has the orders of rank 0: package lead leads a CL on each rank.
var _ lead.Member = (*CL)(nil)

// A mirror is the whole tables and moments on rank 0.
type mirror struct {
	state  []trainer.Tensor
	pulled bool
}

// Units is the number of iterations, fixed in advance.
func (t *CL) Units() int { return t.iterations }

// Train runs some iterations.
func (t *CL) Train(first int, rates []float64) (reports []trainer.Report, err error) {
	if t.mirror.pulled && t.byRows == nil { // the run needs the memory
		for _, s := range t.mirror.state {
			memory.Discard(cluster.Bytes(s.Data))
		}
		t.mirror.pulled = false
	}
	return t.Iterations.Train(first, rates, t.iteration)
}

// Tables returns W and C as Pull left them.
func (t *CL) Tables() (words, contexts []float32) {
	all := t.State()
	return all[0].Data, all[len(all)/2].Data
}

// State returns tables and moments as Pull left them.
func (t *CL) State() []trainer.Tensor {
	if t.byRows != nil {
		return t.state()
	}
	if t.mirror.state == nil && t.comm.Rank() == 0 { // memory that nobody touches before Pull
		for _, s := range t.state() {
			t.mirror.state = append(t.mirror.state, trainer.Tensor{Name: s.Name, Data: memory.Floats(t.rows * t.options.Dim)})
		}
	}
	return t.mirror.state
}

// Pull gathers the tables of all ranks on rank 0; with everything also the moments.
func (t *CL) Pull(everything bool) error {
	if everything {
		return t.move(pullState)
	}
	return t.move(pullTables)
}

// Push sends what State holds on rank 0 to all ranks.
func (t *CL) Push() error { return t.move(push) }

// Refresh does nothing: W is a table.
func (t *CL) Refresh() error { return nil }

// The ways that tables move.
type way int

const (
	pullTables way = iota
	pullState
	push
)

// movedBytes is how much of a table moves at a time.
const movedBytes = 4 << 20

// move moves tables between rank 0, which has them whole, and the columns of the ranks,
// some rows at a time.
func (t *CL) move(to way) error {
	if t.byRows != nil {
		return t.moveRows(to)
	}
	whole := t.State()
	t.mirror.pulled = true
	ranks, rank, dim := t.comm.Size(), t.comm.Rank(), t.options.Dim
	atATime := max(movedBytes/(4*dim), 1) // rows
	buffer, all := make([]float32, min(atATime, t.rows)*t.columns), []float32(nil)
	if rank == 0 {
		all = make([]float32, len(buffer)*ranks)
	}
	for i, s := range t.state() {
		isTable := i == 0 || i == len(t.state())/2
		if to == pullTables && !isTable {
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
			case to != push && rank == 0:
				err = t.comm.AllToAll(own, one, cluster.Bytes(all[:n*ranks]), each)
				t.interleave(whole[i].Data[first*dim:], all, rows, false)
			case to != push:
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
			part, row := parts[(g*rows+r)*t.columns:], whole[r*t.options.Dim:]
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
