package graph

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph/step"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// skewedCorpus makes a corpus of random sentences in which word i is about 1/(i+1)
// as frequent as the first. The last word, if there are three, is alone in all its
// sentences.
func skewedCorpus(t testing.TB, r *rand.Rand, v, sentences int) *corpus.Corpus {
	t.Helper()
	c := smallCorpus(t, r, v, 0)
	add := func(words ...uint32) {
		for _, w := range words {
			c.Vocabulary.Counts[w]++
		}
		c.Tokens = append(c.Tokens, words...)
		c.Sentences = append(c.Sentences, len(c.Tokens))
	}
	most := v
	if v > 2 {
		add(uint32(v - 1))
		most--
	}
	for range sentences {
		words := make([]uint32, 2+r.IntN(10))
		for i := range words {
			words[i] = uint32(math.Pow(float64(most), r.Float64())+1e-9) - 1
		}
		add(words...)
	}
	return c
}

// A stepCase is a matrix and a model over it.
type stepCase struct {
	v, l             int
	tempering, mean  float64
	most             int
	dim, own, shared int
	method           optim.Method
}

func (x stepCase) String() string {
	return fmt.Sprintf("%d words, l %d, tempering %.2f, %.2f positives, most %d, dim %d, %d negatives, %d shared, %s",
		x.v, x.l, x.tempering, x.mean, x.most, x.dim, x.own, x.shared, x.method)
}

// stepCases has every dimension and number of shared negatives, with the rest at
// random; the paper's step at the smallest sizes and sizes around blocks; and long rows.
func stepCases(r *rand.Rand) (cases []stepCase) {
	pick := func(from []float64) float64 { return from[r.IntN(len(from))] }
	for _, dim := range []int{1, 3, 16, 50, 100, 300} {
		for _, shared := range []int{0, 1, 5, 16, 64, 100} {
			cases = append(cases, stepCase{
				v: []int{1, 2, 7, 60, 200}[r.IntN(5)], l: 1 + r.IntN(30),
				tempering: pick([]float64{0, .5, .75, 1}), mean: pick([]float64{.3, 1, 2, 4.5, 9}), most: []int{0, 1, 3, 20, 200}[r.IntN(5)],
				dim: dim, own: 1 + r.IntN(7), shared: shared,
				method: optim.Methods()[r.IntN(len(optim.Methods()))].Name,
			})
		}
	}
	for _, d := range optim.Methods() {
		for _, s := range [][3]int{ // words, dimension, negatives
			{1, 1, 1}, {2, 1, 5}, {1, 17, 5}, {5, 17, 1}, {127, 16, 5}, {128, 16, 5}, {129, 100, 5}, {40, 500, 5}, {33, 15, 10}, {255, 33, 12},
		} {
			cases = append(cases, stepCase{v: s[0], l: 1 + r.IntN(30), mean: 1, dim: s[1], own: s[2], method: d.Name})
		}
		cases = append(cases,
			stepCase{v: 50, l: 8, tempering: 1, mean: 12, most: 160, dim: 20, own: 5, shared: 16, method: d.Name},
			stepCase{v: 20, l: 5, mean: 130, dim: 9, own: 5, method: d.Name})
	}
	return cases
}

