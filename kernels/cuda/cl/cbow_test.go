//go:build gpu

package cl

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
	"github.com/w2vcl/w2vcl/optim"
)

// fillStretch writes a random stretch of so many places, in sentences. The numbers of words, below v, have densities in proportion to
// 1/number^skew, skew < 1: .5 is about that of a subsampled text. Dynamic windows have random widths.
func fillStretch(r *rand.Rand, s *Stretch, v, places, window, shared int, skew float64, dynamic bool) {
	s.Words, s.From, s.To, s.Places = s.Words[:places], s.From[:places], s.To[:places], s.Places[:places]
	for start := 0; start < places; {
		end := min(start+2+r.IntN(30), places)
		if places-end == 1 { // it would have no neighbour
			end++
		}
		for p := start; p < end; p++ {
			s.Words[p] = uint32(float64(v) * math.Pow(r.Float64(), 1/(1-skew)))
			size := window
			if dynamic {
				size = 1 + r.IntN(window)
			}
			s.From[p], s.To[p] = uint32(max(start, p-size)), uint32(min(end, p+size+1))
		}
		start = end
	}
	s.Rows, s.Slots = s.Rows[:0], append(s.Slots[:0], 0)
	of := make([][]uint32, v)
	for p, word := range s.Words {
		of[word] = append(of[word], uint32(p))
	}
	at := 0
	for word, all := range of {
		if len(all) > 0 {
			at += copy(s.Places[at:], all)
			s.Rows, s.Slots = append(s.Rows, uint32(word)), append(s.Slots, uint32(at))
		}
	}
	s.NegativePlaces, s.NegativeWords = s.NegativePlaces[:0], s.NegativeWords[:0]
	for range shared {
		s.NegativePlaces, s.NegativeWords = append(s.NegativePlaces, r.Uint32N(uint32(places))), append(s.NegativeWords, s.Words[r.IntN(places)])
	}
	s.Prepare()
}

// A plainTable is a table of the plain twin, with package optim's optimizer.
type plainTable struct {
	values    []float32
	optimizer optim.Optimizer
	updates   []float32
}

func newPlainTable(t testing.TB, r *rand.Rand, rows, n int, o optim.Options) *plainTable {
	t.Helper()
	x := &plainTable{values: make([]float32, rows*n), updates: make([]float32, rows)}
	for i := range x.values {
		x.values[i] = float32(r.NormFloat64() / math.Sqrt(float64(n)))
	}
	var err error
	if x.optimizer, err = optim.New(o, rows, n); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *plainTable) row(i uint32, n int) []float32 { return x.values[int(i)*n:][:n] }

func (x *plainTable) update(i uint32, samples int, g []float64) {
	x.updates[i]++
	single := make([]float32, len(g))
	for k, y := range g {
		single[k] = float32(y)
	}
	x.optimizer.UpdateMean(int(i), int(x.updates[i]), samples, x.row(i, len(g)), single)
}

// plainCBOW is an iteration from its definition (see graph.CBOW), in float64 but for tables.
type plainCBOW struct {
	CBOWOptions
	contexts, words, parts *plainTable
	positions              *plainTable // d; nil: 1
	composed               []float32   // X
	loss                   float64
}

func addTimes[T float32 | float64](y []float64, a float64, x []T) {
	for i := range y {
		y[i] += a * float64(x[i])
	}
}

// meet adds to g the gradient of a row from a target of a weight, with K negatives for a positive.
func meet[A, B float32 | float64](g []float64, row []A, target []B, positive bool, weight, k float64) (loss float64) {
	sign, z := 1.0, -math.Log(k)
	if positive {
		sign = -1
	}
	for i := range row {
		z += float64(row[i]) * float64(target[i])
	}
	addTimes(g, weight*sign/(1+math.Exp(-sign*z)), target)
	return math.Log1p(math.Exp(sign * z))
}

// place is the row of d of an offset.
func (p *plainCBOW) place(offset int) int {
	if offset > 0 {
		offset--
	}
	return p.Window + offset
}

// addWeighted adds a d x to y, by element, where d is that of an offset.
func addWeighted[T float32 | float64](p *plainCBOW, y []float64, a float64, offset int, x []T) {
	for i := range y {
		d := 1.0
		if p.positions != nil {
			d = float64(p.positions.row(uint32(p.place(offset)), p.Dim)[i])
		}
		y[i] += a * d * float64(x[i])
	}
}

func (p *plainCBOW) row(word uint32) []float32 { return p.composed[int(word)*p.Dim:][:p.Dim] }

