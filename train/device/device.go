// Package device trains the models of packages graph and sequential on a GPU:
// the same units with the same random numbers, so the same model except
// for rounding. Programs built without the tag gpu have no device, and
// say so.
//
// Start at Open. NewCL, NewCBOW, NewVanilla and NewSequential make the trainers. Each has a model on the
// host, which keeps tables and moments for checkpoints, and kernels, which train. Device is the
// seam between trainers and kernels/cuda; devicetest has a Device that computes on the CPU,
// for tests of everything above the seam.
package device

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/kernels/cuda/vanilla"
)

// A Device is a GPU in use, or several that train together. It must be closed after the kernels that were made on it.
// Of several GPUs the figures of memory are those of each: of the one with the least free, or the most in use.
type Device interface {
	Name() string
	// GPUs returns how many they are.
	GPUs() int
	// ByMessages reports whether they send each other what they have, as those of ranks do, instead of using each other's memory.
	// Then all parts of a step's dot products are kept, and tables are combined between trainings, not beside them.
	ByMessages() bool
	// Memory returns the bytes of its memory that are free, and all.
	Memory() (free, total int64, err error)
	// Occupied returns the bytes of its memory that were not free when it had been opened:
	// CUDA itself takes about 530 MB on an H200, and other programs may run. Neither Peak nor
	// the estimates of this package count these bytes.
	Occupied() int64
	// Peak returns the most bytes that were allocated on it at a time.
	Peak() int64
	// NewCL returns kernels of W2V-CL. With an encoder, which may be nil, or with a composition they compose W.
	NewCL(c cl.Options, encoder *encoder.Structure) (CLKernels, error)
	NewSentence(c sentence.Options) (SentenceKernels, error)
	NewComposed(c sentence.Options, x *composed.Composition) (ComposedKernels, error)
	NewVanilla(c vanilla.Options) (VanillaKernels, error)
	NewCBOW(c cl.CBOWOptions) (CBOWKernels, error)
	Close() error
}

// A Precision says how a device stores the tables whose traffic limits training. Values
// that are computed are float32, or have their sums in float32.
type Precision string

// The precisions. With Half a mode stores some values in 16 bits: NewCL and NewSequential
// say which, and how they are rounded. With HalfTables sentence-ordered modes store both tables so.
const (
	Float32    Precision = "float32" // the zero value, too
	Half       Precision = "half"
	HalfTables Precision = "half-tables"
)

// Rounds reports whether some values are stored in 16 bits.
func (p Precision) Rounds() bool { return p == Half || p == HalfTables }

// CLKernels train W2V-CL. Send and Receive copy the tensors of graph.CL's state by
// their names; they start as zeros.
type CLKernels interface {
	// SeriesLength returns how many iterations Start takes at most.
	SeriesLength() int
	// Samples returns the memory of buffer 0 or 1 for the samples of M that Start reads: (2,
	// SeriesLength, S), first those of step 1 of all iterations, then of step 2. It must not
	// be written to between Start and Wait.
	Samples(buffer int) ([]uint32, error)
	// SetMatrix brings M to the device, which then needs no Samples.
	SetMatrix(m cl.Matrix) error
	// Start begins to run the iterations first, first+1, ..., one for each of the
	// learning rates, with the samples of a buffer. It may be called for one
	// buffer while the other is under way.
	Start(buffer, first int, rates []float64) error
	// Wait waits for the iterations of a buffer. It returns the loss of each, summed over
	// its pairs, and how many samples its two steps had.
	Wait(buffer int) (losses, samples []float64, err error)
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
	Close() error
}

// CBOWKernels train large-batch CBOW. Send and Receive copy the tensors of graph.CBOW's state by their names; they start
// as zeros.
type CBOWKernels interface {
	// Stretch returns the memory of a buffer, one of those of the options, for the stretch that Start reads. It
	// must not be written to between Start and Wait.
	Stretch(buffer int) *cl.Stretch
	// Start begins to train an iteration on the stretch of a buffer, which has places and is prepared. It may be called for
	// one buffer while another is under way.
	Start(buffer, iteration int, rate float64) error
	// Wait waits for the iteration of a buffer and returns its loss.
	Wait(buffer int) (loss float64, err error)
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
	Close() error
}

// SentenceKernels train a sentence-ordered mode. The tables start as zeros.
type SentenceKernels interface {
	// Train trains the units first, first+1, ..., counted over the epochs, one for
	// each of the learning rates. It returns the loss of each and the number of
	// pairs it was summed over.
	Train(first int, rates []float32) (losses, pairs []float64, err error)
	SetTables(words, contexts []float32) error
	Tables(words, contexts []float32) error
	Close() error
}

