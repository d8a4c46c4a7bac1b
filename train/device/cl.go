package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// CL trains W2V-CL on a device: iterations, random numbers and tensors of the
// state are those of graph.CL, so a checkpoint of either serves both.
type CL struct {
	mirror
	kernels   CLKernels
	negatives int      // of a sample
	samples   *samples // nil: the device has M
	buffer    int      // to start next
}

var (
	_ Trainer           = (*CL)(nil)
	_ trainer.Preparing = (*CL)(nil)
	_ trainer.Composing = (*CL)(nil)
)

// NewCL prepares training on m for the given number of iterations, as
// graph.NewCL does. The error of options that the kernels cannot train
// with is that of CheckCL. Refresh composes the rows of an encoder on the host.
//
// With precision Half, tables stay float32, but the rows that are frozen in a
// step are read rounded to bfloat16, and moments are stored in it: the first
// rounded to nearest, the second at random, so that the mean stays.
func NewCL(d Device, m *wordcontext.Matrix, noise *corpus.Alias, iterations int, c graph.Options, p Precision) (*CL, error) {
	if err := CheckCL(c, p); err != nil {
		return nil, err
	}
	if d.GPUs() > 1 && c.Composition != nil {
		return nil, errOneGPU
	}
	var shares *cl.Shares
	if m.Tempered() {
		lengths, phases := m.Shares()
		shares = &cl.Shares{Contexts: m.Contexts(), Lengths: lengths, Phases: phases, Slots: m.Slots()}
	}
	structure, err := structureOf(c)
	if err != nil {
		return nil, err
	}
	threads := c.Threads
	if c.Encoder == nil && c.Composition == nil {
		c.Threads = 1 // the host only keeps tables
	}
	host, err := graph.NewModel(m.Rows(), graph.NoCounts, c)
	if err != nil {
		return nil, err
	}
	t := &CL{mirror: mirror{host: host, units: iterations, device: d, fresh: c.Start == nil}, negatives: c.Negatives}
	o := c.Optimizer.WithDefaults()
	t.kernels, err = d.NewCL(cl.Options{
		Rows: m.Rows(), Dim: c.Dim, Negatives: c.Negatives, SharedNegatives: c.SharedNegatives, SameColumn: c.SameColumn, Shares: shares, Seed: c.Seed, Alias: noise.Table(),
		DrawShared: func(dst []uint32, iteration, step int) { noise.DrawSpread(dst, c.Seed, iteration, step) },
		Method:     string(o.Method), Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay,
		HalfPrecision: p == Half, Composition: c.Composition,
	}, structure)
	if err != nil {
		return nil, err
	}
	t.mirror.kernels = t.kernels
	steps := 2
	if c.SameColumn {
		steps = 1
	}
	if err := t.placeMatrix(m, steps, threads); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// structureOf returns the structure of the encoder; nil if words are a table.
func structureOf(c graph.Options) (*encoder.Structure, error) {
	if c.Encoder == nil {
		return nil, nil
	}
	s, err := subword.StructureOf(c.Encoder)
	return &s, err
}

// placeMatrix brings M to the device if it is in memory and fits beside the rest. Otherwise so many
// threads read the samples of so many steps of an iteration on the host.
func (t *CL) placeMatrix(m *wordcontext.Matrix, steps, threads int) error {
	free, _, err := t.device.Memory()
	if err != nil {
		return fmt.Errorf("cannot read the memory of %s: %w", t.device.Name(), err)
	}
	if !m.Bounded() && TakesMatrix(m.Bytes(), free) {
		return t.kernels.SetMatrix(m)
	}
	s := &samples{matrix: m, team: team.New(threads), series: t.kernels.SeriesLength(), steps: steps}
	for i := range s.memory {
		if s.memory[i], err = t.kernels.Samples(i); err != nil {
			return err
		}
	}
	t.samples = s
	return nil
}

// MemoryCL estimates the bytes of the memory of each GPU of a device that NewCL takes for a
// vocabulary of the given size and the given number of slots of an iteration. Without
// tempering there are as many slots as words. M is not counted: see TakesMatrix.
// An encoder that is not of package subword is an error.
func MemoryCL(d Device, words, slots int, c graph.Options, p Precision) (int64, error) {
	gpus := d.GPUs()
	structure, err := structureOf(c)
	if err != nil {
		return 0, err
	}
	v := int64(words)
	moments := c.Optimizer.Bytes(words, paddedDim(c.Dim))
	if p == Half {
		moments = moments/2 + 4*v // of adam-row the second moments stay float32
	}
	method := c.Optimizer.WithDefaults().Method
	lists := method != optim.Adam || slots != words || c.SharedNegatives > 0 || p == Half || structure != nil || c.Composition != nil // cl.Options.SplitsRows
	work := cl.SampleBytes(words, slots, lists) + 8*v + 8<<20                                                                         // samples, alias table, losses
	// GPUs share the rows, or else the dimensions.
	if gpus > 1 && lists {
		own := (words + gpus - 1) / gpus
		table, moments := tableBytes(words, c.Dim), c.Optimizer.Bytes(own, paddedDim(c.Dim))
		if p == Half {
			table, moments = table/2+tableBytes(own, c.Dim)/2, moments/2+4*int64(own)
		}
		bytes := 2*(table+moments) + work
		if structure != nil {
			bytes += encoderBytes(structure, words, gpus, c)
		}
		return bytes, nil
	}
	if gpus > 1 {
		dim := cl.PaddedDim(c.Dim, gpus)
		moments := c.Optimizer.Bytes(words, dim)
		exchange := cl.ExchangeBytes(words, c.Negatives, gpus)
		if d.ByMessages() { // all parts of the dot products of a step are kept
			exchange = cl.MessageBytes(words, c.Negatives, gpus)
		}
		return 2*(4*v*int64(dim)+moments) + work + exchange, nil
	}
	bytes := 2*(tableBytes(words, c.Dim)+moments) + work
	switch {
	case c.Composition != nil:
		bytes += composedBytes(c.Composition, c)
	case structure != nil:
		bytes += encoderBytes(structure, words, 1, c)
	}
	return bytes, nil
}

// composedBytes estimates the memory that a composition takes beyond the table of words, whose place it takes: the rows of the next
// iteration, lists, and the parts, also in 16 bits.
func composedBytes(x *composed.Composition, c graph.Options) int64 {
	v, u, table := int64(x.Words()), x.PartCount(), tableBytes(x.Words(), c.Dim)
	bytes := 4*int64(len(x.Starts)) + 16*int64(len(x.Symbols)) + 20*v + table
	if x.Own != nil {
		bytes += table
	} else {
		bytes -= c.Optimizer.Bytes(x.Words(), paddedDim(c.Dim))
	}
	bytes += tableBytes(u, c.Dim)*3/2 + c.Optimizer.Bytes(u, paddedDim(c.Dim))
	return bytes + table/2 + 20*int64(u)
}

// encoderBytes estimates the memory that an encoder takes on each of some GPUs beyond the table of
// words, whose place it takes.
func encoderBytes(s *encoder.Structure, words, gpus int, c graph.Options) int64 {
	own, table := (words+gpus-1)/gpus, tableBytes(words, c.Dim)
	v := int64(own)
	bytes := 4*int64(len(s.Starts)+len(s.Symbols))/int64(gpus) + 20*int64(words) + table // the rows of the next iteration
	if s.Words {
		bytes += table
	} else {
		bytes -= c.Optimizer.Bytes(own, paddedDim(c.Dim))
	}
	parameter := func(rows, columns int) { bytes += 8*int64(rows)*int64(columns) + c.Optimizer.Bytes(rows, columns) }
	const sharedOfBlock = 227 << 10
	d := paddedDim(s.Features())
	parameter(s.Alphabet, s.CharDim)
	for i, w := range s.Widths {
		parameter(w*s.CharDim+1, s.Filters[i])
	}
	parameter(d+1, paddedDim(c.Dim))
	bytes += v * int64(44+16*d+4*paddedDim(c.Dim)) // packed words; features, where, standardized, their gradient; the vectors' gradient
	if s.HasLists(sharedOfBlock) {
		bytes += s.ListBytes() + v*int64(6*(s.Each()-1)*d+4*d) // features and where of all spellings, and their sums
	}
	return bytes + encoderMargin
}

// encoderMargin is for what a CNN takes beside what grows with the vocabulary: tables of its symbols, and parts of sums.
const encoderMargin = 128 << 20

// paddedDim is the length of a row of dim values on the device, in the precision
// that takes more.
func paddedDim(dim int) int { return max(cuda.Padded(dim, 4), cuda.Padded(dim, 2)) }

func tableBytes(rows, dim int) int64 { return 4 * int64(rows) * int64(paddedDim(dim)) }

// SeriesLength returns how many iterations to train in one call: several times as
// many as the kernels take at once, for the device waits between two calls.
func (t *CL) SeriesLength() int { return 4 * t.kernels.SeriesLength() }

// Advance runs one iteration; see AdvanceSeries.
func (t *CL) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	return trainer.AdvanceOne(ctx, t, unit, rate)
}

