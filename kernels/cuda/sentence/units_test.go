//go:build gpu

package sentence

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/sequential"
)

// Loss and pairs of every unit equal those of the CPU.
func TestFullW2VUnits(t *testing.T) {
	d := cudatest.Open(t)
	c := sequential.Options{Dim: 50, Window: 5, Negatives: 5, Epochs: 2, Seed: cudatest.FreshSeed(t)}
	text, noise := corpustest.Read(t, corpustest.Zipf(c.Seed, 3000, 400, 40))
	c.Algorithm, c.Threads = sequential.FullW2V, 1
	reference, err := sequential.New(text, noise, c)
	if err != nil {
		t.Fatal(err)
	}
	options := optionsOf(text, noise, c, 1)
	options.Units = reference.Bounds()
	f, err := New(d, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetTables(reference.Tables()); err != nil {
		t.Fatal(err)
	}
	const at = 7
	for first := 0; first < f.units(); first += at { // units of two epochs in one call, too
		rates := make([]float32, min(at, f.units()-first))
		for i := range rates {
			rates[i] = testRate / float32(first+i+1)
		}
		losses, pairs, err := f.Train(first, rates)
		if err != nil {
			t.Fatal(err)
		}
		for i, rate := range rates {
			report, err := reference.Advance(t.Context(), first+i, float64(rate))
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(losses[i]-report.Loss) <= 1e-4*report.Loss) || pairs[i] != report.Pairs {
				t.Errorf("unit %d: loss %v of %v pairs, want %v of %v", first+i, losses[i], pairs[i], report.Loss, report.Pairs)
			}
		}
	}
	if _, _, err := f.Train(f.units(), []float32{1}); err == nil {
		t.Error("no error of a unit behind the last")
	}
}

// A text that comes in pieces gives the same tables as one that is there at once, however few
// units fit and however many are trained in a call.
func TestFullW2VPieces(t *testing.T) {
	d := cudatest.Open(t)
	c := sequential.Options{Dim: 50, Window: 5, Negatives: 5, Epochs: 3, Seed: cudatest.FreshSeed(t)}
	c.Algorithm = sequential.FullW2V
	text, noise := corpustest.Read(t, corpustest.Zipf(c.Seed, 12_000, 400, 40))
	options := optionsOf(text, noise, c, 1)
	options.Units = nil
	for s := 0; s < len(text.Sentences)-1; s += 10 {
		options.Units = append(options.Units, s)
	}
	options.Units = append(options.Units, len(text.Sentences)-1)
	longest := 0
	for u, sentence := range options.Units[1:] {
		longest = max(longest, text.Sentences[sentence]-text.Sentences[options.Units[u]])
	}
	var want []float32
	for _, part := range []int{0, 3, 8} {
		for _, call := range []int{1, 7, 1000} {
			options.TextTokens = 0
			if part > 0 {
				options.TextTokens = max(len(text.Tokens)/part, 2*longest) // two units must fit
			}
			f, err := New(d, options)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			words, contexts := make([]float32, options.Vocabulary*c.Dim), make([]float32, options.Vocabulary*c.Dim)
			for i := range words {
				words[i], contexts[i] = (r.Float32()-.5)/10, (r.Float32()-.5)/10
			}
			if err := f.SetTables(words, contexts); err != nil {
				t.Fatal(err)
			}
			for first := 0; first < f.units(); first += call {
				if _, _, err := f.Train(first, slices.Repeat([]float32{testRate}, min(call, f.units()-first))); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(f.Tables(words, contexts), f.Close()); err != nil {
				t.Fatal(err)
			}
			if got := slices.Concat(words, contexts); want == nil {
				want = got
			} else {
				cudatest.Near(t, fmt.Sprintf("1/%d of the text, %d units in a call", part, call), got, want, 1e-4)
			}
		}
	}
	options.TextTokens = 100
	if _, err := New(d, options); err == nil || !strings.Contains(err.Error(), "two units may need") {
		t.Errorf("pieces shorter than a unit: error %v", err)
	}
}

// The PTX, which other GPUs run, does the same as the machine code.
func TestPTX(t *testing.T) {
	var tables [2][]float32
	for i, portable := range []bool{false, true} {
		d := cudatest.Open(t)
		if portable {
			d.Portable()
		}
		for _, dim := range []int{60, 300, 500} { // rows of a warp, of more than its registers hold, of a team
			c := sequential.Options{Dim: dim, Window: 5, Negatives: 5, Epochs: 1, Seed: 4}
			_, f := newCase(t, d, corpustest.Zipf(6, 3000, 300, 40), c, 1, choice{})
			trainAll(t, f, testRate)
			values := f.options.Vocabulary * c.Dim
			words, contexts := make([]float32, values), make([]float32, values)
			if err := f.Tables(words, contexts); err != nil {
				t.Fatal(err)
			}
			tables[i] = append(append(tables[i], words...), contexts...)
		}
	}
	cudatest.Near(t, "tables", tables[1], tables[0], 1e-4)
}
