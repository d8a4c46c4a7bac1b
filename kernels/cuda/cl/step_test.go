//go:build gpu

package cl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A temperedCase is a choice of tempered samples and shared negatives.
type temperedCase struct {
	dim, negatives, shared int
	method                 optim.Method
	tempering, positives   float64
	most                   int
	half                   bool
}

func (x temperedCase) String() string {
	return fmt.Sprintf("%s/N=%d/K=%d/H=%d/tempering=%v/positives=%v/most=%d", x.method, x.dim, x.negatives, x.shared, x.tempering, x.positives, x.most)
}

// temperedCases are all optimizers, dimensions, numbers of shared negatives and ways to temper.
func temperedCases(half bool) (all []temperedCase) {
	add := func(x temperedCase) {
		x.half = half
		all = append(all, x)
	}
	for _, dim := range append(cudatest.Dims(), 33, 200, 700, 1024) {
		add(temperedCase{dim, 5, 64, optim.Adam, .75, 4, 512, half})
	}
	for _, method := range []optim.Method{optim.AdamRow, optim.RMSProp, optim.AdaGrad, optim.SGD} {
		for _, dim := range []int{3, 100, 300, 500, 1024} {
			add(temperedCase{dim, 5, 64, method, .75, 4, 512, half})
		}
	}
	for _, shared := range []int{1, 5, 16, 100, 300} {
		add(temperedCase{100, 5, shared, optim.Adam, .75, 2, 0, half})
		add(temperedCase{500, 5, shared, optim.AdamRow, .75, 2, 0, half})
	}
	for _, dim := range []int{20, 130, 600} {
		add(temperedCase{dim, 5, 64, optim.Adam, 0, 0, 0, half})   // one sample each
		add(temperedCase{dim, 5, 64, optim.Adam, 0, 3, 0, half})   // three
		add(temperedCase{dim, 5, 64, optim.SGD, 1, .5, 0, half})   // many rows have none in most iterations
		add(temperedCase{dim, 3, 64, optim.Adam, 1, 8, 512, half}) // rows of hundreds
		add(temperedCase{dim, 5, 0, optim.Adam, .75, 4, 512, half})
		add(temperedCase{dim, 40, 0, optim.SGD, 1, 8, 100, half})
		add(temperedCase{dim, 5, 0, optim.AdamRow, 0, 2, 0, half})
	}
	return all
}

// newTemperedCase is W2V-CL on the CPU, M, and the same on the device.
func newTemperedCase(t testing.TB, d *cuda.Device, text string, x temperedCase, seed uint64) (*graph.CL, *Kernels, *wordcontext.Matrix) {
	t.Helper()
	reference, noise, m := x.reference(t, text, seed)
	k := newTempered(t, d, m, noise, x, seed)
	words, contexts := reference.Tables()
	send(t, k, words, contexts)
	return reference, k, m
}

