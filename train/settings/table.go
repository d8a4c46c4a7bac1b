package settings

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// The sections of settings, in the order help and recorded files show them.
const (
	SectionRun     = "Run"
	SectionText    = "Text"
	sectionGraph   = "Graph"
	SectionSamples = "Model and samples"
	SectionSubword = "Subwords"
	SectionTrain   = "Training"
	SectionMachine = "Machine"
)

// Sections lists the headings of help in the order of display.
func Sections() []string {
	return []string{SectionRun, SectionText, sectionGraph, SectionSamples, SectionSubword, SectionTrain, SectionMachine, studies}
}

// Settings is the one table of all settings; the values point into c. Adding a
// setting is one field of [Config], one entry in this file or one beside it, a default
// in recipes.go and a check in validate.go.
func (c *Config) Settings() []Setting {
	all := make([]Setting, 0, 128)
	for _, part := range settingParts() {
		all = append(all, c.part(part)...)
	}
	return all
}

// A settingPart is a part of the table, below one heading.
type settingPart struct {
	section  string
	settings func(c *Config) []Setting
}

// settingParts lists the parts in the order of display.
func settingParts() [13]settingPart {
	return [...]settingPart{
		{SectionRun, (*Config).runSettings},
		{SectionText, (*Config).textSettings},
		{sectionGraph, (*Config).graphSettings},
		{SectionSamples, (*Config).sampleSettings},
		{SectionSamples, (*Config).rowSettings},
		{SectionSamples, (*Config).modelSettings},
		{SectionSubword, (*Config).encoderSettings},
		{SectionSubword, (*Config).cnnSettings},
		{SectionSubword, (*Config).pieceSettings},
		{SectionTrain, (*Config).lengthSettings},
		{SectionTrain, (*Config).syncSettings},
		{SectionTrain, (*Config).rateSettings},
		{SectionMachine, (*Config).machineSettings},
	}
}

func (c *Config) part(part settingPart) []Setting {
	settings := part.settings(c)
	for k := range settings {
		s := &settings[k]
		s.Section = part.section
		if s.Modes == withNetworks {
			s.Subword = networks(s.Name)
			s.help += " (" + strings.Join(s.Subword, ", ") + ")"
		}
	}
	return settings
}

// partOf has the part of each setting: a comparison looks thousands up, and to make the
// whole table each time took a fifth of a small one.
var partOf struct {
	sync.Once
	part map[string]int
}

