package joint_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/sequential/joint"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/trainer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A problem is a text with the settings of a training.
type problem struct {
	text    *corpus.Corpus
	noise   *corpus.Alias
	options sequential.Options
	block   int // rows that are combined at a time; 0: as many as usual
	parts   int // of which words are composed; 0: they are not
}

// composition returns one of so many parts for a rank of its own.
func (p *problem) composition() *composed.Composition {
	words, dim := p.text.Vocabulary.Len(), p.options.Dim
	c := &composed.Composition{Dim: dim, Starts: []uint32{0}, Parts: make([]float32, p.parts*dim), Own: make([]float32, words*dim), Rate: 0.5, Most: composed.Most(false)}
	for w := range words {
		for k := range 1 + w%5 {
			c.Symbols = append(c.Symbols, uint32((w*w+7*k)%p.parts))
		}
		c.Starts = append(c.Starts, uint32(len(c.Symbols)))
	}
	c.Randomize = func(seed uint64) {
		trainer.Randomize(c.Parts, dim, seed)
		trainer.Randomize(c.Own, dim, seed+1)
	}
	return c
}

func newProblem(t testing.TB, tokens int, c sequential.Options) *problem {
	t.Helper()
	text, noise := corpustest.Read(t, corpustest.Zipf(c.Seed, tokens, 90, 11))
	return &problem{text: text, noise: noise, options: c}
}

// modes are all ways to train, with small settings.
func modes() map[string]sequential.Options {
	c := sequential.Options{Dim: 20, Window: 5, Negatives: 5, Sample: 1e-2, Epochs: 2, Seed: 7, Threads: 1}
	c.Sync = sequential.Sync{Words: 700, HotWords: 250, Hot: 9}
	all := map[string]sequential.Options{}
	for _, d := range sequential.Algorithms() {
		c.Algorithm, c.Model = d.Name, sequential.SkipGram
		all[string(d.Name)] = c
		for _, m := range d.Models {
			c.Model = m.Name
			all[string(d.Name+"-")+string(m.Name)] = c
			if d.Hierarchical {
				hierarchical := c
				hierarchical.HierarchicalSoftmax = true
				all[string(d.Name+"-")+string(m.Name)+"-hierarchical"] = hierarchical
			}
		}
	}
	return all
}

// part returns the part of the text of a rank, and the number of its first token.
func (p *problem) part(rank, ranks int) (*corpus.Corpus, int) {
	sentences := p.text.Text().Sentences()
	bounds := p.text.Sentences[sentences*rank/ranks : sentences*(rank+1)/ranks+1]
	part := &corpus.Corpus{Vocabulary: p.text.Vocabulary, Tokens: p.text.Tokens[bounds[0]:bounds[len(bounds)-1]]}
	for _, b := range bounds {
		part.Sentences = append(part.Sentences, b-bounds[0])
	}
	return part, bounds[0]
}

// lead runs work on rank 0, and end on all when it is done.
func (p *problem) lead(ranks int, work func(l *joint.Trainer) error, end func(rank int, t *joint.Trainer)) error {
	return cluster.Run(ranks, func(c cluster.Comm) error {
		part, first := p.part(c.Rank(), ranks)
		options := p.options
		if p.parts > 0 {
			options.Composition = p.composition()
		}
		t, err := joint.New(&cluster.Group{Comm: c}, part, first, p.noise, options)
		if err != nil {
			return err
		}
		if p.block > 0 {
			t.SetBlock(p.block)
		}
		if c.Rank() > 0 {
			err = t.Follow(context.Background())
		} else {
			err = errors.Join(work(t), t.Close())
		}
		if err == nil && end != nil {
			end(c.Rank(), t)
		}
		return err
	})
}

func rate(unit int) float64 { return 0.05 / (1 + 0.01*float64(unit)) }

// train trains units from one number to another, as many at a time as the trainer likes.
func train(t trainer.Trainer, from, to int) (sum trainer.Report, err error) {
	for unit := from; unit < to; {
		rates := make([]float64, min(trainer.SeriesLength(t), to-unit))
		for i := range rates {
			rates[i] = rate(unit + i)
		}
		reports, err := trainer.Advance(context.Background(), t, unit, rates)
		if err != nil {
			return sum, err
		}
		for _, r := range reports {
			sum.Loss, sum.Pairs, sum.Words = sum.Loss+r.Loss, sum.Pairs+r.Pairs, sum.Words+r.Words
		}
		unit += len(rates)
	}
	return sum, nil
}

