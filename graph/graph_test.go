package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// shapes are the smallest sizes and sizes around the kernels' blocks:
// vocabulary, dimension, negatives.
var shapes = [][3]int{
	{1, 1, 1}, {2, 1, 5}, {1, 17, 5}, {5, 17, 1}, {blockRows, 16, 5}, {blockRows + 1, 100, 5},
	{40, 500, 5}, {33, 15, 10}, {2*blockRows - 1, 33, 12},
}

func freshRandom(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func randomMatrix(r *rand.Rand, rows, n int) *tensor.Dense {
	data := make([]float32, rows*n)
	for i := range data {
		data[i] = float32(r.NormFloat64()) / float32(math.Sqrt(float64(n)))
	}
	return dense(data, rows, n)
}

func randomList(r *rand.Rand, rows, v, negatives int) *List {
	l := &List{Width: 1 + negatives, Rows: make([]uint32, rows*(1+negatives))}
	for i := range l.Rows {
		l.Rows[i] = uint32(r.IntN(v))
	}
	return l
}

// tableDifference is the largest difference relative to the largest value, or to
// 0.1 where all are smaller: after updates a value may be a sum of large terms that cancel, and
// keeps their rounding.
func tableDifference(a, b []float32) float64 { return differenceOver(a, b, 0.1) }

func differenceOver(a, b []float32, least float64) float64 {
	difference, size := 0.0, least
	for i := range a {
		difference = max(difference, math.Abs(float64(a[i])-float64(b[i])))
		size = max(size, math.Abs(float64(a[i])))
	}
	return difference / size
}

// fusedLossAndGradient runs SkipGramLoss with Gorgonia's Grad.
func fusedLossAndGradient(t *testing.T, left, right *tensor.Dense, list *List, threads int) (float64, []float32) {
	t.Helper()
	g := gorgonia.NewGraph()
	x := matrix(g, "left", left)
	loss, err := SkipGramLoss(x, matrix(g, "right", right), list, threads)
	if err != nil {
		t.Fatal(err)
	}
	gradients, err := gorgonia.Grad(loss, x)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMachine(g)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if err := m.run(); err != nil {
		t.Fatal(err)
	}
	return float64(loss.Value().Data().(float32)), gradients[0].Value().(*tensor.Dense).Float32s()
}

func TestFusedEqualsStock(t *testing.T) {
	r := freshRandom(t)
	for _, s := range shapes {
		v, n, k := s[0], s[1], s[2]
		left, right, list := randomMatrix(r, v, n), randomMatrix(r, v, n), randomList(r, v, v, k)
		stock, err := newStockLoss(left, 1+k, false)
		if err != nil {
			t.Fatal(err)
		}
		wantLoss, err := stock.run(list, right)
		if err != nil {
			t.Fatal(err)
		}
		want, err := stock.gradient(0)
		if err != nil {
			t.Fatal(err)
		}
		loss, gradient := fusedLossAndGradient(t, left, right, list, 2)
		if math.Abs(loss-wantLoss) > 1e-5*wantLoss {
			t.Errorf("V=%d N=%d K=%d: fused loss %v, stock %v", v, n, k, loss, wantLoss)
		}
		// A gradient is a sum of right rows, each times a sigmoid; with V = 1 they
		// all but cancel, so the least scale is half the largest right value.
		least := float64(max(slices.Max(right.Float32s()), -slices.Min(right.Float32s()))) / 2
		if d := differenceOver(want.Float32s(), gradient, least); d > 1e-5 {
			t.Errorf("V=%d N=%d K=%d: gradients differ by %v", v, n, k, d)
		}
	}
}

// The loss itself against its definition in float64, and the gradient against
// finite differences of that.
func TestLossDefinition(t *testing.T) {
	r := freshRandom(t)
	const v, n, k = 4, 3, 2
	left, right, list := randomMatrix(r, v, n), randomMatrix(r, v, n), randomList(r, v, v, k)
	definition := func(x []float64) (loss float64) {
		for i := range v {
			for c := range 1 + k {
				var s float64
				for j := range n {
					s += x[i*n+j] * float64(right.Float32s()[int(list.Rows[i*(1+k)+c])*n+j])
				}
				if c == 0 {
					s = -s
				}
				loss += math.Log1p(math.Exp(s))
			}
		}
		return loss
	}
	x := make([]float64, v*n)
	for i, f := range left.Float32s() {
		x[i] = float64(f)
	}
	loss, gradient := fusedLossAndGradient(t, left, right, list, 1)
	if want := definition(x); math.Abs(loss-want) > 1e-5*want {
		t.Errorf("loss %v, by definition %v", loss, want)
	}
	for i := range x {
		const h = 1e-5
		y := slices.Clone(x)
		y[i] += h
		up := definition(y)
		y[i] -= 2 * h
		want := (up - definition(y)) / (2 * h)
		if math.Abs(float64(gradient[i])-want) > 1e-4 {
			t.Errorf("gradient[%d] = %v, by finite difference %v", i, gradient[i], want)
		}
	}
}

// The gradient of a multiple of the loss is that multiple.
func TestGradientChain(t *testing.T) {
	r := freshRandom(t)
	left, right, list := randomMatrix(r, 3, 5), randomMatrix(r, 3, 5), randomList(r, 3, 3, 2)
	_, want := fusedLossAndGradient(t, left, right, list, 1)
	want = slices.Clone(want)
	g := gorgonia.NewGraph()
	x := matrix(g, "left", left)
	loss, err := SkipGramLoss(x, matrix(g, "right", right), list, 1)
	if err != nil {
		t.Fatal(err)
	}
	tripled := gorgonia.Must(gorgonia.Mul(loss, gorgonia.NewConstant(float32(3))))
	gradients, err := gorgonia.Grad(tripled, x)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newMachine(g)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for range 2 { // twice: the second run must not scale again
		if err := m.run(); err != nil {
			t.Fatal(err)
		}
		got := gradients[0].Value().(*tensor.Dense).Float32s()
		for i := range got {
			if math.Abs(float64(got[i]-3*want[i])) > 1e-5 {
				t.Fatalf("gradient of 3*loss is %v, want 3*%v", got[i], want[i])
			}
		}
	}
}

func testConfig(dim, negatives, threads int, form Form, method optim.Method) Config {
	return Config{Dim: dim, Negatives: negatives, Seed: 7, Threads: threads, Form: form,
		Optimizer: optim.Config{Method: method, WeightDecay: .1}}
}

// threeSteps runs three steps on random tables and returns the left one.
func threeSteps(t *testing.T, seed uint64, v int, c Config) ([]float32, float64) {
	t.Helper()
	c, err := c.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	words, contexts, err := newTables(v, c)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	copy(words.data, randomMatrix(r, v, c.Dim).Float32s())
	copy(contexts.data, randomMatrix(r, v, c.Dim).Float32s())
	list := &List{Width: 1 + c.Negatives}
	s, err := newTableStep(words, contexts, list, team.New(c.Threads), c)
	if err != nil {
		t.Fatal(err)
	}
	var total float64
	for step := 1; step <= 3; step++ {
		*list = *randomList(r, v, v, c.Negatives)
		if v > 2 {
			list.Rows[(v-1)*list.Width] = noTarget // a word without contexts
		}
		words.optimizer.Begin(step, .01)
		loss, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		total += loss
	}
	if err := s.compiled().close(); err != nil {
		t.Fatal(err)
	}
	return words.data, total
}

func TestStepFormsAgree(t *testing.T) {
	r := freshRandom(t)
	for _, method := range optim.Names() {
		for _, s := range shapes {
			seed := r.Uint64()
			train := func(threads int, form Form) ([]float32, float64) {
				c := testConfig(s[1], s[2], threads, form, method)
				c.Optimizer.Epsilon = 1e-2 // else a first step is the sign of a gradient, be it rounding
				return threeSteps(t, seed, s[0], c)
			}
			want, wantLoss := train(1, FormStock)
			got, loss := train(2, FormFused)
			if math.Abs(loss-wantLoss) > 2e-5*wantLoss {
				t.Errorf("%s %v: loss %v, stock %v", method, s, loss, wantLoss)
			}
			if d := tableDifference(want, got); d > 2e-5 {
				t.Errorf("%s %v: tables differ by %v", method, s, d)
			}
		}
	}
}

func TestStepSameBitsForAnyThreads(t *testing.T) {
	r := freshRandom(t)
	for _, method := range optim.Names() {
		seed := r.Uint64()
		want, wantLoss := threeSteps(t, seed, 1000, testConfig(20, 5, 1, FormFused, method))
		for _, threads := range []int{2, 3, 7} {
			got, loss := threeSteps(t, seed, 1000, testConfig(20, 5, threads, FormFused, method))
			if loss != wantLoss || !slices.Equal(got, want) {
				t.Errorf("%s: %d threads give other bits than one", method, threads)
			}
		}
	}
}

// A row without targets in the middle of a strip adds nothing to its loss, not
// even a rounding.
func TestWithoutLoss(t *testing.T) {
	const width = 6
	for n := range 4 {
		scores, loss := make([]float32, n*width), simd.NewLoss()
		for row := range slices.Chunk(scores, width) {
			withoutLoss(row)
		}
		simd.Gradients(make([]float32, n*width), scores, kindsOf(n*width, width), descent, &loss)
		if got := loss.Total(); got != 0 {
			t.Errorf("%d rows: loss %v", n, got)
		}
	}
}

// smallCorpus makes a corpus of random sentences, some of one word.
func smallCorpus(t testing.TB, r *rand.Rand, v, sentences int) *corpus.Corpus {
	t.Helper()
	words, counts := make([]string, v), make([]uint64, v)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", i)
	}
	vocabulary, err := corpus.NewVocabulary(words, counts)
	if err != nil {
		t.Fatal(err)
	}
	c := &corpus.Corpus{Vocabulary: vocabulary, Sentences: []int{0}}
	for range sentences {
		for range 1 + r.IntN(12) {
			w := uint32(r.IntN(v))
			counts[w]++
			c.Tokens = append(c.Tokens, w)
		}
		c.Sentences = append(c.Sentences, len(c.Tokens))
	}
	return c
}

