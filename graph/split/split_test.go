package split_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/graph/split"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A problem is a text with the settings of a training.
type problem struct {
	text       *corpus.Corpus
	matrix     wordcontext.Options
	model      graph.Options
	noise      *corpus.Alias
	iterations int
}

func newProblem(t testing.TB, rng *rand.Rand, words, dim int) *problem {
	t.Helper()
	c := &corpus.Corpus{Sentences: []int{0}}
	counts := make([]uint64, words)
	for i := range 8 * words {
		word := i
		if i >= words {
			word = int(float64(words) * rng.Float64() * rng.Float64())
		}
		c.Tokens = append(c.Tokens, uint32(word))
		counts[word]++
		if i == 0 || rng.IntN(9) == 0 { // word 0 may be alone
			c.Sentences = append(c.Sentences, len(c.Tokens))
		}
	}
	if last := len(c.Tokens); c.Sentences[len(c.Sentences)-1] != last {
		c.Sentences = append(c.Sentences, last)
	}
	names, weights := make([]string, words), make([]float64, words)
	for i := range names {
		names[i], weights[i] = fmt.Sprint(i), float64(counts[i])
	}
	var err error
	if c.Vocabulary, err = corpus.NewVocabulary(names, counts); err != nil {
		t.Fatal(err)
	}
	p := &problem{
		text: c, matrix: wordcontext.Options{Window: 3, Contexts: 10, Passes: 1, Seed: rng.Uint64(), Threads: 2}, iterations: 25,
		model: graph.Options{Dim: dim, Negatives: 1 + rng.IntN(8), Seed: rng.Uint64(), Threads: 2, Optimizer: optim.Options{Method: optim.Adam}},
	}
	if p.noise, err = corpus.NewAlias(weights); err != nil {
		t.Fatal(err)
	}
	return p
}

// part makes a rank's part of M.
func (p *problem) part(ctx context.Context, c cluster.Comm) (*wordcontext.Part, error) {
	sentences := p.text.Text().Sentences()
	first, end := sentences*c.Rank()/c.Size(), sentences*(c.Rank()+1)/c.Size()
	bounds := slices.Clone(p.text.Sentences[first : end+1])
	rankText := &corpus.Corpus{Vocabulary: p.text.Vocabulary, Tokens: p.text.Tokens[bounds[0]:bounds[len(bounds)-1]]}
	for i := range bounds {
		rankText.Sentences = append(rankText.Sentences, bounds[i]-bounds[0])
	}
	return wordcontext.BuildOnRanks(ctx, rankText, p.matrix, wordcontext.TextPart{Comm: c, FirstToken: bounds[0], Fingerprint: p.text.Fingerprint()})
}

// lead runs work on rank 0, with the trainer of all ranks.
func (p *problem) lead(ctx context.Context, ranks int, work func(l *lead.Trainer) error) error {
	return cluster.Run(ranks, func(c cluster.Comm) error {
		m, err := p.part(ctx, c)
		if err != nil {
			return err
		}
		t, err := split.New(c, m, p.noise, p.iterations, p.model)
		if err != nil {
			return err
		}
		l := lead.NewTrainer(&lead.Group{Comm: c}, t)
		if c.Rank() > 0 {
			return l.Follow(ctx)
		}
		if err := work(l); err != nil {
			return err
		}
		return l.Close()
	})
}

func rate(unit int) float64 { return 0.02 / float64(1+unit) }

// train trains some units and returns their losses.
func train(ctx context.Context, t trainer.Trainer, from, to int) (losses []float64, err error) {
	for unit := from; unit < to; unit++ {
		r, err := t.Advance(ctx, unit, rate(unit))
		if err != nil {
			return nil, err
		}
		losses = append(losses, r.Loss, r.Pairs)
	}
	return losses, trainer.Pull(t, true)
}

func equal(got, want []trainer.Tensor) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d tensors, not %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i].Name != w.Name || len(got[i].Data) != len(w.Data) {
			return fmt.Errorf("tensor %d is %s of %d values, not %s of %d", i, got[i].Name, len(got[i].Data), w.Name, len(w.Data))
		}
		for k, x := range w.Data {
			if math.Float32bits(got[i].Data[k]) != math.Float32bits(x) {
				return fmt.Errorf("value %d of %s is %v, not %v", k, w.Name, got[i].Data[k], x)
			}
		}
	}
	return nil
}

