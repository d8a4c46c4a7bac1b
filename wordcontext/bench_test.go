package wordcontext

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkColumns reads columns of a matrix that is larger than the caches. ns/op
// is the time of one entry. Rows of l contexts are read in their stored order,
// shorter rows in the order of a later round.
func BenchmarkColumns(b *testing.B) {
	const columns = 1 << 16
	for _, tc := range []struct{ rows, stored int }{{1024, columns}, {16384, 5000}, {65536, 900}, {65536, 600}, {65536, 50}} {
		m := newMatrix(tc.rows, Options{Window: 1, Contexts: columns, Passes: 1})
		for i := range m.totals {
			m.totals[i] = uint64(tc.stored)
		}
		if err := m.layOut(); err != nil {
			b.Fatal(err)
		}
		m.allocate()
		for k := range m.narrow {
			m.narrow[k] = uint16(rand.IntN(tc.rows))
		}
		for _, count := range []int{64, 256} {
			b.Run(fmt.Sprintf("stored=%d/columns=%d", tc.stored, count), func(b *testing.B) {
				dst := make([]uint32, count*tc.rows)
				first, row := columns/2, 0
				for done := 0; done < b.N; done += count * 1024 {
					m.Samples(0, first, count, row, row+1024, dst)
					if row = (row + 1024) % tc.rows; row == 0 {
						first = columns/2 + (first+count)%(columns/2)/count*count
					}
				}
			})
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	c := testCorpus(1, 5000, 1000000, 1000)
	for _, o := range []Options{
		{Window: 2, Contexts: 4096, Passes: 1},
		{Window: 2, Contexts: 4096, Passes: 1, Sample: 1e-3},
		{Window: 5, Contexts: 4096, Passes: 1, Sample: 1e-3, DynamicWindow: true},
	} {
		b.Run(fmt.Sprintf("window=%d/sample=%v/dynamic=%v", o.Window, o.Sample, o.DynamicWindow), func(b *testing.B) {
			for b.Loop() {
				build(b, c, o)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.Tokens)), "ns/token")
		})
	}
}

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
