package wordcontext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// leastMemory returns the least memory with which the file of a matrix is built, and how
// many ranges it has then.
func leastMemory(t *testing.T, m *Matrix, threads int, groupContexts uint64) (bytes int64, ranges int) {
	t.Helper()
	layout := newLayout(m.offsets, m.lengths, m.Contexts(), groupContexts)
	costs := m.costs(threads, 4*threads) // as many spans as there may be
	for low, high := int64(0), int64(1<<40); ; {
		middle := (low + high) / 2
		found, peak, err := costs.Ranges(layout, middle)
		if err != nil && !errors.Is(err, ErrMemory) {
			t.Fatal(err)
		}
		if err == nil && (peak > middle || peak <= 0) {
			t.Fatalf("building takes %d bytes of %d", peak, middle)
		}
		if err != nil {
			low = middle + 1
		} else {
			high, ranges = middle, len(found)
		}
		if low >= high {
			return high, ranges
		}
	}
}

// TestBuildFileEqualsSave: the file is that of the matrix in memory, for any memory and
// any threads, and what is read from it is the same, bounded or not.
func TestBuildFileEqualsSave(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 4))
	type text struct {
		corpus  *corpus.Corpus
		options Options
	}
	texts := map[string]text{
		"one token": {sentencesCorpus(1, []uint32{0}), Options{Window: 1, Contexts: 1, Passes: 1}},
		"one word":  {sentencesCorpus(1, []uint32{0, 0, 0}), Options{Window: 2, Contexts: 100, Passes: 3}},
		"alone":     {sentencesCorpus(3, []uint32{0}, []uint32{1, 2, 1}), Options{Window: 1, Contexts: 4, Passes: 1, Positives: 2}},
		"wide":      {testCorpus(4, 1<<16+9, 1<<17, 50), Options{Window: 2, Contexts: 20, Passes: 1}},
		"tempered":  {testCorpus(5, 90, 9000, 50), Options{Window: 3, Contexts: 50, Passes: 2, Tempering: 0.75, Positives: 4}},
	}
	random := 3
	if testing.Short() {
		delete(texts, "wide")
		random = 2
	}
	for range random {
		o := Options{
			Window: 1 + rng.IntN(4), Contexts: 1 + rng.IntN(900), Passes: 1 + rng.IntN(3), Seed: rng.Uint64(),
			Sample: float64(rng.IntN(2)) * 0.01, DynamicWindow: rng.IntN(2) == 0,
		}
		if rng.IntN(2) == 0 {
			o.Tempering, o.Positives = rng.Float64(), 4*rng.Float64()+0.1
		}
		c := testCorpus(rng.Uint64(), 1+rng.IntN(150), 4000, 1+rng.IntN(40))
		texts[fmt.Sprintf("%+v, %d words", o, c.Vocabulary.Len())] = text{c, o}
	}
	for name, tc := range texts {
		t.Run(name, func(t *testing.T) {
			want := build(t, tc.corpus, tc.options)
			samples := samplesOf(want, 0, want.Rows())
			o := tc.options
			for k, groupContexts := range []uint64{1, 1 + rng.Uint64N(2000), maxGroup} {
				if groupContexts == 1 && want.Rows() > 1000 {
					continue
				}
				o.Threads = 1 + rng.IntN(4)
				least, most := leastMemory(t, want, o.Threads, groupContexts)
				memory := []int64{least, least + rng.Int64N(least), math.MaxInt64 / 8}[k]
				if want.Rows() > 1000 { // many ranges would take long
					memory = max(memory, 2*least)
				}
				path := filepath.Join(t.TempDir(), "m")
				if err := buildFile(t.Context(), tc.corpus, o, path, memory, groupContexts); err != nil {
					t.Fatalf("%d bytes: %v", memory, err)
				}
				checkFile(t, path, want, samples, groupContexts)
				if name == "tempered" && k == 0 && most < 3 {
					t.Errorf("only %d ranges: the test is too weak", most)
				}
			}
		})
	}
}

