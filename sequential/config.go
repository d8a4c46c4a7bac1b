package sequential

import (
	"fmt"
	"runtime"
)

// An Algorithm is a way of training in the order of the sentences.
type Algorithm string

// The algorithms; see the package comment.
const (
	Word2Vec  Algorithm = "word2vec"
	PWord2Vec Algorithm = "pword2vec"
	PSGNScc   Algorithm = "psgnscc"
	FullW2V   Algorithm = "fullw2v"
	PARW2V    Algorithm = "parw2v"
)

// A Model says what of a window predicts what.
type Model string

// The models: each context word alone, or the mean of them, and the target.
const (
	SkipGram Model = "sg"
	CBOW     Model = "cbow"
)

// Config is what all algorithms have in common, and a few options of some. The
// zero values of Model, Threads, Combine and Batch stand for what their comments
// say; the rest must be set.
type Config struct {
	Algorithm Algorithm
	Model     Model // zero: SkipGram; CBOW only with Word2Vec

	Dim       int     // N, values of a word vector
	Window    int     // W, words on either side at most
	Negatives int     // K, negatives of each window, or pair
	Sample    float64 // subsampling threshold of frequent words; 0: none
	Epochs    int     // passes over the text
	Seed      uint64  // of everything random
	Threads   int     // zero: all processors

	Combine int // PSGNScc: windows of a product at most; zero: 8
	Batch   int // PARW2V: B, words that share negatives; zero: 24
}

// withDefaults returns the configuration with its zero values replaced, or what
// is wrong with it.
func (c Config) withDefaults() (Config, error) {
	if c.Model == "" {
		c.Model = SkipGram
	}
	setDefault(&c.Threads, runtime.GOMAXPROCS(0))
	setDefault(&c.Combine, 8)
	setDefault(&c.Batch, 24)
	for _, x := range []struct {
		name  string
		value int
	}{
		{"dimension", c.Dim}, {"window", c.Window}, {"number of negatives", c.Negatives},
		{"number of epochs", c.Epochs}, {"number of threads", c.Threads},
		{"number of combined windows", c.Combine}, {"batch", c.Batch},
	} {
		if x.value < 1 {
			return c, fmt.Errorf("%s is %d; it must be at least 1", x.name, x.value)
		}
	}
	switch {
	case newAlgorithm[c.Algorithm] == nil:
		return c, fmt.Errorf("sentence-ordered algorithm %q is unknown", c.Algorithm)
	case c.Model != SkipGram && c.Model != CBOW:
		return c, fmt.Errorf("model %q is unknown; it is %s or %s", c.Model, SkipGram, CBOW)
	case c.Model == CBOW && c.Algorithm != Word2Vec:
		return c, fmt.Errorf("model %s is part of %s only, not of %s", CBOW, Word2Vec, c.Algorithm)
	case !(c.Sample >= 0):
		return c, fmt.Errorf("subsampling threshold is %v; it must be 0 or more", c.Sample)
	case c.Window > maxWindow:
		return c, fmt.Errorf("window is %d; it must be at most %d", c.Window, maxWindow)
	}
	return c, nil
}

// maxWindow is far beyond what is of use and keeps memory in bounds.
const maxWindow = 1000

func setDefault(value *int, standard int) {
	if *value == 0 {
		*value = standard
	}
}

// Memory estimates the bytes New takes for a vocabulary of the given size, the
// text and its noise not counted.
func Memory(words int, c Config) int64 {
	bytes := 2*4*int64(words)*int64(c.Dim) + 4*int64(words) // W and C, thresholds
	threads := int64(max(c.Threads, 1))
	bytes += 2 * 4 * threads * int64(c.Dim) * int64(copiedWords(words, unitTokens, &c))
	if c.Algorithm == PSGNScc {
		bytes += 4 * int64(words) * threads // places
	}
	return bytes
}
