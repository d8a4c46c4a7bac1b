package train

// A Config holds every setting of a run. The zero value is not usable: start
// from [Defaults] or [Resolve], which fill in the recipe of a mode.
type Config struct {
	Mode   string // how to train, see [Modes]
	Preset string // which recipe the defaults come from: "tuned" or "paper"

	Corpus   string // a text file, a folder of them, or "-" for standard input
	Out      string // the run folder to make
	Matrix   string // the file M is kept in; empty: memory only
	GraphDOT string // where to write the Gorgonia graph; empty: nowhere
	Init     string // vectors to go on from: a run folder or a file; empty: none
	Force    bool   // replace an existing run folder or a matrix file that does not fit

	Checkpoint string // when to save: a time such as 10m, a number of units, or 0

	MinCount    int    // words rarer than this are removed
	MaxSentence int    // longer lines are cut into blocks of this many tokens
	Lowercase   bool   // lower-case the text
	Tokenizer   string // "whitespace" or "words"

	Dim           int     // N, dimensions of a vector
	Window        int     // words on either side of the centre word
	DynamicWindow bool    // draw each window's size uniformly from 1..Window
	Negative      int     // K, negatives per positive pair
	Noise         string  // where negatives are drawn from: "matrix" or "counts"
	NoiseExponent float64 // power applied to those weights
	Sample        float64 // subsampling threshold of frequent words; 0: none
	Passes        int     // how often the corpus is subsampled into M
	Contexts      int     // l, columns of M
	Batch         int     // pairs per minibatch
	Model         string  // word2vec: "sg" (skip-gram) or "cbow"
	Vectors       string  // what is exported: "sum" (W + C) or "words" (W)

	Subword   string  // what composes word vectors from spelling: "none", "cnn" or "ngram"
	WordTable bool    // cnn: every word has a vector of its own, too
	Gram      int     // cnn: characters of a symbol
	CharDim   int     // cnn: E, values of a symbol's embedding
	Widths    string  // cnn: symbols that filters span, such as "2,3,4"
	Filters   int     // cnn: filters of each width
	MaxChars  int     // cnn: characters of a word that are read
	MinGram   int     // ngram: characters of the shortest n-grams
	MaxGram   int     // ngram: characters of the longest n-grams
	Buckets   int     // ngram: what n-grams are hashed to
	SubwordLR float64 // learning rate of the encoder, times LR

	Epochs      int     // cl: l iterations each; vanilla: passes over the corpus
	Iterations  int     // cl: overrides Epochs; 0: Epochs x Contexts
	LR          float64 // learning rate at the first unit
	Decay       string  // "linear" or "none"
	LREnd       float64 // learning rate at the last unit of a linear decay
	Optimizer   string  // "adam", "adam-row" or "sgd"
	WeightDecay float64 // decoupled weight decay

	Seed      uint64
	Threads   int    // 0: all processors
	MaxMemory string // such as 4GB or 75%; empty: what the machine has available
	Device    string // "cpu", "cuda" or "cuda:N"
	Precision string // how a GPU stores tables: "float32" or "half"
	Form      string // form of the Gorgonia graph: "fused" or "stock"
}

// The groups of settings, in the order help and recorded files show them.
const (
	GroupRun     = "Run"
	GroupText    = "Text"
	GroupSamples = "Model and samples"
	GroupSubword = "Subwords"
	GroupTrain   = "Training"
	GroupMachine = "Machine"
)

// Groups lists the groups of settings in the order of display.
func Groups() []string {
	return []string{GroupRun, GroupText, GroupSamples, GroupSubword, GroupTrain, GroupMachine}
}

