package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/kernels/cuda/nccl"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	encoder "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/kernels/cuda/vanilla"
	"github.com/w2vcl/w2vcl/optim"
)

// NCCLLibrary is the NCCL library by which GPUs of several ranks meet.
type NCCLLibrary = nccl.Library

// A Meeting is the processes whose GPUs train together: ranks, each with one.
type Meeting struct {
	cluster.Comm
	Stop  func() // called on rank 0 when another rank was told to stop
	Ended func() // called on rank 0 when the others know that training has ended
}

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
	NewSentencePart(c sentence.Config, ranks cluster.Comm) (SentencePart, error)
	NewCLPart(c cl.Config, ranks cluster.Comm) (CLPart, error)
}

// OnRanks returns the devices of all ranks as one, of which d is this rank's. It trains the sentence-ordered modes and W2V-CL. Rank 0 uses it
// as any device; the trainers of the others Follow.
func OnRanks(d Device, m Meeting) (Device, error) { return newOnRanks(d, m) }

func newOnRanks(d Device, m Meeting) (onRanks, error) {
	one, ok := d.(Joining)
	if !ok || d.GPUs() != 1 {
		return onRanks{}, fmt.Errorf("%s cannot train with those of other ranks", d.Name())
	}
	return onRanks{one, m}, nil
}

type onRanks struct {
	Joining
	meeting Meeting
}

// waiting devices combine tables between trainings, not beside them.
type waiting interface{ waits() }

func (onRanks) waits() {}

// RanksReserve is what the exchange with other ranks takes of a device's memory, in bytes: rows under way, and what NCCL takes.
const RanksReserve = 768 << 20

func (d onRanks) Name() string { return fmt.Sprintf("%d x %s", d.GPUs(), d.Joining.Name()) }

func (d onRanks) GPUs() int { return d.meeting.Size() }

func (onRanks) byMessages() {} // see MemoryCLOn

// Memory leaves out what the exchange takes.
func (d onRanks) Memory() (free, total int64, err error) {
	free, total, err = d.Joining.Memory()
	return max(free-RanksReserve, 0), total, err
}

func (d onRanks) NewSentence(c sentence.Config) (SentenceKernels, error) {
	k, err := d.newSentence(c)
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (d onRanks) NewCL(c cl.Config, e *encoder.Config) (CLKernels, error) {
	k, err := d.newCL(c, e)
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (d onRanks) newSentence(c sentence.Config) (*sentenceRanks, error) {
	part, err := d.NewSentencePart(c, d.meeting)
	if err != nil {
		return nil, err
	}
	return &sentenceRanks{commander{meeting: d.meeting}, part, c.Vocabulary * c.Dim}, nil
}

func (d onRanks) newCL(c cl.Config, e *encoder.Config) (*clRanks, error) {
	switch {
	case e != nil:
		return nil, errRanks
	case c.SplitsRows() || c.Method == string(optim.AdamRow):
		return nil, errors.New("GPUs that do not use each other's memory split the dimensions of mode cl: give --tempering 0 --positives 1 --shared-negatives 0 --precision float32 and another --optimizer than adam-row, or take one GPU")
	}
	part, err := d.NewCLPart(c, d.meeting)
	if err != nil {
		return nil, err
	}
	return &clRanks{commander: commander{meeting: d.meeting}, part: part}, nil
}

// errRanks is the error of what settings of ranks refuse before.
var errRanks = errors.New("GPUs of several ranks train neither encoders nor mode vanilla")

func (onRanks) NewComposed(sentence.Config, sentence.Composition) (ComposedKernels, error) {
	return nil, errRanks
}

func (onRanks) NewVanilla(vanilla.Config) (VanillaKernels, error) { return nil, errRanks }

// A commander lets the other ranks do what rank 0 is told to do.
type commander struct {
	meeting Meeting
	failed  bool // the ranks do not agree any more
}

// An order is what rank 0 says to all.
type order struct {
	what          uint64
	buffer, first uint64
	count         uint64 // of rates or of a tensor's values
	name          [32]byte
}

// The orders.
const (
	orderTrain uint64 = iota
	orderWait
	orderSend
	orderReceive
	orderFinish
)

// order brings the order of rank 0 to all.
func (c *commander) order(o order) (order, error) {
	message := append(cluster.Bytes([]uint64{o.what, o.buffer, o.first, o.count}), o.name[:]...)
	if err := c.done(c.meeting.Bcast(message, 0)); err != nil {
		return o, err
	}
	numbers := make([]uint64, 4)
	copy(cluster.Bytes(numbers), message)
	copy(o.name[:], message[32:])
	o.what, o.buffer, o.first, o.count = numbers[0], numbers[1], numbers[2], numbers[3]
	return o, nil
}

// done notes an error: no rank can be told anything after it.
func (c *commander) done(err error) error {
	c.failed = c.failed || err != nil
	return err
}

func (c *commander) broken() bool { return c.failed }

// stop reports on all ranks whether one was told to stop, and ends the run then.
func (c *commander) stop(ctx context.Context) error {
	stopped, err := cluster.Stopped(ctx, c.meeting)
	if stopped && c.meeting.Rank() == 0 {
		c.meeting.Stop()
	}
	return err
}

// atATime is how many values of a table move at a time.
const atATime = 1 << 24

// bcast brings values from rank 0 to all.
func bcast[T cluster.Value](c *commander, values []T) error {
	for first := 0; first < len(values); first += atATime {
		if err := c.meeting.Bcast(cluster.Bytes(values[first:min(first+atATime, len(values))]), 0); err != nil {
			return err
		}
	}
	return nil
}

// follow does what rank 0 orders until training ends. When ctx ends the run stops.
func (c *commander) follow(ctx context.Context, obey func(ctx context.Context, o order) error) error {
	for {
		o, err := c.order(order{})
		if err != nil || o.what == orderFinish {
			return err
		}
		if err := c.done(obey(ctx, o)); err != nil {
			return err
		}
	}
}

// follow lets kernels follow those of rank 0.
func follow(ctx context.Context, kernels any) error {
	follower, ok := kernels.(interface {
		Follow(ctx context.Context) error
	})
	if !ok {
		return errors.New("this device trains alone")
	}
	return follower.Follow(ctx)
}

// finish ends the other ranks' follow, unless something went wrong: then it aborts what waits for them.
func (c *commander) finish(abort func()) error {
	if c.failed {
		abort()
		return nil
	}
	if c.meeting.Rank() > 0 {
		return nil
	}
	_, err := c.order(order{what: orderFinish})
	if err == nil {
		c.meeting.Ended()
	}
	return err
}
