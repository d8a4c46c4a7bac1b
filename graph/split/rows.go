package split

import (
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// rows is how ranks train with shared negatives, whose scores are dense products that sum over a row from its first value to its last: a
// rank trains some rows, whole ones, and sends those that had samples to all after the step. Each rank has both tables, and the moments of its rows.
type rows struct {
	steps [2]*step.Step
	ends  []int // rank r trains the blocks ends[r-1] ... ends[r]-1

	grains  []grain   // of rows, in their order
	trained []float32 // the rows that a step has trained, of all ranks
}

// A grain is some rows of a rank, for one thread.
type grain struct {
	rank, first, end int
	rows             []int // that the step has trained
	place            int   // of the first of these among those of all grains
}

// grainRows is the most rows of a grain.
const grainRows = 512

// byRows reports whether ranks split the rows of a model, not its columns.
func byRows(c graph.Options) bool { return c.SharedNegatives > 0 }

func (t *CL) newRows() {
	r := &rows{}
	for rank := range t.comm.Size() {
		r.ends = append(r.ends, (len(t.blocks)-1)*(rank+1)/t.comm.Size())
	}
	for i, table := range []*table{t.words, t.contexts} {
		r.steps[i] = &step.Step{Sampler: t.sampler, Team: t.workers, Dim: t.options.Dim, Blocks: t.blocks, Update: table.optimizer}
	}
	first := 0
	for rank, end := range r.ends {
		for last := t.blocks[end]; first < last; first = min(first+grainRows, last) {
			r.grains = append(r.grains, grain{rank: rank, first: first, end: min(first+grainRows, last)})
		}
	}
	t.byRows = r
}

// first returns the first of a rank's blocks.
func (r *rows) first(rank int) int {
	if rank == 0 {
		return 0
	}
	return r.ends[rank-1]
}

// rowEnds returns the ends of the ranks' rows of a table, of so many values each.
func (t *CL) rowEnds(values int) []int {
	ends := make([]int, len(t.byRows.ends))
	for rank, block := range t.byRows.ends {
		ends[rank] = 4 * values * t.blocks[block]
	}
	return ends
}

// rowsStep trains this rank's rows of left against frozen right, and returns the loss of all.
func (t *CL) rowsStep(left, right *table) (float64, error) {
	r, rank := t.byRows, t.comm.Rank()
	run := r.steps[t.sampler.Step]
	if err := run.RunBlocks(left.data, right.data, r.first(rank), r.ends[rank]); err != nil {
		return 0, err
	}
	if err := t.shareTrained(left.data); err != nil {
		return 0, err
	}
	ends := make([]int, len(r.ends))
	for rank, block := range r.ends {
		ends[rank] = 8 * block
	}
	if err := t.comm.AllGather(cluster.Bytes(run.Losses()), ends); err != nil {
		return 0, err
	}
	return run.Total(), nil
}

// shareTrained brings the rows that a step has trained to all ranks: those that have a share of its samples, which may be few.
func (t *CL) shareTrained(table []float32) error {
	r, n := t.byRows, t.columns
	err := t.workers.Do(len(r.grains), func(_, i int) {
		g := &r.grains[i]
		g.rows = g.rows[:0]
		for row := g.first; row < g.end; row++ {
			if len(t.sampler.Share(row)) > 0 {
				g.rows = append(g.rows, row)
			}
		}
	})
	if err != nil {
		return err
	}
	ends, total := make([]int, t.comm.Size()), 0
	for i := range r.grains {
		g := &r.grains[i]
		g.place = total
		total += len(g.rows)
		ends[g.rank] = 4 * n * total
	}
	for rank := range ends[1:] { // a rank may have no rows
		ends[rank+1] = max(ends[rank+1], ends[rank])
	}
	if total == t.rows {
		return cluster.GatherLong(t.comm, cluster.Bytes(table), t.rowEnds(n))
	}
	r.trained = memory.Resize(r.trained, total*n)
	move := func(own bool, to func(g *grain, k int) (to, from []float32)) error {
		return t.workers.Do(len(r.grains), func(_, i int) {
			if g := &r.grains[i]; own == (g.rank == t.comm.Rank()) {
				for k := range g.rows {
					copy(to(g, k))
				}
			}
		})
	}
	packed := func(g *grain, k int) []float32 { return r.trained[(g.place+k)*n:][:n] }
	row := func(g *grain, k int) []float32 { return table[g.rows[k]*n:][:n] }
	if err := move(true, func(g *grain, k int) (to, from []float32) { return packed(g, k), row(g, k) }); err != nil {
		return err
	}
	if err := cluster.GatherLong(t.comm, cluster.Bytes(r.trained), ends); err != nil {
		return err
	}
	return move(false, func(g *grain, k int) (to, from []float32) { return row(g, k), packed(g, k) })
}

// moveRows is move where ranks split rows: rank 0 has both tables anyway.
func (t *CL) moveRows(to way) error {
	for i, s := range t.state() {
		isTable := i == 0 || i == len(t.state())/2
		var err error
		switch {
		case to == push:
			err = cluster.BcastValues(t.comm, s.Data, 0)
		case to == pullState && !isTable:
			err = cluster.GatherLong(t.comm, cluster.Bytes(s.Data), t.rowEnds(len(s.Data)/t.rows))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
