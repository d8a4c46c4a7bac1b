package device

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// CBOW trains large-batch CBOW on a device: iterations, stretches and tensors of the state are those of graph.CBOW, so a
// checkpoint of either serves both. The host reads the stretches, on several threads, ahead of the device.
type CBOW struct {
	mirror
	kernels   CBOWKernels
	negatives int
	stretches *wordcontext.Stretches
	readers   chan *wordcontext.StretchReader // one for each thread
	free      chan int                        // buffers that nobody needs
	read      map[int]chan readStretch        // by iteration: those that are being read, or were
	pace
}

// A readStretch is a stretch in a buffer.
type readStretch struct {
	buffer, places, tokens int
}

var (
	_ Trainer           = (*CBOW)(nil)
	_ trainer.Preparing = (*CBOW)(nil)
	_ trainer.Composing = (*CBOW)(nil)
)

// NewCBOW prepares training for the given number of iterations, as graph.NewCBOW does. CheckCBOW
// gives the error of options that the kernels cannot train. Refresh composes rows on the host.
func NewCBOW(d Device, s *wordcontext.Stretches, iterations int, c graph.Options, p Precision) (*CBOW, error) {
	if err := CheckCBOW(c, p); err != nil {
		return nil, err
	}
	o := cbowOptions(s, c)
	readers := readersOf(c.Threads)
	t := &CBOW{
		mirror: mirror{units: iterations, device: d, fresh: c.Start == nil}, negatives: c.Negatives, stretches: s,
		readers: make(chan *wordcontext.StretchReader, readers), free: make(chan int, o.Buffers), read: map[int]chan readStretch{},
	}
	var failed, err error
	var making sync.WaitGroup
	making.Go(func() { t.host, failed = newHost(s, c) })
	t.kernels, err = d.NewCBOW(o) // which reads lists of the composition, and the host writes values
	if making.Wait(); failed != nil && err == nil {
		failed = errors.Join(failed, t.kernels.Close())
	}
	if failed != nil || err != nil {
		return nil, cmp.Or(failed, err)
	}
	t.mirror.kernels = t.kernels
	for range readers {
		t.readers <- s.Reader()
	}
	for i := range o.Buffers {
		t.free <- i
	}
	return t, nil
}

// readersOf returns how many stretches so many threads read at a time. Sixteen are as fast as a large GPU.
func readersOf(threads int) int { return max(1, min(threads, 16)) }

// underWay is how many stretches a device has: it gets one while it trains on the one before.
const underWay = 2

func cbowOptions(s *wordcontext.Stretches, c graph.Options) cl.CBOWOptions {
	x := c.Optimizer.WithDefaults()
	rate := 0.0
	if c.Positions > 0 {
		rate = graph.PositionRate
	}
	return cl.CBOWOptions{
		Rows: s.Rows(), Dim: c.Dim, Negatives: c.Negatives, SharedNegatives: c.SharedNegatives,
		Places: s.Capacity(), Window: s.Options().Window, Buffers: readersOf(c.Threads) + underWay,
		Method: string(x.Method), Beta1: x.Beta1, Beta2: x.Beta2, Epsilon: x.Epsilon, WeightDecay: x.WeightDecay,
		Composition: c.Composition, PositionRate: rate,
	}
}

// CheckCBOW returns why the kernels cannot train large-batch CBOW with its options, an UnsupportedError, or nil.
func CheckCBOW(c graph.Options, p Precision) error {
	if c.Encoder != nil {
		return unsupported("subword", "", "on GPUs CBOW has tables of words and of their parts only")
	}
	if p.Rounds() {
		return unsupported("precision", p, "CBOW has tables of %s only", Float32)
	}
	return CheckCL(c, p)
}

