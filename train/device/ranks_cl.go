package device

import (
	"context"
	"errors"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// clRanks are the kernels of all ranks, each with some of the dimensions.
type clRanks struct {
	ranks *cluster.Group
	part  CLPart
}

// SeriesLength is that of each part.
func (k *clRanks) SeriesLength() int { return k.part.SeriesLength() }

// ErrMatrix refuses an M that is not in the memory of each host and each GPU: every rank trains from its own copy.
var ErrMatrix = errors.New("on several ranks, M must fit into the memory of each host and of each GPU beside everything else: raise --max-memory, lower --contexts, or raise --min-count")

// Samples refuses.
func (k *clRanks) Samples(int) ([]uint32, error) { return nil, ErrMatrix }

// SetMatrix brings M to this rank's GPU. The others do the same.
func (k *clRanks) SetMatrix(m cl.Matrix) error { return k.part.SetMatrix(m) }

// Start starts iterations on all ranks.
func (k *clRanks) Start(buffer, first int, rates []float64) error {
	_, _, err := k.do(cluster.Order{What: orderTrain, Buffer: buffer, Number: first, Rates: rates}, nil)
	return err
}

// Wait waits for them. All ranks have the same losses.
func (k *clRanks) Wait(buffer int) (losses, samples []float64, err error) {
	return k.do(cluster.Order{What: orderWait, Buffer: buffer}, nil)
}

// Send brings a tensor from rank 0 to all, which take their dimensions.
func (k *clRanks) Send(name string, values []float32) error {
	_, _, err := k.do(cluster.Order{What: orderSend, Name: name, Number: len(values)}, values)
	return err
}

// Receive returns a tensor whose values all ranks have.
func (k *clRanks) Receive(name string, values []float32) error {
	_, _, err := k.do(cluster.Order{What: orderReceive, Name: name, Number: len(values)}, values)
	return err
}

// do has all ranks obey.
func (k *clRanks) do(o cluster.Order, values []float32) (losses, samples []float64, err error) {
	err = k.ranks.Do(o, func() (err error) {
		losses, samples, err = k.obey(context.Background(), o, values)
		return err
	})
	return losses, samples, err
}

// Follow is that of CL.
func (k *clRanks) Follow(ctx context.Context) error {
	return k.ranks.Follow(func(o cluster.Order) error {
		var values []float32
		if o.What == orderSend || o.What == orderReceive {
			values = make([]float32, o.Number)
		}
		_, _, err := k.obey(ctx, o, values)
		return err
	})
}

// obey is this rank's part of an order.
func (k *clRanks) obey(ctx context.Context, o cluster.Order, values []float32) (losses, samples []float64, err error) {
	switch o.What {
	case orderTrain:
		err = k.part.Start(o.Buffer, o.Number, o.Rates)
	case orderWait:
		if losses, samples, err = k.part.Wait(o.Buffer); err == nil {
			err = k.ranks.Stop(ctx)
		}
	case orderSend:
		if err = cluster.BcastValues(k.ranks, values); err == nil {
			err = k.part.Send(o.Name, values)
		}
	case orderReceive:
		err = k.receive(o.Name, values)
	}
	return losses, samples, err
}

// atATime is how many values of a table are added up at a time.
const atATime = 1 << 24

// receive adds up bits: of each value one rank has them, and the others have zeros.
func (k *clRanks) receive(name string, values []float32) error {
	clear(values)
	if err := k.part.Receive(name, values); err != nil {
		return err
	}
	pairs := make([]uint64, min(atATime, len(values)+1)/2)
	for first := 0; first < len(values); first += atATime {
		part := memory.BytesOf(values[first:min(first+atATime, len(values))])
		pairs = pairs[:(len(part)+7)/8]
		pairs[len(pairs)-1] = 0
		copy(memory.BytesOf(pairs), part)
		if err := cluster.Sum(k.ranks, pairs); err != nil {
			return err
		}
		copy(part, memory.BytesOf(pairs))
	}
	return nil
}

func (k *clRanks) abort() { k.part.Abort() }

// Close ends the other ranks' Follow and frees the memory of this one.
func (k *clRanks) Close() error { return closeKernels(k.ranks, k.part.Abort, k.part.Close) }
