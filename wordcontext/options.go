package wordcontext

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"github.com/w2vcl/w2vcl/corpus"
)

// Options are the choices that, with a corpus, define a matrix.
type Options struct {
	// Window is the largest distance of a context from its word, in words on
	// either side, after subsampling. At least 1.
	Window int

	// Contexts is l, the number of iterations of an epoch. At least 1. Without
	// Tempering and Positives it is also the number of entries of every row.
	Contexts int

	// Tempering is the exponent with which the samples of a word in an epoch grow
	// with its number of contexts, from 0 to 1. 0 gives all words the same number.
	Tempering float64

	// Positives is the mean number of samples of a word in an iteration, over the
	// words with contexts. 0 means 1.
	Positives float64

	// MaxPositives is the largest number of samples of a word in an iteration. 0 means
	// any number. It has no effect if every word has one.
	MaxPositives int

	// Sample is word2vec's subsampling threshold, a fraction of the corpus:
	// tokens of more frequent words are dropped at random before windows are
	// formed, so that windows reach further. 0 keeps every token.
	Sample float64

	// Passes is the number of scans of the text, each with fresh random numbers
	// for subsampling and window sizes. At least 1. Without subsampling and
	// dynamic windows, a second pass only repeats the contexts of the first.
	Passes int

	// DynamicWindow draws the size of each window uniformly from 1 ... Window,
	// as word2vec does.
	DynamicWindow bool

	// InOrder leaves the contexts of a row in the order of the text: without it Build shuffles them.
	InOrder bool

	// Seed chooses the random numbers.
	Seed uint64

	// Threads is the number of goroutines. 0 means GOMAXPROCS. The result does
	// not depend on it.
	Threads int

	// Build calls Progress, if it is not nil, from time to time with the work
	// done so far and the total, in tokens visited. The calls come from several
	// goroutines, one at a time, and done never falls.
	Progress func(done, total int64)
}

// These limits keep every count of a scan within its type. Useful values are far
// below.
const (
	maxWindow    = 1 << 20
	maxContexts  = 1 << 30 // also the most entries of a row
	maxPositives = 1 << 20
	maxPasses    = 1 << 20
)

// defining returns what of the options defines a matrix: equal matrices have equal
// ones.
func (o Options) defining() Options {
	o.Threads, o.Progress = 0, nil
	if o.Positives == 0 {
		o.Positives = 1
	}
	if !o.tempered() {
		o.MaxPositives = 0
	}
	return o
}

// tempered reports whether rows may differ in length. The options are those of
// defining.
func (o *Options) tempered() bool { return o.Tempering != 0 || o.Positives != 1 }

// checkInput returns what is wrong with the options, or else with the corpus.
func checkInput(c *corpus.Corpus, o *Options) error { return cmp.Or(o.check(), c.Check()) }

func (o *Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// check returns an error if an option is out of range. The error names the
// option, its value and the range.
func (o *Options) check() error {
	switch {
	case o.Window < 1 || o.Window > maxWindow:
		return fmt.Errorf("window is %d; it must be from 1 to %d", o.Window, maxWindow)
	case o.Contexts < 1 || o.Contexts > maxContexts:
		return fmt.Errorf("contexts is %d; it must be from 1 to %d", o.Contexts, maxContexts)
	case !(o.Tempering >= 0 && o.Tempering <= 1):
		return fmt.Errorf("tempering is %v; it must be from 0 to 1", o.Tempering)
	case !(o.Positives >= 0 && o.Positives <= maxPositives):
		return fmt.Errorf("positives is %v; it must be more than 0 and at most %d, or 0 for 1", o.Positives, maxPositives)
	case o.MaxPositives < 0 || o.MaxPositives > maxPositives:
		return fmt.Errorf("the maximum of positives is %d; it must be from 1 to %d, or 0 for none", o.MaxPositives, maxPositives)
	case math.IsNaN(o.Sample) || o.Sample < 0:
		return fmt.Errorf("sample is %v; it must be 0 (keep every token) or more", o.Sample)
	case o.Passes < 1 || o.Passes > maxPasses:
		return fmt.Errorf("passes is %d; it must be from 1 to %d", o.Passes, maxPasses)
	}
	return nil
}
