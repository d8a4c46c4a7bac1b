package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/optim"
)

// benchmarkHalfStep times one of the two steps, sampling included. The bytes
// are those of the tables: 1+K gathered rows, and read and write of w, m and v.
func benchmarkHalfStep(b *testing.B, v, n int, form Form, method optim.Method) {
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
	t := &sampler{noise: uniformNoise(b, v), negatives: 5, column: column}
	s, err := newHalfStep(words, contexts, t, c)
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

func BenchmarkHalfStep(b *testing.B) {
	for _, v := range []int{18498, 67869, 200000} {
		for _, n := range []int{100, 128, 300, 500} {
			for _, method := range []optim.Method{optim.Adam, optim.AdamRow, optim.SGD} {
				b.Run(fmt.Sprintf("V=%d/N=%d/%s", v, n, method), func(b *testing.B) {
					benchmarkHalfStep(b, v, n, FormFused, method)
				})
			}
		}
	}
	for _, n := range []int{100, 500} {
		b.Run(fmt.Sprintf("V=18498/N=%d/adam/stock", n), func(b *testing.B) {
			benchmarkHalfStep(b, 18498, n, FormStock, optim.Adam)
		})
	}
}

// BenchmarkCopy is what memory gives: each thread copies its own part. Bytes
// are those read and those written.
func BenchmarkCopy(b *testing.B) {
	const n = 256 << 20 / 4 // far larger than any cache
	from, to := memory.Floats(n), memory.Floats(n)
	c, err := testConfig(1, 1, 0, FormFused, optim.Adam).withDefaults()
	if err != nil {
		b.Fatal(err)
	}
	for i := range from {
		from[i] = 1
	}
	b.SetBytes(2 * 4 * n)
	for b.Loop() {
		err := parallel(c.Threads, c.Threads, func(_, i int) {
			copy(to[i*n/c.Threads:(i+1)*n/c.Threads], from[i*n/c.Threads:])
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
