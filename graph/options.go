package graph

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// Options are the settings that all trainers of this package share. The zero value of Threads
// means all processors, and no Encoder means that words are a table; the rest must be set.
type Options struct {
	Dim       int    // N, values of a word vector
	Negatives int    // K, negatives of each pair
	Seed      uint64 // of everything random
	Threads   int    // the result does not depend on it

	// SharedNegatives is H, for CL and CBOW: all rows of a step meet H negatives, spread over all words, each of weight
	// K/H; at most corpus.MaxSpread. In CBOW it is at least 1, and that of the stretches. 0: every row draws K of its own.
	SharedNegatives int
	SameColumn      bool // CL: step 2 trains on the samples of step 1

	// Together is for CL and CBOW: both steps meet the rows that the iteration began with, so the tables are updated
	// at once, not in turn. It shows what the two steps are for.
	Together bool

	Optimizer optim.Options // of both tables, and of an encoder's parameters
	Encoder   Encoder       // composes the word vectors

	// Positions is for CBOW: rows of the table of position weights, one for each offset in a window, so twice the stretches' window;
	// 0: the mean of a window is plain.
	Positions      int
	StartPositions []float32 // (Positions, Dim), that the weights start at; nil: 1

	Composition *composed.Composition // CL and CBOW: word vectors are means of parts; nil: they are not

	// Start, if not nil, writes the rows that training goes on from over those of a
	// new W and C, (V, N): W random, C zero. Reset calls it again. W is nil if it is
	// composed of parts, which start by themselves, or by an Encoder that is not Starting.
	Start func(words, contexts []float32)

	// Before is how many iterations of CL or CBOW the moments come from that State is given before training; 0: they start as zeros.
	Before int

	Account *trainer.Account // gives the memory; may be nil
}

func (c Options) withDefaults() (Options, error) {
	c.Optimizer.Account = c.Account
	c.Threads = cmp.Or(c.Threads, runtime.GOMAXPROCS(0))
	switch {
	case c.Dim < 1:
		return c, fmt.Errorf("dimension is %d; it must be at least 1", c.Dim)
	case c.Negatives < 1:
		return c, fmt.Errorf("number of negatives is %d; it must be at least 1", c.Negatives)
	case c.SharedNegatives < 0 || c.SharedNegatives > corpus.MaxSpread:
		return c, fmt.Errorf("number of shared negatives is %d; it must be 0 (each row draws its own) or at most %d", c.SharedNegatives, corpus.MaxSpread)
	case c.Threads < 1:
		return c, fmt.Errorf("number of threads is %d; it must be at least 1", c.Threads)
	}
	return c, c.Optimizer.Validate()
}

// forWords returns the options with its defaults for a vocabulary of the
// given size, or the error of an impossible value.
func (c Options) forWords(words int) (Options, error) {
	c, err := c.withDefaults()
	if err != nil {
		return c, err
	}
	if x := c.Composition; x != nil {
		switch {
		case c.Encoder != nil:
			return c, errors.New("words are composed either of parts or by an encoder")
		case x.Dim != c.Dim || x.Words() != words:
			return c, fmt.Errorf("a composition of %d words of dimension %d; there are %d of dimension %d", x.Words(), x.Dim, words, c.Dim)
		}
	}
	if c.Encoder == nil {
		return c, nil
	}
	switch e := c.Encoder; {
	case e.Words() != words:
		return c, fmt.Errorf("the encoder has %d words instead of %d", e.Words(), words)
	case e.Dim() != c.Dim:
		return c, fmt.Errorf("the encoder gives %d dimensions instead of %d", e.Dim(), c.Dim)
	}
	return c, nil
}
