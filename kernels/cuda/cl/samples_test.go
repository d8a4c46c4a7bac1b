//go:build gpu

package cl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// sharesOf returns the shares of a tempered matrix; nil if rows have one sample each.
func sharesOf(m *wordcontext.Matrix) *Shares {
	if !m.Tempered() {
		return nil
	}
	_, _, _, lengths, phases := m.Layout()
	return &Shares{Contexts: m.Contexts(), Lengths: lengths, Phases: phases, Slots: m.Slots()}
}

// For the steps of any iteration the device draws the samples of M, in rows of any length, and
// finds the rows of one slot that have a share.
func TestSamples(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range []struct {
		words, vocabulary, contexts int
		tempering, positives        float64
		most                        int
	}{
		{3000, 40, 50, 0, 0, 0}, {20_000, 600, 333, 0, 0, 0}, {200_000, 3000, 1000, 0, 0, 0},
		{400_000, 200_000, 77, 0, 0, 0}, // with ids of 32 bits
		{3000, 40, 50, .5, 3, 0}, {20_000, 600, 333, .75, 1, 7}, {100_000, 3000, 1000, .75, 4, 512}, {20_000, 600, 100, 0, 3, 0}, {20_000, 600, 1, 1, .25, 0},
		{400_000, 200_000, 77, 1, 2, 300},
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			seed := cudatest.FreshSeed(t)
			c, noise := corpustest.Read(t, corpustest.Zipf(seed, x.words, x.vocabulary, 40)+"alone")
			m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{
				Window: 3, Contexts: x.contexts, Passes: 1, Seed: seed, Tempering: x.tempering, Positives: x.positives, MaxPositives: x.most,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			v, slots := m.Rows(), int(m.Slots()[m.Rows()])
			k, err := New(d, Options{Rows: v, Dim: 1, Negatives: 1, Alias: noise.Table(), Method: string(optim.SGD), Beta1: .9, Beta2: .999, Shares: sharesOf(m)})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			if err := k.SetMatrix(m); err != nil {
				t.Fatal(err)
			}
			got, want := make([]uint32, 2*k.series*slots), make([]uint32, slots)
			for _, first := range []int{0, max(x.contexts/2-3, 0), 7 * x.contexts, 1<<31 - 40} {
				for _, count := range []int{1, 13, k.series} {
					err := d.Do(func() error {
						if err := k.reader.draw(k, first, count); err != nil {
							return err
						}
						if k.lists != nil {
							if err := k.lists.find(d, first, count); err != nil {
								return err
							}
						}
						if err := d.Stream().Synchronize(); err != nil {
							return err
						}
						return cuda.Receive(got, k.samples)
					})
					if err != nil {
						t.Fatal(err)
					}
					for step := range 2 {
						for i := range count {
							m.Samples(step, first+i, 1, 0, v, want)
							if !slices.Equal(got[(step*k.series+i)*slots:][:slots], want) {
								t.Fatalf("iteration %d, step %d: wrong samples", first+i, step)
							}
						}
					}
					if k.lists != nil {
						checkLists(t, d, k, m, first, count)
					}
				}
			}
		})
	}
}

// checkLists compares the jobs with the shares that M gives the rows: each row has all its samples,
// and those with most come first.
func checkLists(t *testing.T, d *cuda.Device, k *Kernels, m *wordcontext.Matrix, first, count int) {
	t.Helper()
	l := k.lists
	tiles, jobs, totals := make([]uint32, count), make([]job, count*l.most), make([]float64, count)
	err := d.Do(func() error {
		return errors.Join(cuda.Receive(tiles, l.tiles), cuda.Receive(jobs, l.jobs), cuda.Receive(totals, l.counts))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		total, done := 0, make([]uint32, m.Rows()) // samples of rows
		jobs := jobs[i*l.most:][:tiles[i]*tileRows]
		for n, job := range jobs {
			if job.pieces != jobs[n-n%tileRows].pieces {
				t.Fatalf("iteration %d, job %d: %d pieces, others of the tile %d", first+i, n, job.pieces, jobs[n-n%tileRows].pieces)
			}
			if job.row == noRow {
				continue
			}
			_, samples := m.Share(int(job.row), first+i, 0)
			if job.samples != uint32(samples) || job.slot != m.Slots()[job.row]+done[job.row] {
				t.Fatalf("iteration %d, job %d: %+v; the row has %d samples from slot %d on", first+i, n, job, samples, m.Slots()[job.row])
			}
			if job.piece != uint32(n)%job.pieces {
				t.Fatalf("iteration %d, job %d: %+v", first+i, n, job)
			}
			done[job.row] += job.count
			s := cuda.Optimizer{Method: methodOf("adam"), Beta1: k.options.Beta1, Beta2: k.options.Beta2, Epsilon: 1}.Step(m.Updates(int(job.row), first+i), 1)
			if math.Abs(float64(job.scale/s.Scale)-1) > 1e-5 || math.Abs(float64(job.epsilon/s.Epsilon)-1) > 1e-5 {
				t.Fatalf("iteration %d, row %d: corrections %v and %v, want %v and %v", first+i, job.row, job.scale, job.epsilon, s.Scale, s.Epsilon)
			}
		}
		for row, got := range done {
			_, samples := m.Share(row, first+i, 0)
			if got != uint32(samples) {
				t.Fatalf("iteration %d, row %d: jobs of %d samples, want %d", first+i, row, got, samples)
			}
			total += samples
		}
		if totals[i] != float64(total) {
			t.Fatalf("iteration %d: %v samples, want %d", first+i, totals[i], total)
		}
	}
}

// With SameColumn step 2 trains on the samples of step 1, whether the device draws them or not, in
// the kernels of one sample and in those of several.
func TestSameColumn(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range []temperedCase{
		{dim: 100, negatives: 5, method: optim.SGD},
		{dim: 300, negatives: 5, shared: 64, method: optim.AdamRow, tempering: .75, positives: 4, most: 100},
	} {
		for _, host := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/host=%v", x, host), func(t *testing.T) {
				const count, rate = 100, 1e-3
				seed := cudatest.FreshSeed(t)
				c, noise := corpustest.Read(t, frequentText(seed))
				m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{
					Window: 2, Contexts: 40, Passes: 1, Seed: seed, Tempering: x.tempering, Positives: x.positives, MaxPositives: x.most,
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { m.Close() })
				reference, err := graph.NewCL(m, noise, count, graph.Options{
					Dim: x.dim, Negatives: x.negatives, SharedNegatives: x.shared, SameColumn: true, Seed: seed,
					Optimizer: optim.Options{Method: x.method, WeightDecay: .1, Epsilon: smooth},
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { reference.Close() })
				k := newTempered(t, d, m, noise, x, seed)
				k.options.SameColumn = true
				words, contexts := reference.Tables()
				send(t, k, words, contexts)
				losses, _ := trainSamples(t, k, m, 0, count, 100, rate, host)
				for n := range count {
					report, err := reference.Advance(t.Context(), n, rate)
					if err != nil {
						t.Fatal(err)
					}
					if !(math.Abs(losses[n]-report.Loss) <= 5e-4*report.Loss) {
						t.Fatalf("iteration %d: loss %v, want %v", n, losses[n], report.Loss)
					}
				}
				gotWords, gotContexts := received(t, k)
				cudatest.Near(t, "words", gotWords, words, 1e-3)
				cudatest.Near(t, "contexts", gotContexts, contexts, 1e-3)
			})
		}
	}
}
