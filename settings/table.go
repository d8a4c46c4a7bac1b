package settings

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

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
			help: "how to train", Choices: modeChoices()},
		{Name: "preset", Group: GroupRun, Record: true, value: &c.Preset,
			help: "where the defaults come from, see docs/papers.md", Choices: presetChoices()},
		{Name: "corpus", Aliases: []string{"train", "input"}, Group: GroupRun, Record: true, Resume: true, value: &c.Corpus,
			help: "text to train on: `PATH` of a file or folder (plain, gzip, zstd, bzip2, xz; with --field JSON lines or parquet), or - for standard input"},
		{Name: "out", Aliases: []string{"output"}, Group: GroupRun, value: &c.Out,
			help: "run folder to make: `DIR` must not exist yet, or see --force"},
		{Name: "matrix", Group: GroupRun, Modes: largeBatch, Record: true, Resume: true, value: &c.Matrix,
			help: "keep the matrix M in `FILE`: reused if it fits, else built and written (default: memory only)"},
		{Name: "graph-dot", Group: GroupRun, Modes: asGraph, value: &c.GraphDOT,
			help: "write the Gorgonia graph that is trained to `FILE` (Graphviz)"},
		{Name: "checkpoint", Group: GroupRun, Record: true, Resume: true, value: &c.Checkpoint,
			help: "how often to save what 'w2vcl resume' needs: `WHEN` is a time (10m, 90s), a number of iterations, or 0 for only when interrupted"},
		{Name: "init", Aliases: []string{"pretrained-vectors", "pretrainedVectors"}, Group: GroupRun, Modes: onWords, Record: true, value: &c.Init,
			help: "go on from the vectors of `PATH`, a run folder or a file: words they lack start anew; words the text lacks are left out in cl and vanilla, and stay in the other modes"},
		{Name: "force", Group: GroupRun, Resume: true, value: &c.Force,
			help: "replace the run folder at --out, a --matrix file that does not fit, and a graph at --graph-dot"},

		{Name: "min-count", Aliases: []string{"minCount"}, Group: GroupText, Record: true, value: &c.MinCount,
			help: "remove words that occur fewer than `N` times"},
		{Name: "max-vocab", Aliases: []string{"max-vocab-size", "max-final-vocab"}, Group: GroupText, Record: true, value: &c.MaxVocabulary,
			help: "keep the `N` most frequent words; 0 keeps all that --min-count leaves"},
		{Name: "vocab", Aliases: []string{"read-vocab", "save-vocab"}, Group: GroupText, Record: true, Resume: true, value: &c.Vocabulary,
			help: "take words and counts from `FILE`, in word2vec's form; if there is none yet, write those of the text to it"},
		{Name: "max-sentence", Group: GroupText, Record: true, value: &c.MaxSentence,
			help: "cut lines longer than `N` words"},
		{Name: "join-lines", Group: GroupText, Record: true, value: &c.JoinLines,
			help: "read the text as one stream, cut every --max-sentence words: lines do not end sentences"},
		{Name: "lowercase", Group: GroupText, Record: true, value: &c.Lowercase,
			help: "lower-case the text"},
		{Name: "field", Group: GroupText, Record: true, value: &c.Field,
			help: "take the text from field `NAME` of JSON lines, or from that column of parquet files"},
		{Name: "tokenizer", Group: GroupText, Record: true, value: &c.Tokenizer,
			help: "how a line is split", Choices: tokenizerChoices},
		{Name: "cache", Group: GroupText, Record: true, Resume: true, value: &c.Cache,
			help: "keep the encoded text in the folder `DIR` and take it from there while text and settings are the same (default: a large text has a file in the run folder until the run is finished)"},

		{Name: "dim", Aliases: []string{"size", "vector-size", "layer1-size"}, Group: GroupSamples, Record: true, value: &c.Dim,
			help: "dimensions `N` of a vector"},
		{Name: "window", Aliases: []string{"ws"}, Group: GroupSamples, Record: true, value: &c.Window,
			help: "words `N` on either side of the centre word (in mode fullw2v the fixed radius W_f is half of it, rounded up)"},
		{Name: "dynamic-window", Group: GroupSamples, Modes: randomWindow, Record: true, value: &c.DynamicWindow,
			help: "draw each window's size from 1 to --window, as word2vec does; =false fixes it (ppmi counts the mean of all draws)"},
		{Name: "hierarchical-softmax", Aliases: []string{"hs"}, Group: GroupSamples, Modes: hierarchical, Record: true, value: &c.HierarchicalSoftmax,
			help: "predict words by their paths in a Huffman tree, without negatives, on the CPU"},
		{Name: "negative", Aliases: []string{"neg"}, Group: GroupSamples, Modes: onWords, Negatives: true, Record: true, value: &c.Negative,
			help: "negatives `K` for each positive pair"},
		{Name: "noise", Group: GroupSamples, Modes: onWords, Negatives: true, Record: true, value: &c.Noise,
			help: "where negatives come from", Choices: noiseChoices()},
		{Name: "noise-exponent", Aliases: []string{"ns-exponent"}, Group: GroupSamples, Modes: notGloVe, Negatives: true, Record: true, value: &c.NoiseExponent,
			help: "power `X` applied to those weights (the default follows from --noise and --mode)", hideDefault: true},
		{Name: "sample", Aliases: []string{"subsample"}, Group: GroupSamples, Record: true, value: &c.Sample,
			help: "subsample words more frequent than `T`; 0 keeps all"},
		{Name: "passes", Group: GroupSamples, Modes: severalPasses, Record: true, value: &c.Passes,
			help: "subsample the corpus `N` times into M, or count it so often (the default of cl follows from the length of the text: 5 for 17 million words)", hideDefault: true},
		{Name: "contexts", Group: GroupSamples, Modes: largeBatch, Record: true, value: &c.Contexts,
			help: "`L` iterations an epoch: M has about --positives times L context samples for each word"},
		{Name: "same-column", Group: GroupSamples, Modes: largeBatch, Record: true, value: &c.SameColumn,
			help: "train both steps of an iteration on the same samples, as in the W2V-CL paper; otherwise each has its own"},
		{Name: "tempering", Group: GroupSamples, Modes: largeBatch, Record: true, value: &c.Tempering,
			help: "give words samples in proportion to the power `X` of their contexts in the text; 0 gives every word as many"},
		{Name: "positives", Group: GroupSamples, Modes: largeBatch, Record: true, value: &c.Positives,
			help: "context samples `N` of a word in an iteration, on average over the words (default follows from the text and --contexts: training uses each context of the text about 16 times, with long vectors less often)", hideDefault: true},
		{Name: "max-positives", Group: GroupSamples, Modes: largeBatch, Record: true, value: &c.MaxPositives,
			help: "context samples `N` of a word in an iteration at most"},
		{Name: "shared-negatives", Group: GroupSamples, Modes: largeBatch, Record: true, value: &c.SharedNegatives,
			help: "all words share `N` negatives in each step, which weigh as much as --negative for each sample; 0 draws each word's own"},
		{Name: "x-max", Group: GroupSamples, Modes: onGloVe, Record: true, value: &c.XMax,
			help: "counts from `X` on weigh 1, smaller ones less (mode glove)"},
		{Name: "shift", Group: GroupSamples, Modes: onPPMI, Record: true, value: &c.Shift,
			help: "associations are less by the logarithm of `K`, as if a pair had so many negatives (mode ppmi)"},
		{Name: "singular-exponent", Group: GroupSamples, Modes: onPPMI, Record: true, value: &c.SingularExponent,
			help: "power `P` of the singular values in W (mode ppmi)"},
		{Name: "model", Group: GroupSamples, Modes: withModels, Record: true, value: &c.Model,
			help: "the input of a window", Choices: modelChoices(""), hideDefault: true},
		{Name: "context-weight", Group: GroupSamples, Negatives: true, Record: true, Resume: true, value: &c.ContextWeight,
			help: "vectors.bin has W + `X` times C: word vectors, and a part of the context vectors; 0 for word vectors alone"},

		{Name: "subword", Group: GroupSubword, Modes: withEncoders, Record: true, value: &c.Subword,
			help: "compose word vectors from spelling, so that any word has one", Choices: subwordChoices},
		{Name: "word-table", Group: GroupSubword, Modes: withEncoders, Subword: encoders, Record: true, value: &c.WordTable,
			help: "give every word of the text a vector of its own beside its spelling; =false composes vectors from spelling only"},
		{Name: "gram", Group: GroupSubword, Modes: asGraph, Subword: spelt, Record: true, value: &c.Gram,
			help: "characters `N` of a symbol: 1 reads characters, more overlapping n-grams of them (cnn, recurrent, attention)"},
		{Name: "char-dim", Group: GroupSubword, Modes: asGraph, Subword: spelt, Record: true, value: &c.CharDim,
			help: "values `E` of a symbol's embedding (cnn, recurrent, attention)"},
		{Name: "widths", Group: GroupSubword, Modes: asGraph, Subword: cnnOnly, Record: true, value: &c.Widths,
			help: "symbols that filters span, a `LIST` with commas (cnn)"},
		{Name: "filters", Group: GroupSubword, Modes: asGraph, Subword: cnnOnly, Record: true, value: &c.Filters,
			help: "filters `N` of each width, or a number for each, with commas (cnn)"},
		{Name: "pool", Group: GroupSubword, Modes: asGraph, Subword: cnnOnly, Record: true, value: &c.Pool,
			help: "what of a convolution counts (cnn)", Choices: poolChoices},
		{Name: "activation", Group: GroupSubword, Modes: asGraph, Subword: cnnOnly, Record: true, value: &c.Activation,
			help: "function that the values of a convolution go through (cnn)", Choices: activationChoices},
		{Name: "standardize", Group: GroupSubword, Modes: asGraph, Subword: cnnOnly, Record: true, value: &c.Standardize,
			help: "give features mean 0 and variance 1 over the vocabulary (cnn); =false leaves them as they are"},
		{Name: "dropout", Group: GroupSubword, Modes: asGraph, Subword: cnnOnly, Record: true, value: &c.Dropout,
			help: "leave out a share `X` of each word's features, others in each step (cnn)"},
		{Name: "max-chars", Group: GroupSubword, Modes: asGraph, Subword: spelt, Record: true, value: &c.MaxChars,
			help: "read `N` characters of a longer word (cnn, recurrent, attention)"},
		{Name: "min-ngram", Aliases: []string{"minn"}, Group: GroupSubword, Modes: withEncoders, Subword: ngramOnly, Record: true, value: &c.MinGram,
			help: "characters `N` of the shortest n-grams (ngram)"},
		{Name: "max-ngram", Aliases: []string{"maxn"}, Group: GroupSubword, Modes: withEncoders, Subword: ngramOnly, Record: true, value: &c.MaxGram,
			help: "characters `N` of the longest n-grams (ngram)"},
		{Name: "buckets", Aliases: []string{"bucket"}, Group: GroupSubword, Modes: withEncoders, Subword: ngramOnly, Record: true, value: &c.Buckets,
			help: "hash n-grams to `N` vectors; those that no word needs take no memory (ngram)"},
		{Name: "pieces", Group: GroupSubword, Modes: asGraph, Subword: bpeOnly, Record: true, value: &c.Pieces,
			help: "byte-pair pieces, those merged first ahead: `FILE` has a piece a line, or the two parts of a merge (bpe)"},
		{Name: "subword-lr", Group: GroupSubword, Modes: withEncoders, Subword: encoders, Record: true, value: &c.SubwordLR,
			help: "learning rate of what composes vectors: `X` times --lr (default depends on --subword and the number of iterations)", hideDefault: true},

		{Name: "epochs", Aliases: []string{"iter", "epoch"}, Group: GroupTrain, Modes: notPPMI, Record: true, value: &c.Epochs,
			help: "`N` epochs; in mode cl an epoch is --contexts iterations"},
		{Name: "iterations", Group: GroupTrain, Modes: largeBatch, Record: true, value: &c.Iterations,
			help: "`N` iterations instead of whole epochs", hideDefault: true},
		{Name: "batch", Aliases: []string{"batch-size"}, Group: GroupTrain, Modes: batched, Record: true, value: &c.Batch,
			help: "`N` positive pairs in a minibatch; in mode parw2v words"},
		{Name: "combine", Group: GroupTrain, Modes: combining, Record: true, value: &c.Combine,
			help: "train `C` windows in one product at most (mode psgnscc)"},
		{Name: "combine-span", Group: GroupTrain, Modes: combining, Record: true, value: &c.CombineSpan,
			help: "look for these windows among `T` words at most (mode psgnscc)"},
		{Name: "combine-rule", Group: GroupTrain, Modes: sentenceOrdered, Record: true, value: &c.CombineRule,
			help: "how GPUs or ranks that share the text combine their changes of a row", Choices: combineRuleChoices()},
		{Name: "sync", Group: GroupTrain, Modes: sentenceOrdered, Record: true, value: &c.Sync,
			help: "GPUs or ranks that share the text combine their tables every `N` words of it, and at the end of an epoch (default: 128 times in a run, with ranks 4 times an epoch, or every 16 million words)", hideDefault: true},
		{Name: "sync-hot", Group: GroupTrain, Modes: sentenceOrdered, Record: true, value: &c.SyncHot,
			help: "the rows of the --hot-words most frequent words are combined every `N` words; 0: with all others, and by adasum on ranks without GPUs 8 times as often"},
		{Name: "hot-words", Group: GroupTrain, Modes: sentenceOrdered, Record: true, value: &c.HotWords,
			help: "how many words --sync-hot is for: `N`"},
		{Name: "write-back", Group: GroupTrain, Modes: writingBack, Record: true, Resume: true, value: &c.WriteBack,
			help: "how rows of context words return to the table when their word leaves the window", Choices: writeBackChoices},
		{Name: "adam", Group: GroupTrain, Modes: minibatch, Record: true, value: &c.Adam,
			help: "the rows that a minibatch updates (mode vanilla, any --optimizer)", Choices: adamChoices},
		{Name: "lr", Aliases: []string{"alpha", "learning-rate"}, Group: GroupTrain, Modes: notPPMI, Record: true, Resume: true, value: &c.LR,
			help: "learning rate `X` at the start (in mode cl the default follows from --optimizer and --dim)"},
		{Name: "decay", Group: GroupTrain, Modes: notPPMI, Record: true, value: &c.Decay,
			help: "how the learning rate goes on", Choices: decayChoices},
		{Name: "lr-end", Aliases: []string{"min-alpha"}, Group: GroupTrain, Modes: notPPMI, Record: true, Resume: true, value: &c.LREnd,
			help: "learning rate `X` at the end of a decay"},
		{Name: "optimizer", Group: GroupTrain, Modes: asGraph, Record: true, value: &c.Optimizer,
			help: "how gradients change the tables", Choices: optimizerChoices()},
		{Name: "weight-decay", Group: GroupTrain, Modes: asGraph, Record: true, value: &c.WeightDecay,
			help: "decoupled weight decay `X`"},

		{Name: "seed", Group: GroupMachine, Record: true, value: &c.Seed,
			help: "`N` from which all randomness comes"},
		{Name: "threads", Aliases: []string{"workers", "thread"}, Group: GroupMachine, Record: true, Resume: true, value: &c.Threads,
			help: "`N` threads; 0 uses every processor. The results of cl and vanilla do not depend on it; the other modes give the same result twice with one thread only"},
		{Name: "max-memory", Group: GroupMachine, Record: true, Resume: true, value: &c.MaxMemory,
			help: "refuse a run that needs more than `SIZE`: 4GB, 500MB, or 75% of the machine (default what is available)"},
		{Name: "device", Group: GroupMachine, Record: true, Resume: true, value: &c.Device,
			help: fmt.Sprintf("where to train: `NAME` is cpu, cuda (modes %s), cuda:N for the GPU of number N, or cuda:N,M for 2, 4 or 8 of them (all of these but vanilla)", strings.Join(modeNames(onGPU), ", "))},
		{Name: "precision", Group: GroupMachine, Modes: onGPU, Record: true, Resume: true, value: &c.Precision,
			help: "how a GPU stores its tables", Choices: precisionChoices},
		{Name: "form", Group: GroupMachine, Modes: asGraph, Record: true, value: &c.Form,
			help: "form of the Gorgonia graph", Choices: formChoices},
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

// Unknown returns the error of a setting that there is not.
func Unknown(name string) error {
	return terminal.Usagef("unknown setting %q%s", name, didYouMean(name))
}

// MayChange reports whether a setting may change when a run is resumed.
func MayChange(name string) bool {
	s, ok := new(Config).setting(name)
	return ok && s.Resume
}

// Find returns the setting of that name, without a value; ok is false if there is
// none.
func Find(name string) (s Setting, ok bool) { return new(Config).setting(name) }
