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
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

func newStretches(t testing.TB, c *corpus.Corpus, words, shared int, seed uint64) *wordcontext.Stretches {
	t.Helper()
	s, err := wordcontext.NewStretches(c, wordcontext.StretchOptions{Words: words, Window: 3, Dynamic: true, Sample: .05, Shared: shared, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// randomParts returns a composition of words with 0 to 5 parts of few, so that words share them.
func randomParts(r *rand.Rand, words, dim int, own bool) *composed.Composition {
	all := 3 + r.IntN(20)
	x := &composed.Composition{Dim: dim, Starts: []uint32{0}, Parts: make([]float32, all*dim), Rate: .7}
	for range words {
		for range r.IntN(6) {
			x.Symbols = append(x.Symbols, uint32(r.IntN(all)))
		}
		if !own && len(x.Symbols) == int(x.Starts[len(x.Starts)-1]) {
			x.Symbols = append(x.Symbols, 0)
		}
		x.Starts = append(x.Starts, uint32(len(x.Symbols)))
	}
	for range r.IntN(2) * all {
		x.Sizes = append(x.Sizes, uint32(1+r.IntN(3)))
	}
	if own {
		x.Own = make([]float32, words*dim)
	}
	x.Randomize = func(seed uint64) {
		trainer.Randomize(x.Parts, dim, seed)
		trainer.Randomize(x.Own, dim, seed+1)
	}
	return x
}

func size(c *composed.Composition, part uint32) uint32 {
	if c.Sizes == nil {
		return 1
	}
	return c.Sizes[part]
}

func newCBOW(t testing.TB, s *wordcontext.Stretches, iterations int, c Options) *CBOW {
	t.Helper()
	m, err := NewCBOW(s, iterations, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// A cbowCase is a random problem.
type cbowCase struct {
	name    string
	corpus  *corpus.Corpus
	words   int // of a stretch
	window  int
	options Options
	parts   func() *composed.Composition // anew, equal each time; nil: words are a table
}

func cbowCases(t testing.TB, r *rand.Rand) (cases []cbowCase) {
	for i, method := range []optim.Method{optim.Adam, optim.SGD, optim.AdamRow, optim.SGD, optim.Adam} {
		v, n := 2+r.IntN(60), 1+r.IntN(40)
		o := testOptions(n, 1+r.IntN(5), 1+r.IntN(3), method)
		o.SharedNegatives, o.Optimizer.WeightDecay = 1+r.IntN(20), .1*float64(r.IntN(2))
		window := []int{1, 3, 70}[r.IntN(3)] // the widest: more than a block
		o.Positions = 2 * window * r.IntN(2)
		x := cbowCase{
			name:   fmt.Sprintf("%d words, dim %d, %s, K %d, H %d, window %d, %d positions, case %d", v, n, method, o.Negatives, o.SharedNegatives, window, o.Positions, i),
			corpus: smallCorpus(t, r, v, 1+r.IntN(60)), words: 1 + r.IntN(700), window: window, options: o,
		}
		if i >= 2 {
			seed, own := r.Uint64(), i < 4
			x.parts = func() *composed.Composition {
				return randomParts(rand.New(rand.NewPCG(seed, 1)), x.corpus.Vocabulary.Len(), n, own)
			}
		}
		cases = append(cases, x)
	}
	return cases
}

func (x cbowCase) stretches(t testing.TB) *wordcontext.Stretches {
	t.Helper()
	s, err := wordcontext.NewStretches(x.corpus, wordcontext.StretchOptions{
		Words: x.words, Window: x.window, Dynamic: x.options.Positions == 0, Sample: .05, Shared: x.options.SharedNegatives, Seed: 7,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (x cbowCase) new(t testing.TB, iterations int, change func(*Options)) *CBOW {
	t.Helper()
	o := x.options
	if x.parts != nil {
		o.Composition = x.parts()
	}
	if change != nil {
		change(&o)
	}
	return newCBOW(t, x.stretches(t), iterations, o)
}

func advance(t testing.TB, m *CBOW, from, to int) (reports []trainer.Report) {
	t.Helper()
	for unit := from; unit < to; unit++ {
		report, err := m.Advance(context.Background(), unit, .05)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, report)
	}
	return reports
}

// plainCBOW is an iteration in float64, from its definition.
type plainCBOW struct {
	k               float64
	words, contexts [][]float64
	positions       [][]float64 // nil: windows have plain means
	stretch         *wordcontext.Stretch
	loss            float64
	ofWords, ofC    [][]float64 // gradients; nil: the row is left alone
	ofPositions     [][]float64
}

func matrixOf(x []float32, n int) (rows [][]float64) {
	for row := range slices.Chunk(x, n) {
		rows = append(rows, float64s(row))
	}
	return rows
}

func dot64(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func addTimes(y []float64, a float64, x []float64) {
	for i := range y {
		y[i] += a * x[i]
	}
}

// meet adds the gradient of a row from a target, of a weight, and returns the loss.
func (p *plainCBOW) meet(g, row, target []float64, positive bool, weight float64) float64 {
	sign := 1.0
	if positive {
		sign = -1
	}
	z := dot64(row, target) - math.Log(p.k)
	addTimes(g, weight*sign/(1+math.Exp(-sign*z)), target)
	return math.Log1p(math.Exp(sign * z))
}

// position is the row of the weights of an offset.
func (p *plainCBOW) position(offset int) int {
	if offset < 0 {
		return p.stretch.Window + offset
	}
	return p.stretch.Window + offset - 1
}

// weighted returns a vector times the weights of an offset.
func (p *plainCBOW) weighted(offset int, x []float64) []float64 {
	y := slices.Clone(x)
	for i := range y {
		if p.positions != nil {
			y[i] *= p.positions[p.position(offset)][i]
		}
	}
	return y
}

func (p *plainCBOW) mean(place int) []float64 {
	h, x := make([]float64, len(p.words[0])), p.stretch
	for q := int(x.From[place]); q < int(x.To[place]); q++ {
		if q != place {
			addTimes(h, 1/float64(x.To[place]-x.From[place]-1), p.weighted(q-place, p.words[x.Words[q]]))
		}
	}
	return h
}

// step1 computes the gradients of C.
func (p *plainCBOW) step1() {
	x := p.stretch
	p.ofC = make([][]float64, len(p.contexts))
	weight := p.k / float64(len(x.NegativePlaces))
	for i, row := range p.contexts {
		var places []int
		for place, word := range x.Words {
			if int(word) == i {
				places = append(places, place)
			}
		}
		if places == nil {
			continue
		}
		p.ofC[i] = make([]float64, len(row))
		s := float64(len(places))
		for _, place := range places {
			p.loss += p.meet(p.ofC[i], row, p.mean(place), true, 1/s)
		}
		for _, place := range x.NegativePlaces {
			p.loss += s * weight * p.meet(p.ofC[i], row, p.mean(int(place)), false, weight)
		}
	}
}

// step2 computes the gradients of W, against contexts after step 1.
func (p *plainCBOW) step2(contexts [][]float64) {
	x, n := p.stretch, len(p.words[0])
	weight := p.k / float64(len(x.NegativeWords))
	p.ofWords = make([][]float64, len(p.words))
	counts := make([]float64, len(p.words))
	p.ofPositions = matrixOf(make([]float32, len(p.positions)*n), n)
	for place, word := range x.Words {
		e, h := make([]float64, n), p.mean(place)
		p.loss += p.meet(e, h, contexts[word], true, 1)
		for _, target := range x.NegativeWords {
			p.loss += weight * p.meet(e, h, contexts[target], false, weight)
		}
		for q := int(x.From[place]); q < int(x.To[place]); q++ {
			if q == place {
				continue
			}
			c := x.Words[q]
			if p.ofWords[c] == nil {
				p.ofWords[c] = make([]float64, n)
			}
			addTimes(p.ofWords[c], 1, p.weighted(q-place, e))
			counts[c]++
			for i := range n * min(len(p.positions), 1) {
				share := float64(len(x.Words)) * float64(x.To[place]-x.From[place]-1)
				p.ofPositions[p.position(q-place)][i] += e[i] * p.words[c][i] / share
			}
		}
	}
	for c, g := range p.ofWords {
		for i := range g {
			g[i] /= counts[c]
		}
	}
}

// TestCBOWAgainstDefinition compares the gradients of an iteration, from a random state, with those of the plain twin.
// The optimizer is a recorder, so what is compared is what the rows would move along.
func TestCBOWAgainstDefinition(t *testing.T) {
	r := freshRandom(t)
	for range 3 {
		for _, x := range cbowCases(t, r) {
			checkCBOW(t, x)
			x.options.Together = true
			checkCBOW(t, x)
		}
	}
}

func checkCBOW(t *testing.T, x cbowCase) {
	t.Helper()
	n := x.options.Dim
	m := x.new(t, 5, func(o *Options) { o.Optimizer = optim.Options{Method: optim.SGD} })
	for _, s := range m.State() {
		if strings.HasSuffix(s.Name, Updates) {
			continue
		}
		trainer.Randomize(s.Data, 1, 3)
	}
	if err := m.Refresh(); err != nil {
		t.Fatal(err)
	}
	stretch := &wordcontext.Stretch{}
	x.stretches(t).Reader().Read(2, stretch)
	if len(stretch.Words) == 0 {
		return
	}
	words, contexts := m.Tables()
	p := &plainCBOW{k: float64(x.options.Negatives), words: matrixOf(words, n), contexts: matrixOf(contexts, n), stretch: stretch}
	if m.positions != nil {
		p.positions = matrixOf(m.positions.data, n)
		checkPositions(t, p)
	}
	own, parts := slices.Clone(words), []float32(nil)
	if c := m.options.Composition; c != nil {
		checkComposed(t, c, p.words)
		own, parts = slices.Clone(c.Own), slices.Clone(c.Parts)
	}
	const rate = .05
	report, err := m.Advance(context.Background(), 2, rate)
	if err != nil {
		t.Fatal(err)
	}
	p.step1()
	if m.options.Together {
		p.step2(p.contexts)
	} else {
		p.step2(matrixOf(contexts, n))
	}
	if math.Abs(report.Loss-p.loss) > 1e-4*p.loss {
		t.Errorf("%s: loss %v, want %v", x.name, report.Loss, p.loss)
	}
	share := make([]float64, len(p.words))
	for _, w := range stretch.Words {
		share[w]++
	}
	moved := func(what string, before [][]float64, after []float32, i int, gradient []float64, samples, rate float64) {
		t.Helper()
		for j, got := range after[i*n:][:n] {
			want := before[i][j]
			if gradient != nil {
				want -= rate * math.Sqrt(samples) * gradient[j]
			}
			if math.Abs(float64(got)-want) > 1e-5*(1+math.Sqrt(samples)) {
				t.Fatalf("%s: %s %d, value %d is %v, want %v", x.name, what, i, j, got, want)
			}
		}
	}
	for i := range p.contexts {
		moved("context", p.contexts, contexts, i, p.ofC[i], share[i], rate)
	}
	for i, row := range p.ofPositions {
		for j, want := range row {
			got := (p.positions[i][j] - float64(m.positions.row(i)[j])) / (rate * PositionRate)
			if math.Abs(got-want) > 1e-5+1e-4*math.Abs(want) {
				t.Fatalf("%s: position %d, value %d moved along %v, want %v", x.name, i, j, got, want)
			}
		}
	}
	c := m.options.Composition
	if c == nil {
		for i := range p.words {
			moved("word", matrixOf(own, n), words, i, p.ofWords[i], share[i], rate)
		}
		return
	}
	ofParts := make([][]float64, len(c.Parts)/n)
	for w, g := range p.ofWords {
		if c.Own != nil {
			moved("own row", matrixOf(own, n), c.Own, w, g, share[w], rate)
		}
		symbols := c.Symbols[c.Starts[w]:c.Starts[w+1]]
		all := 0.0
		for _, part := range symbols {
			all += float64(size(c, part))
		}
		if c.Own != nil {
			all++
		}
		for _, part := range symbols {
			if g == nil {
				continue
			}
			if ofParts[part] == nil {
				ofParts[part] = make([]float64, n)
			}
			addTimes(ofParts[part], 1/all, g)
		}
	}
	for i, g := range ofParts {
		moved("part", matrixOf(parts, n), c.Parts, i, g, 1, rate*float64(c.Rate))
	}
}

// checkPositions compares a gradient of position weights with finite differences of the mean loss of step 2.
func checkPositions(t *testing.T, p *plainCBOW) {
	t.Helper()
	const h = 1e-5
	k, j := p.stretch.Window-1, len(p.positions[0])-1
	loss := func(change float64) float64 {
		p.positions[k][j] += change
		p.loss = 0
		p.step2(p.contexts)
		return p.loss / float64(len(p.stretch.Words))
	}
	want := (loss(h) - loss(-2*h)) / (2 * h)
	loss(h)
	if got := p.ofPositions[k][j]; math.Abs(got-want) > 1e-7 {
		t.Fatalf("gradient of position weight (%d, %d) is %v, by finite differences %v", k, j, got, want)
	}
	p.loss = 0
}

// checkComposed compares rows with the means of their parts.
func checkComposed(t *testing.T, c *composed.Composition, rows [][]float64) {
	t.Helper()
	parts := matrixOf(c.Parts, c.Dim)
	for w, row := range rows {
		want, all := make([]float64, c.Dim), 0.0
		if c.Own != nil {
			addTimes(want, 1, matrixOf(c.Own, c.Dim)[w])
			all++
		}
		for _, g := range c.Symbols[c.Starts[w]:c.Starts[w+1]] {
			addTimes(want, float64(size(c, g)), parts[g])
			all += float64(size(c, g))
		}
		for j, x := range want {
			if math.Abs(x/all-row[j]) > 1e-6 {
				t.Fatalf("row %d of words, value %d is %v, want %v", w, j, row[j], x/all)
			}
		}
	}
}

// Training gives the same bits with any number of threads, and when it goes on from a saved state.
func TestCBOWReproducible(t *testing.T) {
	r := freshRandom(t)
	for _, x := range cbowCases(t, r) {
		one := x.new(t, 6, func(o *Options) { o.Threads = 1 })
		want := advance(t, one, 0, 6)
		several := x.new(t, 6, func(o *Options) { o.Threads = 3 })
		advance(t, several, 0, 3)
		resumed := x.new(t, 6, func(o *Options) { o.Threads = 2 })
		saved := copyState(several)
		for i, s := range resumed.State() {
			copy(s.Data, saved[i].data)
		}
		got := advance(t, resumed, 3, 6)
		if !slices.Equal(got, want[3:]) {
			t.Errorf("%s: %v after the resume, want %v", x.name, got, want[3:])
		}
		for i, s := range one.State() {
			if !slices.Equal(s.Data, resumed.State()[i].Data) {
				t.Errorf("%s: %s has other bits", x.name, s.Name)
			}
		}
		one.Reset()
		if again := advance(t, one, 0, 6); !slices.Equal(again, want) {
			t.Errorf("%s: %v after a reset, want %v", x.name, again, want)
		}
	}
}
