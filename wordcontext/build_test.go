package wordcontext

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

func TestBuildEqualsReference(t *testing.T) {
	t.Parallel() // go test ./... ends with this package, when processors are idle
	corpora := map[string]*corpus.Corpus{
		"text":            testCorpus(1, 40, 3000, 60),
		"short sentences": testCorpus(2, 30, 400, 3),
		"one sentence":    testCorpus(3, 20, 500, math.MaxInt32),
		"one word":        sentencesCorpus(1, []uint32{0, 0, 0}, []uint32{0}, []uint32{0, 0}),
		"one token":       sentencesCorpus(1, []uint32{0}),
		"alone":           sentencesCorpus(3, []uint32{0}, []uint32{1, 2, 1}, []uint32{0}),
		"wide ids":        testCorpus(4, 1<<16+1, 1<<17, 50),
	}
	if testing.Short() { // the reference is slow
		delete(corpora, "wide ids")
	}
	options := []Options{
		{Window: 1, Contexts: 1, Passes: 1},
		{Window: 2, Contexts: 64, Passes: 1, Seed: 7},
		{Window: 2, Contexts: 100000, Passes: 1},
		{Window: 5, Contexts: 200, Passes: 3, Sample: 0.02},
		{Window: 5, Contexts: 200, Passes: 2, DynamicWindow: true, Seed: math.MaxUint64},
		{Window: 40, Contexts: 333, Passes: 2, Sample: 0.05, DynamicWindow: true},
		{Window: 1000, Contexts: 50, Passes: 1},
		{Window: 3, Contexts: 40, Passes: 2, Tempering: 0.75, Positives: 2, DynamicWindow: true, Seed: 8},
		{Window: 2, Contexts: 100, Passes: 1, Tempering: 1, Positives: 0.2, MaxPositives: 1},
		{Window: 2, Contexts: 64, Passes: 1, InOrder: true, Seed: 7},
	}
	for name, c := range corpora {
		for _, o := range options {
			if name == "one sentence" && o.Window == 40 && testing.Short() {
				continue
			}
			t.Run(fmt.Sprintf("%s/%+v", name, o), func(t *testing.T) {
				if c.Vocabulary.Len() > 1<<16 && (o.Window > 2 || o.Passes > 1) {
					t.Skip("slow in the reference, and nothing new")
				}
				rows := reference(c, o)
				cuts := []int{1, 2, 3, 7, 50}
				if testing.Short() {
					cuts = []int{7}
				}
				if c.Vocabulary.Len() > 1<<16 { // large, and cut no differently
					cuts = []int{1, 7}
				}
				for _, spans := range cuts {
					o.Threads = spans%4 + 1
					checkMatrix(t, buildSpans(t, c, o, spans), rows, o)
				}
			})
		}
	}
}

// checkMatrix compares the matrix, and the counts that it returns, with the
// reference rows.
func checkMatrix(t *testing.T, m *Matrix, rows [][]uint32, o Options) {
	t.Helper()
	totals := make([]uint64, len(rows))
	for i, contexts := range rows {
		totals[i] = uint64(len(contexts))
	}
	defining := o.defining()
	lengths, err := rowLengths(totals, &defining)
	if err != nil {
		t.Fatal(err)
	}
	if m.Rows() != len(rows) || m.Contexts() != o.Contexts {
		t.Fatalf("%d rows of %d, want %d of %d", m.Rows(), m.Contexts(), len(rows), o.Contexts)
	}
	found := make([]uint64, len(rows))
	var stored uint64
	for i, contexts := range rows {
		for _, context := range contexts {
			found[context]++
		}
		if got := m.totals[i]; got != uint64(len(contexts)) {
			t.Fatalf("row %d: %d contexts found, want %d", i, got, len(contexts))
		}
		row := m.Row(i)
		stored += uint64(len(row))
		if m.RowLength(i) != int(lengths[i]) {
			t.Fatalf("row %d has %d entries, want %d", i, m.RowLength(i), lengths[i])
		}
		if len(contexts) <= m.RowLength(i) && !slices.Equal(sorted(row), sorted(contexts)) {
			t.Fatalf("row %d keeps\n%v, want in any order\n%v", i, sorted(row), sorted(contexts))
		}
		if want := referenceRow(contexts, m.RowLength(i), o, i); !slices.Equal(row, want) {
			t.Fatalf("row %d is\n%v, want\n%v", i, row, want)
		}
	}
	if got := m.ContextCounts(); !slices.Equal(got, found) {
		t.Fatalf("context counts %v, want %v", got, found)
	}
	if m.Stored() != stored {
		t.Fatalf("%d stored, want %d", m.Stored(), stored)
	}
}

// A run can be repeated only if its seed gives the same matrix. A change of these
// values changes every result.
func TestGolden(t *testing.T) {
	// (row, column): rows 0 and 1 are long, row 30 repeats by the bijection, row 60
	// by a table.
	places := [][2]int{{0, 0}, {0, 1}, {0, 511}, {1, 0}, {1, 1}, {30, 100}, {30, 301}, {30, 302}, {60, 509}, {60, 510}, {60, 511}}
	c := goldenCorpus()
	for _, tc := range []struct {
		options Options
		want    []uint32 // entries at places
	}{
		{Options{Window: 2, Contexts: 512, Passes: 1, Seed: 1}, []uint32{21, 18, 1, 1, 0, 13, 33, 8, 3, 1, 0}},
		{Options{Window: 3, Contexts: 512, Passes: 2, Seed: 2, Sample: 1e-2, DynamicWindow: true}, []uint32{32, 3, 41, 1, 7, 2, 34, 17, 15, 22, 19}},
	} {
		m := build(t, c, tc.options)
		var got []uint32
		for _, p := range places {
			got = append(got, m.At(p[0], p[1]))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("window %d: got %v, want %v", tc.options.Window, got, tc.want)
		}
	}
}