// TestBits: any number of ranks and threads trains what one process does, to the bit, with
// every optimizer that can, and stops and goes on with other numbers.
func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	sizes := [][2]int{{2, 1}, {9, 7}, {131, 33}, {300, 100}, {700, 250}, {1000, 16}}
	if testing.Short() {
		sizes = sizes[:4]
	}
	for n, size := range sizes {
		for _, method := range []optim.Method{optim.Adam, optim.SGD, optim.RMSProp, optim.AdaGrad, optim.AdamRow} {
			if n > 2 && method != optim.Adam || method == optim.AdamRow && n != 2 {
				continue
			}
			p := newProblem(t, rng, size[0], size[1])
			p.model.Optimizer = optim.Options{Method: method, WeightDecay: 0.01}
			p.model.SameColumn = n%2 == 1
			if n%3 == 1 {
				p.matrix.Tempering, p.matrix.Positives, p.matrix.MaxPositives = 0.25+0.75*rng.Float64(), 0.3+3*rng.Float64(), 40
			}
			if p.model.Negatives >= size[0] {
				p.model.Negatives = 1
			}
			if n%3 == 2 || n%3 == 1 && rng.IntN(2) == 0 {
				p.model.SharedNegatives = 1 + rng.IntN(min(size[0]-1, 80))
			}
			m, err := wordcontext.Build(t.Context(), p.text, p.matrix)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := graph.NewCL(m, p.noise, p.iterations, p.model)
			if err != nil {
				t.Fatal(err)
			}
			want, err := train(t.Context(), whole, 0, p.iterations)
			if err != nil {
				t.Fatal(err)
			}
			saved := whole.State()
			numbers := []int{1, 2, 4, 8, 16}
			if p.model.SharedNegatives > 0 {
				numbers = []int{1, 2, 3, 5, 12}
			}
			if n > 2 { // large ones train the longest
				numbers = [][]int{numbers[1:3], numbers[3:]}[n%2]
			}
			if testing.Short() {
				numbers = []int{2, numbers[len(numbers)-2]}
			}
			for _, ranks := range numbers {
				if split.Check(ranks, p.model) != nil {
					continue // without AVX2
				}
				p.model.Threads = 1 + rng.IntN(3)
				err := p.lead(t.Context(), ranks, func(l *lead.Trainer) error {
					got, err := train(t.Context(), l, 0, p.iterations)
					if err != nil {
						return err
					}
					if !slices.Equal(got, want) {
						return fmt.Errorf("losses are\n%v, not\n%v", got, want)
					}
					if err := equal(l.State(), saved); err != nil {
						return err
					}
					return again(t.Context(), l, want, saved)
				})
				if err != nil {
					t.Fatalf("%d words, %d dimensions, %s, %d ranks of %d threads: %v", size[0], size[1], method, ranks, p.model.Threads, err)
				}
			}
			_ = whole.Close()
		}
	}
}

// again trains from the start, and from a state in the middle.
func again(ctx context.Context, l *lead.Trainer, want []float64, saved []trainer.Tensor) error {
	half := l.Units() / 2
	l.Reset()
	if _, err := train(ctx, l, 0, half); err != nil {
		return err
	}
	var middle [][]float32
	for _, s := range l.State() {
		middle = append(middle, slices.Clone(s.Data))
	}
	if _, err := train(ctx, l, half, l.Units()); err != nil {
		return err
	}
	for i, s := range l.State() {
		copy(s.Data, middle[i])
	}
	trainer.Push(l)
	got, err := train(ctx, l, half, l.Units())
	if err != nil {
		return err
	}
	if !slices.Equal(got, want[2*half:]) {
		return fmt.Errorf("from the middle, losses are\n%v, not\n%v", got, want[2*half:])
	}
	return equal(l.State(), saved)
}

// TestStop: a rank that is told to stop stops the run.
func TestStop(t *testing.T) {
	p := newProblem(t, rand.New(rand.NewPCG(1, 2)), 50, 20)
	var stopped atomic.Bool
	err := cluster.Run(2, func(c cluster.Comm) error {
		m, err := p.part(t.Context(), c)
		if err != nil {
			return err
		}
		trainer, err := split.New(c, m, p.noise, p.iterations, p.model)
		if err != nil {
			return err
		}
		g := &lead.Group{Comm: c}
		l := lead.NewTrainer(g, trainer)
		if c.Rank() > 0 {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return l.Follow(ctx)
		}
		ctx := g.Lead(t.Context())
		if _, err := l.Advance(ctx, 0, 0.01); err != nil {
			return err
		}
		stopped.Store(ctx.Err() != nil)
		return l.Close()
	})
	if err != nil || !stopped.Load() {
		t.Errorf("stopped: %v, %v", stopped.Load(), err)
	}
}

