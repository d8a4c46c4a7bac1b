package wordcontext

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/w2vcl/w2vcl/corpus"
)

// Options says which matrix Build makes of a corpus.
type Options struct {
	// Window is how far a context word may be from the word, on either side.
	// At least 1.
	Window int

	// Contexts is l, the number of columns: the context words each row gives.
	// At least 1.
	Contexts int

	// Sample is word2vec's subsampling threshold: frequent words are dropped
	// at random before windows are formed, so that windows reach further.
	// 0 keeps every token.
	Sample float64

	// Passes is how often the text is scanned, each time with fresh random
	// numbers for subsampling and dynamic windows. At least 1; more than 1
	// without either only repeats the same contexts.
	Passes int

	// DynamicWindow draws the size of each window uniformly from 1 ... Window,
	// as word2vec does.
	DynamicWindow bool

	// Seed chooses the random numbers.
	Seed uint64

	// Threads is the number of workers. 0 is GOMAXPROCS. The result does not
	// depend on it.
	Threads int

	// Progress, if not nil, is called from time to time with the work done so
	// far and the total, in tokens visited. Calls come from several goroutines,
	// never two at a time, and done never falls.
	Progress func(done, total int64)
}

// Limits that keep every count of a scan within its type. They are far above
// what anybody trains with.
const (
	maxWindow   = 1 << 20
	maxContexts = 1 << 30
	maxPasses   = 1 << 20
)

func (o *Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// check returns an error that names the option and what it may be.
func (o *Options) check() error {
	switch {
	case o.Window < 1 || o.Window > maxWindow:
		return fmt.Errorf("window %d: must be from 1 to %d", o.Window, maxWindow)
	case o.Contexts < 1 || o.Contexts > maxContexts:
		return fmt.Errorf("contexts %d: must be from 1 to %d", o.Contexts, maxContexts)
	case math.IsNaN(o.Sample) || o.Sample < 0:
		return fmt.Errorf("sample %v: must be 0 (keep every token) or more", o.Sample)
	case o.Passes < 1 || o.Passes > maxPasses:
		return fmt.Errorf("passes %d: must be from 1 to %d", o.Passes, maxPasses)
	}
	return nil
}

// checkCorpus catches a corpus that was put together wrongly; package corpus
// never returns one. Token ids are checked in parallel later.
func checkCorpus(c *corpus.Corpus) error {
	if c == nil || c.Vocabulary == nil || len(c.Tokens) == 0 || c.Vocabulary.Len() == 0 {
		return errors.New("the corpus is empty: there is no word to train")
	}
	if len(c.Vocabulary.Counts) != c.Vocabulary.Len() {
		return fmt.Errorf("the vocabulary has %d words but %d counts", c.Vocabulary.Len(), len(c.Vocabulary.Counts))
	}
	if n := len(c.Sentences); n < 2 || c.Sentences[0] != 0 || c.Sentences[n-1] != len(c.Tokens) {
		return fmt.Errorf("the sentence bounds do not span the %d tokens of the corpus", len(c.Tokens))
	}
	for s, from := range c.Sentences[:len(c.Sentences)-1] {
		if from > c.Sentences[s+1] {
			return fmt.Errorf("sentence %d of the corpus ends before it starts", s)
		}
	}
	return nil
}
