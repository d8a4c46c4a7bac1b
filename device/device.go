// Package device trains on a GPU what graph.TwoStep and sequential.FullW2V train
// on the CPU: the same units with the same random numbers, so the same model but
// for rounding. Programs that are built without the tag gpu have no device, and
// say so.
//
// Start with Open. TwoStep, with or without an encoder of words, and FullW2V are the
// trainers: each has its CPU twin, which keeps tables and moments for checkpoints,
// and kernels that do the training. Device is the seam between them and kernels/cuda; devicetest has a
// Device that computes on the CPU, for tests of all that is above the seam.
package device

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A Device is a GPU in use. It is to be closed after what was made on it.
type Device interface {
	Name() string
	// Memory returns the bytes of its memory that are free, and all.
	Memory() (free, total int64, err error)
	// Peak returns the most bytes that were allocated on it at a time.
	Peak() int64
	// Copy returns how many bytes a second are read and written when so many are
	// copied on the device.
	Copy(bytes int64) (perSecond float64, err error)
	NewCL(CLConfig) (CLKernels, error)
	NewFullW2V(FullW2VConfig) (FullW2VKernels, error)
	Close() error
}

// A Precision says how a device stores the tables that its memory limits training
// by. What is computed with them is float32, or has its sums in float32.
type Precision string

// The precisions. With Half, what limits a mode is stored in 16 bits; its own
// documentation says what, and how it is rounded.
const (
	Float32 Precision = "float32" // the zero value, too
	Half    Precision = "half"
)

// CLConfig says what kernels of W2V-CL compute.
type CLConfig struct {
	Rows, Dim, Negatives int // V, N, K
	Seed                 uint64
	Alias                []uint32 // of the negatives, two values a row
	Optimizer            optim.Config
	Encoder              *subword.Structure // that composes W; nil: W is a table
	Precision            Precision
}

// CLKernels train W2V-CL. The tensors are those of graph.TwoStep's state, by
// their names; they start as zeros.
type CLKernels interface {
	// Block returns how many iterations Start takes at most.
	Block() int
	// Columns returns the memory, of buffer 0 or 1, that the columns of M are put
	// into before Start: (2, Block, V), those of the two steps of each iteration.
	// It is not to be written to between Start and Wait.
	Columns(buffer int) ([]uint32, error)
	// SetMatrix brings M to the device, which then needs no Columns.
	SetMatrix(m *wordcontext.Matrix) error
	// Start begins to run the iterations first, first+1, ..., one for each of the
	// learning rates, with the columns of a buffer. It may be called for one
	// buffer while the other is under way.
	Start(buffer, first int, rates []float64) error
	// Wait waits for the iterations of a buffer and returns the loss of each,
	// summed over its pairs.
	Wait(buffer int) ([]float64, error)
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
	Close() error
}

// FullW2VConfig says what kernels of FULL-W2V compute.
type FullW2VConfig struct {
	Vocabulary, Dim, Negatives int // V, N, K
	Half                       int // W_f
	Epochs                     int
	Seed                       uint64
	Alias                      []uint32 // of the negatives, two values a word
	Counts                     []uint64 // of the words in the text
	Keep                       []uint32 // corpus.KeepThresholds
	Tokens                     []uint32
	Sentences                  []int // first token of each, and the end
	Units                      []int // first sentence of each unit of an epoch, and the end
	Precision                  Precision
	TextTokens                 int // of the text that are on the device at most; 0: all
}

// FullW2VKernels train FULL-W2V. The tables start as zeros.
type FullW2VKernels interface {
	// Train trains the units first, first+1, ..., counted over the epochs, one for
	// each of the learning rates. It returns the loss of each and the number of
	// pairs it was summed over.
	Train(first int, rates []float32) (losses, pairs []float64, err error)
	SetTables(words, contexts []float32) error
	Tables(words, contexts []float32) error
	Close() error
}

// What the kernels take at most.
const (
	MaxDim              = 1024
	MaxFullW2VNegatives = 15
	MaxFullW2VWindow    = 30
	MaxCNNWidths        = 16
	MaxCNNSymbols       = 65_000 // of a word

	MaxHalfNegatives = 7 // of FULL-W2V with Half
	MaxHalfWindow    = 14
)

// ErrNotBuilt is the error of a program without the build tag gpu.
var ErrNotBuilt = errors.New("this w2vcl was built without CUDA: build it with 'make cuda', or use --device cpu")

// ErrNone is the error of a machine without a usable GPU.
var ErrNone = errors.New("no CUDA device")

// Info is what can be told of a device without using it.
type Info struct {
	Ordinal    int    `json:"ordinal"` // of --device cuda:N
	Name       string `json:"name"`
	Memory     int64  `json:"memory_bytes"`
	Capability string `json:"compute_capability"`
	Usable     bool   `json:"usable"` // there are kernels for its capability
}

var names = regexp.MustCompile(`^cuda(?::(\d+))?$`)

// Ordinal returns the number of the device that is named cuda or cuda:N.
func Ordinal(name string) (int, error) {
	match := names.FindStringSubmatch(name)
	if match == nil {
		return 0, fmt.Errorf("%q is no device; choose cpu, cuda, or cuda:N for the GPU of number N, counted from 0", name)
	}
	if match[1] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(match[1])
	if err != nil {
		return 0, fmt.Errorf("%q is no device: %w", name, err)
	}
	return n, nil
}
