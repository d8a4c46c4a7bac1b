package device

import (
	"context"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/kernels/cuda/vanilla"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Vanilla trains W2V-Vanilla on a device: minibatches, random numbers and tensors of the
// state are those of graph.Vanilla, so a checkpoint of either serves both. The host makes
// the minibatches, on several threads, ahead of the device.
type Vanilla struct {
	mirror
	kernels     VanillaKernels
	model       *graph.Model // the host's, which counts minibatches
	minibatches *graph.Minibatches
	made        map[int]chan *vanilla.Unit // units that are being made, or were
	free        chan *vanilla.Unit         // for the next ones: unitsAhead of them
	pace
}

var _ Trainer = (*Vanilla)(nil)

// NewVanilla prepares training on a text, as graph.NewVanilla does. CheckVanilla
// gives the error of options that the kernels cannot train.
func NewVanilla(d Device, text *corpus.Corpus, noise *corpus.Alias, o graph.VanillaOptions, c graph.Options, p Precision) (*Vanilla, error) {
	if err := CheckVanilla(c, p); err != nil {
		return nil, err
	}
	structure, err := structureOf(c)
	if err != nil {
		return nil, err
	}
	threads := c.Threads
	if structure == nil {
		c.Threads = 1 // the host only keeps tables
	}
	minibatches, err := graph.NewMinibatches(text, noise, o, c)
	if err != nil {
		return nil, err
	}
	model, err := graph.NewModel(text.Vocabulary.Len(), graph.OfMinibatches, c)
	if err != nil {
		return nil, err
	}
	t := &Vanilla{
		mirror: mirror{host: model, units: minibatches.Units(), device: d}, model: model, minibatches: minibatches,
		made: map[int]chan *vanilla.Unit{}, free: make(chan *vanilla.Unit, unitsAhead(threads)),
	}
	for range cap(t.free) {
		t.free <- vanilla.NewUnit(text.Vocabulary.Len(), c.Negatives, structure != nil)
	}
	if t.kernels, err = d.NewVanilla(vanillaOptions(text.Vocabulary.Len(), o, c, structure)); err != nil {
		return nil, err
	}
	t.mirror.kernels = t.kernels
	return t, nil
}

// unitsAhead returns how many units are in memory: the two that the device is at, and one
// for each thread that makes some. More than eight would wait for the device.
func unitsAhead(threads int) int { return min(threads, 8) + 2 }

func vanillaOptions(words int, o graph.VanillaOptions, c graph.Options, structure *encoder.Structure) vanilla.Options {
	optimizer := c.Optimizer.WithDefaults()
	return vanilla.Options{
		Rows: words, Dim: c.Dim, Negatives: c.Negatives, Batch: o.Batch, Dense: o.Dense, Encoder: structure,
		Method: string(optimizer.Method), Beta1: optimizer.Beta1, Beta2: optimizer.Beta2, Epsilon: optimizer.Epsilon, WeightDecay: optimizer.WeightDecay,
	}
}

// CheckVanilla returns why the kernels cannot train W2V-Vanilla with its options, an
// UnsupportedError, or nil.
func CheckVanilla(c graph.Options, p Precision) error {
	if p.Rounds() {
		return unsupported("precision", p, "minibatches have tables of %s only", Float32)
	}
	return CheckCL(c, p)
}

// MemoryVanilla estimates the bytes of the device's memory that NewVanilla takes for a
// vocabulary of the given size. The pairs of a unit are estimated for windows of full size.
func MemoryVanilla(words int, o graph.VanillaOptions, c graph.Options) (int64, error) {
	structure, err := structureOf(c)
	k := vanillaOptions(words, o, c, structure)
	bytes := 2*(tableBytes(words, c.Dim)+c.Optimizer.Bytes(words, paddedDim(c.Dim))) + k.Bytes(graph.UnitPairs(o), 4*int64(paddedDim(c.Dim)))
	if structure != nil {
		bytes += encoderBytes(structure, words, 1, c)
	}
	return bytes, err
}

// PlanVanilla asks an account for the host's memory that NewVanilla takes.
func PlanVanilla(a *trainer.Account, words int, o graph.VanillaOptions, c graph.Options) error {
	structure, err := structureOf(c)
	if err != nil {
		return err
	}
	a.Take(trainer.ForWork, vanillaOptions(words, o, c, structure).UnitBytes(unitsAhead(c.Threads), graph.UnitPairs(o)))
	if c.Account = a; structure == nil {
		c.Threads = 1 // the host only keeps tables
	}
	_, err = graph.NewModel(words, graph.OfMinibatches, c)
	return err
}

// Advance trains one unit; see AdvanceSeries.
func (t *Vanilla) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	return trainer.AdvanceOne(ctx, t, unit, rate)
}

// AdvanceSeries trains the units first, first+1, ..., one for each of the rates, as
// graph.Vanilla does. The device gets a unit while it trains the one before.
func (t *Vanilla) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	if err := t.Ready(); err != nil {
		return nil, err
	}
	start := time.Now()
	reports := make([]trainer.Report, len(rates))
	for i, rate := range rates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		u := t.unit(first + i)
		err := t.kernels.Start(i%2, u, t.model.Trained()+1, rate)
		t.model.SetTrained(t.model.Trained() + u.Minibatches())
		reports[i] = trainer.Report{Pairs: float64(u.Pairs()), Words: t.minibatches.UnitWords(first + i)}
		t.free <- u
		if err == nil && i > 0 {
			reports[i-1].Loss, err = t.kernels.Wait((i - 1) % 2)
		}
		if err != nil {
			return nil, err
		}
	}
	last := len(rates) - 1
	var err error
	reports[last].Loss, err = t.kernels.Wait(last % 2)
	t.took(len(rates), time.Since(start))
	return reports, err
}

// unit returns the minibatches of a unit, and has those of the next ones made.
func (t *Vanilla) unit(number int) *vanilla.Unit {
	if t.made[number] == nil {
		t.discard() // training went on elsewhere
	}
	for n := number; n < min(number+cap(t.free), t.Units()); n++ {
		if t.made[n] != nil {
			continue
		}
		select {
		case u := <-t.free:
			done := make(chan *vanilla.Unit, 1)
			t.made[n] = done
			go func() {
				u.Reset()
				for words, contexts := range t.minibatches.Of(n) {
					u.Add(words, contexts)
				}
				done <- u
			}()
		default: // all are in use
			n = t.Units()
		}
	}
	u := <-t.made[number]
	delete(t.made, number)
	return u
}

// discard waits for the units that are being made, and drops them.
func (t *Vanilla) discard() {
	for n, done := range t.made {
		t.free <- <-done
		delete(t.made, n)
	}
}

// Close frees the trainer's memory on the device. The device stays open.
func (t *Vanilla) Close() error {
	t.discard()
	return t.kernels.Close()
}
