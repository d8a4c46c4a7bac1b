package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/device"
)

// A DeviceCase is a training step on a GPU to measure.
type DeviceCase struct {
	Device      string           `json:"device"`   // name of the GPU
	GPUs        int              `json:"gpus"`     // that train together
	Vocabulary  int              `json:"words"`    // V
	Dim         int              `json:"dim"`      // N
	Negatives   int              `json:"negative"` // K
	Frequencies Frequencies      `json:"frequencies"`
	Samples                      // of a word
	Optimizer   optim.Method     `json:"optimizer"`
	Precision   device.Precision `json:"precision"`
	Threads     int              `json:"threads"` // that read M
	Subword     EncoderKind      `json:"subword"` // to measure, too
}

func (c DeviceCase) String() string {
	return fmt.Sprintf("%d words x %d, %d negatives, %s%s, %s, %s, on %s", c.Vocabulary, c.Dim, c.Negatives, c.Frequencies, c.Samples, c.Optimizer, c.Precision, c.Device)
}

func (c DeviceCase) config(seed uint64) graph.Options {
	return graph.Options{
		Dim: c.Dim, Negatives: c.Negatives, SharedNegatives: c.Shared, Seed: seed, Threads: c.Threads,
		Optimizer: optim.Options{Method: c.Optimizer},
	}
}

// Memory estimates the bytes of each GPU's memory that measuring needs, without
// those of copying.
func (c DeviceCase) Memory() int64 {
	bytes, _ := device.MemoryCL(c.Vocabulary, c.slots(c.Vocabulary), c.config(0), c.Precision, c.GPUs) // only an encoder can cause an error
	return bytes
}

// A DeviceResult says how long a step of W2V-CL takes on a GPU, with everything
// that training does, and compares that with the speed of the GPU's memory.
type DeviceResult struct {
	DeviceCase
	Step Measurement `json:"step_seconds"`

	// Bytes counts what every step must read and write, see UpdateBytes. Gathered
	// rows are not counted: caches have most of them.
	Bytes          int64       `json:"bytes"`
	BytesPerSecond float64     `json:"bytes_per_second"`      // Bytes / the median of Step
	Copy           Measurement `json:"copy_bytes_per_second"` // read + written
	OfCopy         float64     `json:"of_copy"`               // BytesPerSecond / the median of Copy
	PairsPerSecond float64     `json:"pairs_per_second"`
	Loss           float64     `json:"loss"` // of the last iteration, per pair

	Encoder *EncoderResult `json:"encoder,omitempty"`
}

// deviceCopyBytes is more than a GPU's cache holds.
const deviceCopyBytes = 1 << 30

// MeasureDevice trains on text for as long as e asks, and measures copying before and
// after each repetition.
func MeasureDevice(ctx context.Context, c DeviceCase, d device.Device, text *Text, seed uint64, e Effort) (DeviceResult, error) {
	r := DeviceResult{DeviceCase: c}
	var err error
	if r.Bytes, err = UpdateBytes(int(amountOf(text.Matrix).rows), c.Dim, c.Optimizer); err != nil {
		return r, err
	}
	trainer, err := device.NewCL(d, text.Matrix, text.Noise, math.MaxInt32, c.config(seed), c.Precision)
	if err != nil {
		return r, err
	}
	l := deviceLoop{ctx: ctx, trainer: trainer}
	err = r.measure(&l, d, e)
	if err := errors.Join(err, trainer.Close()); err != nil {
		return r, err
	}
	r.BytesPerSecond = rate(float64(r.Bytes), r.Step.Median)
	r.OfCopy = rate(r.BytesPerSecond, r.Copy.Median)
	r.PairsPerSecond = rate(l.pairs, r.Step.Median)
	r.Loss = l.loss
	if c.Subword != "" && c.Subword != NoEncoder {
		err = r.measureEncoder(ctx, d, text, seed, e)
	}
	return r, err
}

// measure alternates copying and training.
func (r *DeviceResult) measure(l *deviceLoop, d device.Device, e Effort) error {
	var steps, copies []float64
	for n := range e.Repeat + 1 {
		copied, err := d.Copy(deviceCopyBytes)
		if err != nil {
			return fmt.Errorf("measure copying: %w", err)
		}
		copies = append(copies, copied)
		if n == e.Repeat {
			break
		}
		if _, err := l.run(0); err != nil { // the first one also sends the tables
			return err
		}
		seconds, err := l.run(e.Time)
		if err != nil {
			return err
		}
		steps = append(steps, seconds)
	}
	r.Step, r.Copy = Measured(steps), Measured(copies)
	return nil
}

// A deviceLoop runs iterations one after the other.
type deviceLoop struct {
	ctx     context.Context
	trainer *device.CL
	unit    int
	loss    float64
	pairs   float64 // of a step
}

// run trains for at least the given time, one series or more, and returns the
// seconds of one step.
func (l *deviceLoop) run(atLeast time.Duration) (secondsPerStep float64, err error) {
	rates := make([]float64, l.trainer.SeriesLength())
	for i := range rates {
		rates[i] = stepRate
	}
	first, start := l.unit, time.Now()
	for l.unit == first || time.Since(start) < atLeast {
		reports, err := l.trainer.AdvanceSeries(l.ctx, l.unit, rates)
		if err != nil {
			return 0, err
		}
		for _, r := range reports {
			l.loss, l.pairs = r.Loss/r.Pairs, r.Pairs/2
			if math.IsNaN(l.loss) || math.IsInf(l.loss, 0) {
				return 0, fmt.Errorf("the loss of iteration %d is %v: the kernels compute nonsense", l.unit, l.loss)
			}
			l.unit++
		}
	}
	return time.Since(start).Seconds() / float64(2*(l.unit-first)), nil
}
