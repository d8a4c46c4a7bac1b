//go:build gpu

package subword_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/subword"
)

// BenchmarkSubword is an iteration of W2V-CL with an encoder: forward, loss, backward and
// Adam on all parameters, of the vocabulary of 18,498 words of 16 symbols, K = 5;
// and step 2, which updates the contexts.
func BenchmarkSubword(b *testing.B) {
	d := cudatest.Open(b)
	const v = 18498
	r := rand.New(rand.NewPCG(1, 1))
	words := make([]string, v)
	for i := range words {
		var w strings.Builder
		for range 14 {
			w.WriteByte(byte('a' + min(r.IntN(26), r.IntN(26))))
		}
		words[i] = w.String()
	}
	for _, n := range []int{100, 128, 500} {
		for _, name := range []string{"cnn", "cnn+words", "ngrams"} {
			b.Run(fmt.Sprintf("N=%d/%s", n, name), func(b *testing.B) { benchmarkEncoder(b, d, r, words, n, name) })
		}
	}
}

func benchmarkEncoder(b *testing.B, d *cuda.Device, r *rand.Rand, words []string, n int, name string) {
	counts := make([]float64, len(words))
	for i := range counts {
		counts[i] = 1 / float64(1+i)
	}
	noise, err := corpus.NewAlias(counts)
	if err != nil {
		b.Fatal(err)
	}
	o := cl.Options{
		Rows: len(words), Dim: n, Negatives: 5, Seed: 1, Alias: noise.Table(), Method: "adam", Beta1: .9, Beta2: .999, Epsilon: 1e-8,
	}
	var k *kernels.Kernels
	tensors := map[string][]float32{}
	if name == "ngrams" {
		e, err := subword.NewNGrams(words, subword.NGramOptions{Dim: n})
		if err != nil {
			b.Fatal(err)
		}
		e.Randomize(1)
		o.Composition = e.Composition()
		tensors["parts"] = o.Composition.Parts
		if k, err = kernels.NewParts(d, o); err != nil {
			b.Fatal(err)
		}
	} else {
		k = newNetwork(b, d, o, words, name == "cnn+words", tensors)
	}
	defer k.Close()
	for name, values := range tensors {
		if err := k.Send(name, values); err != nil {
			b.Fatal(err)
		}
	}
	if err := k.Send("contexts", cudatest.Floats(r, len(words)*n)); err != nil {
		b.Fatal(err)
	}
	if err := k.SetMatrix(newMatrix(len(words), noise, r)); err != nil {
		b.Fatal(err)
	}
	trainSeries(b, k, 1) // also records the launches
	start := time.Now()
	trainSeries(b, k, b.N)
	iteration := time.Since(start)
	iterations := float64(b.N * cl.SeriesLength)
	b.ReportMetric(float64(iteration.Microseconds())/iterations, "µs/iteration")
}

// newNetwork makes kernels of the default CNN, and says which tensors they start from.
func newNetwork(b *testing.B, d *cuda.Device, o cl.Options, words []string, own bool, tensors map[string][]float32) *kernels.Kernels {
	b.Helper()
	c, err := subword.NewCNN(words, subword.CNNOptions{Dim: o.Dim})
	if err != nil {
		b.Fatal(err)
	}
	e := subword.Encoder(c)
	if own {
		e = subword.WithWords(e)
	}
	e.Randomize(1)
	for _, p := range e.Parameters() {
		tensors[p.Name] = p.Value.Float32s()
	}
	s, err := subword.StructureOf(e)
	if err != nil {
		b.Fatal(err)
	}
	k, err := kernels.New(d, o, s)
	if err != nil {
		b.Fatal(err)
	}
	return k
}

// trainSeries trains so many series of iterations, of which one is always waiting while
// another is trained.
func trainSeries(b *testing.B, k *kernels.Kernels, count int) {
	b.Helper()
	rates := slices.Repeat([]float64{1e-3}, cl.SeriesLength)
	for n := range count + 1 {
		if n < count {
			if err := k.Start(n%2, n*cl.SeriesLength, rates); err != nil {
				b.Fatal(err)
			}
		}
		if n == 0 {
			continue
		}
		if _, _, err := k.Wait(1 - n%2); err != nil {
			b.Fatal(err)
		}
	}
}

// A matrix is an M of contexts that were drawn at random, all rows full.
type matrix struct {
	offsets []uint64
	ids     []uint32
}

func newMatrix(rows int, noise *corpus.Alias, r *rand.Rand) *matrix {
	m := &matrix{}
	for row := range rows + 1 {
		m.offsets = append(m.offsets, uint64(row*m.Contexts()))
	}
	for range rows * m.Contexts() {
		m.ids = append(m.ids, noise.Draw(r.Uint32()))
	}
	return m
}

func (m *matrix) Contexts() int  { return 64 }
func (m *matrix) Seed() uint64   { return 1 }
func (m *matrix) Tempered() bool { return false }

func (m *matrix) Slots() []uint32 {
	slots := make([]uint32, len(m.offsets))
	for i := range slots {
		slots[i] = uint32(i)
	}
	return slots
}

func (m *matrix) Layout() (offsets []uint64, narrow []uint16, wide, lengths, phases []uint32) {
	rows := len(m.offsets) - 1
	return m.offsets, nil, m.ids, slices.Repeat([]uint32{64}, rows), make([]uint32, rows)
}
