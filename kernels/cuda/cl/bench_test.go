//go:build gpu

package cl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

// zipfShares are shares as those of a text: contexts of a word in proportion to 1/(rank + 3),
// frequent words subsampled at 1e-4.
func zipfShares(rows int, tempering, positives, most float64) *Shares {
	const contexts = 4096
	var sum float64
	for i := range rows {
		sum += 1 / float64(i+3)
	}
	powers, mean := make([]float64, rows), 0.0
	for i := range powers {
		f := 1 / float64(i+3) / sum
		n := f * min(1, math.Sqrt(1e-4/f)+1e-4/f)
		powers[i] = math.Pow(n, tempering)
		mean += powers[i] / float64(rows)
	}
	s := &Shares{Contexts: contexts, Slots: make([]uint32, rows+1)}
	for i, p := range powers {
		length := uint32(max(1, math.Round(contexts*min(most, positives*p/mean))))
		s.Lengths = append(s.Lengths, length)
		s.Phases = append(s.Phases, rand.Uint32N(contexts))
		s.Slots[i+1] = s.Slots[i] + (length+contexts-1)/contexts
	}
	return s
}

// One step of the two, the lists of rows included, and its share of the copy bandwidth of the
// device, by the bytes of the tables that change.
func BenchmarkTempered(b *testing.B) {
	type test struct {
		rows, dim            int
		tempering, positives float64
		shared               int
		method               string
	}
	for _, half := range []bool{true, false} {
		for _, x := range []test{
			{18_116, 500, .75, 4, 64, "adam"}, {18_116, 500, 0, 4, 64, "adam"}, {18_116, 500, 0, 1, 64, "adam"}, {18_116, 100, .75, 8, 64, "adam"}, {18_116, 100, 0, 1, 64, "adam"}, {67_869, 128, 1, 2, 64, "adam"},
			{18_116, 300, .75, 8, 64, "adam"}, {18_116, 100, .75, 8, 64, "sgd"}, {18_116, 500, .75, 4, 64, "sgd"}, {18_116, 1000, .75, 4, 64, "adam"}, {18_116, 500, .75, 4, 0, "adam"},
		} {
			b.Run(fmt.Sprintf("V=%d/N=%d/tempering=%v/m=%v/H=%d/%s/half=%v", x.rows, x.dim, x.tempering, x.positives, x.shared, x.method, half), func(b *testing.B) {
				d := cudatest.Open(b)
				copies := cudatest.CopyBandwidth(b, d)
				weights := make([]float64, x.rows)
				for i := range weights {
					weights[i] = 1 / float64(i+100)
				}
				noise, err := corpus.NewAlias(weights)
				if err != nil {
					b.Fatal(err)
				}
				k, err := New(d, Options{
					Rows: x.rows, Dim: x.dim, Negatives: 5, SharedNegatives: x.shared, Shares: zipfShares(x.rows, x.tempering, x.positives, 512), Seed: 1, Alias: noise.Table(), DrawShared: func(dst []uint32, iteration, step int) { noise.DrawSpread(dst, 1, iteration, step) },
					Method: x.method, Beta1: .9, Beta2: .999, Epsilon: 1e-8, HalfPrecision: half,
				})
				if err != nil {
					b.Fatal(err)
				}
				defer k.Close()
				words, contexts := make([]float32, x.rows*x.dim), make([]float32, x.rows*x.dim)
				for i := range words {
					words[i], contexts[i] = (rand.Float32()-.5)/16, (rand.Float32()-.5)/16
				}
				send(b, k, words, contexts)
				samples, err := k.Samples(0)
				if err != nil {
					b.Fatal(err)
				}
				k.fillAtRandom(samples, noise)
				if err := k.Start(0, 0, slices.Repeat([]float64{1e-3}, k.series)); err != nil { // also records the graph
					b.Fatal(err)
				}
				_, of, err := k.Wait(0)
				if err != nil {
					b.Fatal(err)
				}
				var seconds []float64
				for b.Loop() {
					seconds = append(seconds, cudatest.Time(b, d, func() error {
						if err := k.lists.find(d, 0, k.series); err != nil {
							return err
						}
						return k.recorded.Launch(d.Stream())
					})/float64(2*k.series))
				}
				slices.Sort(seconds)
				median := seconds[len(seconds)/2]
				passes := map[string]float64{"adam": 6, "adam-row": 4, "sgd": 2}[x.method]
				b.ReportMetric(median*1e6, "µs/step")
				b.ReportMetric(100*passes*float64(x.rows*x.dim*4)/median/copies, "%ofcopy")
				b.ReportMetric(of[0]/2, "samples/step")
			})
		}
	}
}

// fillAtRandom draws samples for a series from iteration 0 on.
func (k *Kernels) fillAtRandom(samples []uint32, noise *corpus.Alias) {
	s := k.options.Shares
	for step := range 2 {
		for j := range k.series {
			to := samples[(step*k.series+j)*k.slots:][:k.slots]
			for i := range s.Lengths {
				reads := func(j int) int { return (j*int(s.Lengths[i]) + int(s.Phases[i])) / s.Contexts }
				count := reads(j+1) - reads(j)
				for n := s.Slots[i]; n < s.Slots[i+1]; n++ {
					to[n] = noSample
					if int(n-s.Slots[i]) < count {
						to[n] = noise.Draw(rand.Uint32())
					}
				}
			}
		}
	}
}

const noSample = math.MaxUint32 - 1
