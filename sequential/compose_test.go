package sequential

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// randomComposition is of words of up to 20 parts, some of which most words have.
func randomComposition(r *rand.Rand, words, dim int, own bool) *composed.Composition {
	all := 5 + r.IntN(3*words)
	c := &composed.Composition{Dim: dim, Starts: []uint32{0}, Parts: make([]float32, all*dim), Rate: 1}
	for range words {
		for range 1 + r.IntN(20) {
			g := r.IntN(all)
			if r.IntN(3) == 0 {
				g = r.IntN(4)
			}
			c.Symbols = append(c.Symbols, uint32(g))
		}
		c.Starts = append(c.Starts, uint32(len(c.Symbols)))
	}
	if r.IntN(2) == 0 {
		for range all {
			c.Sizes = append(c.Sizes, 1+r.Uint32N(4))
		}
	}
	if own {
		c.Own, c.Rate = make([]float32, words*dim), 0.25+0.75*r.Float32()
	}
	c.Randomize = func(seed uint64) {
		trainer.Randomize(c.Parts, dim, seed)
		trainer.Randomize(c.Own, dim, seed+1)
	}
	return c
}

// A composedReference composes and pushes in float64, word by word.
type composedReference struct {
	*composed.Composition
	rounding
	parts, own []float64
}

func (c *composedReference) each(w int, row func(row []float64)) (rows int) {
	for _, g := range c.Symbols[c.Starts[w]:c.Starts[w+1]] {
		for range c.size(g) {
			row(c.parts[int(g)*c.Dim:][:c.Dim])
			rows++
		}
	}
	if c.own != nil {
		row(c.own[w*c.Dim:][:c.Dim])
		rows++
	}
	return rows
}

// size is how many n-grams a part stands for.
func (c *composedReference) size(part uint32) int {
	if c.Sizes == nil {
		return 1
	}
	return int(c.Sizes[part])
}

// compose returns W.
func (c *composedReference) compose() []float64 {
	table := make([]float64, c.Words()*c.Dim)
	for w := range c.Words() {
		to := table[w*c.Dim:][:c.Dim]
		rows := c.each(w, func(row []float64) {
			for j, x := range row {
				c.add(&to[j], x)
			}
		})
		for j := range to {
			to[j] /= float64(rows)
		}
	}
	return table
}

// push adds the changes of the words of a block to their rows.
func (c *composedReference) push(changes []float64, words []uint32) {
	users := map[uint32]int{}
	slices.Sort(words)
	words = slices.DeleteFunc(slices.Compact(words), func(w uint32) bool {
		return !slices.ContainsFunc(changes[int(w)*c.Dim:][:c.Dim], func(x float64) bool { return x != 0 })
	})
	for _, w := range words {
		for _, g := range c.Symbols[c.Starts[w]:c.Starts[w+1]] {
			users[g]++
		}
	}
	for _, w := range words {
		change, left := changes[int(w)*c.Dim:][:c.Dim], 1.0
		for _, g := range c.Symbols[c.Starts[w]:c.Starts[w+1]] {
			rate := float64(c.Rate)
			if c.Most > 0 {
				rate *= min(1, float64(c.Most)/float64(users[g]))
			}
			left += float64(c.size(g)) * (1 - rate)
			for j, x := range change {
				c.add(&c.parts[int(g)*c.Dim+j], rate*x)
			}
		}
		for j, x := range change {
			if c.own != nil {
				c.add(&c.own[int(w)*c.Dim+j], left*x)
			}
		}
	}
}

