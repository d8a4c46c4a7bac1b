package wordcontext

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Without tempering, step 0 of iteration j trains on entry j mod l of every row, and
// step 1 on the one that is l/2 further.
func TestSharesWithoutTempering(t *testing.T) {
	for _, l := range []int{1, 2, 5, 64} {
		m := build(t, testCorpus(41, 9, 60, 10), Options{Window: 2, Contexts: l, Passes: 1})
		for j := range 4 * l {
			for step := range 2 {
				for i := range m.Rows() {
					first, count := m.Share(i, j, step)
					if want := (j + step*(l/2)) % l; first != uint64(want) || count != 1 || m.Updates(i, j) != j+1 {
						t.Fatalf("l = %d, iteration %d, step %d: %d entries from %d, want 1 from %d", l, j, step, count, first, want)
					}
				}
			}
		}
	}
}

// Samples is Share and At, for any rows and iterations.
func TestSamplesEqualDefinition(t *testing.T) {
	t.Parallel() // go test ./... ends with this package, when processors are idle
	matrices := map[string]*Matrix{
		"text":      build(t, testCorpus(12, 100, 5000, 30), Options{Window: 2, Contexts: 3000, Passes: 1, Seed: 5}),
		"17 rows":   build(t, testCorpus(13, 17, 300, 10), Options{Window: 2, Contexts: 3000, Passes: 1, Seed: 5}),
		"16 rows":   build(t, testCorpus(14, 16, 300, 10), Options{Window: 1, Contexts: 130, Passes: 1}),
		"1 row":     build(t, sentencesCorpus(1, []uint32{0, 0}), Options{Window: 1, Contexts: 70, Passes: 1}),
		"1 column":  build(t, testCorpus(15, 33, 300, 10), Options{Window: 1, Contexts: 1, Passes: 1}),
		"no row":    build(t, sentencesCorpus(3, []uint32{0}, []uint32{1, 2}), Options{Window: 1, Contexts: 70, Passes: 1}),
		"wide rows": build(t, testCorpus(16, 1<<16+5, 1<<18, 30), Options{Window: 2, Contexts: 130, Passes: 1}),
	}
	rng := rand.New(rand.NewPCG(rand.Uint64(), 3))
	for _, o := range []Options{
		{Contexts: 50, Tempering: 0.75, Positives: 4},
		{Contexts: 70, Tempering: 0.75, Positives: 4, MaxPositives: 16},
		{Contexts: 1000, Tempering: 1, Positives: 0.3},
		{Contexts: 200, Tempering: 0.5, Positives: 1},
		{Contexts: 30, Positives: 2},
		{Contexts: 30, Positives: 17},
		{Contexts: 30, Positives: 0.25},
		{Contexts: 1, Tempering: 1, Positives: 30},
		{Contexts: 67, Tempering: 1, Positives: 40},
	} {
		o.Window, o.Passes, o.Seed = 1+rng.IntN(3), 1, rng.Uint64()
		c := testCorpus(rng.Uint64(), 1+rng.IntN(150), 5000, 1+rng.IntN(30))
		matrices[fmt.Sprintf("%+v, %d words", o, c.Vocabulary.Len())] = build(t, c, o)
	}
	o := Options{Window: 2, Contexts: 40, Passes: 1, Tempering: 0.75, Positives: 3}
	matrices["wide tempered rows"] = build(t, testCorpus(17, 1<<16+5, 1<<18, 30), o)
	matrices["rows without samples"] = build(t, sentencesCorpus(40, []uint32{0}, []uint32{38, 39}, []uint32{20, 20}), o)
	for name, m := range matrices {
		t.Run(name, func(t *testing.T) {
			rows, l := m.Rows(), m.Contexts()
			for _, count := range []int{0, 1, 2, 63, 64, 65, 130} {
				for _, first := range []int{0, 1, 64, l / 2, max(l-count, 0), 7*l - 1} {
					for _, r := range [][2]int{{0, rows}, {0, 1}, {rows / 2, rows}, {rows / 3, rows/3 + 5}, {7, 7}} {
						if r[1] > rows || rows > 1000 && count != 2 {
							continue
						}
						checkSamples(t, m, first%2, first, count, r[0], r[1])
						if count < 3 {
							checkSamples(t, m, 1-first%2, first, count, r[0], r[1])
						}
					}
				}
			}
		})
	}
}

