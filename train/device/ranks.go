package device

import (
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/nccl"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/kernels/cuda/vanilla"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// NCCLLibrary is the NCCL library by which GPUs of several ranks meet.
type NCCLLibrary = nccl.Library

// SentencePart trains a part of a text, while other ranks train the others. All ranks call Train, SetTables and Settle
// together; Train returns what this part had.
type SentencePart interface {
	SentenceKernels
	Settle() error // combines what is not combined yet
	Abort()        // ends what waits for other ranks
}

// CLPart trains some of the dimensions, while other ranks train the others. Send and Receive are about whole tensors, of
// which the part takes and gives its own values.
type CLPart interface {
	CLKernels
	Abort()
}

// A Joining device can train with those of other ranks.
type Joining interface {
	Device
	// NewSentencePart and NewCLPart return the kernels of this rank, which have found those of the others. All ranks call
	// them, and get an error if one does.
	NewSentencePart(c sentence.Options, ranks cluster.Comm) (SentencePart, error)
	NewCLPart(c cl.Options, ranks cluster.Comm) (CLPart, error)
}

// OnRanks returns the devices of all ranks as one, of which d is this rank's. It trains the sentence-ordered modes and W2V-CL. Rank 0 uses it
// as any device; the trainers of the others Follow.
func OnRanks(d Device, ranks *cluster.Group) (Device, error) { return newOnRanks(d, ranks) }

func newOnRanks(d Device, ranks *cluster.Group) (onRanks, error) {
	one, ok := d.(Joining)
	if !ok || d.GPUs() != 1 {
		return onRanks{}, fmt.Errorf("%s cannot train together with the GPUs of other ranks", d.Name())
	}
	return onRanks{one, ranks}, nil
}

type onRanks struct {
	Joining
	ranks *cluster.Group
}

// RanksReserve is what the exchange with other ranks takes of a device's memory, in bytes: rows under way, and what NCCL takes.
const RanksReserve = 768 << 20

func (d onRanks) Name() string { return fmt.Sprintf("%d x %s", d.GPUs(), d.Joining.Name()) }

func (d onRanks) GPUs() int { return d.ranks.Size() }

func (onRanks) ByMessages() bool { return true }

// Memory leaves out what the exchange takes.
func (d onRanks) Memory() (free, total int64, err error) {
	free, total, err = d.Joining.Memory()
	return max(free-RanksReserve, 0), total, err
}

func (d onRanks) NewSentence(c sentence.Options) (SentenceKernels, error) {
	k, err := d.newSentence(c)
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (d onRanks) NewCL(c cl.Options, e *encoder.Structure) (CLKernels, error) {
	k, err := d.newCL(c, e)
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (d onRanks) newSentence(c sentence.Options) (*sentenceRanks, error) {
	part, err := d.NewSentencePart(c, d.ranks)
	if err != nil {
		return nil, err
	}
	return &sentenceRanks{d.ranks, part, c.Vocabulary * c.Dim}, nil
}

func (d onRanks) newCL(c cl.Options, e *encoder.Structure) (*clRanks, error) {
	switch {
	case e != nil:
		return nil, errRanks
	case c.SplitsRows():
		return nil, errors.New("GPUs that do not use each other's memory split the dimensions of mode cl: give --tempering 0 --positives 1 --shared-negatives 0 --precision float32 --optimizer adam, or take one GPU")
	}
	part, err := d.NewCLPart(c, d.ranks)
	if err != nil {
		return nil, err
	}
	return &clRanks{d.ranks, part}, nil
}

// errRanks is the error of what settings of ranks refuse before.
var errRanks = errors.New("GPUs that do not use each other's memory, such as those of several ranks, train neither encoders nor mode vanilla nor CBOW of mode cl: take one GPU")

func (onRanks) NewComposed(sentence.Options, *composed.Composition) (ComposedKernels, error) {
	return nil, errRanks
}

func (onRanks) NewVanilla(vanilla.Options) (VanillaKernels, error) { return nil, errRanks }

func (onRanks) NewCBOW(cl.CBOWOptions) (CBOWKernels, error) { return nil, errRanks }

// The orders of rank 0.
const (
	orderTrain = iota
	orderWait
	orderSend
	orderReceive
)

// closeKernels ends the other ranks' Follow, or what waits for them if something went wrong, and frees the memory of this rank.
func closeKernels(ranks *cluster.Group, abort func(), free func() error) error {
	if ranks.Failed() {
		abort()
	}
	return errors.Join(ranks.Finish(), free())
}
