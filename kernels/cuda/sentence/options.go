// Package sentence trains the sentence-ordered modes on a GPU: it takes the sentences of a text
// in order, many of them at a time. Without the build tag gpu it has Options only.
//
// Start with Options, then with windows.cuh, which says how a sentence is trained, and with New.
// All kernels share sentence.cuh; each mode has a source of its own, beside the Go file of the
// same name in package sequential.
package sentence

// A Mode is a way of training that has kernels.
type Mode string

// The modes, each with the trainer of package sequential that does the same.
const (
	FullW2V      Mode = "fullw2v"       // fullw2v.go
	FullW2VPairs Mode = "fullw2v-pairs" // fullw2v.go, PairByPair
	FullRegister Mode = "fullregister"  // fullregister.go
	Word2Vec     Mode = "word2vec"      // word2vec.go, skip-gram
	CBOW         Mode = "cbow"          // word2vec.go, CBOW
	PWord2Vec    Mode = "pword2vec"     // pword2vec.go
	PARW2V       Mode = "parw2v"        // parw2v.go
)

// Limits are the largest values that the kernels of a mode take.
type Limits struct {
	Negatives int
	Radius    int // words on either side of a window's middle
}

// limits are those of all modes: in float32, and in half precision, which zeros stand for the lack of.
var limits = map[Mode][2]Limits{
	FullW2V:      {{15, 15}, {7, 7}},
	FullW2VPairs: {{15, 15}, {}},
	FullRegister: {{15, 15}, {}},
	Word2Vec:     {{15, 15}, {15, 15}},
	CBOW:         {{15, 15}, {15, 15}},
	PWord2Vec:    {{15, 15}, {7, 7}},
	PARW2V:       {{15, 15}, {}},
}

// LimitsOf returns the limits of a mode, all zero if it has no kernels.
func LimitsOf(m Mode, half bool) Limits {
	if half {
		return limits[m][1]
	}
	return limits[m][0]
}

// MaxInFlight is how many sentences are trained at a time at most. A row is added to some
// windows after it was read. So on a short text, whose words the sentences in flight share,
// there must be fewer: New takes one for every 8,000 tokens, NewGroup of two devices up to two. As many as a GPU
// with 132 multiprocessors holds, 1,584 and in half precision 2,112, are sound on 17 million words, where
// 1,056 train fullw2v 15 % slower. See shares.go.
const (
	MaxInFlight    = 2112
	tokensInFlight = 8_000
)

// Options say what Kernels train, and how.
type Options struct {
	Mode                       Mode
	Vocabulary, Dim, Negatives int // V, N, K
	Radius                     int // words on either side of a window's middle, where windows have widths of their own at most
	Batch                      int // words that share negatives: PARW2V
	Epochs                     int
	Seed                       uint64
	Alias                      []uint32 // of the negatives: corpus.Alias.Table, two values a word
	Counts                     []uint64 // of the words in the text, (V)
	Keep                       []uint32 // corpus.KeepThresholds, (V)
	Tokens                     []uint32 // the text, if it is in memory
	Sentences                  []int    // first token of each, and the end, if they are in memory
	Text                       Text     // the text and its sentences, if Tokens and Sentences are nil
	Walks                      *Walks   // what the text is, if the device shall walk; else nil
	Units                      []int    // first sentence of each unit of an epoch, and the end
	TextTokens                 int      // of the text that are on the device at a time, at most; 0: all
	InFlight                   int      // sentences trained at a time; 0: as many as are fast and sound
	Piece                      int      // tokens of a sentence that are trained at a time, as if they were a sentence, with the words around them; 0: all. Float32
	Block                      int      // of rows that are composed: tokens of the sentences whose words are composed together, at least, in a unit; 0: the unit's
	cut                        bool     // into pieces: Text and Units are those of the pieces
	inRows                     bool     //nolint:unused // in builds for GPUs: tables are not spread, for other kernels read them

	// HalfPrecision stores C in float16, and HalfWords W as well: see halves.cuh.
	HalfPrecision, HalfWords bool

	Sync Sync // of several devices
}

// A Text is the tokens and sentences of a text, wherever they are.
type Text interface {
	Tokens() int                 // how many there are
	Sentences() int              // how many there are
	Start(sentence int) int      // its first token; the end for the number of sentences. A part of a text has the tokens from Start(0) on.
	LongestSentence() int        // an upper bound of a sentence's tokens
	Copy(to []uint32, first int) // the tokens from first on, as many as fit
	GiveBack()                   // the memory that reading took, if the text is in a file
}

// HalvesWords reports whether the mode has kernels for W in float16.
func (m Mode) HalvesWords() bool { return m == FullW2V || m == PWord2Vec }

// Dynamic reports whether every window of the mode has a width of its own, 1 ... Radius.
func (m Mode) Dynamic() bool { return m != FullW2V && m != FullW2VPairs && m != FullRegister }

// PerWindow returns how many numbers of the stream of negatives a window has: as many as it
// takes at most, rounded up to a multiple of 4.
func (c *Options) PerWindow() int {
	most := c.Negatives
	switch c.Mode {
	case Word2Vec: // for each pair
		most = 2 * c.Radius * c.Negatives
	case PARW2V: // for each context word there may be, and one to draw how many
		most = 1 + 2*c.Radius*c.Negatives
	}
	return (most + 3) &^ 3
}