// TestTraffic: a rank sends in a step what Traffic says.
func TestTraffic(t *testing.T) {
	p := newProblem(t, rand.New(rand.NewPCG(1, 3)), 1024, 64)
	for _, ranks := range []int{1, 2, 4, 8, -1, -3, -8} {
		p.model.SharedNegatives = 0
		if ranks < 0 { // by rows
			ranks, p.model.SharedNegatives = -ranks, 16
		}
		counted := make([]*cluster.Counted, ranks)
		err := cluster.Run(ranks, func(c cluster.Comm) error {
			m, err := p.part(t.Context(), c)
			if err != nil {
				return err
			}
			counted[c.Rank()] = &cluster.Counted{Comm: c}
			trainer, err := split.New(counted[c.Rank()], m, p.noise, 64, p.model)
			if err != nil {
				return err
			}
			l := lead.NewTrainer(&lead.Group{Comm: counted[c.Rank()]}, trainer)
			if c.Rank() > 0 {
				return l.Follow(t.Context())
			}
			for unit := range 64 {
				if _, err := l.Advance(t.Context(), unit, 0.01); err != nil {
					return err
				}
			}
			return l.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		total := uint64(0)
		for _, c := range counted {
			total += c.Sent
		}
		got, want := float64(total)/float64(ranks)/128, split.Traffic(1024, ranks, p.model)
		if math.Abs(got-want) > 0.01*want {
			t.Errorf("%d ranks send %.0f bytes a step, not %.0f", ranks, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := graph.Options{Dim: 10, Negatives: 5, Threads: 1, Optimizer: optim.Options{Method: optim.Adam}}
	if err := split.Check(4, good); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(c *graph.Options){
		"--init":      func(c *graph.Options) { c.Start = func(_, _ []float32) {} },
		"graph form":  func(c *graph.Options) { c.Form = graph.FormStock },
		"--optimizer": func(c *graph.Options) { c.Optimizer.Method = optim.AdamRow },
	} {
		c := good
		change(&c)
		if err := split.Check(2, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := split.Check(3, good); err == nil || !strings.Contains(err.Error(), "not on 3") {
		t.Error(err)
	}
}

// TestAccount: what a rank plans is what it takes, rank 0 plans the whole tables that it saves, and a rank without
// memory is refused before it allocates.
func TestAccount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, shared := range []int{0, 4} {
		p := newProblem(t, rng, 300, 40)
		p.model.SharedNegatives = shared
		var sums [2]int64
		err := cluster.Run(2, func(c cluster.Comm) error {
			m, err := p.part(t.Context(), c)
			if err != nil {
				return err
			}
			planned := trainer.Dry(func(a *trainer.Account) {
				err = split.Plan(a, m.Rows(), int(m.Slots()[m.Rows()]), c.Size(), c.Rank(), p.model)
			})
			if err != nil {
				return err
			}
			own := p.model
			own.Account = trainer.NewAccount(func(*trainer.Account) error { return nil })
			if _, err := split.New(c, m, p.noise, p.iterations, own); err != nil {
				return err
			}
			if sums[c.Rank()] = own.Account.Sum(); sums[c.Rank()] != planned.Sum() {
				t.Errorf("%d shared, rank %d: took %d bytes of %d", shared, c.Rank(), sums[c.Rank()], planned.Sum())
			}
			full := errors.New("full")
			own.Account = trainer.NewAccount(func(a *trainer.Account) error {
				if a.Sum() > planned.Sum()/2 {
					return full
				}
				return nil
			})
			if _, err := split.New(c, m, p.noise, p.iterations, own); !errors.Is(err, full) {
				t.Errorf("%d shared, rank %d, half of the memory: %v", shared, c.Rank(), err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		const whole = 4 * 300 * 40 // bytes of a table; Adam has two moments
		if mirror := sums[0] - sums[1]; shared == 0 && mirror != 6*whole || shared > 0 && mirror != 0 {
			t.Errorf("%d shared: rank 0 takes %d bytes more", shared, mirror)
		}
	}
}
