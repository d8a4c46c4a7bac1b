package cooccurrence

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// options of a small count; tests change what they are about.
func options(window int) Options {
	return Options{Sentences: corpus.SentenceOptions{Seed: 7, Window: window}, Threads: 2}
}

func count(t testing.TB, c *corpus.Corpus, o Options) *Matrix {
	t.Helper()
	m, err := Count(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// dense returns the matrix with its zeros.
func dense(m *Matrix) [][]float64 {
	d := make([][]float64, m.Rows())
	for i := range d {
		d[i] = make([]float64, m.Rows())
		contexts, values := m.Row(i)
		for k, j := range contexts {
			d[i][j] = float64(values[k])
		}
	}
	return d
}

func TestCountEqualsDefinition(t *testing.T) {
	for _, line := range []int{1, 3, 40, 0} {
		for _, weighting := range []Weighting{Flat, Linear, Harmonic} {
			for _, sample := range []float64{0, 0.02} {
				seed := rand.Uint64()
				c, _ := corpustest.Read(t, corpustest.Zipf(seed, 3000, 50, line))
				o := options(1 + rand.IntN(6))
				o.Weighting, o.Sentences.Sample = weighting, sample
				t.Run(fmt.Sprintf("%+v of text %d, lines of %d", o, seed, line), func(t *testing.T) {
					want := make([][]float64, c.Vocabulary.Len())
					for i := range want {
						want[i] = make([]float64, len(want))
					}
					reader := corpus.NewSentenceReader(c, o.Sentences)
					for s := range len(c.Sentences) - 1 {
						words, _ := reader.Sentence(0, s)
						for at, word := range words {
							for other := range words {
								if d := max(at-other, other-at); d > 0 && d <= o.Sentences.Window {
									want[word][words[other]] += o.Weighting.of(d, o.Sentences.Window)
								}
							}
						}
					}
					got := count(t, c, o)
					compare(t, dense(got), want, 1e-6)
					// Any number of threads and of scans.
					o.Threads, o.Buffer = 5, 1+rand.IntN(4000)
					again := count(t, c, o)
					compare(t, dense(again), dense(got), 0)
				})
			}
		}
	}
}

func compare(t *testing.T, got, want [][]float64, tolerance float64) {
	t.Helper()
	for i := range want {
		for j := range want[i] {
			if math.Abs(got[i][j]-want[i][j]) > tolerance*max(1, math.Abs(want[i][j])) {
				t.Fatalf("(%d, %d) is %v, want %v", i, j, got[i][j], want[i][j])
			}
		}
	}
}

func TestPPMIEqualsDefinition(t *testing.T) {
	c, _ := corpustest.Read(t, corpustest.Zipf(rand.Uint64(), 5000, 60, 20))
	o := options(3)
	counts := dense(count(t, c, o))
	for _, p := range []PPMIOptions{{Smoothing: 1, Shift: 1, Threads: 1}, {Smoothing: 0.75, Shift: 1, Threads: 2}, {Smoothing: 0.75, Shift: 3, Threads: 2}} {
		m := count(t, c, o)
		if err := m.PPMI(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		words, smoothed, all := make([]float64, len(counts)), make([]float64, len(counts)), 0.0
		for i, row := range counts {
			for _, x := range row {
				words[i] += x
			}
			smoothed[i] = math.Pow(words[i], p.Smoothing)
			all += smoothed[i]
		}
		want := make([][]float64, len(counts))
		for i := range want {
			want[i] = make([]float64, len(counts))
			for j, x := range counts[i] {
				if x > 0 {
					want[i][j] = max(0, math.Log(x*all/(words[i]*smoothed[j]*p.Shift)))
				}
			}
		}
		compare(t, dense(m), want, 1e-5)
		compare(t, dense(m.transpose().transpose()), dense(m), 0)
	}
}

func TestCountRefuses(t *testing.T) {
	c, _ := corpustest.Read(t, "a b c")
	for _, o := range []Options{options(0), options(1 << 31)} {
		if _, err := Count(t.Context(), c, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Count(ctx, c, options(2)); err == nil {
		t.Error("no error after it was cancelled")
	}
}

// TestLonelyWords: a text of sentences of one word has no pairs.
func TestLonelyWords(t *testing.T) {
	c, _ := corpustest.Read(t, "a\nb\nc\n")
	m := count(t, c, options(5))
	if n := m.Entries(); n != 0 {
		t.Errorf("%d entries", n)
	}
	if err := m.PPMI(t.Context(), PPMIOptions{Smoothing: 0.75, Shift: 1, Threads: 1}); err != nil {
		t.Error(err)
	}
}

// TestCountNeedsMemory: rows that do not fit the memory are an error, not a process that exceeds its limit.
func TestCountNeedsMemory(t *testing.T) {
	var text strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for range 400_000 {
		fmt.Fprint(&text, random.IntN(20_000), " ")
	}
	c, _ := corpustest.Read(t, text.String())
	debug.FreeOSMemory()
	limit := machine.Resident() + 24<<20 // half of what the rows take
	_, release := memory.NewGuard(limit)
	defer release()
	o := options(5)
	o.Buffer = 1 << 20
	if _, err := Count(t.Context(), c, o); !errors.Is(err, memory.ErrRoom) {
		t.Errorf("got %v", err)
	}
	if resident := machine.Resident(); resident > limit+limit/32 {
		t.Errorf("%d bytes are resident, of %d", resident, limit)
	}
}