// VanillaKernels train W2V-Vanilla. Send and Receive copy the tensors of graph.Vanilla's state by
// their names; they start as zeros.
type VanillaKernels interface {
	// Start begins to train the minibatches of a unit, the first of them number first of training,
	// counted from 1, with a buffer, 0 or 1. It may be called for one buffer while the other is
	// under way. The unit is copied.
	Start(buffer int, unit *vanilla.Unit, first int, rate float64) error
	// Wait waits for a buffer and returns the loss of its minibatches, summed over their pairs.
	Wait(buffer int) (loss float64, err error)
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
	Close() error
}

// errOneGPU is the error of what settings refuse before.
var errOneGPU = errors.New("several GPUs cannot train n-grams, CBOW of mode cl, or mode vanilla")

// OnEach returns what to say behind the memory of so many GPUs, of which figures are those of each: nothing of one.
func OnEach(gpus int) string {
	if gpus > 1 {
		return " on each GPU"
	}
	return ""
}

// BeyondTwo returns what to say of so many GPUs that share the rows of W2V-CL: nothing of one or two.
func BeyondTwo(gpus int) string {
	if gpus <= 2 {
		return ""
	}
	return fmt.Sprintf("\n  note    with tempered samples or half precision, GPUs share rows: %d GPUs are no faster than 2", gpus)
}

// The limits of the kernels.
const (
	MaxDim        = cuda.MaxDim
	MaxCNNWidths  = encoder.MaxWidths
	MaxCNNSymbols = encoder.MaxSymbols // of a word
)

// Reserve is the part of a device's memory, in bytes, that stays free when M is brought
// there: the driver takes some for the code of kernels and for recorded launches.
const Reserve = 256 << 20

// TakesMatrix reports whether M, of so many bytes, goes to a device that has so many free
// beside all else that training takes. Otherwise M stays on the host.
func TakesMatrix(bytes, free int64) bool { return bytes <= free-Reserve }

// Open takes the device that is named cuda or cuda:N into use. Without the build tag gpu the
// error is ErrNotBuilt, on a machine without a GPU ErrNone, wrapped. It is a variable for
// tests.
var Open = open

// ErrNotBuilt is the error of a program without the build tag gpu, or without kernels.
var ErrNotBuilt = errors.New("this w2vcl was built without CUDA: build it with 'make cuda', or use --device cpu")

// ErrNone is the error of a machine without a usable GPU.
var ErrNone = errors.New("no CUDA device")

// Info describes a device that need not be in use.
type Info struct {
	Ordinal    int    `json:"ordinal"` // of --device cuda:N
	Name       string `json:"name"`
	Memory     int64  `json:"memory_bytes"`
	Capability string `json:"compute_capability"`
	Usable     bool   `json:"usable"` // there are kernels for its capability
	Peers      []int  `json:"peers"`  // ordinals of other devices whose memory it can use, as GPUs of one run must
}

// The numbers of GPUs that one run may use.
var groupSizes = []int{1, 2, 4, cl.MaxDevices}

var names = regexp.MustCompile(`^cuda(?::(\d+(?:,(?:cuda:)?\d+)*))?$`)

// Ordinals returns the numbers of the devices that are named cuda, cuda:N, or cuda:N,M,... (also cuda:N,cuda:M,...): 1,
// 2, 4 or 8 of them.
func Ordinals(name string) ([]int, error) {
	match := names.FindStringSubmatch(name)
	if match == nil {
		return nil, fmt.Errorf("%q is not a device; choose cpu, cuda, cuda:N for the GPU of number N, counted from 0, or cuda:N,M for several", name)
	}
	if match[1] == "" {
		return []int{0}, nil
	}
	var ordinals []int
	for text := range strings.SplitSeq(strings.ReplaceAll(match[1], "cuda:", ""), ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a device: %w", name, err)
		}
		if slices.Contains(ordinals, n) {
			return nil, fmt.Errorf("%q names GPU %d twice", name, n)
		}
		ordinals = append(ordinals, n)
	}
	if !slices.Contains(groupSizes, len(ordinals)) {
		return nil, fmt.Errorf("%q names %d GPUs; training uses 1, 2, 4 or %d", name, len(ordinals), cl.MaxDevices)
	}
	return ordinals, nil
}

// leastFree is the memory of the device with the least free.
func leastFree[D interface {
	Memory() (free, total int64, err error)
}](devices []D) (free, total int64, err error) {
	for i, d := range devices {
		f, t, err := d.Memory()
		if err != nil {
			return 0, 0, err
		}
		if i == 0 || f < free {
			free, total = f, t
		}
	}
	return free, total, nil
}

// mostAtPeak is the memory that the device with the most had at its peak.
func mostAtPeak[D interface{ Peak() int64 }](devices []D) (most int64) {
	for _, d := range devices {
		most = max(most, d.Peak())
	}
	return most
}