func (c *Config) setting(name string) (Setting, bool) {
	partOf.Do(func() {
		partOf.part = map[string]int{}
		for i, part := range settingParts() {
			for _, s := range new(Config).part(part) {
				partOf.part[s.Name] = i
			}
		}
	})
	i, ok := partOf.part[name]
	if !ok {
		return Setting{}, false
	}
	settings := c.part(settingParts()[i])
	return settings[slices.IndexFunc(settings, func(s Setting) bool { return s.Name == name })], true
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

// runSettings say how to train, from which files, and what to write.
func (c *Config) runSettings() []Setting {
	return []Setting{
		{
			Name: "mode", Record: true, value: &c.Mode,
			help: "how to train", Choices: modeChoices(),
		},
		{
			Name: "preset", Record: true, value: &c.Preset,
			help: "where the defaults come from, see docs/papers.md", Choices: presetChoices(),
		},
		{
			Name: "corpus", Aliases: []string{"train", "input"}, Record: true, Resume: true, Text: true, value: &c.Corpus,
			help: "text to train on: `PATH` of a file or folder (plain, gzip, zstd, bzip2, " +
				"xz; with --field also JSON lines, CSV, TSV, parquet), or - for standard input",
		},
		{
			Name: "out", Aliases: []string{"output"}, value: &c.Out,
			help: "run folder to make: `DIR` must not exist, except with --force",
		},
		{
			Name: "matrix", Modes: withMatrix, Record: true, Resume: true, value: &c.Matrix,
			help: "keep the matrix M in `FILE`: a FILE that fits is reused, " +
				"else M is built and written (default: memory only)",
		},
		{
			Name: "graph-dot", Study: true, Modes: withOptimizer, value: &c.GraphDOT,
			help: "write the Gorgonia graph that is trained to `FILE` (Graphviz)",
		},
		{
			Name: "checkpoint", Record: true, Resume: true, value: &c.Checkpoint,
			help: "how often to save what 'w2vcl resume' needs: `WHEN` is a time " +
				"(10m, 90s; the first after a minute), a number of iterations, 0 to save only when interrupted, " +
				"or keep: every 10m, and the last stays, for 'w2vcl resume --iterations'",
		},
		{
			Name: "init", Aliases: []string{"pretrained-vectors", "pretrainedVectors"},
			Modes: onNegatives, Record: true, value: &c.Init,
			help: "go on from the model of `PATH`, a run folder, or from the vectors of a file: " +
				"words, n-grams or network, and contexts. Words that the text lacks keep their vectors",
		},
		{
			Name: "freeze", Modes: onNegatives, Record: true, value: &c.Freeze,
			help: "keep what --init has as it is, to the bit, while new words are trained (CPU)", Choices: freezeChoices,
		},
		{
			Name: "init-moments", Modes: withOptimizer, Record: true, value: &c.Moments,
			help: "start from the optimizer's moments of --init, which was trained with --checkpoint keep (CPU)",
		},
		{
			Name: "force", Resume: true, value: &c.Force,
			help: "replace the run folder at --out, a --matrix file " +
				"that does not fit, and a graph at --graph-dot",
		},
	}
}

func (c *Config) textSettings() []Setting {
	return []Setting{
		{
			Name: "min-count", Aliases: []string{"minCount"}, Record: true, Text: true, value: &c.MinCount,
			help: "remove words that occur fewer than `N` times",
		},
		{
			Name: "max-vocab", Aliases: []string{"max-vocab-size", "max-final-vocab"},
			Record: true, Text: true, value: &c.MaxVocabulary,
			help: "keep the `N` most frequent words; 0 keeps all that --min-count leaves",
		},
		{
			Name: "vocab", Aliases: []string{"read-vocab", "save-vocab"},
			Record: true, Resume: true, Text: true, value: &c.Vocabulary,
			help: "take words and counts from `FILE`, in word2vec's form; " +
				"if FILE does not exist, write the text's words and counts to it",
		},
		{
			Name: "max-sentence", Record: true, Text: true, value: &c.MaxSentence,
			help: "cut lines longer than `N` words",
		},
		{
			Name: "join-lines", Record: true, Text: true, value: &c.JoinLines,
			help: "read the text as one stream, cut every --max-sentence words: lines do not end sentences",
		},
		{
			Name: "lowercase", Record: true, Text: true, value: &c.Lowercase,
			help: "lower-case the text",
		},
		{
			Name: "field", Record: true, Text: true, value: &c.Field,
			help: "take the text from field `NAME` of JSON lines, or from that column of CSV, TSV or parquet",
		},
		{
			Name: "tokenizer", Record: true, Text: true, value: &c.Tokenizer,
			help: "how a line is split", Choices: tokenizerChoices,
		},
		{
			Name: "cache", Record: true, Resume: true, Text: true, value: &c.Cache,
			help: "keep the encoded text in the folder `DIR`, and reuse it while " +
				"text and settings are the same (default: a large " +
				"text has a file in the run folder until the run is finished)",
		},
	}
}

func (c *Config) machineSettings() []Setting {
	return []Setting{
		{
			Name: "seed", Record: true, value: &c.Seed,
			help: "`N` from which all randomness comes",
		},
		{
			Name: "threads", Aliases: []string{"workers", "thread"},
			Record: true, Resume: true, value: &c.Threads,
			help: "use `N` threads; 0 uses every processor. The sentence-ordered modes, from word2vec to " +
				"parw2v, repeat a result only with one thread; the results of other modes do not depend on N",
		},
		{
			Name: "max-memory", Record: true, Resume: true, value: &c.MaxMemory,
			help: "refuse a run that needs more than `SIZE`: 4GB, 500MB, " +
				"or 75% of the machine (default what is available)",
		},
		{
			Name: "device", Record: true, Resume: true, value: &c.Device,
			help: fmt.Sprintf("where to train: `NAME` is cpu, cuda (modes %s), cuda:N for GPU number N, "+
				"or cuda:N,M for 2, 4 or 8 of them (these modes except vanilla)",
				strings.Join(modesThat(OnGPU), ", ")),
		},
		{
			Name: "precision", Modes: OnGPU, Record: true, Resume: true, value: &c.Precision,
			help: "how a GPU stores its tables", Choices: precisionChoices,
		},
	}
}