// composedPair returns a trainer, and the reference at the end of the text, whose sums
// are rounded to so many bits, or with 0 exact.
func composedPair(t *testing.T, c *Options, seed uint64, own bool, most float32, digits int) (*Trainer, *composedReference, *reference) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 6))
	c.Seed, c.Epochs, c.Dim, c.Block = seed, 1, 1+r.IntN(40), 1+r.IntN(100)
	text, noise := corpustest.Read(t, corpustest.Zipf(seed, 400, 60, 30))
	c.Composition = randomComposition(r, text.Vocabulary.Len(), c.Dim, own)
	c.Composition.Most = most
	tr, err := New(text, noise, *c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tr.State() { // C is not zero in the middle of a run
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64()) / 4
		}
	}
	want := &composedReference{c.Composition, rounding{digits}, wide(c.Composition.Parts), wide(c.Composition.Own)}
	if !own {
		want.own = nil
	}
	ref := &reference{Options: tr.options, rounding: rounding{digits}, text: text, noise: noise, contexts: wide(outputTable(tr)), rate: 0.025}
	sentences := len(text.Sentences) - 1
	for first := 0; first < sentences; {
		ref.words = want.compose()
		before := slices.Clone(ref.words)
		var words []uint32
		for begin := text.Sentences[first]; first < sentences && text.Sentences[first]-begin < c.Block; first++ {
			ref.read(first)
			words = append(words, ref.sentence...)
			references[modeName(*c)](ref)
		}
		for i := range before {
			before[i] = ref.words[i] - before[i]
		}
		want.push(before, words)
	}
	return tr, want, ref
}

// steady reports whether rounding stays small in a case: whether the reference itself keeps to the bound if it is rounded eight times as
// roughly as float32, and more. Undamped, words that share most of their parts drive each other up, and an error grows up to a
// millionfold. Some errors grow in one direction alone, which one rounding may miss; so there are three.
func steady(t *testing.T, c *Options, seed uint64, own bool, most float32) bool {
	t.Helper()
	_, a, refA := composedPair(t, c, seed, own, most, 0)
	for digits := 19; digits <= 21; digits++ {
		_, b, refB := composedPair(t, c, seed, own, most, digits)
		for _, x := range [][2][]float64{{a.parts, b.parts}, {a.own, b.own}, {refA.contexts, refB.contexts}} {
			for i, v := range x[0] {
				if math.Abs(v-x[1][i]) > composedBound(v) {
					return false
				}
			}
		}
	}
	return true
}

// Blocks of composed rows train as the reference of their algorithm does.
func TestComposedReference(t *testing.T) {
	seed := rand.Uint64()
	eachMode(t, func(t *testing.T, c Options) {
		if d, _ := Find(c.Algorithm); !d.Composes {
			t.Skip("does not train composed rows")
		}
		for _, own := range []bool{true, false} {
			for _, most := range []float32{0, 2.5} {
				t.Run(fmt.Sprintf("own=%v/most=%v/seed=%d", own, most, seed), func(t *testing.T) {
					seed, c := seed, c
					for !steady(t, &c, seed, own, most) {
						seed++
					}
					t.Logf("seed %d", seed)
					tr, want, ref := composedPair(t, &c, seed, own, most, 0)
					sentences := len(tr.text.Sentences) - 1
					w := tr.workers[0]
					w.begin(0, 0.025)
					w.train(0, sentences)
					checkComposed(t, "parts", c.Composition.Parts, want.parts)
					checkComposed(t, "own rows", c.Composition.Own, want.own)
					checkComposed(t, "C", outputTable(tr), ref.contexts)
					if err := tr.Refresh(); err != nil {
						t.Fatal(err)
					}
					checkComposed(t, "W", tr.words, want.compose())
				})
			}
		}
	})
}

