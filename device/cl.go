package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// TwoStep trains W2V-CL on a device: iterations, random numbers and tensors of
// the state are those of graph.TwoStep, so a checkpoint of either serves both.
type TwoStep struct {
	mirror[*graph.TwoStep] // whose graph is the one that is trained
	kernels                CLKernels
	pairs                  float64  // of an iteration
	columns                *columns // nil: the device has M
	buffer                 int      // to be started next
}

// NewTwoStep prepares training on m for the given number of iterations, as
// graph.NewTwoStep does. With precision Half, tables stay float32, but the rows
// that are frozen in a step are read rounded to bfloat16, and moments are stored in
// it: the first rounded to nearest, the second at random, so that the mean stays.
func NewTwoStep(d Device, m *wordcontext.Matrix, noise *corpus.Alias, iterations int, c graph.Config, p Precision) (*TwoStep, error) {
	threads := c.Threads
	c.Threads = 1 // the host only keeps tables
	host, err := graph.NewTwoStep(m, noise, iterations, c)
	if err != nil {
		return nil, err
	}
	return newTwoStep(d, host, m, noise, threads, nil, c, p)
}

// NewTwoStepWithEncoder is NewTwoStep with word vectors that the encoder composes,
// as graph.NewTwoStepWithEncoder does. The rows of words are composed on the host
// when they are asked for.
func NewTwoStepWithEncoder(d Device, m *wordcontext.Matrix, noise *corpus.Alias, iterations int, e subword.Encoder, c graph.Config) (*TwoStep, error) {
	structure, err := subword.StructureOf(e)
	if err != nil {
		return nil, err
	}
	host, err := graph.NewTwoStepWithEncoder(m, noise, iterations, e, c)
	if err != nil {
		return nil, err
	}
	return newTwoStep(d, host, m, noise, c.Threads, &structure, c, Float32)
}

