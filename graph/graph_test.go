package graph

import (
	"context"
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
	for _, method := range []optim.Method{optim.SGD, optim.AdamRow} {
		for _, s := range shapes {
			seed := r.Uint64()
			want, wantLoss := threeSteps(t, seed, s[0], testConfig(s[1], s[2], 1, FormStock, method))
			got, loss := threeSteps(t, seed, s[0], testConfig(s[1], s[2], 2, FormFused, method))
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
	for _, method := range []optim.Method{optim.SGD, optim.Adam, optim.AdamRow} {
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

// pairSteps trains random minibatches of pairs with many conflicts.
func pairSteps(t *testing.T, seed uint64, v int, c Config) ([]float32, []float32, float64) {
	t.Helper()
	c, err := c.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	words, contexts, err := newTables(v, c)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 2))
	copy(words.data, randomMatrix(r, v, c.Dim).Float32s())
	copy(contexts.data, randomMatrix(r, v, c.Dim).Float32s())
	batch := &pairBatch{width: 1 + c.Negatives}
	var s step
	var total float64
	for step, left := range []int{70, 70, 33, 1} {
		batch.words, batch.contexts = nil, nil
		for range left {
			word := uint32(r.IntN(v))
			for range batch.width {
				batch.words, batch.contexts = append(batch.words, word), append(batch.contexts, uint32(r.IntN(v)))
			}
		}
		if s == nil {
			if s, err = newPairStep(words, contexts, batch, c); err != nil {
				t.Fatal(err)
			}
		}
		words.optimizer.Begin(step+1, .01)
		contexts.optimizer.Begin(step+1, .01)
		loss, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		total += loss
	}
	return words.data, contexts.data, total
}

func TestPairStepFormsAgree(t *testing.T) {
	r := freshRandom(t)
	for _, s := range [][3]int{{1, 1, 1}, {7, 17, 5}, {50, 33, 2}, {500, 100, 5}} {
		seed := r.Uint64()
		wantW, wantC, wantLoss := pairSteps(t, seed, s[0], testConfig(s[1], s[2], 1, FormStock, optim.SGD))
		gotW, gotC, loss := pairSteps(t, seed, s[0], testConfig(s[1], s[2], 2, FormFused, optim.SGD))
		if math.Abs(loss-wantLoss) > 2e-5*wantLoss {
			t.Errorf("%v: loss %v, stock %v", s, loss, wantLoss)
		}
		if w, c := tableDifference(wantW, gotW), tableDifference(wantC, gotC); w > 3e-5 || c > 3e-5 {
			t.Errorf("%v: words differ by %v, contexts by %v", s, w, c)
		}
	}
}

func TestPairStepSameBitsForAnyThreads(t *testing.T) {
	seed := freshRandom(t).Uint64()
	wantW, wantC, wantLoss := pairSteps(t, seed, 60, testConfig(20, 5, 1, FormFused, optim.Adam))
	for _, threads := range []int{2, 3, 7} {
		w, c, loss := pairSteps(t, seed, 60, testConfig(20, 5, threads, FormFused, optim.Adam))
		if loss != wantLoss || !slices.Equal(w, wantW) || !slices.Equal(c, wantC) {
			t.Errorf("%d threads give other bits than one", threads)
		}
	}
}

func TestGrouping(t *testing.T) {
	r := freshRandom(t)
	var g grouping
	for _, n := range []int{0, 1, 5, 100} { // one grouping, used again and again
		keys, others := make([]uint32, n), make([]uint32, n)
		for e := range keys {
			keys[e], others[e] = uint32(r.IntN(9)), uint32(r.IntN(9))
		}
		g.group(9, keys, others)
		seen := 0
		for i, row := range g.rows {
			last := -1
			for j := g.starts[i]; j < g.starts[i+1]; j++ {
				e := g.entries[j]
				if keys[e] != row || others[e] != g.others[j] || e <= last {
					t.Fatalf("n=%d: entry %d stands at %d of row %d", n, e, j, row)
				}
				last = e
				seen++
			}
		}
		if seen != n {
			t.Fatalf("n=%d: %d entries", n, seen)
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

// pairs lists the pairs of an epoch in the plainest way.
func pairs(c *corpus.Corpus, o VanillaOptions, seed uint64, epoch uint32) (list [][2]uint32) {
	keep := corpus.KeepThresholds(c.Vocabulary.Counts, o.Sample)
	word := func(s corpus.Stream, i int) uint32 { return corpus.Philox(seed, s.Sub(epoch), uint64(i/4))[i%4] }
	for s := range len(c.Sentences) - 1 {
		var kept, places []int
		for i := c.Sentences[s]; i < c.Sentences[s+1]; i++ {
			if word(corpus.StreamSubsample, i) <= keep[c.Tokens[i]] {
				kept, places = append(kept, int(c.Tokens[i])), append(places, i)
			}
		}
		for t := range kept {
			w := o.Window
			if o.DynamicWindow {
				w = 1 + int(corpus.Below(word(corpus.StreamWindow, places[t]), uint32(o.Window)))
			}
			for u := t - w; u <= t+w; u++ {
				if u >= 0 && u < len(kept) && u != t {
					list = append(list, [2]uint32{uint32(kept[t]), uint32(kept[u])})
				}
			}
		}
	}
	return list
}

func TestPairReader(t *testing.T) {
	r := freshRandom(t)
	for _, o := range []VanillaOptions{{Window: 1}, {Window: 2}, {Window: 20}, {Window: 5, DynamicWindow: true}, {Window: 3, Sample: .01, DynamicWindow: true}} {
		c := smallCorpus(t, r, 30, 40)
		seed := r.Uint64()
		p := &pairReader{sampler: corpus.NewSampler(c, o.sampling(seed)), window: o.Window, epoch: 3, end: len(c.Sentences) - 1}
		var got [][2]uint32
		for {
			w, x, ok := p.next()
			if !ok {
				break
			}
			got = append(got, [2]uint32{w, x})
		}
		if want := pairs(c, o, seed, 3); !slices.Equal(got, want) {
			t.Errorf("%+v: %d pairs, want %d", o, len(got), len(want))
		}
	}
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

func TestVanillaTrains(t *testing.T) {
	r := freshRandom(t)
	c := smallCorpus(t, r, 20, 3000)
	o := VanillaOptions{Window: 2, Batch: 64, Epochs: 3}
	v, err := NewVanilla(c, uniformNoise(t, 20), o, testConfig(10, 3, 2, FormFused, optim.Adam))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var words, pairsSeen float64
	var losses []float64
	for unit := range v.Units() {
		report, err := v.Advance(context.Background(), unit, .01)
		if err != nil {
			t.Fatal(err)
		}
		words += report.Words
		pairsSeen += report.Pairs
		losses = append(losses, report.Loss/report.Pairs)
	}
	if want := float64(o.Epochs * len(c.Tokens)); words != want {
		t.Errorf("trained on %v words, want %v", words, want)
	}
	if want := float64(4 * o.Epochs * len(pairs(c, o, 0, 0))); pairsSeen != want {
		t.Errorf("trained on %v pairs, want %v", pairsSeen, want)
	}
	if losses[len(losses)-1] >= losses[0] {
		t.Errorf("loss went from %v to %v", losses[0], losses[len(losses)-1])
	}
}

func TestErrors(t *testing.T) {
	good := testConfig(4, 2, 1, FormFused, optim.Adam)
	c := smallCorpus(t, rand.New(rand.NewPCG(1, 1)), 5, 5)
	options := VanillaOptions{Window: 2, Batch: 8, Epochs: 1}
	for _, test := range []struct {
		says   string
		change func(*Config, *VanillaOptions)
	}{
		{"dimension", func(c *Config, _ *VanillaOptions) { c.Dim = 0 }},
		{"negatives", func(c *Config, _ *VanillaOptions) { c.Negatives = 0 }},
		{"threads", func(c *Config, _ *VanillaOptions) { c.Threads = -1 }},
		{"form", func(c *Config, _ *VanillaOptions) { c.Form = "quick" }},
		{"optimizer", func(c *Config, _ *VanillaOptions) { c.Optimizer.Method = "" }},
		{"window", func(_ *Config, o *VanillaOptions) { o.Window = 0 }},
		{"subsampling", func(_ *Config, o *VanillaOptions) { o.Sample = math.NaN() }},
		{"batch", func(_ *Config, o *VanillaOptions) { o.Batch = 0 }},
		{"epochs", func(_ *Config, o *VanillaOptions) { o.Epochs = 0 }},
	} {
		config, o := good, options
		test.change(&config, &o)
		if _, err := NewVanilla(c, uniformNoise(t, 5), o, config); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("error is %v, want one about %s", err, test.says)
		}
	}
	if _, err := NewVanilla(c, uniformNoise(t, 4), options, good); err == nil {
		t.Error("no error for noise over another vocabulary")
	}
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

// The vector kernel and the definition of the generator are one: negative k of
// row i is number iK+k of the step's stream, wherever a block begins.
func TestDrawsAreCorpusPhilox(t *testing.T) {
	r := freshRandom(t)
	seed, stream := r.Uint64(), corpus.StreamNegatives.Sub(r.Uint32())
	word := func(i uint64) uint32 { return corpus.Philox(seed, stream, i/4)[i%4] }
	d := newDraws(seed, stream, 5)
	for i := range uint64(100) {
		if got := d.next(); got != word(i+5) {
			t.Fatalf("word %d is %x, want %x", i+5, got, word(i+5))
		}
	}
	const v = 300
	column := make([]uint32, v)
	for i := range column {
		column[i] = uint32(r.IntN(v))
	}
	for _, k := range []int{1, 2, 3, 5, 8} {
		s := &sampler{noise: uniformNoise(t, v), seed: seed, stream: stream, column: column, negatives: k}
		for first := 0; first < v; first += blockRows {
			rows := min(blockRows, v-first)
			dst := make([]uint32, rows*(1+k))
			s.fill(first, dst)
			for i := range rows {
				row := first + i
				if dst[i*(1+k)] != column[row] {
					t.Fatalf("K=%d row %d: positive %d, want %d", k, row, dst[i*(1+k)], column[row])
				}
				for n := range k {
					if want := s.noise.Draw(word(uint64(row*k + n))); dst[i*(1+k)+1+n] != want {
						t.Fatalf("K=%d row %d negative %d: %d, want %d", k, row, n, dst[i*(1+k)+1+n], want)
					}
				}
			}
		}
	}
}