// PlanCBOW asks an account for the host's memory that NewCBOW takes, and returns the bytes that it takes of the device's.
func PlanCBOW(a *trainer.Account, s *wordcontext.Stretches, c graph.Options) (bytes int64, err error) {
	bytes, pinned, err := memoryCBOW(cbowOptions(s, c))
	if err != nil {
		return 0, err
	}
	_, reader := s.Bytes()
	a.Take(trainer.ForWork, pinned+int64(readersOf(c.Threads))*reader)
	c.Account = a
	_, err = newHost(s, c)
	return bytes, err
}

// newHost returns the host's model of large-batch CBOW.
func newHost(s *wordcontext.Stretches, c graph.Options) (*graph.Model, error) {
	if c.Composition == nil {
		c.Threads = 1 // the host only keeps tables
	}
	return graph.NewModel(s.Rows(), graph.OfUpdates, c)
}

// Advance runs one iteration; see AdvanceSeries.
func (t *CBOW) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	return trainer.AdvanceOne(ctx, t, unit, rate)
}

// AdvanceSeries runs the iterations first, first+1, ..., one for each of the rates, as graph.CBOW does.
func (t *CBOW) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	if err := t.Ready(); err != nil {
		return nil, err
	}
	start := time.Now()
	reports := make([]trainer.Report, len(rates))
	started := make([]readStretch, len(rates)) // none has no places
	end := func(i int) (err error) {
		if i >= 0 && started[i].places > 0 {
			reports[i].Loss, err = t.kernels.Wait(started[i].buffer)
			t.free <- started[i].buffer
		}
		return err
	}
	var err error
	for i := 0; i < len(rates)+underWay; i++ {
		err = errors.Join(err, end(i-underWay)) // all that are under way, also after an error
		if err == nil {
			err = ctx.Err()
		}
		if i >= len(rates) || err != nil {
			continue
		}
		x := t.stretch(first + i)
		reports[i] = trainer.Report{Words: float64(x.tokens), Pairs: 2 * float64(x.places) * float64(1+t.negatives)}
		if x.places == 0 {
			t.free <- x.buffer
			continue
		}
		if err = t.kernels.Start(x.buffer, first+i, rates[i]); err != nil {
			t.free <- x.buffer
			continue
		}
		started[i] = x
	}
	if err != nil {
		return nil, err
	}
	t.took(len(rates), time.Since(start))
	return reports, nil
}

// stretch returns the stretch of an iteration, and has the next ones read.
func (t *CBOW) stretch(iteration int) readStretch {
	if t.read[iteration] == nil {
		t.discard() // training went on elsewhere
	}
	for n := iteration; n < min(iteration+cap(t.free), t.Units()); n++ {
		if t.read[n] != nil {
			continue
		}
		select {
		case buffer := <-t.free:
			done := make(chan readStretch, 1)
			t.read[n] = done
			go func() { done <- t.fill(buffer, n) }()
		default: // all are in use
			n = t.Units()
		}
	}
	x := <-t.read[iteration]
	delete(t.read, iteration)
	return x
}

func (t *CBOW) fill(buffer, iteration int) readStretch {
	r := <-t.readers
	defer func() { t.readers <- r }()
	s := t.kernels.Stretch(buffer)
	x := wordcontext.Stretch{
		Words: s.Words, From: s.From, To: s.To, Rows: s.Rows, Slots: s.Slots, Places: s.Places,
		NegativePlaces: s.NegativePlaces, NegativeWords: s.NegativeWords,
	}
	r.Read(iteration, &x)
	s.Words, s.From, s.To, s.Rows, s.Slots, s.Places = x.Words, x.From, x.To, x.Rows, x.Slots, x.Places
	s.NegativePlaces, s.NegativeWords = x.NegativePlaces, x.NegativeWords
	s.Prepare()
	return readStretch{buffer, len(x.Words), x.Tokens}
}

// discard waits for the stretches that are being read, and drops them.
func (t *CBOW) discard() {
	for n, done := range t.read {
		t.free <- (<-done).buffer
		delete(t.read, n)
	}
}

// Close frees the trainer's memory on the device. The device stays open.
func (t *CBOW) Close() error {
	t.discard()
	return t.kernels.Close()
}
