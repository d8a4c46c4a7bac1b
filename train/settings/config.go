package settings

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/w2vcl/w2vcl/train/trainer"
)

// A Config holds every setting of a run, in the sections that help shows. The zero
// value is not usable: start from [Defaults] or [Resolve], which fill in the recipe
// of a mode.
type Config struct {
	Run
	Text
	Samples
	Encoder
	Training
	Machine
	Fitted
}

// Fitted is what follows from the text, and is no setting: see [Config.FitText].
type Fitted struct {
	Passes int // of mode cl: how often the text is read to build M
	Unit   int // tokens of a unit of modes that read sentences; 0: they follow from the length of the run
}

// Run says how to train, from which files, and what to write.
type Run struct {
	Mode   string // how to train, see [Modes]
	Preset string // where the defaults come from: "tuned" or that of a paper, see presets.go

	Corpus   string // a text file, a folder of them, or "-" for standard input
	Graph    string // in its place the file of a graph, or "-"; empty: a text
	Out      string // the run folder to make
	Matrix   string // the file of M; empty: M is in memory only
	GraphDOT string // the file to write the Gorgonia graph to; empty: none
	Init     string // model to go on from: a run folder or a file; empty: none
	Freeze   string // what of it training leaves as it is: "none", "words", "parts" or "known"
	Moments  bool   // the optimizer's of Init come along
	Force    bool   // replace an existing run folder or a matrix file that does not fit

	Checkpoint Interval // how often to save a checkpoint
}

// Text says how to read the text, or which walks over the graph are the text.
type Text struct {
	MinCount      int    // words rarer than this are removed
	MaxVocabulary int    // words of the vocabulary at most; 0: any number
	Vocabulary    string // the file of the vocabulary, read if it is there and else written; empty: none
	MaxSentence   int    // longer lines are cut into sentences of this many tokens
	JoinLines     bool   // the text is one stream: lines do not end sentences
	Lowercase     bool   // lower-case the text
	Tokenizer     string // "whitespace" or "words"
	Field         string // of JSON lines or parquet files that holds the text; empty: files of text
	Cache         string // the folder of encoded texts that are kept; empty: none is

	Directed   bool    // edges of the graph lead one way
	Weighted   bool    // edges of the graph have weights
	Walks      int     // over the graph, from each node
	WalkLength int     // nodes of a walk
	P, Q       float64 // node2vec's return and in-out parameters
}

// Samples says which vectors are trained, and on which samples.
type Samples struct {
	Dim           int     // N, dimensions of a vector
	Window        int     // words on either side of the centre word
	DynamicWindow bool    // draw each window's size uniformly from 1..Window
	Negative      int     // K, negatives per positive pair
	Noise         string  // the weights that negatives are drawn by: "matrix" or "counts"
	NoiseExponent float64 // power applied to those weights
	Sample        float64 // subsampling threshold of frequent words; 0: none
	Contexts      int     // l, iterations of an epoch of mode cl
	Model         string  // cl: "positional", "cbow" or "sg" (skip-gram); word2vec: the last two

	Tempering       float64 // power of a word's contexts that its samples are in proportion to; 0: all words have as many
	Positives       float64 // m, samples of a word in an iteration, the mean over the words
	Shuffle         bool    // the rows of M; else their contexts are in the order of the text
	SharedNegatives int     // H, negatives of a step that all words share; 0: each word draws its own

	XMax  float64 // glove: counts from here on weigh 1
	Shift float64 // ppmi: associations are less by its logarithm

	HierarchicalSoftmax bool // word2vec: paths in a Huffman tree in place of negatives

	ContextWeight float64 // X: the exported vectors are W + X·C
}

// Encoder says how word vectors are composed from spelling.
type Encoder struct {
	Subword     string  // "none", "ngram", "cnn" or another network
	Compose     string  // "sum" of a word's own vector and its spelling's, or "spelling" alone
	Gram        Numbers // cnn: characters of a symbol; several: a word is spelt once in each length
	CharDim     int     // cnn: E, values of a symbol's embedding
	Widths      Numbers // cnn: symbols that filters span
	Filters     Numbers // cnn: filters of each width, or one number for all
	Activation  string  // cnn: of the convolutions, see subword.Activation
	Standardize bool    // cnn: features have mean 0 and variance 1 over the vocabulary
	MaxChars    int     // cnn: characters of a word that are read
	MinGram     int     // ngram: characters of the shortest n-grams
	MaxGram     int     // ngram: characters of the longest n-grams
	Buckets     int     // ngram, cnn: vectors that n-grams are hashed to
	SubwordLR   float64 // learning rate of the encoder, times LR
	Unseen      string  // what unseen words' vectors come from: "encoder" or "regress"
}

// Training says how long and at which rates to train.
type Training struct {
	Epochs      int            // passes over the corpus; cl with model sg: l iterations each; 0, with CBOW: Iterations say how long
	Iterations  int            // cl: overrides Epochs; 0: they follow from Epochs, with CBOW from the text if these are 0, too
	Budget      trainer.Budget // overrides both; zero: none
	Batch       int            // cl: T, words of a stretch; vanilla: positive pairs of a minibatch; parw2v: B, words that share negatives
	CombineRule string         // sentence-ordered modes on several GPUs: see sequential.Rule
	Sync        int            // words from one combination of their tables to the next; 0: follows from the text
	LR          float64        // learning rate at the first unit
	Decay       string         // "linear", "epochs" or "none"
	LREnd       float64        // learning rate at the end of a decay
	Optimizer   string         // see optim.Methods
	WeightDecay float64        // decoupled weight decay
	Together    bool           // cl: both tables, and fullw2v: all pairs of a window, are updated at once, each against the old rows of the other
}

// Machine says where to train, and with what.
type Machine struct {
	Seed      uint64
	Threads   int    // 0: all processors
	MaxMemory Size   // zero: the memory that the machine has available
	Device    string // "cpu", "cuda", "cuda:N" or "cuda:N,M,..."
	Precision string // of the tables on a GPU: "float32", "half" or "half-tables"
}

// Input returns the path of the text or the graph.
func (c *Config) Input() string { return cmp.Or(c.Graph, c.Corpus) }

// ThreadCount returns the number of threads to use.
func (c *Config) ThreadCount() int {
	if c.Threads > 0 {
		return c.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// HasEncoder reports whether word vectors are composed from spelling.
func (c *Config) HasEncoder() bool { return slices.Contains(encoders(), c.Subword) }

// HasNetwork reports whether a network composes them.
func (c *Config) HasNetwork() bool { return c.HasEncoder() && !c.ComposesRows() }

// DevicePrecision returns the precision of the tables on a GPU; "" for the CPU.
func (c *Config) DevicePrecision() string {
	if c.Device == DeviceCPU {
		return ""
	}
	return c.Precision
}

// TotalIterations returns the iterations of a run of mode cl.
func (c *Config) TotalIterations() int {
	if c.Iterations > 0 {
		return c.Iterations
	}
	return c.Epochs * c.Contexts
}

// symbols returns how many symbols of a word an encoder reads: n-grams of its
// characters and the marks of its two ends.
func (c *Config) symbols() int { return c.MaxChars + 3 - slices.Min(append(c.Gram, c.MaxChars)) }