func uniformNoise(t testing.TB, n int) *corpus.Alias {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1
	}
	a, err := corpus.NewAlias(weights)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A panic inside Gorgonia comes out as an error.
func TestPanicIsError(t *testing.T) {
	err := func() (err error) {
		defer operation.Recovered("test", &err)
		panic("boom")
	}()
	if err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("error is %v", err)
	}
}

func TestSkipGramBadInput(t *testing.T) {
	r := freshRandom(t)
	left, right := randomMatrix(r, 3, 4), randomMatrix(r, 2, 4)
	good := []uint32{0, 1, 1, 0, noTarget, noTarget}
	for _, test := range []struct {
		says string
		list List
	}{
		{"4 targets, 2 a row, for 3 rows", List{2, good[:4]}},
		{"6 targets, 0 a row", List{0, good}},
		{"target 3 is row 2 of a table of 2 rows", List{2, []uint32{0, 1, 1, 2, 0, 0}}},
	} {
		if _, err := newSkipGram(&test.list, team.New(2), nil).Do(left, right); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("error is %v, want %s", err, test.says)
		}
	}
	op := newSkipGram(&List{2, good}, team.New(2), nil)
	if _, err := op.Do(left, right); err != nil {
		t.Error(err)
	}
	if _, err := op.Do(left, randomMatrix(r, 3, 5)); err == nil || !strings.Contains(err.Error(), "columns") {
		t.Errorf("error is %v, want one about columns", err)
	}
}