// Settings is the one table of all settings; the values point into c. Adding a
// setting is one field of [Config], one line here, a default in recipes.go and
// a check in validate.go.
func (c *Config) Settings() []Setting {
	return []Setting{
		{Name: "mode", Group: GroupRun, Record: true, value: &c.Mode,
			Help: "how to train: `MODE` is cl (W2V-CL, large batch), vanilla (W2V-Vanilla, minibatches), or in the order of the sentences word2vec, pword2vec, psgnscc, fullw2v or parw2v"},
		{Name: "preset", Group: GroupRun, Record: true, value: &c.Preset,
			Help: "recipe the defaults come from: `NAME` is tuned or paper"},
		{Name: "corpus", Aliases: []string{"train", "input"}, Group: GroupRun, Record: true, Resume: true, value: &c.Corpus,
			Help: "text to train on: `PATH` of a file or folder (plain, gzip, zstd, bzip2), or - for standard input"},
		{Name: "out", Aliases: []string{"output"}, Group: GroupRun, value: &c.Out,
			Help: "run folder to make: `DIR` must not exist yet, or see --force"},
		{Name: "matrix", Group: GroupRun, Modes: onlyCL, Record: true, Resume: true, value: &c.Matrix,
			Help: "keep the matrix M in `FILE`: reused if it fits, else built and written (default: memory only)"},
		{Name: "graph-dot", Group: GroupRun, Modes: graphModes, value: &c.GraphDOT,
			Help: "write the Gorgonia graph that is trained to `FILE` (Graphviz)"},
		{Name: "checkpoint", Group: GroupRun, Record: true, Resume: true, value: &c.Checkpoint,
			Help: "how often to save what 'w2vcl resume' needs: `WHEN` is a time (10m, 90s), a number of iterations, or 0 for only when interrupted"},
		{Name: "init", Aliases: []string{"pretrained-vectors", "pretrainedVectors"}, Group: GroupRun, Modes: sequentialModes, Record: true, value: &c.Init,
			Help: "go on from the vectors of `PATH`, a run folder or a file: words they lack start anew, words the text lacks stay"},
		{Name: "force", Group: GroupRun, Resume: true, value: &c.Force,
			Help: "replace the run folder at --out, and a --matrix file that does not fit"},

		{Name: "min-count", Aliases: []string{"minCount"}, Group: GroupText, Record: true, value: &c.MinCount,
			Help: "remove words that occur fewer than `N` times"},
		{Name: "max-sentence", Group: GroupText, Record: true, value: &c.MaxSentence,
			Help: "cut lines longer than `N` words"},
		{Name: "lowercase", Group: GroupText, Record: true, value: &c.Lowercase,
			Help: "lower-case the text"},
		{Name: "tokenizer", Group: GroupText, Record: true, value: &c.Tokenizer,
			Help: "how a line is split: `NAME` is whitespace (text that is tokenized already) or words (raw text: runs of letters, digits and apostrophes)"},

		{Name: "dim", Aliases: []string{"size", "vector-size", "layer1-size"}, Group: GroupSamples, Record: true, value: &c.Dim,
			Help: "dimensions `N` of a vector"},
		{Name: "window", Aliases: []string{"ws"}, Group: GroupSamples, Record: true, value: &c.Window,
			Help: "words `N` on either side of the centre word"},
		{Name: "dynamic-window", Group: GroupSamples, Modes: graphModes, Record: true, value: &c.DynamicWindow,
			Help: "draw each window's size from 1 to --window, as word2vec does; =false fixes it"},
		{Name: "negative", Aliases: []string{"neg"}, Group: GroupSamples, Record: true, value: &c.Negative,
			Help: "negatives `K` for each positive pair"},
		{Name: "noise", Group: GroupSamples, Record: true, value: &c.Noise,
			Help: "where negatives come from: `NAME` is matrix (how often a word was found as a context) or counts (how often in the corpus)"},
		{Name: "noise-exponent", Aliases: []string{"ns-exponent"}, Group: GroupSamples, Record: true, value: &c.NoiseExponent,
			Help: "power `X` applied to those weights (default 1 for matrix, 0.75 for counts, 0.5 in mode fullw2v)", hideDefault: true},
		{Name: "sample", Aliases: []string{"subsample"}, Group: GroupSamples, Record: true, value: &c.Sample,
			Help: "subsample words more frequent than `T`; 0 keeps all"},
		{Name: "passes", Group: GroupSamples, Modes: onlyCL, Record: true, value: &c.Passes,
			Help: "subsample the corpus `N` times into M (default 5, or 1 without subsampling)", hideDefault: true},
		{Name: "contexts", Group: GroupSamples, Modes: onlyCL, Record: true, value: &c.Contexts,
			Help: "columns `L` of M: context samples of every word"},
		{Name: "model", Group: GroupSamples, Modes: onlyWord2Vec, Record: true, value: &c.Model,
			Help: "what a window trains: `NAME` is sg (skip-gram) or cbow (mode word2vec)", hideDefault: true},
		{Name: "vectors", Group: GroupSamples, Record: true, value: &c.Vectors,
			Help: "what vectors.bin holds: `NAME` is sum (word + context vector) or words"},

		{Name: "subword", Group: GroupSubword, Modes: graphModes, Record: true, value: &c.Subword,
			Help: "compose word vectors from spelling, so that any word has one: `NAME` is cnn (convolutions over characters), ngram (fastText's sum of hashed n-grams) or none"},
		{Name: "word-table", Group: GroupSubword, Modes: graphModes, Subword: encoders, Record: true, value: &c.WordTable,
			Help: "give every word of the text a vector of its own, too; =false leaves spelling alone, as in the paper"},
		{Name: "gram", Group: GroupSubword, Modes: graphModes, Subword: onlyCNN, Record: true, value: &c.Gram,
			Help: "characters `N` of a symbol: 1 reads characters, more overlapping n-grams of them (cnn)"},
		{Name: "char-dim", Group: GroupSubword, Modes: graphModes, Subword: onlyCNN, Record: true, value: &c.CharDim,
			Help: "values `E` of a symbol's embedding (cnn)"},
		{Name: "widths", Group: GroupSubword, Modes: graphModes, Subword: onlyCNN, Record: true, value: &c.Widths,
			Help: "symbols that filters span, a `LIST` with commas (cnn)"},
		{Name: "filters", Group: GroupSubword, Modes: graphModes, Subword: onlyCNN, Record: true, value: &c.Filters,
			Help: "filters `N` of each width (cnn)"},
		{Name: "max-chars", Group: GroupSubword, Modes: graphModes, Subword: onlyCNN, Record: true, value: &c.MaxChars,
			Help: "read `N` characters of a longer word (cnn)"},
		{Name: "min-ngram", Aliases: []string{"minn"}, Group: GroupSubword, Modes: graphModes, Subword: onlyNGram, Record: true, value: &c.MinGram,
			Help: "characters `N` of the shortest n-grams (ngram)"},
		{Name: "max-ngram", Aliases: []string{"maxn"}, Group: GroupSubword, Modes: graphModes, Subword: onlyNGram, Record: true, value: &c.MaxGram,
			Help: "characters `N` of the longest n-grams (ngram)"},
		{Name: "buckets", Aliases: []string{"bucket"}, Group: GroupSubword, Modes: graphModes, Subword: onlyNGram, Record: true, value: &c.Buckets,
			Help: "hash n-grams to `N` vectors; those that no word needs take no memory (ngram)"},
		{Name: "subword-lr", Group: GroupSubword, Modes: graphModes, Subword: encoders, Record: true, value: &c.SubwordLR,
			Help: "learning rate of what composes vectors: `X` times --lr (default depends on --subword and the number of iterations)", hideDefault: true},

		{Name: "epochs", Aliases: []string{"iter", "epoch"}, Group: GroupTrain, Record: true, value: &c.Epochs,
			Help: "`N` epochs; in mode cl one epoch is one iteration per column of M"},
		{Name: "iterations", Group: GroupTrain, Modes: onlyCL, Record: true, value: &c.Iterations,
			Help: "`N` iterations instead of whole epochs", hideDefault: true},
		{Name: "batch", Aliases: []string{"batch-size"}, Group: GroupTrain, Modes: onlyVanilla, Record: true, value: &c.Batch,
			Help: "`N` pairs in a minibatch (mode vanilla)"},
		{Name: "lr", Aliases: []string{"alpha", "learning-rate"}, Group: GroupTrain, Record: true, Resume: true, value: &c.LR,
			Help: "learning rate `X` at the start (this default is adam's up to --dim 166, 1/dim above; sgd has its own)"},
		{Name: "decay", Group: GroupTrain, Record: true, value: &c.Decay,
			Help: "how the learning rate goes on: `NAME` is linear (down to --lr-end) or none"},
		{Name: "lr-end", Aliases: []string{"min-alpha"}, Group: GroupTrain, Record: true, Resume: true, value: &c.LREnd,
			Help: "learning rate `X` at the end of a linear decay"},
		{Name: "optimizer", Group: GroupTrain, Modes: graphModes, Record: true, value: &c.Optimizer,
			Help: "`NAME` is adam, adam-row (one second moment per word) or sgd"},
		{Name: "weight-decay", Group: GroupTrain, Modes: graphModes, Record: true, value: &c.WeightDecay,
			Help: "decoupled weight decay `X`"},

		{Name: "seed", Group: GroupMachine, Record: true, value: &c.Seed,
			Help: "`N` from which all randomness comes"},
		{Name: "threads", Aliases: []string{"workers", "thread"}, Group: GroupMachine, Record: true, Resume: true, value: &c.Threads,
			Help: "`N` threads; 0 uses every processor. The results of cl and vanilla do not depend on it; the other modes give the same result twice with one thread only"},
		{Name: "max-memory", Group: GroupMachine, Record: true, Resume: true, value: &c.MaxMemory,
			Help: "refuse a run that needs more than `SIZE`: 4GB, 500MB, or 75% of the machine (default what is available)"},
		{Name: "device", Group: GroupMachine, Record: true, Resume: true, value: &c.Device,
			Help: "where to train: `NAME` is cpu, cuda (modes cl and fullw2v), or cuda:N for the GPU of number N"},
		{Name: "precision", Group: GroupMachine, Modes: deviceModes, Record: true, Resume: true, value: &c.Precision,
			Help: "how a GPU stores what limits its speed: `NAME` is float32 or half (16 bits, see docs/cuda.md)"},
		{Name: "form", Group: GroupMachine, Modes: graphModes, Record: true, value: &c.Form,
			Help: "form of the Gorgonia graph: `NAME` is fused (fast) or stock (the readable reference)"},
	}
}

// setting finds a setting by its name.
func (c *Config) setting(name string) (Setting, bool) {
	for _, s := range c.Settings() {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}