func (x stepCase) matrix(t testing.TB, r *rand.Rand) *wordcontext.Matrix {
	t.Helper()
	m, err := wordcontext.Build(context.Background(), skewedCorpus(t, r, x.v, 5*x.v+10), wordcontext.Options{
		Window: 2, Contexts: x.l, Passes: 1, Seed: r.Uint64(), Tempering: x.tempering, Positives: x.mean, MaxPositives: x.most,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func (x stepCase) options(threads int) Options {
	c := testOptions(x.dim, x.own, threads, x.method)
	c.SharedNegatives = x.shared
	return c
}

// randomState gives all tables and moments of a trainer random values that a training
// could have; all trainers the same ones for a seed.
func randomState(s *CL, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	for _, x := range s.State() {
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64() / math.Sqrt(float64(s.options.Dim)))
			if x.Name == "words.second-moment" || x.Name == "contexts.second-moment" {
				x.Data[i] = .01 + .05*x.Data[i]*x.Data[i]
			}
		}
	}
}

func newCL(t testing.TB, m *wordcontext.Matrix, iterations int, c Options) *CL {
	t.Helper()
	s, err := NewCL(m, contextNoise(t, m), iterations, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// An iteration against the definition in float64, at any iteration and from any state: tables, moments, loss, pairs.
func TestStepAgainstDefinition(t *testing.T) {
	r := freshRandom(t)
	for _, x := range stepCases(r) {
		m := x.matrix(t, r)
		iteration, seed := r.IntN(3*x.l), r.Uint64()
		s := newCL(t, m, iteration+1, x.options(2))
		randomState(s, seed)
		checkAgainstDefinition(t, fmt.Sprintf("%s, iteration %d", x, iteration), s, iteration)
	}
}

// checkIterations compares a few iterations, each from a random state, with their definition.
func checkIterations(t *testing.T, r *rand.Rand, x stepCase, m *wordcontext.Matrix, c Options) {
	t.Helper()
	for _, iteration := range []int{0, 7, 33} {
		s := newCL(t, m, iteration+1, c)
		randomState(s, r.Uint64())
		checkAgainstDefinition(t, fmt.Sprintf("%s, iteration %d", x, iteration), s, iteration)
	}
}

// Both tables may be updated together, each against the old rows of the other.
func TestTogether(t *testing.T) {
	r := freshRandom(t)
	for _, d := range optim.Methods() {
		method := d.Name
		x := stepCase{v: 60, l: 20, tempering: r.Float64(), mean: 2, most: 20, dim: 16, own: 3, method: method}
		m := x.matrix(t, r)
		c := x.options(2)
		c.Together = true
		checkIterations(t, r, x, m, c)
	}
}

// Both steps of an iteration may train on the same samples.
func TestSameColumn(t *testing.T) {
	r := freshRandom(t)
	for _, tempering := range []float64{0, .75} {
		x := stepCase{v: 60, l: 20, tempering: tempering, mean: 1, most: 20, dim: 16, own: 3, method: optim.SGD}
		m := x.matrix(t, r)
		c := x.options(2)
		c.SameColumn = true
		checkIterations(t, r, x, m, c)
	}
}

func checkAgainstDefinition(t *testing.T, name string, s *CL, iteration int) {
	t.Helper()
	const rate = .01
	state := map[string]bounded{}
	for _, x := range s.State() {
		state[x.Name] = boundedOf(x.Data)
	}
	wantLoss, wantPairs := 0.0, 0.0
	old := bounded{slices.Clone(state["words"].want), slices.Clone(state["words"].slack)}
	for step, names := range [][2]string{{"words", "contexts"}, {"contexts", "words"}} {
		left, right := state[names[0]], state[names[1]]
		if step == 1 && s.options.Together {
			right = old
		}
		p := plainStep{s.matrix, s.options, s.steps[0].core.Sampler.Noise, iteration, step}
		for i := range s.matrix.Rows() {
			g, loss, samples := p.row(i, left.want, right)
			wantLoss += loss
			wantPairs += float64(samples * (1 + s.options.Negatives))
			if samples > 0 {
				p.update(i, samples, g, rate, left, state[names[0]+".first-moment"], state[names[0]+".second-moment"])
			}
		}
	}
	report, err := s.Advance(context.Background(), iteration, rate)
	if err != nil {
		t.Fatal(err)
	}
	if report.Pairs != wantPairs || math.Abs(report.Loss-wantLoss) > rounding*wantLoss {
		t.Errorf("%s: loss %v of %v pairs, want %v of %v", name, report.Loss, report.Pairs, wantLoss, wantPairs)
	}
	for _, x := range s.State() {
		want := state[x.Name]
		for i, y := range want.want {
			if d := math.Abs(float64(x.Data[i]) - y); !(d <= want.slack[i]) {
				t.Fatalf("%s: %s value %d is %v, want %v within %v", name, x.Name, i, x.Data[i], y, want.slack[i])
			}
		}
	}
}

// kindsOfSteps are the paper's, tempered ones, and those with shared negatives.
func kindsOfSteps(v, l, dim int, shared ...int) []stepCase {
	cases := []stepCase{{v: v, l: l, mean: 1, dim: dim, own: 5}}
	for _, h := range append([]int{0}, shared...) {
		cases = append(cases, stepCase{v: v, l: l, tempering: .75, mean: 3, most: 120, dim: dim, own: 5, shared: h})
	}
	return cases
}

// Threads change no bit, nor does a break at any iteration, nor the level of vector
// instructions above plain Go. Some of the runs pass the iterations that are read at a time, and
// the last of M.
func TestStepReproducible(t *testing.T) {
	best := simd.Current()
	t.Cleanup(func() { _ = simd.Use(best) })
	r := freshRandom(t)
	for j, d := range optim.Methods() {
		for i, x := range kindsOfSteps(500, 11, 18, 5, 32) {
			x.method = d.Name
			m := x.matrix(t, r)
			iterations := 27
			if i == j && i < 2 {
				iterations = step.MaxIterations + 25
			}
			whole, losses := train(t, m, x.options(1), 0, iterations, nil)
			want := copyState(whole)
			same := func(s *CL) bool {
				for i, y := range s.State() {
					if !slices.Equal(y.Data, want[i].data) {
						return false
					}
				}
				return true
			}
			counts := severalThreads()
			for _, threads := range counts[(i+j)%len(counts):][:1] { // each number with each kind, and with each method
				stop := 1 + r.IntN(iterations-1)
				first, start := train(t, m, x.options(threads), 0, stop, nil)
				got, end := train(t, m, x.options(threads), stop, iterations, copyState(first))
				if !same(got) || !slices.Equal(slices.Concat(start, end), losses) {
					t.Errorf("%s, %d threads with a break at %d: other bits", x, threads, stop)
				}
			}
			for _, level := range simd.Levels()[1:] {
				if testing.Short() { // assembly is nothing that the race detector sees
					break
				}
				if level == best { // the threads above have it
					continue
				}
				if err := simd.Use(level); err != nil {
					t.Fatal(err)
				}
				if got, _ := train(t, m, x.options(2), 0, iterations, nil); !same(got) {
					t.Errorf("%s, %s: other bits", x, level)
				}
			}
			if err := simd.Use(best); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Plain Go and every vector level keep the definition.
func TestStepLevels(t *testing.T) {
	best := simd.Current()
	t.Cleanup(func() { _ = simd.Use(best) })
	r := freshRandom(t)
	for _, x := range kindsOfSteps(70, 9, 33, 7, 64) {
		x.method = optim.Adam
		m := x.matrix(t, r)
		for _, level := range simd.Levels() {
			if err := simd.Use(level); err != nil {
				t.Fatal(err)
			}
			s := newCL(t, m, 20, x.options(2))
			randomState(s, 1)
			checkAgainstDefinition(t, fmt.Sprintf("%s, %s", level, x), s, 13)
		}
	}
}
