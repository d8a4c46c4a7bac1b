// Package devicetest has a device that is none: it computes on the CPU, pair by pair, as
// kernels do, for tests of all that is above the seam. It shares no code with the trainers of
// the CPU.
//
// Start with New. cl.go has W2V-CL, split.go its sums over several GPUs, encoder.go its encoders, sentence.go the
// sentence-ordered modes, sentences.go the same on several GPUs.
package devicetest

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/device"
	"github.com/w2vcl/w2vcl/trainer"
)

// A Device computes on the CPU. The zero value has no memory.
type Device struct {
	Free, Total int64 // bytes of memory that it says it has
	Parts       int   // GPUs that share the dimensions, the rows or the text, 1, 2, 4 or 8, if there are several; 0: one that rounds otherwise
	Fail        error // of all kernels from now on
	NotANumber  bool  // losses are, from now on

	Launches   []int // units of each
	Open       int   // devices and kernels that were not closed
	TextTokens int   // of the last FULL-W2V's configuration
}

var _ device.Device = &Device{}

// New returns a device in use, with memory for anything.
func New() *Device { return &Device{Free: 1 << 40, Total: 1 << 40, Open: 1} }

// Name returns a name.
func (d *Device) Name() string { return "Test GPU" }

// GPUs returns Parts.
func (d *Device) GPUs() int { return max(1, d.Parts) }

// ByMessages is false: its GPUs use each other's memory.
func (d *Device) ByMessages() bool { return false }

// Memory returns Free and Total.
func (d *Device) Memory() (free, total int64, err error) { return d.Free, d.Total, d.Fail }

// Occupied returns Total - Free.
func (d *Device) Occupied() int64 { return d.Total - d.Free }

// Peak returns a number.
func (d *Device) Peak() int64 { return 12345678 }

// Copy returns a number.
func (d *Device) Copy(int64) (perSecond float64, err error) { return 4e12, d.Fail }

// Close closes the device. Nothing that was made on it may be open then.
func (d *Device) Close() error {
	d.Open--
	if d.Open != 0 {
		return fmt.Errorf("closed the device before %d kernels", d.Open)
	}
	return nil
}

func (d *Device) launch(n int, loss *float64) error {
	d.Launches = append(d.Launches, n)
	if d.NotANumber {
		*loss = math.NaN()
	}
	return d.Fail
}

// randomBits returns 32 bits of a stream, by their number.
func randomBits(seed uint64, stream corpus.Stream, i uint64) uint32 {
	return corpus.Philox(seed, stream, i/4)[i%4]
}

// draw draws from an alias table as the kernels do.
func draw(alias []uint32, random uint32) uint32 {
	column, low := bits.Mul32(random, uint32(len(alias)/2))
	if low < alias[2*column] {
		return column
	}
	return alias[2*column+1]
}

func dot(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// lossOf returns the loss of a pair of a score: for a negative softplus of the score, for a
// positive softplus of its opposite.
func lossOf(score float64, positive bool) float64 {
	if positive {
		score = -score
	}
	return math.Log1p(math.Exp(score))
}

// A memory has the tensors that kernels keep on a device.
type memory struct {
	device *Device
	state  []trainer.Tensor
}

func (m *memory) tensor(name string, values []float32) ([]float32, error) {
	for _, t := range m.state {
		if t.Name == name && len(t.Data) == len(values) {
			return t.Data, m.device.Fail
		}
	}
	return nil, fmt.Errorf("no tensor %s of %d values", name, len(values))
}

func (m *memory) Send(name string, values []float32) error {
	t, err := m.tensor(name, values)
	copy(t, values)
	return err
}

func (m *memory) Receive(name string, values []float32) error {
	t, err := m.tensor(name, values)
	copy(values, t)
	return err
}
