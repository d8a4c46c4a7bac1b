package joint

import (
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// A table is one that training changes, with what all ranks had when they combined it last.
type table struct {
	name       string
	data, base []float32 // (rows, N)
	rows       int       // the first are those of the most frequent words, or of parts that words have, about
}

// blockBytes is how much of a table is combined at a time.
const blockBytes = 8 << 20

// grain is how many rows a thread takes at a time.
const grain = 64

// work is the memory of a combination.
type work struct {
	changed  []byte    // of all ranks, a bit for each row: whether the rank changed it since the rows were combined last
	send     []float32 // changes of a block's rows, for their owners
	received []float32 // of this rank's rows of the block, rank after rank
	combined []float32 // the rows that anybody changed
	own      []int     // rows that this rank changed
	union    []int     // that anybody changed
	mine     []mine    // of these, this rank's
	scratch  []scratch // of each thread
}

// A mine is a row that this rank combines for all.
type mine struct {
	row   int
	first int // of its changes in places and ranks
	count int
}

// A scratch is what a thread combines a row with.
type scratch struct {
	dots   []float64 // (R, R)
	scores []float32 // (R)
	part   []float32 // (R)
	some   []float32 // (R)
}

func (t *Trainer) newWork() {
	ranks := t.group.Size()
	t.work.scratch = make([]scratch, t.workers.Threads())
	for i := range t.work.scratch {
		t.work.scratch[i] = scratch{make([]float64, ranks*ranks), make([]float32, ranks), make([]float32, ranks), make([]float32, ranks)}
	}
}

// combine combines the first rows of a table. Each rank combines some rows of every block for all: it gets the changes of those who have
// changed one, and sends the rows to all.
func (t *Trainer) combine(x *table, rows int) error {
	bytes := (rows + 7) / 8
	if err := t.findChanged(x, rows, bytes); err != nil {
		return err
	}
	for first := 0; first < rows; first += t.blockRows {
		if err := t.combineBlock(x, first, min(first+t.blockRows, rows), bytes); err != nil {
			return err
		}
	}
	return nil
}

// findChanged tells all ranks which rows each has changed.
func (t *Trainer) findChanged(x *table, rows, bytes int) error {
	ranks, w := t.group.Size(), &t.work
	w.changed = memory.Resize(w.changed, bytes*ranks)
	own := w.changed[t.group.Rank()*bytes:][:bytes]
	err := t.workers.Do((bytes+grain-1)/grain, func(_, task int) {
		for b := task * grain; b < min((task+1)*grain, bytes); b++ {
			own[b] = 0
			for row := 8 * b; row < min(8*b+8, rows); row++ {
				if !slices.Equal(t.row(x.data, row), t.row(x.base, row)) {
					own[b] |= 1 << (row % 8)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	ends := make([]int, ranks)
	for r := range ends {
		ends[r] = (r + 1) * bytes
	}
	return t.group.AllGather(w.changed, ends)
}

func (t *Trainer) row(table []float32, row int) []float32 { return table[row*t.dim:][:t.dim] }

// combineBlock combines the rows first ... end-1.
func (t *Trainer) combineBlock(x *table, first, end, bytes int) error {
	ranks, rank, w := t.group.Size(), t.group.Rank(), &t.work
	changed := func(r, row int) bool { return w.changed[r*bytes+row/8]>>(row%8)&1 != 0 }
	// What goes where follows from who has changed what, which all know.
	w.own, w.union, w.mine = w.own[:0], w.union[:0], w.mine[:0]
	sent, got, back := make([]int, ranks), make([]int, ranks), make([]int, ranks) // rows for, of and from each rank
	row := first
	for owner, rows := range cluster.Equal(end-first, ranks) {
		for range rows {
			count := 0 // of ranks that changed the row
			for r := range ranks {
				if !changed(r, row) {
					continue
				}
				count++
				if r == rank {
					w.own = append(w.own, row)
					sent[owner]++
				}
				if owner == rank {
					got[r]++
				}
			}
			if count > 0 {
				w.union = append(w.union, row)
				back[owner]++
				if owner == rank {
					w.mine = append(w.mine, mine{row: row, count: count})
				}
			}
			row++
		}
	}
	if len(w.union) == 0 {
		return nil
	}
	if err := t.deliver(x, sent, got); err != nil {
		return err
	}
	if err := t.combineMine(x, changed, got, back); err != nil {
		return err
	}
	n := t.dim
	return t.workers.Do((len(w.union)+grain-1)/grain, func(_, task int) {
		for i := task * grain; i < min((task+1)*grain, len(w.union)); i++ {
			copy(t.row(x.base, w.union[i]), w.combined[i*n:][:n])
			copy(t.row(x.data, w.union[i]), w.combined[i*n:][:n])
		}
	})
}

// deliver brings the changes of all rows to those who combine them.
func (t *Trainer) deliver(x *table, sent, got []int) error {
	w, n := &t.work, t.dim
	w.send = memory.Resize(w.send, len(w.own)*n)
	err := t.workers.Do((len(w.own)+grain-1)/grain, func(_, task int) {
		for i := task * grain; i < min((task+1)*grain, len(w.own)); i++ {
			data, base, to := t.row(x.data, w.own[i]), t.row(x.base, w.own[i]), w.send[i*n:][:n]
			for j := range to {
				to[j] = data[j] - base[j]
			}
		}
	})
	if err != nil {
		return err
	}
	sentEnds, gotEnds := t.rowEnds(sent), t.rowEnds(got)
	w.received = memory.Resize(w.received, gotEnds[len(gotEnds)-1]/4)
	return t.group.AllToAll(memory.BytesOf(w.send), sentEnds, memory.BytesOf(w.received), gotEnds)
}

func (t *Trainer) rowEnds(counts []int) []int {
	ends := cluster.Ends[float32](counts)
	for r := range ends {
		ends[r] *= t.dim
	}
	return ends
}

// combineMine combines the rows of this rank, and brings all to all.
func (t *Trainer) combineMine(x *table, changed func(r, row int) bool, got, back []int) error {
	ranks, w, n := t.group.Size(), &t.work, t.dim
	next, total := make([]int, ranks), 0 // the place of each rank's next change
	for r, count := range got {
		next[r] = total
		total += count
	}
	places, owners := make([]uint32, 0, total), make([]int, 0, total)
	for i := range w.mine {
		w.mine[i].first = len(places)
		for r := range ranks {
			if changed(r, w.mine[i].row) {
				places, owners = append(places, uint32(next[r])), append(owners, r)
				next[r]++
			}
		}
	}
	w.combined = memory.Resize(w.combined, len(w.union)*n)
	ends := t.rowEnds(back)
	own := w.combined[ends[t.group.Rank()]/4-len(w.mine)*n:]
	err := t.workers.Do((len(w.mine)+grain-1)/grain, func(worker, task int) {
		for i := task * grain; i < min((task+1)*grain, len(w.mine)); i++ {
			m := w.mine[i]
			t.combineRow(&w.scratch[worker], own[i*n:][:n], t.row(x.base, m.row), places[m.first:][:m.count], owners[m.first:][:m.count])
		}
	})
	if err != nil {
		return err
	}
	return t.group.AllGather(memory.BytesOf(w.combined), ends)
}

// combineRow is sequential.Combine, with sums in float32 by vector instructions: to is base moved by the changes at some places of received, which
// are of some ranks.
func (t *Trainer) combineRow(s *scratch, to, base []float32, places []uint32, of []int) {
	ranks := len(s.part)
	clear(s.dots)
	scores := s.scores[:len(places)]
	for p, place := range places {
		simd.Dots(scores, t.row(t.work.received, int(place)), t.work.received, places)
		for q, score := range scores {
			s.dots[of[p]*ranks+of[q]] = float64(score)
		}
	}
	sequential.CombineParts(s.part, t.options.Rule, s.dots, float64(simd.Dot(base, base)))
	some := s.some[:len(places)]
	for p := range places {
		some[p] = s.part[of[p]]
	}
	copy(to, base)
	simd.AddCombination(to, some, t.work.received, places, nil)
}
