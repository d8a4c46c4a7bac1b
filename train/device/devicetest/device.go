// Package devicetest has a device without a GPU, for tests of everything above the seam: the
// trainers of the CPU do the work of the kernels. They are built from what the kernels are told
// and start from zeros, so what package device forgets to tell or to send shows in the results.
// Whether CUDA computes the same is the question of the tests in kernels/cuda.
//
// Start with New. cl.go has W2V-CL, encoder.go its encoders, sentence.go the sentence-ordered modes,
// parts.go the same on several GPUs or ranks, vanilla.go W2V-Vanilla, cbow.go large-batch CBOW.
package devicetest

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/train/device"
	"github.com/w2vcl/w2vcl/train/trainer"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Device computes on the CPU. The zero value has no memory.
type Device struct {
	Free, Total int64 // bytes of memory that it says it has
	Parts       int   // GPUs that it says it is: 1, 2, 4 or 8; 0 stands for 1
	Fail        error // of all kernels from now on
	NotANumber  bool  // losses are, from now on

	Matrix *wordcontext.Matrix // M, for kernels of W2V-CL that get its samples from the host

	Launches []int            // units of each
	Open     int              // devices and kernels that were not closed
	Sentence sentence.Options // of the last kernels
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

// A memory has the tensors that kernels keep on a device.
type memory struct {
	device *Device
	state  []trainer.Tensor
}

// newMemory takes the state of a trainer, all zeros.
func newMemory(d *Device, state []trainer.Tensor) memory {
	for _, t := range state {
		clear(t.Data)
	}
	return memory{d, state}
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

func noiseOf(table []uint32) (*corpus.Alias, error) {
	weights := make([]float64, len(table)/2)
	for i := range weights {
		accept, other := float64(table[2*i]), table[2*i+1]
		weights[i] += accept
		weights[other] += 1<<32 - accept
	}
	noise, err := corpus.NewAlias(weights)
	if err == nil && !slices.Equal(noise.Table(), table) {
		err = fmt.Errorf("no weights have this alias table")
	}
	return noise, err
}

// sampleOf returns the subsampling threshold that words of these counts are kept by.
func sampleOf(counts []uint64, keep []uint32) (float64, error) {
	if slices.Equal(keep, corpus.KeepThresholds(counts, 0)) {
		return 0, nil
	}
	bits := sort.Search(math.MaxInt64, func(bits int) bool {
		for w, k := range corpus.KeepThresholds(counts, math.Float64frombits(uint64(bits)+1)) {
			if k < keep[w] {
				return false
			}
		}
		return true
	})
	sample := math.Float64frombits(uint64(bits) + 1)
	if !slices.Equal(keep, corpus.KeepThresholds(counts, sample)) {
		return 0, fmt.Errorf("no threshold keeps words so")
	}
	return sample, nil
}

// vocabularyOf returns one of nameless words.
func vocabularyOf(counts []uint64) (*corpus.Vocabulary, error) {
	names := make([]string, len(counts))
	for i := range names {
		names[i] = fmt.Sprint("word ", i)
	}
	return corpus.NewVocabulary(names, counts)
}
