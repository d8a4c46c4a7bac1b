package sentences

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A sentence has the rows of its words' vectors, -1 for a word without one, and
// its class, counted from 0.
type sentence struct {
	Words []int32
	Class int
	Ends  [2]int // the places of the words whose relation is asked for; with networkOptions.Places
}

// networkOptions says what to train on. The zero values of Threads and Seed are usable.
type networkOptions struct {
	Vectors []float32 // rows of Dim values; never changed
	Dim     int
	Classes int
	Threads int // 0: 1
	Seed    uint64

	Recurrent bool // an LSTM, else a CNN
	Places    bool // of a CNN: it knows where sentence.Ends are
}

// classify trains a network on sentences, epoch after epoch as long as it gets
// better on dev, and returns the classes that it finds for the sentences of test with the
// parameters that were best on dev. The result does not depend on the number of
// threads.
func classify(ctx context.Context, c networkOptions, training, dev, test []sentence) (found []int, err error) {
	if err := c.check(training, dev, test); err != nil {
		return nil, err
	}
	done, err := memory.Room(c.bytes(batchSize, longestOf(training, dev, test)))
	if err != nil {
		return nil, err
	}
	done()
	n, err := c.new(batchSize, training, dev, test)
	if err != nil {
		return nil, err
	}
	err = n.fit(ctx, training, dev, c.Seed)
	if err == nil {
		found, err = n.predict(test)
	}
	return found, errors.Join(err, n.close())
}

func (c *networkOptions) new(batch int, parts ...[]sentence) (*network, error) {
	if c.Recurrent {
		return newRecurrent(c, batch, min(longestOf(parts...), mostWords))
	}
	return newConvolutional(c, batch)
}

func (c *networkOptions) check(parts ...[]sentence) error {
	if c.Dim < 1 || len(c.Vectors)%c.Dim != 0 || c.Classes < 2 {
		return fmt.Errorf("%d values of vectors of %d dimensions, %d classes", len(c.Vectors), c.Dim, c.Classes)
	}
	for _, part := range parts {
		if len(part) == 0 {
			return errors.New("training, development and test need a sentence each")
		}
		for _, s := range part {
			if s.Class < 0 || s.Class >= c.Classes {
				return fmt.Errorf("class %d of %d", s.Class, c.Classes)
			}
			for _, end := range s.Ends {
				if c.Places && (end < 0 || end >= len(s.Words)) {
					return fmt.Errorf("an end of a relation is word %d of %d", end, len(s.Words))
				}
			}
			for _, word := range s.Words {
				if int(word) >= len(c.Vectors)/c.Dim {
					return fmt.Errorf("word %d of %d", word, len(c.Vectors)/c.Dim)
				}
			}
		}
	}
	return nil
}

// patience is the number of epochs without progress after which fit stops.
const patience = 3

// fit trains and leaves the parameters that were best on dev.
func (n *network) fit(ctx context.Context, training, dev []sentence, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 1))
	order := slices.Clone(training)
	best, bestEpoch := -1, 0
	var kept [][]float32
	for epoch := 0; epoch < mostEpochs && epoch-bestEpoch <= patience; epoch++ {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for batch := range slices.Chunk(order, n.batch) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := n.train(batch); err != nil {
				return err
			}
		}
		right, err := n.right(dev)
		if err != nil {
			return err
		}
		if right > best {
			best, bestEpoch, kept = right, epoch, n.copyParameters()
		}
	}
	for i, p := range n.parameters {
		copy(p.dense.Float32s(), kept[i])
	}
	return nil
}

func (n *network) copyParameters() [][]float32 {
	var values [][]float32
	for _, p := range n.parameters {
		values = append(values, slices.Clone(p.dense.Float32s()))
	}
	return values
}

// right counts the sentences whose class the network finds.
func (n *network) right(sentences []sentence) (int, error) {
	found, err := n.predict(sentences)
	return count(found, sentences), err
}

func count(found []int, sentences []sentence) (right int) {
	for i, class := range found {
		if class == sentences[i].Class {
			right++
		}
	}
	return right
}