// checkFile compares a file with the matrix in memory.
func checkFile(t *testing.T, path string, want *Matrix, samples [][]uint32, groupContexts uint64) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := want.write(&saved, groupContexts); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, saved.Bytes()) {
		t.Fatalf("groups of %d: the file of %d bytes differs from that of Save of %d bytes", groupContexts, len(file), saved.Len())
	}
	for _, open := range []func(string) (*Matrix, error){Open, OpenBounded} {
		m, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		compareMatrices(t, m, want, samples)
		if m.Bounded() && m.Resident(1) < int64(m.Rows()) {
			t.Errorf("%d bytes of memory for %d rows", m.Resident(1), m.Rows())
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// samplesOf returns samples of both steps for iterations at the begin, in the middle and beyond the end of an epoch, by rows of
// two ranges.
func samplesOf(m *Matrix, middle, rows int) (all [][]uint32) {
	firsts := []int{m.Contexts() / 2, 0, 3*m.Contexts() - 1}
	if rows > 1000 { // more rows, not more kinds of rounds
		firsts = firsts[:1]
	}
	for _, first := range firsts {
		for step := range 2 {
			const count = 66
			samples := make([]uint32, count*int(m.Slots()[rows]))
			m.Samples(step, first, count, 0, middle, samples)
			m.Samples(step, first, count, middle, rows, samples)
			all = append(all, samples)
		}
	}
	return all
}

// compareMatrices compares all that can be read of two matrices. samples are those of want.
func compareMatrices(t *testing.T, m, want *Matrix, samples [][]uint32) {
	t.Helper()
	for i := range want.Rows() {
		if !slices.Equal(m.Row(i), want.Row(i)) {
			t.Fatalf("row %d is %v, want %v", i, m.Row(i), want.Row(i))
		}
		for _, q := range []int{0, want.RowLength(i) / 2, want.RowLength(i) - 1} {
			if q >= 0 && q < want.RowLength(i) && m.At(i, q) != want.At(i, q) {
				t.Fatalf("entry %d of row %d is %d, want %d", q, i, m.At(i, q), want.At(i, q))
			}
		}
	}
	for k, got := range samplesOf(m, want.Rows()/2, want.Rows()) {
		if !slices.Equal(got, samples[k]) {
			t.Fatalf("step %d, other samples of range %d", k%2, k/2)
		}
	}
	offsets, narrow, wide, lengths, phases := m.Layout()
	if !slices.Equal(offsets, want.offsets) || !slices.Equal(narrow, want.narrow) || !slices.Equal(wide, want.wide) ||
		!slices.Equal(lengths, want.lengths) || !slices.Equal(phases, want.phases) {
		t.Fatal("another layout")
	}
}

func TestBuildFileErrors(t *testing.T) {
	c, o := testCorpus(6, 50, 3000, 20), Options{Window: 2, Contexts: 300, Passes: 1, Threads: 2}
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	unchanged := func() {
		t.Helper()
		entries, _ := os.ReadDir(dir)
		if old, _ := os.ReadFile(path); string(old) != "old" || len(entries) != 1 {
			t.Errorf("after the error there are %v, and the file has %d bytes", entries, len(old))
		}
	}
	if _, err := BuildFile(t.Context(), c, o, path, 10000); !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "10 kB are left") {
		t.Errorf("little memory: %v", err)
	}
	unchanged()
	if _, err := EstimateFile(c, o, 10000); !errors.Is(err, ErrMemory) {
		t.Errorf("estimate with little memory: %v", err)
	}
	// Interrupted in the scan of a range, when the file has been begun.
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	o.Progress = func(done, total int64) {
		if done > total/2 {
			cancel(stop)
		}
	}
	least, _ := leastMemory(t, build(t, c, Options{Window: 2, Contexts: 300, Passes: 1}), o.Threads, 100)
	if err := buildFile(ctx, c, o, path, least, 100); !errors.Is(err, stop) {
		t.Errorf("interrupted: %v", err)
	}
	unchanged()
	o.Progress = nil
	for name, change := range map[string]func(*Options){"window": func(o *Options) { o.Window = 0 }, "contexts": func(o *Options) { o.Contexts = -1 }} {
		bad := o
		change(&bad)
		if _, err := BuildFile(t.Context(), c, bad, path, 1<<30); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := BuildFile(t.Context(), &corpus.Corpus{}, o, path, 1<<30); err == nil {
		t.Error("an empty corpus")
	}
	unchanged()
}

// TestBuildFileProgress: progress never falls and ends at its total.
func TestBuildFileProgress(t *testing.T) {
	c, o := testCorpus(7, 60, 5000, 20), Options{Window: 2, Contexts: 300, Passes: 2, Threads: 2} // many threads need so much that there is one range
	least, _ := leastMemory(t, build(t, c, o), o.Threads, 100)
	var last, end int64
	o.Progress = func(done, total int64) {
		if done < last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last, end = done, total
	}
	if err := buildFile(t.Context(), c, o, filepath.Join(t.TempDir(), "m"), least, 100); err != nil {
		t.Fatal(err)
	}
	if last != end || end <= 3*2*int64(len(c.Tokens)) {
		t.Errorf("it ended at %d of %d", last, end)
	}
}

// TestBuildFileMemory: building takes what it says, without what ranges before took.
func TestBuildFileMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // garbage stays
	c, o := testCorpus(9, 300, 1<<20, 1000), Options{Window: 20, Contexts: 100, Passes: 1, Threads: 1}
	least, ranges := leastMemory(t, build(t, c, o), 1, 100)
	if ranges < 10 {
		t.Fatalf("%d ranges", ranges)
	}
	alive := func() int64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	runtime.GC()
	before, most, calls := alive(), int64(0), 0
	o.Progress = func(int64, int64) {
		if calls++; calls%16 == 0 {
			most = max(most, alive()-before)
		}
	}
	if err := buildFile(t.Context(), c, o, filepath.Join(t.TempDir(), "m"), least, 100); err != nil {
		t.Fatal(err)
	}
	const file = 2 << 20 // the buffer of the file, and what reads the text
	if most > least+file {
		t.Errorf("it takes up to %d bytes in %d ranges; want %d", most, ranges, least+file)
	}
}

// The estimates know that sentences end, however short they are.
func TestEstimateOfSentences(t *testing.T) {
	for _, longest := range []int{3, 40} {
		for _, tokens := range []int{50_000, 600_000} { // of which all is read, and a part
			c := testCorpus(8, 2000, tokens, longest)
			for _, o := range []Options{
				{Window: 5, Contexts: 2000, Passes: 2, Threads: 1, Sample: 1e-3},
				{Window: 5, Contexts: 300000, Passes: 1, Threads: 1, DynamicWindow: true},
				{Window: 8, Contexts: 2000, Passes: 1, Threads: 1, Tempering: 1, Positives: 2},
			} {
				m := build(t, c, o)
				estimate, err := EstimateFile(c, o, 1<<30)
				if err != nil {
					t.Fatal(err)
				}
				h := m.header(groupContextsOf(m.Stored()))
				if share := float64(estimate.Bytes) / float64(h.FileSize); share < 1 || share > 1.04 {
					t.Errorf("%+v, %d tokens in sentences of %d at most: estimated %d bytes, want %d", o, tokens, longest, estimate.Bytes, h.FileSize)
				}
			}
		}
	}
}

// EstimateFile knows size and scans of a text of one sentence, but for its ends.
func TestEstimateFile(t *testing.T) {
	c := testCorpus(8, 2000, 300000, math.MaxInt32)
	o := Options{Window: 5, Contexts: 2000, Passes: 1, Threads: 1}
	const memory = 64 << 20
	estimate, err := EstimateFile(c, o, memory)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m")
	m, err := BuildFile(t.Context(), c, o, path, memory)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if share := float64(estimate.Bytes) / float64(info.Size()); share < 1 || share > 1.01 || estimate.Scans != 2 || estimate.Memory < estimate.Bytes || estimate.Memory > memory {
		t.Errorf("estimated %+v, and the file has %d bytes", estimate, info.Size())
	}
	if got, want := EstimateResident(c, o, 1), m.Resident(1); math.Abs(float64(got-want)) > 0.01*float64(want) {
		t.Errorf("estimated %d bytes of memory, want %d", got, want)
	}
}
