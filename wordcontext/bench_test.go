package wordcontext

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkTemperedSamples reads the samples of a matrix like that of a text of 100 MB:
// 18,000 words, 280 million contexts found, 8 samples a word and iteration. ns/op is
// the time of one sample.
func BenchmarkTemperedSamples(b *testing.B) {
	const rows = 18000
	m := newMatrix(rows, Options{Window: 5, Contexts: 4096, Passes: 5, Tempering: 0.75, Positives: 8})
	for i := range m.totals {
		// Subsampling leaves about the square root of the frequency.
		m.totals[i] = uint64(280e6 / (2 * math.Sqrt(rows) * math.Sqrt(float64(i+1))))
	}
	if err := m.layOut(); err != nil {
		b.Fatal(err)
	}
	m.allocate()
	for k := range m.narrow {
		m.narrow[k] = uint16(rand.IntN(rows))
	}
	samples := int(m.slots[rows])
	for _, count := range []int{16, 32, 64, 128} {
		b.Run(fmt.Sprintf("iterations=%d", count), func(b *testing.B) {
			dst := make([]uint32, count*samples)
			first := m.Contexts() / 2
			for done := 0; done < b.N; done += count * samples {
				m.Samples(0, first, count, 0, rows, dst)
				first += count
			}
		})
	}
}