// compose composes the rows of the words that occur.
func (p *plainCBOW) compose(s *Stretch) {
	x := p.Composition
	if x == nil {
		p.composed = p.words.values
		return
	}
	weights := listsOf(x).weights
	for _, v := range s.Rows {
		sum := make([]float64, p.Dim)
		if x.Own != nil {
			addTimes(sum, 1, p.words.row(v, p.Dim))
		}
		for _, u := range x.Symbols[x.Starts[v]:x.Starts[v+1]] {
			addTimes(sum, float64(x.Size(u)), p.parts.row(u, p.Dim))
		}
		for i := range sum {
			p.row(v)[i] = float32(sum[i] * float64(weights[v]))
		}
	}
}

func (p *plainCBOW) iterate(s *Stretch, number int, rate float64) {
	n, k, weight := p.Dim, float64(p.Negatives), float64(p.Negatives)/float64(p.SharedNegatives)
	p.loss = 0
	for _, x := range []*plainTable{p.contexts, p.words} {
		if x != nil {
			x.optimizer.Begin(number+1, rate)
		}
	}
	p.compose(s)
	h := make([][]float64, len(s.Words))
	for q := range h {
		h[q] = make([]float64, n)
		for w := s.From[q]; w < s.To[q]; w++ {
			if int(w) != q {
				addWeighted(p, h[q], 1/float64(s.To[q]-s.From[q]-1), int(w)-q, p.row(s.Words[w]))
			}
		}
	}
	for a, word := range s.Rows {
		g, places, row := make([]float64, n), s.Places[s.Slots[a]:s.Slots[a+1]], p.contexts.row(word, n)
		for _, q := range places {
			p.loss += meet(g, row, h[q], true, 1/float64(len(places)), k)
		}
		for _, q := range s.NegativePlaces {
			p.loss += float64(len(places)) * weight * meet(g, row, h[q], false, weight, k)
		}
		p.contexts.update(word, len(places), g)
	}
	gradients, ofPositions := p.step2(s, h, k, weight)
	for a, word := range s.Rows {
		if p.words != nil {
			p.words.update(word, int(s.Slots[a+1]-s.Slots[a]), gradients[word])
		}
	}
	if p.positions != nil {
		p.positions.optimizer.Begin(number+1, rate*p.PositionRate)
		for row, g := range ofPositions {
			p.positions.update(uint32(row), 1, g)
		}
	}
	p.train(gradients, number, rate)
}

// step2 returns the gradients of the words that occur, and of d.
func (p *plainCBOW) step2(s *Stretch, h [][]float64, k, weight float64) (gradients map[uint32][]float64, ofPositions [][]float64) {
	gradients, ofPositions = map[uint32][]float64{}, make([][]float64, 2*p.Window)
	for i := range ofPositions {
		ofPositions[i] = make([]float64, p.Dim)
	}
	windows := map[uint32]float64{}
	for _, word := range s.Rows {
		gradients[word] = make([]float64, p.Dim)
	}
	for q, word := range s.Words {
		e := make([]float64, p.Dim)
		p.loss += meet(e, h[q], p.contexts.row(word, p.Dim), true, 1, k)
		for _, target := range s.NegativeWords {
			p.loss += weight * meet(e, h[q], p.contexts.row(target, p.Dim), false, weight, k)
		}
		for w := s.From[q]; w < s.To[q]; w++ {
			if int(w) != q {
				addWeighted(p, gradients[s.Words[w]], 1, int(w)-q, e)
				windows[s.Words[w]]++
				share := 1 / float64(s.To[q]-s.From[q]-1) / float64(len(s.Words))
				for i, x := range p.row(s.Words[w]) {
					ofPositions[p.place(int(w)-q)][i] += share * e[i] * float64(x)
				}
			}
		}
	}
	for word, g := range gradients {
		for i := range g {
			g[i] /= windows[word]
		}
	}
	return gradients, ofPositions
}

func (p *plainCBOW) train(gradients map[uint32][]float64, number int, rate float64) {
	x := p.Composition
	if x == nil {
		return
	}
	p.parts.optimizer.Begin(number+1, rate*float64(x.Rate))
	weights, sums := listsOf(x).weights, map[uint32][]float64{}
	for v := range uint32(p.Rows) {
		if gradients[v] == nil {
			continue
		}
		for _, u := range x.Symbols[x.Starts[v]:x.Starts[v+1]] {
			if sums[u] == nil {
				sums[u] = make([]float64, p.Dim)
			}
			addTimes(sums[u], float64(weights[v]), gradients[v])
		}
	}
	for u, g := range sums {
		p.parts.update(u, 1, g)
	}
}

