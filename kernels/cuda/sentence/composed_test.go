//go:build gpu

package sentence

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/sequential/composed"
)

// With one sentence in flight, the tensors equal those of the CPU whose blocks are units.
func TestComposed(t *testing.T) {
	d := cudatest.Open(t)
	for _, dim := range []int{1, 31, 32, 33, 100, 128, 300, 500} {
		for _, vocabulary := range []int{20, 400} {
			for _, own := range []bool{true, false} {
				for _, most := range []float32{0, 3} {
					t.Run(fmt.Sprintf("N=%d/V=%d/own=%v/most=%v", dim, vocabulary, own, most), func(t *testing.T) {
						c := sequential.Config{
							Algorithm: sequential.FullW2V, Dim: dim, Window: 5, Negatives: 5, Epochs: 2, Seed: cudatest.FreshSeed(t),
							Threads: 1, Block: 1 << 30,
						}
						text, noise := corpustest.Read(t, corpustest.Zipf(c.Seed, 1500, vocabulary, 40))
						x := randomComposition(rand.New(rand.NewPCG(c.Seed, 1)), text.Vocabulary.Len(), dim, own)
						x.Rate, x.Most = 0.5+0.5*rand.New(rand.NewPCG(c.Seed, 2)).Float32(), most
						if !own {
							x.Rate = 1
						}
						c.Composition = x
						reference, err := sequential.New(text, noise, c)
						if err != nil {
							t.Fatal(err)
						}
						config := configOf(text, noise, c, 1)
						config.Units = reference.Bounds()
						k, err := NewComposed(d, config, Composition{
							Parts: len(x.Parts) / dim, Starts: x.Starts, Symbols: x.Symbols, Own: own, Rate: x.Rate, Undamped: x.Undamped,
						})
						if err != nil {
							t.Fatal(err)
						}
						r := rand.New(rand.NewPCG(c.Seed, 3))
						for _, tensor := range reference.State() {
							for i := range tensor.Data { // zeros in C would hide errors
								tensor.Data[i] = (r.Float32() - .5)
							}
							if err := k.Send(tensor.Name, tensor.Data); err != nil {
								t.Fatal(err)
							}
						}
						units := reference.Units()
						rates := make([]float32, units)
						for u := range rates {
							rates[u] = testRate
							if _, err := reference.Advance(t.Context(), u, testRate); err != nil {
								t.Fatal(err)
							}
						}
						if _, _, err := k.Train(0, rates); err != nil {
							t.Fatal(err)
						}
						for _, tensor := range reference.State() {
							got := make([]float32, len(tensor.Data))
							if err := k.Receive(tensor.Name, got); err != nil {
								t.Fatal(err)
							}
							cudatest.Near(t, tensor.Name, got, tensor.Data, 1e-4)
						}
					})
				}
			}
		}
	}
}

// randomComposition is of words of up to 30 parts, some of which most words have.
func randomComposition(r *rand.Rand, words, dim int, own bool) *composed.Composition {
	all := 5 + r.IntN(3*words)
	x := &composed.Composition{Dim: dim, Starts: []uint32{0}, Parts: make([]float32, all*dim), Rate: 1, Randomize: func(uint64) {}}
	for range words {
		for range 1 + r.IntN(30) {
			g := r.IntN(all)
			if r.IntN(3) == 0 {
				g = r.IntN(4)
			}
			x.Symbols = append(x.Symbols, uint32(g))
		}
		x.Starts = append(x.Starts, uint32(len(x.Symbols)))
	}
	if own {
		x.Own = make([]float32, words*dim)
	}
	return x
}

// The structure has the same size as that of the kernels.
func TestComposedStructureSize(t *testing.T) {
	if size := unsafe.Sizeof(composedArgs{}); size != 144 {
		t.Errorf("ComposedArgs has %d bytes, the kernels' 144", size)
	}
}
