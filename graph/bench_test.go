package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/graph/tempered"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
)

// benchmarkStep times one of the two steps, sampling included. The bytes
// are those of the tables: 1+K gathered rows, and read and write of w, m and v.
func benchmarkStep(b *testing.B, v, n int, form Form, method optim.Method) {
	c, err := testConfig(n, 5, 0, form, method).withDefaults()
	if err != nil {
		b.Fatal(err)
	}
	words, contexts, err := newTables(v, c)
	if err != nil {
		b.Fatal(err)
	}
	copy(contexts.data, words.data)
	r := rand.New(rand.NewPCG(1, 1))
	column := make([]uint32, v)
	for i := range column {
		column[i] = uint32(r.IntN(v))
	}
	t := sampler{&tempered.Sampler{Noise: uniformNoise(b, v), Negatives: 5, Samples: column}}
	s, err := newTableStep(words, contexts, t, team.New(c.Threads), c)
	if err != nil {
		b.Fatal(err)
	}
	step := 0
	b.ReportAllocs()
	passes := map[optim.Method]int{optim.Adam: 12, optim.AdamRow: 10, optim.SGD: 8}[method]
	b.SetBytes(int64(passes) * 4 * int64(v) * int64(n))
	for b.Loop() {
		step++
		words.optimizer.Begin(step, .001)
		if _, err := s.run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, v := range []int{18498, 67869, 200000} {
		for _, n := range []int{100, 128, 300, 500} {
			for _, method := range []optim.Method{optim.Adam, optim.AdamRow, optim.SGD} {
				b.Run(fmt.Sprintf("V=%d/N=%d/%s", v, n, method), func(b *testing.B) {
					benchmarkStep(b, v, n, FormFused, method)
				})
			}
		}
	}
	for _, n := range []int{100, 500} {
		b.Run(fmt.Sprintf("V=18498/N=%d/adam/stock", n), func(b *testing.B) {
			benchmarkStep(b, 18498, n, FormStock, optim.Adam)
		})
	}
}