// newComposition is of words that have no parts yet.
func newComposition(words, dim, parts int, own bool) *composed.Composition {
	x := &composed.Composition{Dim: dim, Starts: []uint32{0}, Parts: make([]float32, parts*dim), Rate: 1}
	if own {
		x.Own = make([]float32, words*dim)
	}
	return x
}

// randomComposition has up to 40 parts a word, some of them twice, of few that most words have and of many.
func randomComposition(r *rand.Rand, words, dim int, own bool) *composed.Composition {
	x, parts := newComposition(words, dim, 3+words, own), 3+words
	x.Rate = .7
	if r.IntN(2) == 0 {
		for range parts {
			x.Sizes = append(x.Sizes, 1+r.Uint32N(5))
		}
	}
	for v := range words {
		if !own || v == 0 { // so that a single word has a part to train
			x.Symbols = append(x.Symbols, r.Uint32N(3))
		}
		for range r.IntN(40) {
			x.Symbols = append(x.Symbols, uint32(math.Pow(float64(parts), r.Float64()))-1)
		}
		x.Starts = append(x.Starts, uint32(len(x.Symbols)))
	}
	return x
}

func newCBOW(t testing.TB, d *cuda.Device, c CBOWOptions) *CBOW {
	t.Helper()
	k, err := NewCBOW(d, c)
	cudatest.Closes(t, k, err)
	return k
}

// A cbowTest is a random problem.
type cbowTest struct {
	dim, words, places, window, shared int
	method                             optim.Method
	composed, own                      bool
	skew                               float64
}

func cbowTests() (tests []cbowTest) {
	for i, dim := range append(cudatest.Dims(), 3, 1024) {
		tests = append(tests, cbowTest{dim, 300, 1500, 1 + i, 32, optim.Adam, i%2 == 1, i%4 == 1, .5},
			cbowTest{dim, 300, 700, 5, 1 + 9*i, optim.Adam, i%2 == 0, i%4 == 0, .8})
	}
	return append(tests,
		cbowTest{600, 40, 300, 5, 70, optim.Adam, true, true, .5}, cbowTest{200, 40, 300, 5, 70, optim.Adam, false, false, .5},
		cbowTest{300, 1, 900, 5, 32, optim.Adam, false, false, .5},         // a word with all places
		cbowTest{100, 20_000, 45_000, 5, 32, optim.Adam, false, false, .3}, // as large as a usual one
		cbowTest{100, 20_000, 45_000, 5, 32, optim.Adam, true, true, .3},
		cbowTest{100, 1, 2, 1, 1, optim.Adam, true, true, .5}, cbowTest{100, 3, 2, 5, 3, optim.SGD, false, false, .5}, cbowTest{50, 40, 63, 20, 200, optim.Adam, true, true, .5},
		cbowTest{100, 500, 5000, 100, 64, optim.SGD, false, false, .9}, cbowTest{300, 2000, 5000, 5, 32, optim.AdamRow, true, true, 0},
		cbowTest{500, 400, 1000, 5, 32, optim.RMSProp, false, false, .5}, cbowTest{20, 400, 1000, 5, 32, optim.AdaGrad, true, false, .5},
		cbowTest{300, 400, 1000, 5, 300, optim.AdamRow, false, false, .5}, cbowTest{128, 65, 1281, 5, 33, optim.SGD, true, true, .5},
	)
}

// Iterations end in the tables, moments and numbers of updates of the plain twin.
func TestCBOW(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range cbowTests() {
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) { testCBOW(t, d, x) })
	}
}