// With one window, the step of every row is that of its gradient, times the number of rows of
// the word, as fastText has it. The gradient comes from finite differences of the loss.
func TestComposedGradient(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 7))
	text, noise := corpustest.Read(t, "a b\nc d e f g h i j k l a b c") // two windows of one context word
	const dim, rate, eps = 6, 1e-4, 1e-3
	for _, algorithm := range []Algorithm{Word2Vec, PWord2Vec, FullW2V} {
		c := Options{
			Algorithm: algorithm, Dim: dim, Window: 1, Negatives: 4, Epochs: 1, Seed: seed, Threads: 1,
			Composition: randomComposition(r, text.Vocabulary.Len(), dim, true),
		}
		x := c.Composition
		x.Rate = 1
		tr, err := New(text, noise, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tr.State() {
			for i := range s.Data {
				s.Data[i] = float32(r.NormFloat64())
			}
		}
		contexts := wide(tr.contexts)
		ref := &reference{Options: tr.options, text: text, noise: noise}
		ref.read(0)
		inputs, outputs := []uint32{ref.sentence[1], ref.sentence[0]}, [][]uint32{}
		for i := range 2 {
			most := c.Negatives
			if algorithm == Word2Vec {
				most *= 2
			}
			outputs = append(outputs, ref.outputs(i, 0, most))
		}
		// loss is that of a window with C as it was.
		loss := func(parts, own []float64, window int) (sum float64) {
			w := (&composedReference{Composition: x, parts: parts, own: own}).compose()[int(inputs[window])*dim:][:dim]
			for k, o := range outputs[window] {
				score := 0.0
				for j := range w {
					score += w[j] * contexts[int(o)*dim+j]
				}
				if k > 0 {
					score = -score
				}
				sum += math.Log1p(math.Exp(-score))
			}
			return sum
		}
		parts, own := wide(x.Parts), wide(x.Own)
		w := tr.workers[0]
		w.begin(0, rate)
		w.train(0, 1)
		for i := range parts {
			want := 0.0
			for window, input := range inputs {
				gradient := func() float64 {
					parts[i] += eps
					above := loss(parts, own, window)
					parts[i] -= 2 * eps
					below := loss(parts, own, window)
					parts[i] += eps
					return (above - below) / (2 * eps)
				}()
				sized, rows := &composedReference{Composition: x}, 1.0
				for _, g := range x.Symbols[x.Starts[input]:x.Starts[input+1]] {
					rows += float64(sized.size(g))
				}
				want -= rate * rows * gradient / float64(sized.size(uint32(i/dim))) // that of one of the n-grams
			}
			// The second window meets a C that the first has changed: by less than the rate.
			if got := float64(x.Parts[i]) - parts[i]; math.Abs(got-want) > 2e-2*(rate+math.Abs(want)) {
				t.Fatalf("%s, seed %d: part %d changes by %v, want %v", algorithm, seed, i, got, want)
			}
		}
	}
}

// One thread gives the same bits, whether or not training was interrupted, and at all levels of
// instructions nearly the same. The levels' few units are enough to use all code; over many, training lets any
// rounding grow, a thousandfold for one text in thousands.
func TestComposedRepeats(t *testing.T) {
	seed := rand.Uint64()
	const few = 6
	run := func(units int, interrupted bool) []float32 {
		text, noise := corpustest.Read(t, corpustest.Zipf(seed, 3000, 200, 30))
		create := func() *Trainer {
			c := Options{Algorithm: FullW2V, Dim: 17, Window: 5, Negatives: 5, Sample: 1e-2, Epochs: 2, Seed: seed, Threads: 1, Block: 100}
			c.Composition = randomComposition(rand.New(rand.NewPCG(seed, 8)), text.Vocabulary.Len(), c.Dim, true)
			tr, err := New(text, noise, c)
			if err != nil {
				t.Fatal(err)
			}
			return tr
		}
		tr := create()
		units = min(units, tr.Units())
		middle := units / 2
		advance(t, tr, 0, middle)
		if interrupted {
			again := create()
			for i, x := range tr.State() {
				copy(again.State()[i].Data, x.Data)
			}
			tr = again
		}
		advance(t, tr, middle, units)
		if err := tr.Refresh(); err != nil {
			t.Fatal(err)
		}
		return slices.Concat(tr.words, tr.contexts)
	}
	if !slices.Equal(run(math.MaxInt, true), run(math.MaxInt, false)) {
		t.Error("an interruption changed the bits")
	}
	level := simd.Current()
	defer func() { _ = simd.Use(level) }()
	want := run(few, false)
	for _, l := range simd.Levels() {
		if err := simd.Use(l); err != nil {
			t.Fatal(err)
		}
		for i, x := range run(few, false) {
			if math.Abs(float64(x-want[i])) > 1e-5 {
				t.Fatalf("level %s, seed %d: value %d is %v, want %v", l, seed, i, x, want[i])
			}
		}
	}
}

