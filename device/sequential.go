package device

import (
	"fmt"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/trainer"
)

// sequentialKernels are the sentence-ordered algorithms that have kernels: the
// check of a configuration, the memory they take, and how a trainer is made.
var sequentialKernels = map[sequential.Algorithm]struct {
	check  func(sequential.Config, Precision) error
	memory func(text *corpus.Corpus, c sequential.Config, p Precision, free int64) int64
	create func(Device, *corpus.Corpus, *corpus.Alias, trainer.Tables, sequential.Config, Precision) (Trainer, error)
}{
	sequential.FullW2V: {checkFullW2V, memoryFullW2V, newFullW2V},
}

// HasKernels reports whether a sentence-ordered algorithm can be trained on a
// device.
func HasKernels(a sequential.Algorithm) bool { return sequentialKernels[a].create != nil }

// NewSequential prepares training on a text with a sentence-ordered algorithm,
// as sequential.NewFrom does. The error of an algorithm or a configuration that
// has no kernels is that of CheckSequential.
func NewSequential(d Device, text *corpus.Corpus, noise *corpus.Alias, start trainer.Tables, c sequential.Config, p Precision) (Trainer, error) {
	if err := CheckSequential(c, p); err != nil {
		return nil, err
	}
	return sequentialKernels[c.Algorithm].create(d, text, noise, start, c, p)
}

// MemorySequential estimates the bytes of the device's memory that NewSequential
// takes if so many are free.
func MemorySequential(text *corpus.Corpus, c sequential.Config, p Precision, free int64) (int64, error) {
	if !HasKernels(c.Algorithm) {
		return 0, fmt.Errorf("algorithm %s has no kernels", c.Algorithm)
	}
	return sequentialKernels[c.Algorithm].memory(text, c, p, free), nil
}
