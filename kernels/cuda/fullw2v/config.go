// Package fullw2v trains FULL-W2V on a GPU: it takes the sentences of a text in order, many
// of them at a time. Without the build tag gpu it has the configuration only.
//
// Start with Config, then with fullw2v.cu, which says how a sentence is trained, and with
// New. fullw2v_half.cu is the same with C in 16 bits. Package ladder, which no program
// imports, has the steps that led from the published kernels to these.
package fullw2v

// The limits of the kernels.
const (
	MaxNegatives     = 15
	MaxRadius        = 15
	MaxHalfNegatives = 7 // with half precision
	MaxHalfRadius    = 7
)

// MaxInFlight is how many sentences are trained at a time at most. A row is added to some
// windows after it was read. So on a short text, whose words the sentences in flight share,
// there must be fewer: New takes one for every 10,000 tokens. 1584 are sound on 17 million
// words, where 1056 train 15 % slower.
const MaxInFlight = 1584

// Config is the configuration of Kernels.
type Config struct {
	Vocabulary, Dim, Negatives int // V, N, K
	Radius                     int // W_f: words on either side of a window's middle
	Epochs                     int
	Seed                       uint64
	Alias                      []uint32 // of the negatives: corpus.Alias.Table, two values a word
	Counts                     []uint64 // of the words in the text, (V)
	Keep                       []uint32 // corpus.KeepThresholds, (V)
	Tokens                     []uint32 // the text
	Sentences                  []int    // first token of each, and the end
	Units                      []int    // first sentence of each unit of an epoch, and the end
	TextTokens                 int      // of the text that are on the device at a time, at most; 0: all
	InFlight                   int      // sentences trained at a time; 0: as many as are fast and sound

	// HalfPrecision stores C in float16: see fullw2v_half.cu.
	HalfPrecision bool
}