func testCBOW(t *testing.T, d *cuda.Device, x cbowTest) {
	t.Helper()
	r := rand.New(rand.NewPCG(cudatest.FreshSeed(t), 1))
	o := optim.Options{Method: x.method, WeightDecay: .1, Epsilon: 1e-3}.WithDefaults()
	c := CBOWOptions{
		Rows: x.words, Dim: x.dim, Negatives: 5, SharedNegatives: x.shared, Places: x.places + r.IntN(50), Window: x.window, Buffers: 3,
		Method: string(o.Method), Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay,
	}
	p := &plainCBOW{CBOWOptions: c, contexts: newPlainTable(t, r, x.words, x.dim, o)}
	tables := map[string]*plainTable{"contexts": p.contexts}
	if x.composed {
		c.Composition = randomComposition(r, x.words, x.dim, x.own)
		p.Composition = c.Composition
		p.parts, p.composed = newPlainTable(t, r, c.Composition.PartCount(), x.dim, o), make([]float32, x.words*x.dim)
		tables["parts"] = p.parts
	}
	if x.own || !x.composed {
		p.words = newPlainTable(t, r, x.words, x.dim, o)
		tables["words"] = p.words
	}
	if r.IntN(2) == 0 {
		c.PositionRate = .3
		weights := o
		weights.WeightDecay = 0
		p.CBOWOptions, p.positions = c, newPlainTable(t, r, 2*x.window, x.dim, weights)
		for i := range p.positions.values {
			p.positions.values[i]++
		}
		tables["positions"] = p.positions
	}
	before := d.Peak() // so far nothing was freed
	k := newCBOW(t, d, c)
	if bytes, _, err := c.Memory(); err != nil || bytes != d.Peak()-before {
		t.Errorf("takes %d bytes, said %d, error %v", d.Peak()-before, bytes, err)
	}
	for name, table := range tables {
		if err := k.Send(name, table.values); err != nil {
			t.Fatal(err)
		}
	}
	const rate, iterations = .005, 6
	wait := func(i int) {
		loss, err := k.Wait(i % 3)
		if err != nil {
			t.Fatal(err)
		}
		p.iterate(k.Stretch(i%3), i, rate)
		if !(math.Abs(loss-p.loss) <= 1e-3*p.loss) {
			t.Errorf("iteration %d: loss %v, want %v", i, loss, p.loss)
		}
	}
	for i := range iterations { // the device has two at a time
		fillStretch(r, k.Stretch(i%3), x.words, max(2, x.places-i*x.places/9), x.window, x.shared, x.skew, true)
		if err := k.Start(i%3, i, rate); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			wait(i - 1)
		}
	}
	wait(iterations - 1)
	tolerance := 1e-4
	if x.composed {
		tolerance = 2e-3 // float16
	}
	if x.words == 1 { // positives and negatives are the same, so all but a hundredth of their gradients cancels
		tolerance *= 30
	}
	compareState(t, k, tables, tolerance)
}

