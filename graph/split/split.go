// Package split trains W2V-CL on several ranks. With shared negatives each rank trains some of the
// rows (rows.go). Otherwise each holds some columns of W, C and their moments, for all words, and
// the ranks add up partial dot products. Start at [New].
//
// The bits are those of one process, for any number of ranks: a dot product is
// a sum of lanes in a fixed tree, and a rank holds whole lanes (simd.PartialDots).
//
// A step moves the dot products of all rows with their 1+K targets, 4·V·(1+K) bytes, of which
// each rank sends 2·(R-1)/R. The owners of rows also send M's samples, 2 or 4 bytes each.
package split

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A CL is one rank's part of a model of W2V-CL.
type CL struct {
	comm       cluster.Comm
	matrix     *wordcontext.Part
	options    graph.Options
	iterations int

	rows, slots int     // V, S
	columns     int     // of a row that this rank has, with zeros behind the last
	owned       [][]int // of each rank: which columns of a row it has
	words       *table
	contexts    *table
	sampler     *step.Sampler
	samples     [2]*samples // of the two steps; the same for both if they train on the same samples
	workers     *team.Team
	moved       []uint32 // samples of all ranks, one after the other

	blocks    []int    // of rows; see step.Blocks
	byColumns *columns // nil: ranks split rows
	byRows    *rows    // nil: ranks split columns

	mirror          mirror // of the columns of all ranks
	lead.Iterations        // trains them
}

// A table is the rank's columns of W or C.
type table struct {
	name      string
	data      []float32 // (V, columns)
	optimizer optim.Optimizer
}

// Check returns why a model cannot be trained on so many ranks; nil if it can.
func Check(ranks int, c graph.Options) error {
	switch {
	case ranks < 1 || !byRows(c) && (ranks&(ranks-1) != 0 || ranks > simd.MostParts()):
		return fmt.Errorf("mode cl trains on 1, 2, 4 ... %d ranks (of one thread or many), not on %d: the columns of the tables are split in halves", simd.MostParts(), ranks)
	case c.Encoder != nil:
		return errors.New("several ranks train no encoder: leave out --subword, or use one rank")
	case c.Start != nil:
		return errors.New("several ranks cannot start from given vectors: leave out --init, or use one rank")
	case c.Form == graph.FormStock:
		return fmt.Errorf("several ranks train graph form %q only", graph.FormFused)
	}
	d, err := optim.Find(c.Optimizer.Method)
	if err == nil && d.WholeRows && !byRows(c) {
		return fmt.Errorf("several ranks cannot train with --optimizer %s, which needs whole rows: take one of %s, or use one rank", d.Name, optim.OfColumns())
	}
	return err
}

// Plan asks an account for the memory of New on a rank, M not counted, where the rows of M have so many slots.
func Plan(a *trainer.Account, words, slots, ranks, rank int, c graph.Options) error {
	c.Account = a
	t := &CL{options: c, rows: words, slots: slots}
	t.cut(ranks)
	return t.allocate(ranks, rank)
}

// cut sets which columns each of the ranks has.
func (t *CL) cut(ranks int) {
	t.columns, t.owned = simd.PartColumns(t.options.Dim, ranks), columnsOf(t.options.Dim, ranks)
	if byRows(t.options) {
		t.columns, t.owned = t.options.Dim, slices.Repeat(columnsOf(t.options.Dim, 1), ranks)
	}
}

// allocate makes tables and memory of samples, and takes what is allocated while training goes on.
func (t *CL) allocate(ranks, rank int) (err error) {
	c := t.options
	if t.words, err = t.newTable("words", ranks); err != nil {
		return err
	}
	if t.contexts, err = t.newTable("contexts", ranks); err != nil {
		return err
	}
	a, table := c.Account, 4*int64(t.rows)*int64(t.columns)
	atATime := step.Iterations(t.slots, table)
	t.samples[0] = t.newSamples(0, atATime)
	if t.samples[1] = t.samples[0]; !c.SameColumn {
		t.samples[1] = t.newSamples(1, atATime)
	}
	a.Take(trainer.ForWork, 4*int64(atATime)*int64(t.slots)) // those of all ranks, one after the other
	a.Take(trainer.ForWork, 2*step.WorkBytes(t.rows, t.columns, c.SharedNegatives, c.Threads))
	switch {
	case byRows(c):
		a.Take(trainer.ForWork, table) // the rows that a step has trained
	case rank == 0: // the mirror
		a.Take(trainer.ForWork, 8*int64(t.rows)*int64(c.Dim)+2*c.Optimizer.Bytes(t.rows, c.Dim))
	}
	return a.Err()
}

