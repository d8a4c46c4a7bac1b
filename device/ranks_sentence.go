package device

import (
	"context"
	"errors"

	"github.com/w2vcl/w2vcl/cluster"
)

// sentenceRanks are the kernels of all ranks, each with a part of the text.
type sentenceRanks struct {
	commander
	part   SentencePart
	values int // of a table
}

// Train trains units on all ranks. Losses and pairs are the sums over the ranks, in their order.
func (k *sentenceRanks) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	if _, err := k.order(order{what: orderTrain, first: uint64(first), count: uint64(len(rates))}); err != nil {
		return nil, nil, err
	}
	losses, pairs, err = k.train(context.Background(), first, rates)
	return losses, pairs, k.done(err)
}

func (k *sentenceRanks) train(ctx context.Context, first int, rates []float32) (losses, pairs []float64, err error) {
	if err := bcast(&k.commander, rates); err != nil {
		return nil, nil, err
	}
	if losses, pairs, err = k.part.Train(first, rates); err != nil {
		return nil, nil, err
	}
	all, err := cluster.Collect(k.meeting, append(losses, pairs...))
	if err != nil {
		return nil, nil, err
	}
	sums := make([]float64, 2*len(rates))
	for _, rank := range all {
		for i, x := range rank {
			sums[i] += x
		}
	}
	return sums[:len(rates)], sums[len(rates):], k.stop(ctx)
}

// SetTables brings tables from rank 0 to all.
func (k *sentenceRanks) SetTables(words, contexts []float32) error {
	_, err := k.order(order{what: orderSend})
	if err == nil {
		err = k.setTables(words, contexts)
	}
	return k.done(err)
}

func (k *sentenceRanks) setTables(words, contexts []float32) error {
	if err := errors.Join(bcast(&k.commander, words), bcast(&k.commander, contexts)); err != nil {
		return err
	}
	return k.part.SetTables(words, contexts)
}

// Tables combines what is not combined yet and returns what all ranks then have.
func (k *sentenceRanks) Tables(words, contexts []float32) error {
	_, err := k.order(order{what: orderReceive})
	if err == nil {
		err = k.part.Settle()
	}
	if err == nil {
		err = k.part.Tables(words, contexts)
	}
	return k.done(err)
}

// Follow is that of sentences.
func (k *sentenceRanks) Follow(ctx context.Context) error {
	return k.follow(ctx, func(ctx context.Context, o order) error {
		switch o.what {
		case orderTrain:
			_, _, err := k.train(ctx, int(o.first), make([]float32, o.count))
			return err
		case orderSend:
			return k.setTables(make([]float32, k.values), make([]float32, k.values))
		default:
			return k.part.Settle()
		}
	})
}

func (k *sentenceRanks) abort() { k.part.Abort() }

// Close ends the other ranks' Follow and frees the memory of this one.
func (k *sentenceRanks) Close() error { return errors.Join(k.finish(k.part.Abort), k.part.Close()) }