// goldenCorpus makes a text in which low ids are more frequent, by a rule that
// does not depend on a library.
func goldenCorpus() *corpus.Corpus {
	var sentences [][]uint32
	counter := uint64(0)
	for range 100 {
		var s []uint32
		for range 50 {
			r := corpus.Philox(12345, corpus.StreamShuffle, counter)
			counter++
			s = append(s, corpus.Below(r[0], 1+corpus.Below(r[1], 1+corpus.Below(r[2], 100))))
		}
		sentences = append(sentences, s)
	}
	return sentencesCorpus(100, sentences...)
}

func TestBuildErrors(t *testing.T) {
	good := Options{Window: 2, Contexts: 10, Passes: 1}
	text := sentencesCorpus(2, []uint32{0, 1, 0})
	with := func(change func(*Options)) Options {
		o := good
		change(&o)
		return o
	}
	for _, tc := range []struct {
		name    string
		corpus  *corpus.Corpus
		options Options
		want    string
	}{
		{"window 0", text, with(func(o *Options) { o.Window = 0 }), "window is 0; it must be from 1"},
		{"window huge", text, with(func(o *Options) { o.Window = math.MaxInt32 }), "window is 2147483647; it must be from 1"},
		{"contexts 0", text, with(func(o *Options) { o.Contexts = 0 }), "contexts is 0; it must be from 1"},
		{"passes 0", text, with(func(o *Options) { o.Passes = 0 }), "passes is 0; it must be from 1"},
		{"sample negative", text, with(func(o *Options) { o.Sample = -1e-4 }), "sample is -0.0001; it must be 0"},
		{"sample NaN", text, with(func(o *Options) { o.Sample = math.NaN() }), "sample is NaN; it must be 0"},
		{"no corpus", nil, good, "corpus is empty"},
		{"no vocabulary", &corpus.Corpus{}, good, "corpus is empty"},
		{"no tokens", &corpus.Corpus{Vocabulary: text.Vocabulary, Sentences: []int{0}}, good, "corpus is empty"},
		{"no sentences", &corpus.Corpus{Vocabulary: text.Vocabulary, Tokens: []uint32{0}}, good, "sentence bounds do not span"},
		{"bounds short", &corpus.Corpus{Vocabulary: text.Vocabulary, Tokens: []uint32{0, 1}, Sentences: []int{0, 1}}, good, "sentence bounds do not span"},
		{"bounds fall", &corpus.Corpus{Vocabulary: text.Vocabulary, Tokens: []uint32{0, 1}, Sentences: []int{0, 2, 1, 2}}, good, "sentence 1 of the corpus ends before"},
		{"foreign token", &corpus.Corpus{Vocabulary: text.Vocabulary, Tokens: []uint32{0, 2}, Sentences: []int{0, 2}}, good, "token 1 of the corpus is word 2, but the vocabulary has 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := Build(t.Context(), tc.corpus, tc.options)
			if err == nil || m != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
			if n, _ := EstimateBytes(tc.corpus, tc.options); n != 0 && tc.name != "foreign token" {
				t.Errorf("it is estimated at %d bytes", n)
			}
		})
	}
}

func TestBuildStopsWhenCancelled(t *testing.T) {
	c := testCorpus(7, 50, 300000, 50)
	stop := errors.New("stopped by the test")
	for _, after := range []float64{0, 0.3, 0.6, 0.9} {
		ctx, cancel := context.WithCancelCause(t.Context())
		o := Options{Window: 2, Contexts: 1000, Passes: 2, Threads: 2}
		o.Progress = func(done, total int64) {
			if float64(done) >= after*float64(total) {
				cancel(stop)
			}
		}
		if m, err := Build(ctx, c, o); !errors.Is(err, stop) || m != nil {
			t.Errorf("cancelled at %v: got %v", after, err)
		}
	}
}

func TestProgress(t *testing.T) {
	c := testCorpus(8, 50, 300000, 50)
	for _, threads := range []int{1, 3} {
		var last, calls int64
		o := Options{Window: 2, Contexts: 100, Passes: 2, Threads: threads, Progress: func(done, total int64) {
			if done < last || total != 3*2*300000 {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
			calls++
		}}
		build(t, c, o)
		if last != 3*2*300000 || calls < 10 {
			t.Errorf("%d calls end at %d", calls, last)
		}
	}
}

func TestEstimateBytes(t *testing.T) {
	c := testCorpus(9, 2000, 400000, 1000)
	for _, o := range []Options{
		{Window: 2, Contexts: 500, Passes: 1, Threads: 1},
		{Window: 2, Contexts: 100000, Passes: 1, Threads: 2},
		{Window: 5, Contexts: 2000, Passes: 5, Threads: 2, Sample: 1e-3},
		{Window: 5, Contexts: 2000, Passes: 2, Threads: 2, DynamicWindow: true},
		{Window: 5, Contexts: 500, Passes: 2, Threads: 2, DynamicWindow: true, Tempering: 0.75, Positives: 4},
		{Window: 5, Contexts: 2000, Passes: 2, Threads: 2, Tempering: 1, Positives: 0.5, MaxPositives: 20},
	} {
		c.Fingerprint() // cached: allocates only once
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		build(t, c, o)
		runtime.ReadMemStats(&after)
		// Build frees little before it ends, so it needs about all that it allocates.
		building, _ := EstimateBytes(c, o)
		used, estimate := float64(after.TotalAlloc-before.TotalAlloc), float64(building)
		if estimate < 0.8*used || estimate > 1.5*used {
			t.Errorf("%+v: estimated %.0f bytes, used %.0f", o, estimate, used)
		}
	}
}