// AdvanceSeries runs the iterations first, first+1, ..., one for each of the
// rates, as graph.CL does. The device gets the next iterations while it trains
// some, so that it never waits.
func (t *CL) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := t.Ready(); err != nil {
		return nil, err
	}
	var reports []trainer.Report
	underWay := -1 // buffer
	for done := 0; done < len(rates); {
		from := first + done
		count := min(len(rates)-done, t.kernels.SeriesLength())
		if err := t.samples.await(t.buffer, from, count); err != nil {
			return nil, err
		}
		if err := t.kernels.Start(t.buffer, from, rates[done:done+count]); err != nil {
			return nil, err
		}
		if err := t.collect(&reports, underWay); err != nil {
			return nil, err
		}
		done += count
		underWay, t.buffer = t.buffer, 1-t.buffer
		t.samples.read(t.buffer, first+done, min(t.kernels.SeriesLength(), t.Units()-first-done))
	}
	err := t.collect(&reports, underWay)
	return reports, err
}

// collect waits for a buffer that is under way and appends the reports of its
// iterations. Buffer -1 is none.
func (t *CL) collect(reports *[]trainer.Report, buffer int) error {
	if buffer < 0 {
		return nil
	}
	losses, samples, err := t.kernels.Wait(buffer)
	for i, loss := range losses {
		*reports = append(*reports, trainer.Report{Loss: loss, Pairs: samples[i] * float64(1+t.negatives)})
	}
	return err
}

// Follow does what rank 0 orders, on another of several ranks (OnRanks), until training ends. When ctx ends the run stops.
func (t *CL) Follow(ctx context.Context) error { return cluster.Follow(ctx, t.kernels) }

// Close frees the trainer's memory on the device. The device stays
// open.
func (t *CL) Close() error {
	_ = t.samples.wait() // nobody needs them any more
	return t.kernels.Close()
}