// trained returns the tables that so many ranks have in the end, after a stop where the first
// combination of all rows behind unit stop is.
func (p *problem) trained(t *testing.T, ranks, stop int) ([]float32, trainer.Report) {
	t.Helper()
	ends, saved, sum := make([][]float32, ranks), [][]float32(nil), trainer.Report{}
	work := func(from, to func(l *joint.Trainer) int, before, after func(l *joint.Trainer)) func(l *joint.Trainer) error {
		return func(l *joint.Trainer) error {
			before(l)
			report, err := train(l, from(l), to(l))
			sum.Loss, sum.Pairs, sum.Words = sum.Loss+report.Loss, sum.Pairs+report.Pairs, sum.Words+report.Words
			after(l)
			return err
		}
	}
	nothing := func(*joint.Trainer) {}
	start, end := func(*joint.Trainer) int { return 0 }, func(l *joint.Trainer) int { return l.Units() }
	if stop > 0 {
		at := func(l *joint.Trainer) int {
			for !l.PausesAfter(stop) {
				stop++
			}
			return stop
		}
		save := func(l *joint.Trainer) {
			for _, s := range l.State() {
				saved = append(saved, slices.Clone(s.Data))
			}
		}
		if err := p.lead(ranks, work(start, at, nothing, save), nil); err != nil {
			t.Fatal(err)
		}
		start = at
	}
	restore := func(l *joint.Trainer) {
		for i, data := range saved {
			copy(l.State()[i].Data, data)
		}
		if saved != nil {
			l.Push()
		}
	}
	err := p.lead(ranks, work(start, end, restore, nothing), func(rank int, tr *joint.Trainer) {
		for _, s := range tr.State() {
			ends[rank] = append(ends[rank], s.Data...)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range ends {
		if !slices.Equal(ends[rank], ends[0]) {
			t.Errorf("rank %d of %d ends with other tables than rank 0", rank, ranks)
		}
	}
	return ends[0], sum
}

// TestOneRank: one rank trains as a process of its own.
func TestOneRank(t *testing.T) {
	for name, c := range modes() {
		t.Run(name, func(t *testing.T) {
			p := newProblem(t, 3000, c)
			own, err := sequential.New(p.text, p.noise, c)
			if err != nil {
				t.Fatal(err)
			}
			want, err := train(own, 0, own.Units())
			if err != nil {
				t.Fatal(err)
			}
			var tables []float32
			for _, s := range own.State() {
				tables = append(tables, s.Data...)
			}
			got, sum := p.trained(t, 1, 0)
			if sum != want {
				t.Errorf("report %v, not %v", sum, want)
			}
			if !slices.Equal(got, tables) {
				t.Error("other tables")
			}
		})
	}
}

// TestRanks: ranks train to the same bits again and again, also after a stop, and learn.
func TestRanks(t *testing.T) {
	all := modes()
	all["fullw2v, composed"] = all["fullw2v"]
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			p := newProblem(t, 4000, c)
			if strings.HasSuffix(name, "composed") {
				p.parts = 50
			}
			_, one := p.trained(t, 1, 0)
			for _, ranks := range []int{2, 3} {
				want, sum := p.trained(t, ranks, 0)
				if got, _ := p.trained(t, ranks, 20); !slices.Equal(got, want) {
					t.Errorf("%d ranks: other tables after a stop", ranks)
				}
				if sum.Words != one.Words {
					t.Errorf("%d ranks train %v words, not %v", ranks, sum.Words, one.Words)
				}
				if name != string(sequential.PSGNScc) && sum.Pairs != one.Pairs { // it joins windows of a part
					t.Errorf("%d ranks train %v pairs, not %v", ranks, sum.Pairs, one.Pairs)
				}
				if got, most := sum.Loss/sum.Pairs, 1.2*one.Loss/one.Pairs; !(got < most) {
					t.Errorf("%d ranks: loss %v, more than %v", ranks, got, most)
				}
			}
		})
	}
}

