package device

import (
	"context"

	"github.com/w2vcl/w2vcl/train/cluster"
)

// sentenceRanks are the kernels of all ranks, each with a part of the text.
type sentenceRanks struct {
	ranks  *cluster.Group
	part   SentencePart
	values int // of a table
}

// Train trains units on all ranks. Losses and pairs are the sums over the ranks, in their order.
func (k *sentenceRanks) Train(first int, rates []float32) (losses, pairs []float64, err error) {
	o := cluster.Order{What: orderTrain, Number: first}
	for _, rate := range rates {
		o.Rates = append(o.Rates, float64(rate))
	}
	err = k.ranks.Do(o, func() (err error) {
		losses, pairs, err = k.train(context.Background(), o)
		return err
	})
	return losses, pairs, err
}

func (k *sentenceRanks) train(ctx context.Context, o cluster.Order) (losses, pairs []float64, err error) {
	rates := make([]float32, len(o.Rates))
	for i, rate := range o.Rates {
		rates[i] = float32(rate)
	}
	if losses, pairs, err = k.part.Train(o.Number, rates); err != nil {
		return nil, nil, err
	}
	all, err := cluster.Collect(k.ranks, append(losses, pairs...))
	if err != nil {
		return nil, nil, err
	}
	sums := make([]float64, 2*len(rates))
	for _, rank := range all {
		for i, x := range rank {
			sums[i] += x
		}
	}
	return sums[:len(rates)], sums[len(rates):], k.ranks.Stop(ctx)
}

// SetTables brings tables from rank 0 to all.
func (k *sentenceRanks) SetTables(words, contexts []float32) error {
	return k.ranks.Do(cluster.Order{What: orderSend}, func() error { return k.setTables(words, contexts) })
}

func (k *sentenceRanks) setTables(words, contexts []float32) error {
	err := cluster.BcastValues(k.ranks, words)
	if err == nil {
		err = cluster.BcastValues(k.ranks, contexts)
	}
	if err != nil {
		return err
	}
	return k.part.SetTables(words, contexts)
}

// Tables combines what is not combined yet and returns what all ranks then have.
func (k *sentenceRanks) Tables(words, contexts []float32) error {
	err := k.ranks.Do(cluster.Order{What: orderReceive}, k.part.Settle)
	if err != nil {
		return err
	}
	return k.part.Tables(words, contexts)
}

// Follow is that of sentences.
func (k *sentenceRanks) Follow(ctx context.Context) error {
	return k.ranks.Follow(func(o cluster.Order) error {
		switch o.What {
		case orderTrain:
			_, _, err := k.train(ctx, o)
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
func (k *sentenceRanks) Close() error { return closeKernels(k.ranks, k.part.Abort, k.part.Close) }
