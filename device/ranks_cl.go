package device

import (
	"bytes"
	"context"
	"errors"

	"github.com/w2vcl/w2vcl/cluster"
	"github.com/w2vcl/w2vcl/kernels/cuda/cl"
)

// clRanks are the kernels of all ranks, each with some of the dimensions.
type clRanks struct {
	commander
	part CLPart
}

// SeriesLength is that of each part.
func (k *clRanks) SeriesLength() int { return k.part.SeriesLength() }

// Samples refuses: ranks read M where it is, each its own.
func (k *clRanks) Samples(int) ([]uint32, error) {
	return nil, errors.New("on several ranks M must fit the memory of each GPU beside all else: lower --contexts, or raise --min-count")
}

// SetMatrix brings M to this rank's GPU. The others do the same.
func (k *clRanks) SetMatrix(m cl.Matrix) error { return k.part.SetMatrix(m) }

// Start starts iterations on all ranks.
func (k *clRanks) Start(buffer, first int, rates []float64) error {
	_, err := k.order(order{what: orderTrain, buffer: uint64(buffer), first: uint64(first), count: uint64(len(rates))})
	if err == nil {
		err = k.start(buffer, first, rates)
	}
	return k.done(err)
}

func (k *clRanks) start(buffer, first int, rates []float64) error {
	if err := bcast(&k.commander, rates); err != nil {
		return err
	}
	return k.part.Start(buffer, first, rates)
}

// Wait waits for them. All ranks have the same losses.
func (k *clRanks) Wait(buffer int) (losses, samples []float64, err error) {
	if _, err = k.order(order{what: orderWait, buffer: uint64(buffer)}); err == nil {
		losses, samples, err = k.wait(context.Background(), buffer)
	}
	return losses, samples, k.done(err)
}

func (k *clRanks) wait(ctx context.Context, buffer int) (losses, samples []float64, err error) {
	if losses, samples, err = k.part.Wait(buffer); err == nil {
		err = k.stop(ctx)
	}
	return losses, samples, err
}

// orderTensor says what all ranks do with a tensor.
func (k *clRanks) orderTensor(what uint64, name string, values []float32) error {
	o := order{what: what, count: uint64(len(values))}
	copy(o.name[:], name)
	_, err := k.order(o)
	return err
}

// Send brings a tensor from rank 0 to all, which take their dimensions.
func (k *clRanks) Send(name string, values []float32) error {
	err := k.orderTensor(orderSend, name, values)
	if err == nil {
		err = k.send(name, values)
	}
	return k.done(err)
}

func (k *clRanks) send(name string, values []float32) error {
	if err := bcast(&k.commander, values); err != nil {
		return err
	}
	return k.part.Send(name, values)
}

// Receive returns a tensor whose values all ranks have.
func (k *clRanks) Receive(name string, values []float32) error {
	err := k.orderTensor(orderReceive, name, values)
	if err == nil {
		err = k.receive(name, values)
	}
	return k.done(err)
}

// receive adds up bits: of each value one rank has them, and the others have zeros.
func (k *clRanks) receive(name string, values []float32) error {
	clear(values)
	if err := k.part.Receive(name, values); err != nil {
		return err
	}
	pairs := make([]uint64, min(atATime, len(values)+1)/2)
	for first := 0; first < len(values); first += atATime {
		part := cluster.Bytes(values[first:min(first+atATime, len(values))])
		pairs = pairs[:(len(part)+7)/8]
		pairs[len(pairs)-1] = 0
		copy(cluster.Bytes(pairs), part)
		if err := k.meeting.AllReduce(pairs, cluster.Sum); err != nil {
			return err
		}
		copy(part, cluster.Bytes(pairs))
	}
	return nil
}

// Follow is that of CL.
func (k *clRanks) Follow(ctx context.Context) error {
	return k.follow(ctx, func(ctx context.Context, o order) error {
		name := string(bytes.TrimRight(o.name[:], "\x00"))
		switch o.what {
		case orderTrain:
			return k.start(int(o.buffer), int(o.first), make([]float64, o.count))
		case orderWait:
			_, _, err := k.wait(ctx, int(o.buffer))
			return err
		case orderSend:
			return k.send(name, make([]float32, o.count))
		default:
			return k.receive(name, make([]float32, o.count))
		}
	})
}

func (k *clRanks) abort() { k.part.Abort() }

// Close ends the other ranks' Follow and frees the memory of this one.
func (k *clRanks) Close() error { return errors.Join(k.finish(k.part.Abort), k.part.Close()) }