// reference is W2V-CL on the CPU, its noise and M.
func (x temperedCase) reference(t testing.TB, text string, seed uint64) (*graph.CL, *corpus.Alias, *wordcontext.Matrix) {
	t.Helper()
	c, noise := corpustest.Read(t, text)
	m, err := wordcontext.Build(t.Context(), c, wordcontext.Options{
		Window: 2, Contexts: 40, Passes: 1, Seed: seed, Tempering: x.tempering, Positives: x.positives, MaxPositives: x.most,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	o := optim.Options{Method: x.method, WeightDecay: .1, Epsilon: smooth}
	reference, err := graph.NewCL(m, noise, 1000, graph.Options{Dim: x.dim, Negatives: x.negatives, SharedNegatives: x.shared, Seed: seed, Optimizer: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reference.Close() })
	return reference, noise, m
}

// A temperedRun is what the CPU makes of a case.
type temperedRun struct {
	losses, pairs   []float64
	words, contexts []float32
}

// trained trains a case. Before each iteration, all values are changed at random by a share of up to change.
func (x temperedCase) trained(t testing.TB, seed uint64, count int, rate float64, change float32) (run temperedRun) {
	t.Helper()
	reference, _, _ := x.reference(t, frequentText(seed), seed)
	run.words, run.contexts = reference.Tables()
	r := rand.New(rand.NewPCG(seed, 3))
	for n := range count {
		for _, table := range [][]float32{run.words, run.contexts} {
			cudatest.Disturb(table, r, change)
		}
		report, err := reference.Advance(t.Context(), n, rate)
		if err != nil {
			t.Fatal(err)
		}
		run.losses, run.pairs = append(run.losses, report.Loss), append(run.pairs, report.Pairs)
	}
	return run
}

// steady finds a seed with which rounding stays small. A word whose gradient nearly vanishes may go either way, and then one case in
// a hundred makes several times the bound of it.
func (x temperedCase) steady(t testing.TB, count int, rate float64) (seed uint64, run temperedRun) {
	t.Helper()
	first := cudatest.FreshSeed(t)
	for seed = first; seed < first+20; seed++ {
		run = x.trained(t, seed, count, rate, 0)
		changed := x.trained(t, seed, count, rate, 1e-6)
		if cudatest.Difference(changed.words, run.words) <= 3e-5 && cudatest.Difference(changed.contexts, run.contexts) <= 3e-5 {
			return seed, run
		}
	}
	t.Fatalf("rounding grows with every seed from %d on", first)
	return 0, run
}

func newTempered(t testing.TB, d *cuda.Device, m *wordcontext.Matrix, noise *corpus.Alias, x temperedCase, seed uint64) *Kernels {
	t.Helper()
	k, err := New(d, Options{
		Rows: m.Rows(), Dim: x.dim, Negatives: x.negatives, SharedNegatives: x.shared, Shares: sharesOf(m), Seed: seed, Alias: noise.Table(), DrawShared: func(dst []uint32, iteration, step int) { noise.DrawSpread(dst, seed, iteration, step) },
		Method: string(x.method), Beta1: 0.9, Beta2: optim.Options{Method: x.method}.WithDefaults().Beta2, Epsilon: smooth, WeightDecay: .1, HalfPrecision: x.half,
	})
	cudatest.Closes(t, k, err)
	return k
}

// trainSamples runs iterations on M, in series of at most so many. With host the samples come from
// there.
func trainSamples(t testing.TB, k *Kernels, m *wordcontext.Matrix, first, count, series int, rate float64, host bool) (losses, samples []float64) {
	t.Helper()
	if !host {
		if err := k.SetMatrix(m); err != nil {
			t.Fatal(err)
		}
	}
	for done := 0; done < count; {
		n := min(count-done, series, k.SeriesLength())
		if host {
			to, err := k.Samples(0)
			if err != nil {
				t.Fatal(err)
			}
			for step := range 2 {
				m.Samples(step, first+done, n, 0, m.Rows(), to[step*k.series*k.slots:])
			}
		}
		if err := k.Start(0, first+done, slices.Repeat([]float64{rate}, n)); err != nil {
			t.Fatal(err)
		}
		more, of, err := k.Wait(0)
		if err != nil {
			t.Fatal(err)
		}
		losses, samples = append(losses, more...), append(samples, of...)
		done += n
	}
	return losses, samples
}

// frequentText has a word without contexts, and others of which the most frequent comes in every sixth place.
func frequentText(seed uint64) string {
	return loneWord + corpustest.Zipf(seed, 20_000, 700, 40)
}

// After a graph and a rest, training ends in the tables of the Gorgonia graph.
func TestTempered(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range temperedCases(false) {
		t.Run(x.String(), func(t *testing.T) { testTempered(t, d, x) })
	}
}

func testTempered(t *testing.T, d *cuda.Device, x temperedCase) {
	t.Helper()
	const count = SeriesLength + 8
	rate := 1e-3
	if x.method == optim.RMSProp {
		rate = 2e-4 // its first steps are so long that rounding grows a hundredfold
	}
	seed, want := x.steady(t, count, rate)
	_, k, m := newTemperedCase(t, d, frequentText(seed), x, seed)
	losses, samples := trainSamples(t, k, m, 0, count, 100, rate, false)
	for n, loss := range want.losses {
		if !(math.Abs(losses[n]-loss) <= 5e-4*loss) { // Adam's tables are 2e-4 apart by then
			t.Fatalf("seed %d, iteration %d: loss %v, want %v", seed, n, losses[n], loss)
		}
		if pairs := samples[n] * float64(1+x.negatives); pairs != want.pairs[n] {
			t.Fatalf("seed %d, iteration %d: %v pairs, want %v", seed, n, pairs, want.pairs[n])
		}
	}
	tolerance := 1e-4
	if x.shared > 0 && methodOf(string(x.method)).Second {
		tolerance = 4e-4 // the products have 16 bits of 24; without second moments of values the tables differ by a tenth of the usual tolerance
	}
	words, contexts := received(t, k)
	cudatest.Near(t, fmt.Sprintf("seed %d: words", seed), words, want.words, tolerance)
	cudatest.Near(t, fmt.Sprintf("seed %d: contexts", seed), contexts, want.contexts, tolerance)
}

// temperedReference computes in plain Go as the kernels of rounded.cuh do.
type temperedReference struct {
	*halfReference
	m *wordcontext.Matrix
}

// train runs both steps of an iteration and returns its loss.
func (r temperedReference) train(iteration int, rate float64) (loss float64) {
	slots := r.m.Slots()
	samples := make([]uint32, slots[r.Rows])
	for side := range 2 {
		r.m.Samples(side, iteration, 1, 0, r.Rows, samples)
		for i := range r.Rows {
			_, count := r.m.Share(i, iteration, side)
			if count == 0 {
				continue
			}
			s := r.step(iteration, side, rate)
			adam := r.optimizer().Step(r.m.Updates(i, iteration), rate)
			s.Scale, s.Epsilon = adam.Scale, adam.Epsilon
			if r.Method == "sgd" {
				root := math.Sqrt(float64(count))
				s.Rate, s.Keep = float32(rate*root), float32(1-rate*root*r.WeightDecay)
			}
			gradient, lossOfRow := r.gradientOf(s, side, i, samples[slots[i]:][:count])
			loss += lossOfRow
			r.update(s, side, i, gradient)
		}
	}
	return loss
}

func (r temperedReference) gradientOf(s cuda.StepNumbers, side, i int, positives []uint32) (g []float32, loss float64) {
	g = make([]float32, r.Dim)
	if positives[0] == wordcontext.NoContext {
		return g, 0
	}
	left, right := r.tables[side][i*r.Dim:][:r.Dim], r.tables[1-side]
	count := float64(len(positives))
	add := func(target uint32, positive, shared bool, weight, lossWeight float64) {
		row := right[int(target)*r.Dim:][:r.Dim]
		score := 0.0
		for j, x := range row {
			l := left[j]
			if shared {
				l = bfloat16(l)
			}
			score += float64(l) * float64(bfloat16(x))
		}
		c := 1 / (1 + math.Exp(-score))
		if positive {
			c--
			score = -score
		}
		loss += lossWeight * math.Log1p(math.Exp(score))
		if c *= weight; shared {
			c = float64(bfloat16(float32(c)))
		}
		for j, x := range row {
			g[j] += float32(c * float64(bfloat16(x)))
		}
	}
	for _, p := range positives {
		add(p, true, false, 1/count, 1)
	}
	draw := func(n uint64) uint32 {
		return r.noise.Draw(corpus.Philox(r.Seed, corpus.StreamNegatives.Sub(s.Stream), n/4)[n%4])
	}
	negatives := make([]uint32, r.SharedNegatives)
	if len(negatives) > 0 {
		r.DrawShared(negatives, int(s.Stream/2), int(s.Stream%2))
	}
	for _, h := range negatives {
		weight := float64(r.Negatives) / float64(r.SharedNegatives)
		add(h, false, true, weight, count*weight)
	}
	for n := range r.Negatives {
		if r.SharedNegatives == 0 {
			add(draw(uint64(i*r.Negatives+n)), false, false, 1, count)
		}
	}
	return g, loss
}

// With half precision tables and moments equal those of plain Go; see TestCLHalf.
func TestTemperedHalf(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range temperedCases(true) {
		t.Run(x.String(), func(t *testing.T) {
			const rate = 1e-3
			seed := cudatest.FreshSeed(t)
			text := loneWord + corpustest.Zipf(seed, 6000, 300, 40)
			start, k, m := newTemperedCase(t, d, text, x, seed)
			_, noise := corpustest.Read(t, text)
			words, contexts := start.Tables()
			reference := temperedReference{newHalfReference(k.options, noise, words, contexts), m}
			first := 0
			for _, part := range []struct {
				count           int
				tables, moments float64 // tolerances
			}{{2, 1.5e-3, 4e-3}, {10, 4e-3, 8e-3}} {
				losses, _ := trainSamples(t, k, m, first, part.count, 100, rate, false)
				for n := range part.count {
					if want := reference.train(first+n, rate); !(math.Abs(losses[n]-want) <= 1e-4*want) {
						t.Fatalf("iteration %d: loss %v, want %v", first+n, losses[n], want)
					}
				}
				first += part.count
				if x.method == optim.SGD {
					part.tables = 5e-4
				}
				reference.compare(t, k, part.tables, part.moments)
			}
		})
	}
}

// Two runs give the same bits, losses too: with other series, samples of the host, and after
// the state was saved.
func TestTemperedRepeats(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range []temperedCase{
		{100, 5, 0, optim.Adam, 0, 0, 0, false}, {100, 5, 64, optim.Adam, .75, 4, 512, false}, {500, 5, 64, optim.Adam, .75, 4, 512, false}, {500, 5, 64, optim.AdamRow, 1, 8, 0, true},
		{100, 5, 64, optim.Adam, 1, .7, 0, true}, {300, 5, 0, optim.SGD, .75, 4, 512, false},
	} {
		t.Run(fmt.Sprint(x, x.half), func(t *testing.T) {
			const rate = 1e-2
			text := frequentText(5)
			_, k, m := newTemperedCase(t, d, text, x, 9)
			_, noise := corpustest.Read(t, text)
			losses, _ := trainSamples(t, k, m, 0, 70, 100, rate, false)
			words, contexts := received(t, k)

			reference, other, _ := newTemperedCase(t, d, text, x, 9)
			got, _ := trainSamples(t, other, m, 0, 41, 7, rate, true)
			resumed := newTempered(t, d, m, noise, x, 9)
			for _, tensor := range reference.State() {
				values := make([]float32, len(tensor.Data))
				if err := other.Receive(tensor.Name, values); err != nil {
					t.Fatal(err)
				}
				if err := resumed.Send(tensor.Name, values); err != nil {
					t.Fatal(err)
				}
			}
			more, _ := trainSamples(t, resumed, m, 41, 29, 100, rate, false)
			gotWords, gotContexts := received(t, resumed)
			if !slices.Equal(words, gotWords) || !slices.Equal(contexts, gotContexts) {
				t.Error("two runs end in different tables")
			}
			if !slices.Equal(losses, append(got, more...)) {
				t.Error("two runs have different losses")
			}
		})
	}
}

// The driver's compiler makes the same of the kernels for other GPUs.
func TestTemperedPortable(t *testing.T) {
	for _, half := range []bool{false, true} {
		d := cudatest.Open(t)
		d.Portable()
		x := temperedCase{100, 5, 64, optim.Adam, .75, 4, 512, half}
		reference, k, m := newTemperedCase(t, d, frequentText(3), x, 4)
		losses, _ := trainSamples(t, k, m, 0, 3, 100, 1e-3, false)
		for n, got := range losses {
			report, err := reference.Advance(t.Context(), n, 1e-3)
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(got-report.Loss) <= 1e-3*report.Loss) {
				t.Errorf("half %v, iteration %d: loss %v, want %v", half, n, got, report.Loss)
			}
		}
	}
}