func checkSamples(t *testing.T, m *Matrix, step, first, count, row0, row1 int) {
	t.Helper()
	const untouched = 0xDEADBEEF
	slots := m.Slots()
	size := int(slots[m.Rows()])
	got := slices.Repeat([]uint32{untouched}, count*size+3)
	want := slices.Clone(got)
	m.Samples(step, first, count, row0, row1, got)
	for j := range count {
		for i := row0; i < row1; i++ {
			entry, share := m.Share(i, first+j, step)
			for k := range int(slots[i+1] - slots[i]) {
				at := j*size + int(slots[i]) + k
				want[at] = NoSample
				if k < share {
					want[at] = m.At(i, (int(entry)+k)%m.RowLength(i))
				}
			}
		}
	}
	for k := range got {
		if got[k] != want[k] {
			t.Fatalf("Samples(%d, %d, %d, %d, %d): sample %d of iteration %d is %d, want %d",
				step, first, count, row0, row1, k%max(size, 1), first+k/max(size, 1), got[k], want[k])
		}
	}
}

// In every epoch each step trains on every entry of every row exactly once.
func TestEpochs(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 4))
	for range 40 {
		o := Options{
			Window: 1 + rng.IntN(3), Contexts: 1 + rng.IntN(200), Passes: 1, Seed: rng.Uint64(),
			Tempering: float64(rng.IntN(5)) / 4, Positives: 0.05 + 3*rng.ExpFloat64(), MaxPositives: rng.IntN(12),
		}
		m := build(t, testCorpus(rng.Uint64(), 1+rng.IntN(40), 1000, 1+rng.IntN(30)), o)
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			for i := range m.Rows() {
				for step := range 2 {
					checkEpochs(t, m, i, step, 3)
				}
			}
		})
	}
}

func checkEpochs(t *testing.T, m *Matrix, i, step, epochs int) {
	updates := 0
	for epoch := range epochs {
		read := make([]int, m.RowLength(i))
		for j := epoch * m.Contexts(); j < (epoch+1)*m.Contexts(); j++ {
			first, count := m.Share(i, j, step)
			if limit := m.Options().MaxPositives; limit > 0 && count > limit {
				t.Fatalf("row %d has %d samples, more than %d", i, count, limit)
			}
			for k := range count {
				read[(int(first)+k)%len(read)]++
			}
			if count > 0 {
				updates++
			}
			if got := m.Updates(i, j); got != updates {
				t.Fatalf("row %d has %d updates after iteration %d, want %d", i, got, j, updates)
			}
		}
		for q, times := range read {
			if times != 1 {
				t.Fatalf("step %d trains on entry %d of row %d %d times in epoch %d", step, q, i, times, epoch)
			}
		}
	}
}

// Several goroutines, each with its own rows, fill what one fills.
func TestSamplesInParts(t *testing.T) {
	m := build(t, testCorpus(44, 400, 20000, 30), Options{Window: 2, Contexts: 300, Passes: 1, Tempering: 0.75, Positives: 5})
	slots := m.Slots()
	const count = 100
	want := make([]uint32, count*slots[m.Rows()])
	got := slices.Clone(want)
	m.Samples(1, 250, count, 0, m.Rows(), want)
	const part = 7
	err := parallel.Try(t.Context(), 4, (m.Rows()+part-1)/part, func(_, k int) error {
		m.Samples(1, 250, count, k*part, min((k+1)*part, m.Rows()), got)
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("other samples (%v)", err)
	}
}

// Bytes counts the stored arrays, whatever the width of an id.
func TestBytes(t *testing.T) {
	narrow := &Matrix{totals: make([]uint64, 3), narrow: make([]uint16, 10)}
	wide := &Matrix{totals: make([]uint64, 3), wide: make([]uint32, 10)}
	if got, want := narrow.Bytes(), int64(2*10+3*(3*8+3*4)); got != want {
		t.Errorf("narrow: %d bytes, want %d", got, want)
	}
	if got, want := wide.Bytes(), int64(4*10+3*(3*8+3*4)); got != want {
		t.Errorf("wide: %d bytes, want %d", got, want)
	}
}
