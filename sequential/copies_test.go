package sequential

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/composed"
)

func TestCopiedWords(t *testing.T) {
	for _, x := range []struct{ words, unit, dim, threads, want int }{
		{70_000, 1 << 20, 128, 1, 0},
		{70_000, 1 << 20, 128, 7, 0},    // too few threads
		{70_000, 1 << 20, 128, 8, 2048}, // as many as fit
		{70_000, 1 << 20, 300, 16, 873},
		{70_000, 16 * 800, 128, 16, 100}, // as the unit has uses for
		{70, 1 << 20, 128, 16, 70},       // all words
		{70_000, 1 << 20, 128, 32, 2048},
		{70_000, 1 << 20, 128, 33, 0}, // an exchange for every use is no copy
	} {
		if got := copiedWords(x.words, x.unit, &Options{Dim: x.dim, Threads: x.threads}); got != x.want {
			t.Errorf("%+v: %d", x, got)
		}
		if got := copiedWords(x.words, x.unit, &Options{Dim: x.dim, Threads: x.threads, Composition: &composed.Composition{}}); got != 0 {
			t.Errorf("%+v, composed: %d", x, got)
		}
	}
}

// makeCopies returns the copies of some threads of a table of 9 random rows, the
// first 5 of which have copies.
func makeCopies(r *rand.Rand, threads, dim int) (table []float32, all []*copies) {
	const words, count = 9, 5
	table = make([]float32, (words+threads*count)*dim)
	for i := range table {
		table[i] = float32(r.NormFloat64())
	}
	for thread := range threads {
		all = append(all, newCopies(table, words, count, thread, &Options{Dim: dim, Threads: threads}))
		all[thread].take()
	}
	return table, all
}

func TestRowsOfCopies(t *testing.T) {
	_, all := makeCopies(rand.New(rand.NewPCG(1, 1)), 2, 3)
	for thread, want := range [][]uint32{{9, 13, 5, 8}, {14, 18, 5, 8}} {
		rows := []uint32{0, 4, 5, 8}
		all[thread].rows(rows)
		if !slices.Equal(rows, want) {
			t.Errorf("thread %d: rows %v, want %v", thread, rows, want)
		}
	}
}

// Whatever threads add to their rows is in C once they have met, and no thread
// is more than its share of usesApart, and one product, behind.
func TestCopiesLoseNothing(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	for _, threads := range []int{8, 16, 32} {
		for _, dim := range []int{1, 7, 8, 20} {
			table, all := makeCopies(r, threads, dim)
			want := wide(table[:9*dim])
			for range 2000 {
				c := all[r.IntN(threads)]
				outputs := []uint32{uint32(r.IntN(9)), uint32(r.IntN(9)), uint32(r.IntN(9))}
				rows := slices.Clone(outputs)
				c.rows(rows)
				for i, row := range rows {
					step := float32(r.NormFloat64()) / 8
					table[int(row)*dim] += step
					want[int(outputs[i])*dim] += float64(step)
				}
				c.used(rows)
				if n := slices.Max(c.uses); int(n) > usesApart/threads+2 {
					t.Fatalf("seed %d, %d threads: %d uses of a copy", seed, threads, n)
				}
			}
			for _, c := range all {
				c.settle(0, 2)
				c.settle(2, 5)
			}
			for i, x := range want {
				if math.Abs(float64(table[i])-x) > 1e-4 {
					t.Fatalf("seed %d, %d threads, dimension %d: value %d is %v, want %v", seed, threads, dim, i, table[i], x)
				}
			}
			for thread, c := range all {
				if n := slices.Max(c.uses); n > 0 {
					t.Errorf("thread %d has %d uses left", thread, n)
				}
			}
		}
	}
}

// A thread that trains with copies while the others have nothing to do trains what
// one thread does.
func TestCopiesChangeNothingAlone(t *testing.T) {
	text := corpustest.Zipf(5, 25_000, 500, 0)
	eachMode(t, func(t *testing.T, c Options) {
		c.Epochs = 64 // for longer units, which have more copies
		plain := newTrainer(t, text, c)
		c.Threads = fewestThreads
		copied := newTrainer(t, text, c)
		w := copied.workers[0]
		sentences := len(plain.text.Sentences) - 1
		if n := w.model.copies.count; n < 50 {
			t.Fatalf("%d words have copies", n)
		}
		for range 2 {
			plain.workers[0].begin(0, 0.025)
			plain.workers[0].train(0, sentences)
			w.begin(0, 0.025)
			w.train(0, sentences)
			if slices.Max(w.model.copies.uses) == 0 {
				t.Error("no copy is used")
			}
			for thread := range c.Threads {
				copied.settle(thread, w)
			}
		}
		if a, b := plain.workers[0].model.pairs, w.model.pairs; a != b {
			t.Errorf("%d pairs with copies, %d without", b, a)
		}
		for i, x := range plain.contexts {
			if math.Abs(float64(x-copied.contexts[i])) > 1e-3 {
				t.Fatalf("C[%d] is %v with copies, %v without", i, copied.contexts[i], x)
			}
		}
	})
}

// A unit ends with all that threads have changed in the tables, and begins with
// the tables as they are: those of a checkpoint, say.
func TestCopiesBetweenUnits(t *testing.T) {
	if raceEnabled {
		t.Skip("Hogwild races on purpose")
	}
	c := modes()["pword2vec"]
	c.Threads, c.Epochs = fewestThreads, 32
	tr := newTrainer(t, corpustest.Zipf(5, 50_000, 500, 0), c)
	advance(t, tr, 0, 3)
	for thread, w := range tr.workers {
		if n := slices.Max(w.model.copies.uses); n > 0 {
			t.Errorf("thread %d has a copy used %d times and not settled", thread, n)
		}
	}
	state := tr.State()
	if len(state[1].Data) != len(tr.words) {
		t.Fatalf("%d values of state, for %d of C", len(state[1].Data), len(tr.words))
	}
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for i := range state[1].Data {
		state[1].Data[i] = float32(r.NormFloat64())
	}
	want := slices.Clone(state[1].Data)
	if _, err := tr.Advance(context.Background(), 3, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tr.contexts, want) {
		t.Error("a unit with a learning rate of zero changed the tables")
	}
}