// newTwoStep puts kernels beside the host's trainer. So many threads read M if it
// stays on the host.
func newTwoStep(d Device, host *graph.TwoStep, m *wordcontext.Matrix, noise *corpus.Alias, threads int, e *encoder.Config, c graph.Config, p Precision) (*TwoStep, error) {
	t := &TwoStep{mirror: mirror[*graph.TwoStep]{host: host, device: d}, pairs: 2 * float64(m.Rows()) * float64(1+c.Negatives)}
	var err error
	o := c.Optimizer.WithDefaults()
	t.kernels, err = d.NewCL(cl.Config{
		Rows: m.Rows(), Dim: c.Dim, Negatives: c.Negatives, Seed: c.Seed, Alias: noise.Table(),
		Method: string(o.Method), Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon, WeightDecay: o.WeightDecay,
		HalfPrecision: p == Half,
	}, e)
	if err != nil {
		_ = host.Close() // the error that led here is the one to tell
		return nil, err
	}
	if err := t.placeMatrix(m, threads); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// placeMatrix brings M to the device if there is room for it beside the rest.
// Otherwise so many threads read its columns here.
func (t *TwoStep) placeMatrix(m *wordcontext.Matrix, threads int) error {
	const spare = 256 << 20 // for the driver
	free, _, err := t.device.Memory()
	if err != nil {
		return fmt.Errorf("ask %s for its memory: %w", t.device.Name(), err)
	}
	if matrixBytes(m) <= free-spare {
		return t.kernels.SetMatrix(m)
	}
	c := &columns{matrix: m, team: team.New(threads), block: t.kernels.SeriesLength()}
	for i := range c.memory {
		if c.memory[i], err = t.kernels.Columns(i); err != nil {
			return err
		}
	}
	t.columns = c
	return nil
}

func matrixBytes(m *wordcontext.Matrix) int64 {
	offsets, narrow, wide := m.Layout()
	return 8*int64(len(offsets)) + 2*int64(len(narrow)) + 4*int64(len(wide))
}

// MemoryTwoStep estimates the bytes of the device's memory that NewTwoStep takes
// for a vocabulary of the given size. M is not counted: it may stay on the host.
func MemoryTwoStep(words int, c graph.Config, p Precision) int64 {
	v := int64(words)
	moments := c.Optimizer.Bytes(words, paddedDim(c.Dim))
	if p == Half {
		moments = moments/2 + 4*v // of adam-row the second moments stay float32
	}
	const columns = 64
	work := 4*columns*v + 8*v + 1<<20 // columns of M, alias table, losses
	return 2*(tableBytes(words, c.Dim)+moments) + work
}

// MemoryTwoStepWithEncoder estimates the bytes of the device's memory that
// NewTwoStepWithEncoder takes, M not counted. What depends on the number of
// multiprocessors is that of the largest GPUs of today.
func MemoryTwoStepWithEncoder(e subword.Encoder, c graph.Config) (int64, error) {
	s, err := subword.StructureOf(e)
	if err != nil {
		return 0, err
	}
	v, table := int64(e.Words()), tableBytes(e.Words(), c.Dim)
	bytes := MemoryTwoStep(e.Words(), c, Float32) + 4*int64(len(s.Starts)+len(s.Symbols)) + 8*v
	if s.Words {
		bytes += table
	} else {
		bytes -= c.Optimizer.Bytes(e.Words(), paddedDim(c.Dim))
	}
	parameter := func(rows, columns int) { bytes += 8*int64(rows)*int64(columns) + c.Optimizer.Bytes(rows, columns) }
	if len(s.Widths) == 0 {
		parameter(s.Alphabet, paddedDim(c.Dim))
		return bytes + table - tableBytes(s.Alphabet, c.Dim) + 4*int64(len(s.Symbols)+2*s.Alphabet), nil
	}
	const multiprocessors, most = 132, 64 << 20
	d := paddedDim(len(s.Widths) * s.Filters)
	parameter(s.Alphabet, s.CharDim)
	for _, w := range s.Widths {
		parameter(w*s.CharDim+1, s.Filters)
	}
	parameter(d+1, paddedDim(c.Dim))
	tables := 4 * int64(slices.Max(s.Widths)) * int64(s.Alphabet) * int64(d)
	bytes += v*int64(14*d+4*paddedDim(c.Dim)) + 2*tables // features, where, standardized, their gradient; that of vectors
	bytes += min(most, 12*multiprocessors*32/int64(d+31)*tables)
	bytes += 2 * multiprocessors * 4 * 128 * 128 // parts of the gradient of weights
	return bytes + 16*8*multiprocessors*int64(d), nil
}

// paddedDim is the length that a row of dim values has on the device in either precision, or
// a little more.
func paddedDim(dim int) int { return max(cuda.Padded(dim, 4), cuda.Padded(dim, 2)) }

func tableBytes(rows, dim int) int64 { return 4 * int64(rows) * int64(paddedDim(dim)) }

// SeriesLength returns how many iterations to train in one call: several of the device's
// blocks, for it waits between one AdvanceSeries and the next.
func (t *TwoStep) SeriesLength() int { return 4 * t.kernels.SeriesLength() }

// Advance runs one iteration; see AdvanceSeries.
func (t *TwoStep) Advance(ctx context.Context, unit int, rate float64) (trainer.Report, error) {
	reports, err := t.AdvanceSeries(ctx, unit, []float64{rate})
	if err != nil {
		return trainer.Report{}, err
	}
	return reports[0], nil
}

// AdvanceSeries runs the iterations first, first+1, ..., one for each of the
// rates, as graph.TwoStep does. While the device trains some, it is handed the
// next, so that it never waits.
func (t *TwoStep) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := t.send(); err != nil {
		return nil, err
	}
	var reports []trainer.Report
	underWay := -1 // buffer
	for done := 0; done < len(rates); {
		from := first + done
		count := min(len(rates)-done, t.kernels.SeriesLength())
		if err := t.columns.await(t.buffer, from, count); err != nil {
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
		t.columns.read(t.buffer, first+done, min(t.kernels.SeriesLength(), t.Units()-first-done))
	}
	err := t.collect(&reports, underWay)
	return reports, err
}

// collect waits for a buffer that is under way, unless it is -1, and appends the
// reports of its iterations.
func (t *TwoStep) collect(reports *[]trainer.Report, buffer int) error {
	if buffer < 0 {
		return nil
	}
	losses, err := t.kernels.Wait(buffer)
	for _, loss := range losses {
		*reports = append(*reports, trainer.Report{Loss: loss, Pairs: t.pairs})
	}
	return err
}

// send brings the host's state to the device unless it is there.
func (t *TwoStep) send() error {
	if t.sent {
		return nil
	}
	for _, tensor := range t.host.State() {
		if err := t.kernels.Send(tensor.Name, tensor.Data); err != nil {
			return err
		}
	}
	t.sent = true
	return nil
}

// Pull brings W, or the parameters of its encoder, and C to the host, and with
// everything set the moments, too.
func (t *TwoStep) Pull(everything bool) error {
	if !t.sent {
		return nil // the host has what there is
	}
	for _, tensor := range t.host.State() {
		if !everything && strings.HasSuffix(tensor.Name, "-moment") {
			continue
		}
		if err := t.kernels.Receive(tensor.Name, tensor.Data); err != nil {
			return fmt.Errorf("receive the state of training: %w", err)
		}
	}
	return nil
}

// Refresh composes the rows of W by the parameters as they were pulled last.
// Without an encoder there is nothing to do.
func (t *TwoStep) Refresh() error { return t.host.Refresh() }

// DOT prints the graphs that the kernels compute in the Graphviz language.
func (t *TwoStep) DOT() string { return t.host.DOT() }

// Close frees what is on the device, but not the device.
func (t *TwoStep) Close() error {
	_ = t.columns.wait() // of columns that nobody needs
	err := t.kernels.Close()
	if hostErr := t.host.Close(); err == nil {
		err = hostErr
	}
	return err
}