// TestTwin: what ranks have after a unit is what sequential.Combine makes of trainers on their own.
func TestTwin(t *testing.T) {
	for _, rule := range sequential.Rules() {
		for _, ranks := range []int{2, 3, 5} {
			c := modes()[string(sequential.PWord2Vec)]
			c.Dim, c.Sync = 19, sequential.Sync{Rule: rule.Name, Words: 1}
			p := newProblem(t, 2500, c)
			p.block = []int{1, 7, 0}[ranks%3]
			units, tokens := 0, p.text.Text().Tokens()
			var got []float32
			err := p.lead(ranks, func(l *joint.Trainer) error {
				units = l.Units() / c.Epochs
				_, err := train(l, 0, 1)
				got = slices.Concat(l.State()[0].Data, l.State()[1].Data)
				return err
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var bases, all [][]float32
			for rank := range ranks {
				part, first := p.part(rank, ranks)
				c.Part = sequential.Part{First: first, Tokens: tokens, Units: units}
				own, err := sequential.New(part, p.noise, c)
				if err != nil {
					t.Fatal(err)
				}
				bases = append(bases, slices.Concat(own.State()[0].Data, own.State()[1].Data))
				if _, err := own.Advance(context.Background(), 0, joint.Factor(ranks, c.Sync)*rate(0)); err != nil {
					t.Fatal(err)
				}
				all = append(all, slices.Concat(own.State()[0].Data, own.State()[1].Data))
			}
			for at := 0; at < len(got); at += c.Dim {
				row, changes := slices.Clone(bases[0][at:at+c.Dim]), make([][]float32, ranks)
				for r := range ranks {
					for j := range row {
						changes[r] = append(changes[r], all[r][at+j]-bases[r][at+j])
					}
				}
				sequential.Combine(rule.Name, row, changes)
				for j, x := range row {
					if math.Abs(float64(x-got[at+j])) > 1e-5 {
						t.Fatalf("%s, %d ranks: value %d is %v, not %v", rule.Name, ranks, at+j, got[at+j], x)
					}
				}
			}
		}
	}
}

// TestHot: between two combinations of all rows, the first rows of each table alone become the same: those of hot words, or of parts.
func TestHot(t *testing.T) {
	for _, parts := range []int{0, 50} {
		c := modes()[string(sequential.FullW2V)]
		c.Sync = sequential.Sync{Words: 1 << 30, HotWords: 1, Hot: 4}
		p := newProblem(t, 3000, c)
		p.parts = parts
		tables := make([][]trainer.Tensor, 2)
		err := p.lead(2, func(l *joint.Trainer) error {
			if _, err := l.Advance(context.Background(), 0, 0.05); err != nil {
				return err
			}
			if l.PausesAfter(1) || !l.PausesAfter(l.Units()/c.Epochs) {
				t.Error("training pauses where the tables differ, or not where they are the same")
			}
			return nil
		}, func(rank int, tr *joint.Trainer) { tables[rank] = tr.State() })
		if err != nil {
			t.Fatal(err)
		}
		hot := c.Sync.Hot * c.Dim
		for i, x := range tables[0] {
			if y := tables[1][i]; !slices.Equal(x.Data[:hot], y.Data[:hot]) || slices.Equal(x.Data[hot:], y.Data[hot:]) {
				t.Errorf("%d parts, table %s: not the first rows alone are the same", parts, x.Name)
			}
		}
	}
}

// TestDoubling: by sub-model synchronisation twice as many rows are the same after every second combination, and all rows after the fourth if
// the first has a fourth of them.
func TestDoubling(t *testing.T) {
	c := modes()[string(sequential.PWord2Vec)]
	p := newProblem(t, 3000, c)
	words, tokens := p.text.Vocabulary.Len(), p.text.Text().Tokens()
	p.options.Sync = sequential.Sync{Rule: sequential.Mean, Words: tokens, HotWords: tokens / 5, Hot: (words + 3) / 4, Doubles: true}
	for combinations, rows := range []int{1: (words + 3) / 4, 2: (words + 3) / 4 * 2, 4: words} {
		if rows == 0 {
			continue
		}
		tables := make([][]trainer.Tensor, 2)
		err := p.lead(2, func(l *joint.Trainer) error {
			units := l.Units() / c.Epochs
			last := (combinations*(tokens/5)*units + tokens - 1) / tokens // units up to the combination
			_, err := train(l, 0, last)
			if pauses := l.PausesAfter(last); pauses != (rows == words) {
				t.Errorf("%d combinations: training pauses: %v", combinations, pauses)
			}
			return err
		}, func(rank int, tr *joint.Trainer) { tables[rank] = tr.State() })
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range tables[0] {
			y, same := tables[1][i], rows*c.Dim
			if !slices.Equal(x.Data[:same], y.Data[:same]) || rows < words && slices.Equal(x.Data[same:], y.Data[same:]) {
				t.Errorf("%d combinations, table %s: not the first %d rows alone are the same", combinations, x.Name, rows)
			}
		}
	}
}

// TestFactor: only adasum and sub-model synchronisation raise the rate.
func TestFactor(t *testing.T) {
	for _, x := range []struct {
		ranks int
		sync  sequential.Sync
		want  float64
	}{
		{1, sequential.Sync{Rule: sequential.Adasum}, 1},
		{8, sequential.Sync{Rule: sequential.Adasum}, 2},
		{8, sequential.Sync{Rule: sequential.Mean}, 1},
		{1, sequential.Sync{Rule: sequential.Mean, Doubles: true}, 1},
		{4, sequential.Sync{Rule: sequential.Mean, Doubles: true}, 2},
		{8, sequential.Sync{Rule: sequential.Mean, Doubles: true}, 2},
	} {
		if got := joint.Factor(x.ranks, x.sync); got != x.want {
			t.Errorf("%d ranks, %+v: %v, want %v", x.ranks, x.sync, got, x.want)
		}
	}
}

// TestOptions: how often tables are combined if nobody says so.
func TestOptions(t *testing.T) {
	for _, x := range []struct {
		tokens int
		given  sequential.Sync
		want   sequential.Sync
	}{
		{16_000_000, sequential.Sync{}, sequential.Sync{Words: 4_000_000, HotWords: 500_000}},
		{1_000_000_000, sequential.Sync{}, sequential.Sync{Words: 1 << 24, HotWords: 1 << 21}},
		{3, sequential.Sync{}, sequential.Sync{Words: 1, HotWords: 1}},
		{16_000_000, sequential.Sync{Words: 800_000, Hot: 5}, sequential.Sync{Words: 800_000, HotWords: 100_000, Hot: 5}},
		{16_000_000, sequential.Sync{Rule: sequential.Touched}, sequential.Sync{Rule: sequential.Touched, Words: 4_000_000}},
		{16_000_000, sequential.Sync{Rule: sequential.Mean, Hot: 1024}, sequential.Sync{Rule: sequential.Mean, Words: 16_000_000, HotWords: 2_320_000, Hot: 1024, Doubles: true}},
		{16_000_000, sequential.Sync{Rule: sequential.Mean, Words: 1 << 40, Hot: 8192}, sequential.Sync{Rule: sequential.Mean, Words: 1 << 40, Hot: 8192}},
		{16_000_000, sequential.Sync{HotWords: 9}, sequential.Sync{Words: 4_000_000, HotWords: 9}},
	} {
		x.want.Rule = cmp.Or(x.want.Rule, sequential.DefaultRule)
		if got := joint.Options(x.tokens, 4, sequential.Options{Epochs: 5, Sync: x.given}); got != x.want {
			t.Errorf("%d tokens, given %+v: %+v, want %+v", x.tokens, x.given, got, x.want)
		}
	}
}

// TestStop: a rank that is told to stop stops the run.
func TestStop(t *testing.T) {
	p := newProblem(t, 3000, modes()[string(sequential.PWord2Vec)])
	stopped := false
	err := cluster.Run(2, func(c cluster.Comm) error {
		part, first := p.part(c.Rank(), 2)
		g := &cluster.Group{Comm: c}
		l, err := joint.New(g, part, first, p.noise, p.options)
		if err != nil {
			return err
		}
		if c.Rank() > 0 {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return l.Follow(ctx)
		}
		ctx := g.Lead(context.Background())
		_, err = l.Advance(ctx, 0, 0.05)
		stopped = ctx.Err() != nil
		return errors.Join(err, l.Close())
	})
	if err != nil || !stopped {
		t.Errorf("stopped %v, %v", stopped, err)
	}
}

func TestErrors(t *testing.T) {
	c := modes()[string(sequential.PWord2Vec)]
	p := newProblem(t, 300, c)
	for want, change := range map[string]func(c *sequential.Options){
		"is unknown": func(c *sequential.Options) { c.Sync.Rule = "none" },
		"dimension":  func(c *sequential.Options) { c.Dim = 0 },
	} {
		p.options = c
		change(&p.options)
		if err := p.lead(2, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p.options = c
	short := &problem{options: c, noise: p.noise, text: &corpus.Corpus{Vocabulary: p.text.Vocabulary, Tokens: p.text.Tokens[:3], Sentences: []int{0, 3}}}
	if err := short.lead(2, nil, nil); err == nil || !strings.Contains(err.Error(), "no sentence of the text") {
		t.Error(err)
	}
	err := p.lead(2, func(l *joint.Trainer) error {
		_, err := l.Advance(context.Background(), l.Units(), 0.05)
		return err
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "there are no units") {
		t.Error(err)
	}
	alone := trainer.Dry(func(a *trainer.Account) { err = sequential.Plan(a, 1000, 10_000, c) })
	both := trainer.Dry(func(a *trainer.Account) { err = errors.Join(err, joint.Plan(a, 1000, 10_000, c)) })
	if err != nil || both.Sum() < alone.Sum()+2*4*1000*int64(c.Dim) {
		t.Error("tables to compare with take no memory")
	}
}