// New prepares training on a part of M for the given number of iterations. All ranks
// call it with the same settings.
func New(comm cluster.Comm, m *wordcontext.Part, noise *corpus.Alias, iterations int, c graph.Options) (*CL, error) {
	if err := Check(comm.Size(), c); err != nil {
		return nil, err
	}
	switch {
	case noise.Len() != m.Rows():
		return nil, fmt.Errorf("negatives are drawn from %d words, but M has %d rows", noise.Len(), m.Rows())
	case iterations < 1 || c.Dim < 1 || c.Negatives < 1 || c.Threads < 1:
		return nil, fmt.Errorf("%d iterations, %d dimensions, %d negatives, %d threads: all must be at least 1", iterations, c.Dim, c.Negatives, c.Threads)
	}
	t := &CL{
		comm: comm, matrix: m, options: c, iterations: iterations, rows: m.Rows(), slots: int(m.Slots()[m.Rows()]), workers: team.New(c.Threads),
	}
	t.cut(comm.Size())
	if err := t.allocate(comm.Size(), comm.Rank()); err != nil {
		return nil, err
	}
	t.randomize()
	t.sampler = &step.Sampler{
		Noise: noise, Seed: c.Seed, Negatives: c.Negatives, Slots: m.Slots(), Shared: c.SharedNegatives,
		Updates: func(row int) int { return m.Updates(row, t.sampler.Iteration) },
	}
	t.blocks = step.Blocks(t.rows, t.sampler, func(i int) float64 { return float64(m.RowLength(i)) / float64(m.Contexts()) })
	if byRows(c) {
		t.newRows()
	} else {
		t.newColumns()
	}
	return t, nil
}

// columnsOf returns which columns of a row each rank has.
func columnsOf(dim, ranks int) [][]int {
	owned := make([][]int, ranks)
	for j := range dim {
		g := simd.PartOf(j, ranks)
		owned[g] = append(owned[g], j)
	}
	return owned
}

// newTable returns a table, without memory if the account gives none. Moments of rows that other ranks train stay untouched.
func (t *CL) newTable(name string, ranks int) (*table, error) {
	c, parts := t.options, 1
	if byRows(c) {
		parts = ranks
	}
	table := &table{name: name, data: c.Account.Floats(trainer.ForTables, t.rows*t.columns)}
	if !c.Account.Take(trainer.ForMoments, c.Optimizer.Bytes(t.rows, t.columns)/int64(parts)) {
		return table, c.Account.Err()
	}
	o, err := optim.New(c.Optimizer, t.rows, t.columns)
	if err != nil {
		return nil, err
	}
	for _, s := range o.State() {
		if len(s.Data) != t.rows*t.columns && !byRows(c) {
			return nil, fmt.Errorf("the moments of optimizer %s are not of columns", c.Optimizer.Method)
		}
	}
	table.optimizer = o
	return table, nil
}

// randomize fills W with the columns of the table that one process starts from.
func (t *CL) randomize() {
	const atATime = 64 // rows, a multiple of 4
	dim := t.options.Dim
	_ = t.workers.Do((t.rows+atATime-1)/atATime, func(_, task int) {
		first := task * atATime
		whole := make([]float32, (min(first+atATime, t.rows)-first)*dim)
		trainer.RandomizePart(whole, first*dim, dim, t.options.Seed)
		for r := range len(whole) / dim {
			row := t.words.data[(first+r)*t.columns:]
			for k, j := range t.owned[t.comm.Rank()] {
				row[k] = whole[r*dim+j]
			}
		}
	})
}

// state lists what training changes, this rank's columns of it.
func (t *CL) state() (all []trainer.Tensor) {
	for _, table := range []*table{t.words, t.contexts} {
		all = append(all, trainer.Tensor{Name: table.name, Data: table.data})
		for _, s := range table.optimizer.State() {
			all = append(all, trainer.Tensor{Name: table.name + "." + s.Name, Data: s.Data})
		}
	}
	return all
}

// Reset goes back to the start of training.
func (t *CL) Reset() {
	for _, s := range t.state() {
		clear(s.Data)
	}
	t.randomize()
}

// iteration runs iteration number unit at a learning rate.
func (t *CL) iteration(unit int, rate float64) (report trainer.Report, err error) {
	for side := range t.samples {
		left, right := t.words, t.contexts
		if side == 1 {
			left, right = right, left
		}
		samples, err := t.samples[side].iteration(t, unit)
		if err != nil {
			return report, err
		}
		t.sampler.Iteration, t.sampler.Step, t.sampler.Samples = unit, side, samples
		left.optimizer.Begin(unit+1, rate)
		run := t.columnsStep
		if t.byRows != nil {
			run = t.rowsStep
		}
		loss, err := run(left, right)
		if err != nil {
			return report, fmt.Errorf("iteration %d, step %d: %w", unit, side+1, err)
		}
		report.Loss += loss
		count := 0
		for _, sample := range samples {
			if sample != wordcontext.NoSample {
				count++
			}
		}
		report.Pairs += float64(count) * float64(1+t.options.Negatives)
	}
	return report, nil
}

// samples reads M's samples of a step, several iterations at a time: each rank those of its
// rows, which all get.
type samples struct {
	step, atATime int
	first         int      // of these iterations; -1: none yet
	values        []uint32 // (atATime, S)
}

func (t *CL) newSamples(step, atATime int) *samples {
	return &samples{step: step, atATime: atATime, first: -1, values: trainer.Of[uint32](t.options.Account, trainer.ForWork, atATime*t.slots)}
}

