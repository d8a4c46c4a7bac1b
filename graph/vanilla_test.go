package graph

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// pairSteps trains random minibatches of pairs with many conflicts.
func pairSteps(t *testing.T, seed uint64, v int, everyRow, stock bool, c Options) ([]float32, []float32, float64) {
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
	var s *pairsStep
	g := newIteration()
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
			s = newPairsStep(words, contexts, batch, everyRow, team.New(c.Threads))
			s.train(g)
			if err := g.compile(); err != nil {
				t.Fatal(err)
			}
		}
		if stock {
			g.now[0], g.now[1] = float64(step+1), .01
			words.optimizer.Begin(g.number(), g.rate())
			contexts.optimizer.Begin(g.number(), g.rate())
			s.loss, err = stockMinibatch(words, contexts, batch, everyRow)
		} else {
			err = g.run(step+1, .01)
		}
		if err != nil {
			t.Fatal(err)
		}
		total += s.loss
	}
	return words.data, contexts.data, total
}

// stockMinibatch trains a minibatch in the stock form.
func stockMinibatch(words, contexts *table, b *pairBatch, everyRow bool) (float64, error) {
	var pairs []stockPair
	for e, word := range b.words {
		p := stockPair{int(word), int(b.contexts[e]), 1, 1, 1}
		if e%b.width == 0 {
			p.sign = -1
		}
		pairs = append(pairs, p)
	}
	loss, ofWords, ofContexts, err := stockLoss(words.dense, contexts.dense, pairs, 0)
	update := func(t *table, held []uint32, gradients []float32) {
		for row := range t.rows {
			if everyRow || slices.Contains(held, uint32(row)) {
				t.move(row, 1, gradients[row*t.dim:][:t.dim])
			}
		}
	}
	update(words, b.words, ofWords)
	update(contexts, b.contexts, ofContexts)
	return loss, err
}

func TestPairStepFormsAgree(t *testing.T) {
	r := freshRandom(t)
	for _, s := range [][3]int{{1, 1, 1}, {7, 17, 5}, {50, 33, 2}, {500, 100, 5}} {
		for _, method := range []optim.Method{optim.SGD, optim.Adam, optim.AdaGrad, optim.RMSProp} {
			for _, everyRow := range []bool{false, true} {
				seed := r.Uint64()
				train := func(threads int, stock bool) ([]float32, []float32, float64) {
					c := testOptions(s[1], s[2], threads, method)
					// With a small one the first step is the sign of a gradient, be it rounding. AdaGrad and
					// RMSProp divide gradients themselves, not their mean.
					c.Optimizer.Epsilon = map[optim.Method]float64{optim.AdaGrad: 1e-2, optim.RMSProp: 1e-2}[method]
					if c.Optimizer.Epsilon == 0 {
						c.Optimizer.Epsilon = 1e-3
					}
					// A gradient sums over all pairs of its row, and its rounding grows with them, though it may be 0.
					c.Optimizer.Epsilon *= max(1, 70*float64(1+s[2])/float64(s[0]))
					c.Optimizer.WeightDecay = .5
					return pairSteps(t, seed, s[0], everyRow, stock, c)
				}
				wantW, wantC, wantLoss := train(1, true)
				gotW, gotC, loss := train(2, false)
				if math.Abs(loss-wantLoss) > 2e-5*wantLoss {
					t.Errorf("%v %s, every row %v: loss %v, stock %v", s, method, everyRow, loss, wantLoss)
				}
				// Adam and RMSProp make a step of any gradient, so rounding does not get smaller with the values:
				// one value near 0 is no measure.
				if w, c := differenceOver(wantW, gotW, .5), differenceOver(wantC, gotC, .5); w > 3e-5 || c > 3e-5 {
					t.Errorf("%v %s, every row %v: words differ by %v, contexts by %v", s, method, everyRow, w, c)
				}
			}
		}
	}
}

func TestPairStepSameBitsForAnyThreads(t *testing.T) {
	seed := freshRandom(t).Uint64()
	for _, everyRow := range []bool{false, true} {
		wantW, wantC, wantLoss := pairSteps(t, seed, 400, everyRow, false, testOptions(20, 5, 1, optim.Adam))
		for _, threads := range []int{2, 3, 7} {
			w, c, loss := pairSteps(t, seed, 400, everyRow, false, testOptions(20, 5, threads, optim.Adam))
			if loss != wantLoss || !slices.Equal(w, wantW) || !slices.Equal(c, wantC) {
				t.Errorf("every row %v: %d threads give other bits than one", everyRow, threads)
			}
		}
	}
}

// Adam's moments move a row of the minibatch before on, if every row is updated.
func TestIdleRows(t *testing.T) {
	for _, everyRow := range []bool{false, true} {
		c := testOptions(8, 1, 1, optim.Adam)
		c.Optimizer.WeightDecay = 0
		words, contexts, err := newTables(4, c)
		if err != nil {
			t.Fatal(err)
		}
		trainer.Randomize(contexts.data, 8, 2)
		batch := &pairBatch{width: 2, words: []uint32{0, 0}, contexts: []uint32{0, 1}}
		g := newIteration()
		newPairsStep(words, contexts, batch, everyRow, team.New(c.Threads)).train(g)
		if err := g.compile(); err != nil {
			t.Fatal(err)
		}
		step := func(n int) {
			if err := g.run(n, .01); err != nil {
				t.Fatal(err)
			}
		}
		step(1)
		held, never := slices.Clone(words.row(0)), slices.Clone(words.row(3))
		batch.words, batch.contexts = []uint32{1, 1}, []uint32{2, 3}
		step(2)
		if slices.Equal(held, words.row(0)) == everyRow {
			t.Errorf("every row %v: a row of the minibatch before is %v, it was %v", everyRow, words.row(0), held)
		}
		if !slices.Equal(never, words.row(3)) {
			t.Errorf("every row %v: a row without moments moved", everyRow)
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
		p := newPairReader(corpus.NewSentenceReader(c, o.sentenceOptions(seed)), o.Window, 3, 0, len(c.Sentences)-1)
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

func TestVanillaTrains(t *testing.T) {
	r := freshRandom(t)
	c := smallCorpus(t, r, 20, 3000)
	o := VanillaOptions{Window: 2, Batch: 64, Epochs: 3}
	v, err := NewVanilla(c, uniformNoise(t, 20), o, testOptions(10, 3, 2, optim.Adam))
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
	good := testOptions(4, 2, 1, optim.Adam)
	c := smallCorpus(t, rand.New(rand.NewPCG(1, 1)), 5, 5)
	options := VanillaOptions{Window: 2, Batch: 8, Epochs: 1}
	for _, test := range []struct {
		says   string
		change func(*Options, *VanillaOptions)
	}{
		{"dimension", func(c *Options, _ *VanillaOptions) { c.Dim = 0 }},
		{"negatives", func(c *Options, _ *VanillaOptions) { c.Negatives = 0 }},
		{"threads", func(c *Options, _ *VanillaOptions) { c.Threads = -1 }},
		{"optimizer", func(c *Options, _ *VanillaOptions) { c.Optimizer.Method = "" }},
		{"window", func(_ *Options, o *VanillaOptions) { o.Window = 0 }},
		{"subsampling", func(_ *Options, o *VanillaOptions) { o.Sample = math.NaN() }},
		{"batch", func(_ *Options, o *VanillaOptions) { o.Batch = 0 }},
		{"epochs", func(_ *Options, o *VanillaOptions) { o.Epochs = 0 }},
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
