package device

import (
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/sequential"
)

// ComposedKernels train a sentence-ordered mode whose W is composed of parts. Send and Receive
// copy the tensors of sequential.Trainer's state by their names; they start as zeros.
type ComposedKernels interface {
	// Train is that of SentenceKernels. Parts learn at the end of each unit.
	Train(first int, rates []float32) (losses, pairs []float64, err error)
	Send(name string, values []float32) error
	Receive(name string, values []float32) error
	Close() error
}

// ComposesOn reports whether a device trains vectors that are composed of parts with a
// sentence-ordered algorithm that has kernels. PAR-Word2Vec diverges at 100 dimensions, where 1,584 pieces of sentences are
// under way (benchmarks/speed-gpu).
func ComposesOn(a sequential.Algorithm) bool { return HasKernels(a) && a != sequential.PARW2V }

// hosted are ComposedKernels as SentenceKernels: their tables are the state of the host.
type hosted struct {
	ComposedKernels
	host *sequential.Trainer
}

// SetTables brings the host's state to the device.
func (k hosted) SetTables(_, _ []float32) error {
	for _, t := range k.host.State() {
		if err := k.Send(t.Name, t.Data); err != nil {
			return err
		}
	}
	return nil
}

// Tables brings the state to the host, which composes W of it.
func (k hosted) Tables(_, _ []float32) error { return receive(k.host.State(), true, k) }

// Where rows are composed, a block of a text has few sentences of 1,000 tokens, and a GPU trains 1,584 at a time. So
// they are cut into as many pieces. Blocks of a quarter of a unit score better than units, and are slower
// (benchmarks/subwords).
const (
	composedBlock = 1 << 15 // tokens
	composedPiece = 21
)

// newSentence makes the kernels of a mode, with a composition if it has one.
func newSentence(d Device, host *sequential.Trainer, c sentence.Options, x *composed.Composition) (SentenceKernels, error) {
	if x == nil {
		return d.NewSentence(c)
	}
	k, err := d.NewComposed(c, x)
	if err != nil {
		return nil, err
	}
	return hosted{k, host}, nil
}

// pieceOf returns how many tokens of a sentence are trained at a time: 0 of a table.
func pieceOf(c sequential.Options) int {
	if c.Composition == nil {
		return 0
	}
	return composedPiece
}

// memoryComposed estimates what a composition takes of a device's memory.
func memoryComposed(x *composed.Composition) int64 {
	if x == nil {
		return 0
	}
	return sentence.ComposedBytes(x)
}