// short reports whether samples fit 16 bits, with numbers left for those that are no words.
func (t *CL) short() bool { return t.rows < math.MaxUint16-1 }

// iteration returns the samples of all rows, (S).
func (s *samples) iteration(t *CL, number int) ([]uint32, error) {
	if first := number - number%s.atATime; first != s.first {
		var err error
		if t.short() {
			err = readSamples[uint16](s, t, first)
		} else {
			err = readSamples[uint32](s, t, first)
		}
		if err != nil {
			return nil, fmt.Errorf("read the samples of iterations %d to %d: %w", first, first+s.atATime-1, err)
		}
		s.first = first
	}
	return s.values[(number-s.first)*t.slots:][:t.slots], nil
}

func readSamples[T uint16 | uint32](s *samples, t *CL, first int) error {
	owners, slots, rank := t.matrix.Owners, t.matrix.Slots(), t.comm.Rank()
	counts := make([]int, t.comm.Size())
	for r := range counts {
		counts[r] = s.atATime * int(slots[owners[r+1]]-slots[owners[r]])
	}
	ends := cluster.Ends[T](counts)
	t.moved = memory.Resize(t.moved, ends[len(ends)-1]/4+1)
	moved := cluster.Bytes(t.moved)[:ends[len(ends)-1]]
	const grain = 512 // rows
	mine := memory.NumbersOf[T](cluster.Part(moved, ends, rank))
	from, to := owners[rank], owners[rank+1]
	base, n := int(slots[from]), int(slots[to]-slots[from])
	err := t.workers.Do((to-from+grain-1)/grain, func(_, task int) {
		row0, row1 := from+task*grain, min(from+(task+1)*grain, to)
		t.matrix.Samples(s.step, first, s.atATime, row0, row1, s.values)
		for k := range s.atATime {
			for i := int(slots[row0]); i < int(slots[row1]); i++ {
				mine[k*n+i-base] = T(s.values[k*t.slots+i]) // what is no word keeps its low bits
			}
		}
	})
	if err != nil {
		return err
	}
	if err := t.comm.AllGather(moved, ends); err != nil {
		return err
	}
	return t.workers.Do(s.atATime, func(_, k int) {
		for r := range counts {
			got, at, n := memory.NumbersOf[T](cluster.Part(moved, ends, r)), int(slots[owners[r]]), counts[r]/s.atATime
			values := s.values[k*t.slots+at:][:n]
			for i, x := range got[k*n:][:n] {
				switch x {
				case ^T(0):
					values[i] = wordcontext.NoContext
				case ^T(0) - 1:
					values[i] = wordcontext.NoSample
				default:
					values[i] = uint32(x)
				}
			}
		}
	})
}

// cacheBytes bounds the rows that a thread trains between two exchanges, and the rows that they
// meet, so that they stay in a core's second-level cache from their dot products to their updates.
const cacheBytes = 512 << 10

// What decides whether to exchange while rows are in the cache, or seldom: about how long ranks of one thread take
// for an exchange, for each of them, and how fast a thread reads rows again. Measured on 16 cores of a Xeon.
const (
	exchangeSeconds = 8e-6
	bytesPerSecond  = 1e10
	mostRows        = 1 << 17 // between two exchanges
)

// chunked reports whether a step gains if rows stay in the cache between their dot products and their updates, for which it takes more
// exchanges. With several threads it never does: they sleep and wake around each exchange, which takes them five times as long as to read the rows again
// (benchmarks/devices).
func chunked(threads, ranks int) bool {
	return threads == 1 && exchangeSeconds*float64(ranks) < cacheBytes/bytesPerSecond
}

// Exchanges estimates how often ranks exchange their parts in a step.
func Exchanges(words, ranks int, c graph.Options) int {
	columns, dots := simd.PartColumns(c.Dim, ranks), words*(1+c.Negatives)
	switch {
	case byRows(c):
		return 1
	case chunked(c.Threads, ranks):
		return 4*columns*dots/cacheBytes + 1
	}
	return (words-1)/mostRows + 1
}

// Traffic returns how many bytes a rank sends in a step, on average, where every word has one sample.
func Traffic(words, ranks int, c graph.Options) float64 { return TrafficOf(words, ranks, 1, c) }

// TrafficOf is Traffic for so many samples of a word on average.
func TrafficOf(words, ranks int, samples float64, c graph.Options) float64 {
	perSample := 4.0
	if words < math.MaxUint16 {
		perSample = 2
	}
	others := float64(ranks-1) / float64(ranks)
	dots := 2 * others * 4 * float64(words) * (samples + float64(c.Negatives))
	if byRows(c) { // rows, not dots; of samples drawn at random at most so many words have one
		trained := 1.0
		if samples != 1 {
			trained = 1 - math.Exp(-samples)
		}
		dots = others * 4 * float64(words) * trained * float64(c.Dim)
	}
	if c.SameColumn {
		perSample /= 2
	}
	return dots + perSample*samples*float64(words)*others
}