// Several threads train all pairs, to nearly the same loss, and leave nothing in their blocks.
func TestComposedThreads(t *testing.T) {
	if raceEnabled {
		t.Skip("Hogwild races on purpose")
	}
	text, noise := corpustest.Read(t, corpustest.Zipf(4, 60_000, 2000, 0))
	c := Options{Algorithm: Word2Vec, Dim: 16, Window: 5, Negatives: 5, Epochs: 2, Seed: 7, Block: 1000}
	run := func() trainer.Report {
		c.Composition = randomComposition(rand.New(rand.NewPCG(9, 9)), text.Vocabulary.Len(), c.Dim, true)
		c.Composition.Most = 16
		tr, err := New(text, noise, c)
		if err != nil {
			t.Fatal(err)
		}
		report := advance(t, tr, 0, tr.Units())
		for _, w := range tr.workers {
			if rows := w.block.rows.Begin(nil, nil); len(rows) > 0 {
				t.Errorf("%d threads: %d values of a block are left", c.Threads, len(rows))
			}
		}
		return report
	}
	c.Threads = 1
	want := run()
	for _, c.Threads = range []int{3, fewestThreads} {
		if got := run(); got.Pairs != want.Pairs || got.Words != want.Words || math.Abs(got.Loss/want.Loss-1) > 0.15 {
			t.Errorf("one thread: %+v, %d threads: %+v", want, c.Threads, got)
		}
	}
}

// Options that cannot be trained are errors.
func TestComposedErrors(t *testing.T) {
	text, noise := corpustest.Read(t, "a b c\nb c d")
	r := rand.New(rand.NewPCG(1, 2))
	good := func() Options {
		return Options{
			Algorithm: FullW2V, Dim: 4, Window: 2, Negatives: 2, Epochs: 1, Threads: 1,
			Composition: randomComposition(r, text.Vocabulary.Len(), 4, true),
		}
	}
	for name, spoil := range map[string]func(c *Options){
		"algorithm":  func(c *Options) { c.Algorithm = PSGNScc },
		"dimension":  func(c *Options) { c.Dim = 5 },
		"vocabulary": func(c *Options) { c.Composition.Starts = c.Composition.Starts[:3] },
		"symbols":    func(c *Options) { c.Composition.Symbols[0] = 1 << 20 },
		"own rows":   func(c *Options) { c.Composition.Own = c.Composition.Own[1:] },
		"rate":       func(c *Options) { c.Composition.Rate = 0 },
		"block":      func(c *Options) { c.Block = -1 },
	} {
		c := good()
		if _, err := New(text, noise, c); err != nil {
			t.Fatal(err)
		}
		spoil(&c)
		if _, err := New(text, noise, c); err == nil {
			t.Errorf("wrong %s: no error", name)
		}
	}
}

// composedBound is how far a value may be from that of the reference: a row is the sum of hundreds of steps, each of which is rounded.
func composedBound(want float64) float64 { return 1e-4 * (1 + math.Abs(want)) }

func checkComposed(t *testing.T, name string, got []float32, want []float64) {
	t.Helper()
	for i, x := range want[:len(got)] {
		if !(math.Abs(float64(got[i])-x) <= composedBound(x)) {
			t.Fatalf("%s: value %d is %v, want %v", name, i, got[i], x)
		}
	}
}
