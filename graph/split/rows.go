package split

import (
	"math"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/tempered"
)

// rows is how ranks train with shared negatives, whose scores are dense products that sum over a row from its first value to its last: a
// rank trains some rows, whole ones, and sends them to all after the step. Each rank has both tables, and the moments of its rows.
type rows struct {
	losses [2]*tempered.Loss // of the two steps
	blocks []int             // of all ranks; see tempered.Blocks
	ends   []int             // rank r trains the blocks ends[r-1] ... ends[r]-1
}

// byRows reports whether ranks split the rows of a model, not its columns.
func byRows(c graph.Config) bool { return c.SharedNegatives > 0 }

func (t *CL) newRows() {
	m, c := t.matrix, t.config
	t.sampler.Shared = c.SharedNegatives
	t.sampler.Updates = func(row int) int { return m.Updates(row, t.sampler.Iteration) }
	r := &rows{blocks: tempered.Blocks(t.rows, t.sampler, func(i int) float64 { return float64(m.RowLength(i)) / float64(m.Contexts()) })}
	for rank := range t.comm.Size() {
		r.ends = append(r.ends, (len(r.blocks)-1)*(rank+1)/t.comm.Size())
	}
	for step, table := range []*table{t.words, t.contexts} {
		r.losses[step] = &tempered.Loss{Sampler: t.sampler, Team: t.workers, Dim: c.Dim, Blocks: r.blocks, Update: table.optimizer}
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
func (r *rows) rowEnds(values int) []int {
	ends := make([]int, len(r.ends))
	for rank, block := range r.ends {
		ends[rank] = 4 * values * r.blocks[block]
	}
	return ends
}

// rowsStep trains this rank's rows of left against frozen right, and returns the loss of all.
func (t *CL) rowsStep(left, right *table) (float64, error) {
	r, rank := t.byRows, t.comm.Rank()
	loss := r.losses[t.sampler.Step]
	if err := loss.RunBlocks(left.data, right.data, r.first(rank), r.ends[rank]); err != nil {
		return 0, err
	}
	if err := t.share(cluster.Bytes(left.data), r.rowEnds(t.columns)); err != nil {
		return 0, err
	}
	ends := make([]int, len(r.ends))
	for rank, block := range r.ends {
		ends[rank] = 8 * block
	}
	if err := t.comm.AllGather(cluster.Bytes(loss.Losses()), ends); err != nil {
		return 0, err
	}
	return loss.Total(), nil
}

// mostBytes is how long a message of MPI may be.
const mostBytes = math.MaxInt32

// share is AllGather for a buffer of any length.
func (t *CL) share(buffer []byte, ends []int) error {
	if len(buffer) <= mostBytes {
		return t.comm.AllGather(buffer, ends)
	}
	for rank := range ends {
		if err := t.send(cluster.Part(buffer, ends, rank), rank); err != nil {
			return err
		}
	}
	return nil
}

// send is Bcast for a buffer of any length.
func (t *CL) send(buffer []byte, root int) error {
	for len(buffer) > 0 {
		n := min(len(buffer), movedBytes)
		if err := t.comm.Bcast(buffer[:n], root); err != nil {
			return err
		}
		buffer = buffer[n:]
	}
	return nil
}

// moveRows is moveState where ranks split rows: rank 0 has both tables anyway.
func (t *CL) moveRows(what uint64) error {
	for i, s := range t.state() {
		isTable := i == 0 || i == len(t.state())/2
		var err error
		switch {
		case what == push:
			err = t.send(cluster.Bytes(s.Data), 0)
		case what == pullAll && !isTable:
			err = t.share(cluster.Bytes(s.Data), t.byRows.rowEnds(len(s.Data)/t.rows))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