func compareState(t *testing.T, k *CBOW, tables map[string]*plainTable, tolerance float64) {
	t.Helper()
	receive := func(name string, want []float32) []float32 {
		got := make([]float32, len(want))
		if err := k.Receive(name, got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for name, table := range tables {
		updates := map[string]string{"contexts": "contexts.updates", "words": "contexts.updates", "parts": "parts.updates"}[name]
		if updates != "" {
			if got := receive(updates, table.updates); !slices.Equal(got, table.updates) {
				t.Errorf("%s: %v, want %v", updates, got, table.updates)
			}
		}
		cudatest.Near(t, name, receive(name, table.values), table.values, tolerance)
		for _, s := range table.optimizer.State() {
			of := name + "." + s.Name
			cudatest.Near(t, of, receive(of, s.Data), s.Data, 2*tolerance)
		}
	}
}

// benchmarkCBOW is a stretch as that of an English text, with n-grams if there are parts.
func benchmarkCBOW(b testing.TB, d *cuda.Device, dim, places int, parts bool) *CBOW {
	r := rand.New(rand.NewPCG(1, 1))
	c := CBOWOptions{
		Rows: 18_116, Dim: dim, Negatives: 8, SharedNegatives: 64, Places: places, Window: 8, Buffers: 2,
		Method: "adam", Beta1: .9, Beta2: .999, Epsilon: 1e-8, WeightDecay: .1, PositionRate: .3,
	}
	if parts { // of each word some that all share, some, and some of its own
		const all = 100_000
		x := newComposition(c.Rows, dim, all, true)
		for range c.Rows {
			for range 26 {
				x.Symbols = append(x.Symbols, min(uint32(all*math.Pow(r.Float64(), 2.5)), all-1))
			}
			x.Starts = append(x.Starts, uint32(len(x.Symbols)))
		}
		c.Composition = x
	}
	k := newCBOW(b, d, c)
	rows := map[string]int{"words": c.Rows, "positions": 2 * c.Window}
	if parts {
		rows["parts"] = c.Composition.PartCount()
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) { // always of the same random numbers
		values := cudatest.Floats(r, rows[name]*dim)
		for i := range values {
			values[i] *= .05
			if name == "positions" {
				values[i]++
			}
		}
		if err := k.Send(name, values); err != nil {
			b.Fatal(err)
		}
	}
	for i := range c.Buffers {
		fillStretch(r, k.Stretch(i), c.Rows, places, c.Window, c.SharedNegatives, .5, false)
	}
	return k
}

// Two runs end in the same bits.
func TestCBOWRepeats(t *testing.T) {
	d := cudatest.Open(t)
	for _, parts := range []bool{false, true} {
		var before []float32
		for range 2 {
			k := benchmarkCBOW(t, d, 100, 20_000, parts)
			trainRepeated(t, k, 20, .03)
			got := make([]float32, k.options.Rows*k.options.Dim)
			if err := k.Receive("words", got); err != nil {
				t.Fatal(err)
			}
			if before != nil && !slices.Equal(got, before) {
				t.Errorf("parts %v: other bits", parts)
			}
			before = got
		}
	}
}

// trainRepeated trains iterations on the stretches of two buffers in turns, at a learning rate.
func trainRepeated(t testing.TB, k *CBOW, iterations int, rate float64) {
	t.Helper()
	for i := range iterations + 2 {
		if i > 1 {
			if _, err := k.Wait(i % 2); err != nil {
				t.Fatal(err)
			}
		}
		if i < iterations {
			if err := k.Start(i%2, i, rate); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestCBOWErrors(t *testing.T) {
	d := cudatest.Open(t)
	good := CBOWOptions{Rows: 5, Dim: 4, Negatives: 2, SharedNegatives: 3, Places: 9, Window: 2, Buffers: 1, Method: "adam", Beta1: .9, Beta2: .999, Epsilon: 1e-8}
	for name, change := range map[string]func(*CBOWOptions){
		"rows": func(c *CBOWOptions) { c.Rows = 0 }, "dim": func(c *CBOWOptions) { c.Dim = 1025 }, "negatives": func(c *CBOWOptions) { c.Negatives = 0 },
		"shared": func(c *CBOWOptions) { c.SharedNegatives = 0 }, "method": func(c *CBOWOptions) { c.Method = "quick" },
		"parts": func(c *CBOWOptions) { c.Composition = newComposition(1, 4, 1, false) },
	} {
		c := good
		change(&c)
		if _, err := NewCBOW(d, c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	k := newCBOW(t, d, good)
	if err := k.Start(0, 0, .1); err == nil {
		t.Error("no error for an empty stretch")
	}
	for name, n := range map[string]int{"words": 19, "contexts.updates": 4, "other": 20, "parts": 20} {
		if err := k.Send(name, make([]float32, n)); err == nil {
			t.Errorf("%s of %d values: no error", name, n)
		}
	}
}

// An iteration and each of its kernels.
func BenchmarkCBOW(b *testing.B) {
	d := cudatest.Open(b)
	b.Logf("copying %.2f TB/s", cudatest.CopyBandwidth(b, d)/1e12)
	for _, parts := range []bool{false, true} {
		for _, dim := range []int{100, 300} {
			for _, places := range []int{22_500, 45_000} {
				b.Run(fmt.Sprintf("N=%d/T=%d/parts=%v", dim, places, parts), func(b *testing.B) {
					k := benchmarkCBOW(b, d, dim, places, parts)
					timeKernels(b, k)
					const iterations = 100
					for b.Loop() {
						trainRepeated(b, k, iterations, .001)
					}
					b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/iterations*1e6, "µs/iteration")
				})
			}
		}
	}
}

// timeKernels reports the time of each kernel alone, repeated.
func timeKernels(b *testing.B, k *CBOW) {
	const times = 30
	if err := k.Start(0, 0, .001); err != nil {
		b.Fatal(err)
	}
	if _, err := k.Wait(0); err != nil {
		b.Fatal(err)
	}
	all := map[string]func() error{}
	var names []string
	args := k.args
	args.loss, args.stretch = k.buffers[0].device, k.arrivals.areas[0].stretchOfArgs
	for _, x := range k.launches(args) {
		all[x.name], names = x.start, append(names, x.name)
	}
	s := &k.buffers[0].stretch
	line := fmt.Sprintf("%d places, %d rows;", len(s.Words), len(s.Rows))
	for _, name := range names {
		start := all[name]
		if name == "step 1" {
			start = func() error { return firstError(k.arrivals.makeJobs(&args, k.device.Stream()), all[name]()) }
		}
		repeat := func() error {
			for range times {
				if err := start(); err != nil {
					return err
				}
			}
			return nil
		}
		cudatest.Time(b, k.device, repeat)
		line += fmt.Sprintf(" %s %.1f", name, cudatest.Time(b, k.device, repeat)/times*1e6)
	}
	b.Logf("%s µs", line)
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
