package settings

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
)

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// resolve resolves the settings of a file and of flags, for a text.
func resolve(t *testing.T, file string, flags map[string]string) (Config, error) {
	t.Helper()
	if file != "" {
		file = writeFile(t, "run.toml", file)
	}
	all := map[string]string{"corpus": "text"}
	maps.Copy(all, flags)
	return Resolve(file, all)
}

func TestResolvePrecedence(t *testing.T) {
	paper := "preset = \"paper\"\ncorpus = \"text\"\n"
	equal := map[string]string{"model": "sg", "tempering": "0", "positives": "1"}
	skipGram := map[string]string{"model": "sg"}
	for _, test := range []struct {
		name  string
		file  string
		flags map[string]string
		want  func(c *Config) any
		value any
	}{
		{"default mode", "", nil, func(c *Config) any { return c.Mode }, ModeCL},
		{"default of the recipe", "", nil, func(c *Config) any { return c.Dim }, 100},
		{"preset over default", paper, nil, func(c *Config) any { return c.Dim }, 500},
		{"file over preset", paper + "dim = 200", nil, func(c *Config) any { return c.Dim }, 200},
		{"flag over file", paper + "dim = 200", map[string]string{"dim": "300"}, func(c *Config) any { return c.Dim }, 300},
		{
			"flag chooses the preset beneath the file", paper + "dim = 200",
			map[string]string{"preset": "tuned"}, func(c *Config) any { return c.MinCount }, 5,
		},
		{"mode of the file chooses the recipe", "mode = \"vanilla\"", nil, func(c *Config) any { return c.Batch }, 1024},
		{
			"optimizer chooses the learning rate", "model = \"sg\"", map[string]string{"optimizer": "sgd"},
			func(c *Config) any { return c.LR }, 0.08,
		},
		{"weight decay of long vectors", "dim = 500", equal, func(c *Config) any { return c.WeightDecay }, 0.1},
		{
			"learning rate of short runs", "iterations = 2048", skipGram,
			func(c *Config) any { return [2]float64{c.LR, float64(c.Contexts)} },
			[2]float64{1.74e-2, 2048},
		},
		{"learning rate of long runs", "epochs = 2", skipGram, func(c *Config) any { return c.LR }, 5.74e-3},
		{"learning rate of few columns", "contexts = 1024", skipGram, func(c *Config) any { return c.LR }, 3.03e-2},
		{
			"learning rate of equal samples", "", equal,
			func(c *Config) any { return [2]float64{c.LR, c.WeightDecay} }, [2]float64{6e-3, 0.06},
		},
		{"window of equal samples", "", equal, func(c *Config) any { return c.Window }, 2},
		{"iterations of equal samples", "", equal, func(c *Config) any { return c.Contexts }, 8192},
		{"context weight of equal samples", "", equal, func(c *Config) any { return c.ContextWeight }, 1.0},
		{"shared negatives of equal samples", "", equal, func(c *Config) any { return c.SharedNegatives }, 0},
		{
			"shared negatives that were set", "shared-negatives = 16", equal,
			func(c *Config) any { return c.SharedNegatives }, 16,
		},
		{
			"tempering of encoders", "model = \"sg\"", map[string]string{"subword": "cnn"},
			func(c *Config) any { return [2]float64{c.Tempering, c.Positives} }, [2]float64{1, 0},
		},
		{
			"tempering of the paper", paper, nil,
			func(c *Config) any { return [2]float64{c.Tempering, c.Positives} }, [2]float64{0, 1},
		},
		{"context weight of the paper", paper, nil, func(c *Config) any { return c.ContextWeight }, 0.0},
		{
			"context weight of a mode", "", map[string]string{"mode": string(sequential.FullW2V)},
			func(c *Config) any { return c.ContextWeight }, 1.0,
		},
		{
			"context weight of composed rows", "",
			map[string]string{"mode": string(sequential.FullW2V), "subword": "ngram"},
			func(c *Config) any { return c.ContextWeight }, 0.7,
		},
		{
			"context weight of long composed rows", "dim = 300",
			map[string]string{"mode": string(sequential.FullW2V), "subword": "ngram"},
			func(c *Config) any { return c.ContextWeight }, 1.0,
		},
		{
			"weight decay that was set for long vectors", "dim = 500\nmodel = \"sg\"",
			map[string]string{"weight-decay": "0.03"},
			func(c *Config) any { return [2]float64{c.LR, c.WeightDecay} }, [2]float64{2.8e-3, 0.03},
		},
		{"learning rate of the paper", "", map[string]string{"preset": "paper"}, func(c *Config) any { return c.LR }, 1e-3},
		{
			"learning rate over that of the optimizer", "lr = 0.5",
			map[string]string{"optimizer": "sgd"}, func(c *Config) any { return c.LR }, 0.5,
		},
		{"whole number where a fraction is meant", "lr = 1", nil, func(c *Config) any { return c.LR }, 1.0},
		{"switch", "lowercase = true", nil, func(c *Config) any { return c.Lowercase }, true},
		{
			"switch turned off by a flag", "lowercase = true", map[string]string{"lowercase": "false"},
			func(c *Config) any { return c.Lowercase }, false,
		},
		{
			"exponent follows counts", "model = \"sg\"", map[string]string{"noise": "counts"},
			func(c *Config) any { return c.NoiseExponent }, 0.75,
		},
		{
			"exponent follows matrix", paper, map[string]string{"noise": "matrix"},
			func(c *Config) any { return c.NoiseExponent }, 1.0,
		},
		{
			"exponent stays with the recipe's own noise", "",
			map[string]string{"mode": string(sequential.FullW2V), "noise": "counts"},
			func(c *Config) any { return c.NoiseExponent }, 0.5,
		},
		{
			"exponent that was set stays", "model = \"sg\"\nnoise-exponent = 0.5", map[string]string{"noise": "counts"},
			func(c *Config) any { return c.NoiseExponent }, 0.5,
		},
		{"sentence-ordered recipe", "mode = \"parw2v\"", nil, func(c *Config) any { return c.Window }, 5},
		{
			"no end without a decay", "mode = \"word2vec\"", map[string]string{"decay": "none"},
			func(c *Config) any { return c.LREnd }, 0.0,
		},
		{"end of a decay by epochs", "mode = \"parw2v\"", map[string]string{"decay": "epochs"}, func(c *Config) any { return c.LREnd }, 0.0},
		{"words that share negatives", "mode = \"parw2v\"", nil, func(c *Config) any { return [2]int{c.Batch, c.SequentialOptions(nil).Batch} }, [2]int{24, 24}},
		{"words that share negatives, as set", "mode = \"parw2v\"", map[string]string{"batch": "32"}, func(c *Config) any { return c.SequentialOptions(nil).Batch }, 32},
		{"one stream", "", map[string]string{"join-lines": "true"}, func(c *Config) any { o, _ := c.TextOptions(); return o.JoinLines }, true},
		{
			"end of the decay follows its start", "mode = \"word2vec\"", map[string]string{"lr": "0.1"},
			func(c *Config) any { return c.LREnd }, 0.1 * 1e-4,
		},
		{
			"learning rate of CBOW", "mode = \"word2vec\"", map[string]string{"model": "cbow"},
			func(c *Config) any { return c.LR }, 0.05,
		},
		{"learning rate of PAR-Word2Vec", "mode = \"parw2v\"", nil, func(c *Config) any { return c.LR }, 0.03},
		{"iterations of the file", "iterations = 7", nil, func(c *Config) any { return c.Iterations }, 7},
		{
			"epochs as a flag win over iterations of the file", "iterations = 7",
			map[string]string{"epochs": "2"}, func(c *Config) any { return c.Iterations }, 0,
		},
		{
			"iterations as a flag win over epochs of the file", "epochs = 2",
			map[string]string{"iterations": "9"}, func(c *Config) any { return c.Iterations }, 9,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := resolve(t, test.file, test.flags)
			if err != nil {
				t.Fatal(err)
			}
			if got := test.want(&c); got != test.value {
				t.Errorf("got %v, want %v", got, test.value)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	for _, test := range []struct {
		name, file string
		flags      map[string]string
		want       string
	}{
		{"unknown key", "windw = 3", nil, `unknown setting "windw"; did you mean "window"?`},
		{"key of another tool", "vector_size = 3", nil, `unknown setting "vector_size"; did you mean "dim"?`},
		{"table", "[training]\ndim = 3", nil, `unknown setting "training"`},
		{"text for a number", `dim = "many"`, nil, `dim: "many" is not a whole number`},
		{"fraction for a whole number", "dim = 1.5", nil, "dim: 1.5 is not a whole number"},
		{"number for a switch", "lowercase = 1", nil, "lowercase: 1 is not a bool"},
		{"broken TOML", "dim = 3\nwindow = \n", nil, "run.toml:2: "},
		{"force in a file", "force = true\n", nil, "run.toml: force: only the command line says what is replaced"},
		{"flag that is no number", "", map[string]string{"lr": "fast"}, `--lr: "fast" is not a number`},
		{"infinite learning rate", "", map[string]string{"lr": "inf"}, `--lr: "inf" is not a number`},
		{"negative seed", "", map[string]string{"seed": "-1"}, `--seed: "-1" is not a whole number from 0 up`},
		{
			"setting of another mode in a file", "mode = \"vanilla\"\ncontexts = 2", nil,
			"run.toml: contexts does not apply to mode vanilla",
		},
		{"batch of M", "", map[string]string{"batch": "10", "model": "sg"}, "--batch does not apply to --model sg of mode cl"},
		{
			"setting of graphs in a sentence-ordered mode", "",
			map[string]string{"mode": "fullw2v", "optimizer": "sgd"},
			"--optimizer does not apply to mode fullw2v (it is for mode cl, vanilla)",
		},
		{
			"decay by epochs of iterations", "model = \"sg\"",
			map[string]string{"decay": "epochs", "iterations": "10"},
			"--decay epochs: needs --epochs, not --iterations",
		},
		{
			"windows of one width", "", map[string]string{"dynamic-window": "true"},
			"--dynamic-window does not apply to --model positional of mode cl: leave it out, or give --model sg or cbow",
		},
		{
			"model of another mode", "", map[string]string{"mode": "pword2vec", "model": "cbow"},
			"--model does not apply to mode pword2vec",
		},
		{"two lengths", "", map[string]string{"epochs": "2", "iterations": "10"}, "give one of them"},
		{"two lengths in a file", "epochs = 2\niterations = 10", nil, "give one of them"},
		{"iterations 0", "", map[string]string{"iterations": "0"}, "--iterations 0: "},
		{"epochs 0", "", map[string]string{"epochs": "0"}, "--epochs 0: must be at least 1"},
		{
			"hierarchical softmax in another mode", "",
			map[string]string{"mode": "pword2vec", "hierarchical-softmax": "true"},
			"--hierarchical-softmax does not apply to mode pword2vec (it is for mode word2vec)",
		},
		{
			"negatives of hierarchical softmax", "",
			map[string]string{"mode": "word2vec", "hierarchical-softmax": "true", "negative": "5"},
			"--negative does not apply to --hierarchical-softmax, which has no negatives",
		},
		{
			"contexts of hierarchical softmax",
			"mode = \"word2vec\"\nhierarchical-softmax = true\ncontext-weight = 0.5", nil,
			"run.toml: context-weight does not apply to --hierarchical-softmax",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := resolve(t, test.file, test.flags)
			wantUsage(t, err, test.want)
		})
	}
	t.Run("no file", func(t *testing.T) {
		_, err := Resolve(filepath.Join(t.TempDir(), "none.toml"), nil)
		wantUsage(t, err, "there is no such file")
	})
	t.Run("folder", func(t *testing.T) {
		_, err := Resolve(t.TempDir(), nil)
		wantUsage(t, err, "it is a folder")
	})
}

func wantUsage(t *testing.T, err error, want string) {
	t.Helper()
	var usage *terminal.UsageError
	if !errors.As(err, &usage) {
		t.Fatalf("got %v, want a usage error", err)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want it to say %q", err, want)
	}
}

// ofSkipGram changes the recipe of model sg of mode cl.
func ofSkipGram(change func(c *Config)) func(c *Config) {
	return func(c *Config) {
		*c = Defaults(ModeCL, "", "", ModelSkipGram)
		c.Corpus = "text"
		change(c)
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(c *Config)
		want   string // empty: valid
	}{
		{"recipe", func(*Config) {}, ""},
		{"recipe of M", ofSkipGram(func(*Config) {}), ""},
		{"corpus", func(c *Config) { c.Corpus = "" }, "--corpus is missing"},
		{"window 0", func(c *Config) { c.Window = 0 }, "--window 0: the words on either side of the centre must be from 1"},
		{"window -3", func(c *Config) { c.Window = -3 }, "--window -3: "},
		{"window over sentence", func(c *Config) { c.Window = 1001 }, "longer than the longest sentence"},
		{"dim 0", func(c *Config) { c.Dim = 0 }, "--dim 0: vectors need from 1"},
		{"dim huge", func(c *Config) { c.Dim = 1 << 20 }, "--dim 1048576: "},
		{"dim 1", func(c *Config) { c.Dim = 1 }, ""},
		{"negative 0", func(c *Config) { c.Negative = 0 }, "--negative 0: training needs from 1"},
		{"contexts 0", ofSkipGram(func(c *Config) { c.Contexts = 0 }), "--contexts 0: the iterations of an epoch must be from 1"},
		{"epochs 0", ofSkipGram(func(c *Config) { c.Epochs = 0 }), "--epochs 0: "},
		{"epochs over", ofSkipGram(func(c *Config) { c.Epochs = 1 << 20 }), "more than 2147483647 iterations"},
		{"iterations negative", func(c *Config) { c.Iterations = -1 }, "--iterations -1: "},
		{"min-count 0", func(c *Config) { c.MinCount = 0 }, "--min-count 0: "},
		{"max-sentence 0", func(c *Config) { c.MaxSentence = 0 }, "--max-sentence 0: "},
		{"sample 1", func(c *Config) { c.Sample = 1 }, "--sample 1: the threshold is a fraction"},
		{"sample negative", func(c *Config) { c.Sample = -1e-4 }, "--sample -0.0001: "},
		{"lr 0", func(c *Config) { c.LR = 0 }, "--lr 0: the learning rate must be above 0"},
		{"lr-end over lr", func(c *Config) { c.LREnd = 1 }, "--lr-end 1: must be from 0 to --lr 0.0"},
		{"lr-end without decay", func(c *Config) { c.LREnd, c.Decay = 1e-4, decayNone }, "needs --decay linear or epochs"},
		{"weight-decay", func(c *Config) { c.WeightDecay = -0.1 }, "--weight-decay -0.1: "},
		{"weight-decay turns signs", func(c *Config) { c.WeightDecay = 1000 }, "change sign"},
		{
			"batch of words 0",
			func(c *Config) { *c = Defaults("parw2v", "", "", ""); c.Corpus, c.Batch = "x", 0 },
			"--batch 0: the pairs or words of a minibatch must be at least 1",
		},
		{
			"batch of many words",
			func(c *Config) { *c = Defaults("parw2v", "", "", ""); c.Corpus, c.Batch = "x", 1<<17 },
			"--batch 131072: the words of a minibatch must be at most 65536",
		},
		{"batch of a stretch", func(c *Config) { c.Batch = 1 << 17 }, ""},
		{"batch of a stretch below 0", func(c *Config) { c.Batch = -1 }, "--batch -1: the words of an iteration must be from 1"},
		{
			"stretches without shared negatives", func(c *Config) { c.SharedNegatives = 0 },
			"--shared-negatives 0: must be from 1 to 1024; with --model sg 0",
		},
		{"stretches do not use contexts", func(c *Config) { c.Contexts, c.Epochs = 0, 0 }, ""},
		{"stretches of no epochs", func(c *Config) { c.Decay = decayEpochs }, "--decay epochs: needs --epochs, not --iterations"},
		{"model", func(c *Config) { c.Model = "glove" }, "--model glove: mode cl has positional, cbow, sg"},
		{
			"cuda devices of stretches", func(c *Config) { c.Device = "cuda:0,1" },
			"--device cuda:0,1: --model positional trains on one GPU, because two were 1.1 to 1.2 times as fast: choose one of them, or --model sg",
		},
		{
			"n-grams of minibatches", func(c *Config) {
				*c = Defaults("vanilla", "", "", "")
				c.Corpus, c.Subword, c.SubwordLR = "x", SubwordNGram, 1
			},
			"--subword ngram: mode vanilla has no rows that are composed of n-grams, only networks: choose cnn, recurrent or none",
		},
		{"symbols of several lengths", ofSkipGram(func(c *Config) { c.Subword, c.Gram, c.SubwordLR = SubwordCNN, Numbers{1, 5}, 1 }), ""},
		{
			"symbols whose lengths fall", ofSkipGram(func(c *Config) { c.Subword, c.Gram = SubwordCNN, Numbers{3, 2} }),
			"--gram 3,2: must ascend",
		},
		{
			"symbols longer than words", ofSkipGram(func(c *Config) { c.Subword, c.Gram, c.MaxChars = SubwordCNN, Numbers{1, 9}, 8 }),
			"--gram 1,9: must be from 1 to --max-chars 8",
		},
		{"SGD of stretches of n-grams", func(c *Config) { c.Optimizer = string(optim.SGD) }, ""},
		{"batch of many pairs", func(c *Config) { *c = Defaults("vanilla", "", "", ""); c.Corpus, c.Batch = "x", 1<<17 }, ""},
		{"cuda batch", func(c *Config) {
			*c = Defaults("parw2v", "", "", "")
			c.Corpus, c.Device, c.Batch = "x", "cuda", 1000
		}, "--batch 1000: on GPUs mode parw2v takes at most 216 with vectors of 100 dimensions"},
		{"seed", func(c *Config) { c.Seed = 1 << 63 }, "--seed 9223372036854775808: must be at most"},
		{"threads", func(c *Config) { c.Threads = -2 }, "--threads -2: "},
		{"tokenizer", func(c *Config) { c.Tokenizer = "bpe" }, "--tokenizer bpe: choose whitespace or words"},
		{"noise", ofSkipGram(func(c *Config) { c.Noise = "uniform" }), "--noise uniform: choose matrix or counts"},
		{
			"tempering", ofSkipGram(func(c *Config) { c.Tempering = 2.5 }),
			"--tempering 2.5: must be from 0 (all words have as many samples) to 1",
		},
		{"tempering negative", ofSkipGram(func(c *Config) { c.Tempering = -0.5 }), "--tempering -0.5: "},
		{"positives below 0", ofSkipGram(func(c *Config) { c.Positives = -1 }), "--positives -1: the samples of a word must be above 0"},
		{"positives a fraction", func(c *Config) { c.Positives = 0.25 }, ""},
		{"positives many", ofSkipGram(func(c *Config) { c.Positives = 257 }), "--positives 257: "},
		{
			"shared-negatives", func(c *Config) { c.SharedNegatives = 1025 },
			"--shared-negatives 1025: must be from 1 to 1024; with --model sg 0",
		},
		{"shared-negatives negative", func(c *Config) { c.SharedNegatives = -1 }, "--shared-negatives -1: "},
		{"shared-negatives 0", ofSkipGram(func(c *Config) { c.SharedNegatives = 0 }), ""},
		{
			"contexts of long rows", ofSkipGram(func(c *Config) { c.Contexts = 1 << 24 }),
			"--contexts 16777216: a word would have up to 256 times as many samples",
		},
		{"contexts of equal rows", ofSkipGram(func(c *Config) { c.Contexts, c.Tempering, c.Positives = 1<<24, 0, 1 }), ""},
		{"context-weight", func(c *Config) { c.ContextWeight = -11 }, "--context-weight -11: must be from -10 to 10"},
		{"decay", func(c *Config) { c.Decay = "cosine" }, "--decay cosine: choose linear or epochs or none"},
		{
			"optimizer", func(c *Config) { c.Optimizer = "lion" },
			"--optimizer lion: choose adam or adam-row or rmsprop or adagrad or sgd",
		},
		{
			"preset", func(c *Config) { c.Preset = "best" },
			"--preset best: choose tuned or paper or w2vcl or fullw2v or pword2vec or blazingtext or parw2v or word2vec or glove",
		},
		{
			"preset as a mode", func(c *Config) { c.Mode = "blazingtext" },
			"--mode blazingtext: that is a preset of mode word2vec: give --preset blazingtext instead",
		},
		{"cuda together", func(c *Config) { c.Device, c.Together = "cuda", true }, "--together: GPUs update the tables in two steps; use --device cpu"},
		{"cuda graph", func(c *Config) { c.Device, c.GraphDOT = "cuda", "g.dot" }, "--graph-dot: GPUs train without a Gorgonia graph; use --device cpu"},
		{"cuda devices", func(c *Config) { c.Device = "cuda:0,1,2" }, `--device: "cuda:0,1,2" names 3 GPUs`},
		{
			"unknown mode", func(c *Config) { c.Mode = "lsa" },
			"--mode lsa: unknown mode; this build has cl, vanilla, word2vec, pword2vec, psgnscc, fullw2v, fullregister, parw2v",
		},
		{
			"cuda psgnscc",
			func(c *Config) {
				*c = Defaults(string(sequential.PSGNScc), "", "", "")
				c.Corpus, c.Device = "x", "cuda"
			},
			"mode psgnscc does not train on a GPU; ",
		},
		{"cuda hierarchical softmax", func(c *Config) {
			*c = Defaults(string(sequential.Word2Vec), "", "", "")
			c.Corpus, c.Device, c.HierarchicalSoftmax = "x", "cuda", true
		}, "--hierarchical-softmax true: GPUs have no kernels for it"},
		{
			"precision of no such name", func(c *Config) { c.Precision = "double" },
			"--precision double: choose float32 or half",
		},
		{
			"cuda recurrent", ofSkipGram(func(c *Config) { c.Device, c.Subword = "cuda", "recurrent" }),
			"--subword recurrent: GPUs have kernels for cnn and ngram alone; give --device cpu",
		},
		{
			"cuda dim", ofSkipGram(func(c *Config) { c.Device, c.Dim = "cuda", 1025 }),
			"--dim 1025: on GPUs vectors have at most 1024 dimensions",
		},
		{"cpu half", func(c *Config) { c.Precision = PrecisionHalf }, "--precision half: the CPU has tables of float32 only"},
		{"cuda half negative", func(c *Config) {
			*c = Defaults(string(sequential.FullW2V), "", "", "")
			c.Corpus, c.Device, c.Precision, c.Negative = "x", "cuda", PrecisionHalf, 8
		}, "--precision half: mode fullw2v takes up to 7 negatives and a window of up to 14 with it"},
		{
			"device number", func(c *Config) { c.Device = "cuda:99999999999999999999" },
			`"cuda:99999999999999999999" is not a device`,
		},
		{"device", func(c *Config) { c.Device = "tpu" }, `--device: "tpu" is not a device`},
		{
			"vanilla without matrix",
			func(c *Config) { *c = Defaults(ModeVanilla, "", "", ""); c.Corpus = "x"; c.Noise = noiseMatrix },
			"mode vanilla has no matrix",
		},
		{
			"vanilla does not use contexts",
			func(c *Config) { *c = Defaults(ModeVanilla, "", "", ""); c.Corpus = "x"; c.Contexts = 0 }, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Defaults("", "", "", "")
			c.Corpus = "text"
			test.change(&c)
			err := c.Validate()
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantUsage(t, err, test.want)
		})
	}
}

func TestValidateReportsAllProblems(t *testing.T) {
	c := Defaults("", "", "", "")
	c.Dim, c.Window = 0, 0
	err := c.Validate()
	for _, want := range []string{"--corpus", "--dim", "--window"} {
		wantUsage(t, err, want)
	}
}

// TestDefaultsAreThoseOfRuns: what help shows is what a run without flags has.
func TestDefaultsAreThoseOfRuns(t *testing.T) {
	for _, model := range []string{"", ModelCBOW, ModelSkipGram} {
		flags := map[string]string{"corpus": "x"}
		if model != "" {
			flags["model"] = model
		}
		want, err := Resolve("", flags)
		if err != nil {
			t.Fatal(err)
		}
		got := Defaults("", "", "", model)
		got.Corpus = "x"
		if !reflect.DeepEqual(got.Recorded(), want.Recorded()) {
			t.Errorf("model %q: defaults %v, a run has %v", model, got.Recorded(), want.Recorded())
		}
	}
}

// TestRecipesAreValid also holds the promise that no recipe sets what its mode
// does not use.
func TestRecipesAreValid(t *testing.T) {
	for _, mode := range ModeNames() {
		for _, choice := range presetChoices() {
			preset := choice.Name
			for _, d := range optim.Methods() {
				optimizer := d.Name
				c := Defaults(mode, preset, string(optimizer), "")
				c.Corpus = "text"
				if err := c.Validate(); err != nil {
					t.Errorf("%s %s %s: %v", mode, preset, optimizer, err)
				}
				for _, s := range c.Settings() {
					if !s.AppliesWith(mode, c.Model) && !slices.Contains([]string{"0", "", "false"}, s.String()) {
						t.Errorf("%s %s: recipe sets %s to %s, which the mode does not use", mode, preset, s.Name, s)
					}
				}
			}
		}
	}
	if _, err := Resolve("", Demo(map[string]string{"corpus": "x"})); err != nil {
		t.Errorf("demo: %v", err)
	}
}

// Exported rows that were composed have no part of the mean of W.
func TestExportedComposed(t *testing.T) {
	c := Config{Run: Run{Mode: string(sequential.FullW2V)}}
	c.Subword, c.Dim, c.ContextWeight = SubwordNGram, 2, 0.5
	got, mean := c.Exported([]float32{1, 2, 3, 6}, []float32{2, 4, 6, 8})
	if !slices.Equal(got, []float32{0, 0, 4, 6}) || !slices.Equal(mean, []float32{2, 4}) {
		t.Errorf("%v around %v", got, mean)
	}
}

func TestExported(t *testing.T) {
	const values = 1<<18 + 3 // more than a thread takes at a time
	words, contexts := make([]float32, values), make([]float32, values)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range words {
		words[i], contexts[i] = random.Float32()-0.5, random.Float32()-0.5
	}
	for _, weight := range []float64{0, 1, 0.25, -0.1} {
		c := Config{Samples: Samples{ContextWeight: weight}}
		got, _ := c.Exported(words, contexts)
		for i, x := range got {
			want := words[i] // to the bit
			if weight == 1 {
				want += contexts[i]
			} else if weight != 0 {
				want += float32(float32(weight) * contexts[i])
			}
			if x != want {
				t.Fatalf("weight %v: value %d is %v, want %v", weight, i, x, want)
			}
		}
		if (&got[0] == &words[0]) != (weight == 0) {
			t.Errorf("weight %v: a copy, or none", weight)
		}
		row := c.ExportedRow(make([]float32, 999), words[7:1006], contexts[7:1006])
		if !slices.Equal(row, got[7:1006]) || (&row[0] == &words[7]) != (weight == 0) {
			t.Errorf("weight %v: a row is not that of all, or not where it should be", weight)
		}
	}
}

// The rate of an encoder follows from its kind, the mode, and how long a run is.
func TestSubwordRate(t *testing.T) {
	for _, x := range []struct {
		flags   string
		rate    float64
		compose string
	}{
		{"model=sg subword=cnn", .02, "sum"},
		{"model=sg subword=cnn tempering=0 positives=1", .01, "sum"},
		{"model=sg subword=cnn contexts=1024", .08, "sum"},
		{"model=sg subword=cnn contexts=32", 1, "sum"},
		{"model=sg subword=cnn contexts=32768", .0025, "sum"},
		{"model=sg subword=cnn contexts=100 iterations=16384", .005, "sum"},
		{"model=sg subword=cnn contexts=32768 subword-lr=0.02", .02, "sum"},
		{"subword=cnn preset=paper", 1, "spelling"},
		{"model=sg subword=cnn gram=1-5", 1, "sum"},
		{"model=sg subword=cnn gram=1-5 contexts=512 compose=spelling", 1, "spelling"},
		{"model=sg subword=cnn gram=3", .02, "sum"},
		{"model=sg subword=ngram", 1, "sum"},
		{"model=sg subword=ngram contexts=32768", 1, "sum"},
		{"model=sg subword=ngram compose=spelling", 1, "spelling"},
		{"subword=cnn mode=vanilla epochs=9000", .05, "sum"},
	} {
		flags := map[string]string{"corpus": "text", "out": "run"}
		for _, flag := range strings.Fields(x.flags) {
			name, value, _ := strings.Cut(flag, "=")
			flags[name] = value
		}
		c, err := Resolve("", flags)
		if err != nil || c.SubwordLR != x.rate || c.Compose != x.compose {
			t.Errorf("%s: rate %v, compose %v, %v; want %v, %v", x.flags, c.SubwordLR, c.Compose, err, x.rate, x.compose)
		}
	}
}

func TestTOMLRoundTrip(t *testing.T) {
	for _, flags := range []map[string]string{
		{},
		{"preset": "paper", "lr": "0.01", "matrix": "m.w2vm"},
		{"iterations": "100", "seed": "9223372036854775807", "lowercase": "true", "sample": "1e-05"},
		{"mode": "vanilla", "batch": "64", "threads": "3"},
		{"mode": "word2vec", "model": "cbow", "window": "3"},
		{"mode": "word2vec", "preset": "blazingtext", "hierarchical-softmax": "true", "dim": "7"},
		{"mode": "fullw2v", "preset": "paper", "join-lines": "true", "decay": "epochs"},
		{"mode": "psgnscc", "noise-exponent": "0"},
		{"mode": "parw2v", "batch": "7"},
		{"model": "sg"},
		{"batch": "1000", "init": "vectors.bin"},
		{"subword": "none"},
		{"epochs": "3", "decay": "epochs"},
		{"iterations": "7", "subword": "ngram", "optimizer": "sgd"},
		{"corpus": "a \"quoted\\path\" \u00e9\x01"},
	} {
		if flags["corpus"] == "" {
			flags["corpus"] = "text"
		}
		want, err := Resolve("", flags)
		if err != nil {
			t.Fatal(err)
		}
		text, err := want.TOML()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Resolve(writeFile(t, "config.toml", string(text)), nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		// Epochs say nothing where iterations were given.
		if want.Iterations != 0 {
			want.Epochs = got.Epochs
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read back\n%+v, want\n%+v\n%s", got, want, text)
		}
		if strings.Contains(string(text), "force") || strings.Contains(string(text), "\nout") {
			t.Errorf("settings of the place are recorded:\n%s", text)
		}
	}
}

// TestSettingsTable: each field of Config is in the table exactly once, and no
// name or alias means two things.
func TestSettingsTable(t *testing.T) {
	var c Config
	pointers, names := map[any]bool{}, map[string]bool{}
	for _, s := range c.Settings() {
		pointers[s.value] = true
		for _, name := range append([]string{s.Name}, s.Aliases...) {
			if names[name] {
				t.Errorf("%s means two settings", name)
			}
			names[name] = true
		}
		if s.Help() == "" || s.Section == "" {
			t.Errorf("%s: no help or section", s.Name)
		}
	}
	fields := 0
	groups := reflect.ValueOf(&c).Elem()
	for g := range groups.NumField() {
		group := groups.Field(g)
		if group.Type() == reflect.TypeFor[Fitted]() {
			continue
		}
		fields += group.NumField()
		for i := range group.NumField() {
			if !pointers[group.Field(i).Addr().Interface()] {
				t.Errorf("field %s is in no setting", group.Type().Field(i).Name)
			}
		}
	}
	if fields != len(pointers) {
		t.Errorf("%d fields, %d settings", fields, len(pointers))
	}
}

// TestOneFlag: a flag beside the defaults leaves mode, model and encoder as they are, or is refused, and the message
// names what has it. Every setting is tried, with a value that is good where it applies. A graph takes the place of a text, and has a
// model of its own by default.
func TestOneFlag(t *testing.T) {
	good := map[string]string{
		"iterations": "9", "epochs": "2", "budget": "9s", "cache": "a", "field": "a", "graph-dot": "a", "init": "a", "matrix": "a",
		"max-memory": "1GB", "max-vocab": "9", "out": "a", "vocab": "a", "seed": "2", "shift": "2", "subword-lr": "0.5", "x-max": "3",
	}
	unspelt := []string{"graph", "init"} // names of nodes have no spelling; a start says what it has
	usual, err := Resolve("", map[string]string{"corpus": "text"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range usual.Settings() {
		values := []string{good[s.Name]}
		switch {
		case slices.Contains([]string{"mode", "model", "preset", "subword"}, s.Name):
			continue
		case s.IsBool():
			values = []string{"true", "false"}
		case s.Choices != nil:
			values = nil
			for _, choice := range s.Choices {
				values = append(values, choice.Name)
			}
		case values[0] == "":
			for _, m := range modes {
				d := Defaults(m.Name, "", "", m.Model)
				if theirs, _ := d.setting(s.Name); s.AppliesWith(m.Name, m.Model) {
					values[0] = theirs.String()
				}
			}
		}
		for _, value := range values {
			flags := map[string]string{"corpus": "text", s.Name: cmp.Or(value, "1")}
			if s.Name == "graph" {
				delete(flags, "corpus")
			}
			c, err := Resolve("", flags)
			if err != nil {
				want := "--" + s.Name + " " + value + ": " // needs another setting
				switch {
				case !s.AppliesTo(usual.Mode):
					want = "it is for mode " + strings.Join(s.ModeNames(), ", ")
				case !s.AppliesWith(usual.Mode, usual.Model):
					want = "give --model sg"
				case s.Subword != nil:
					want = "it is for " + strings.Join(s.Subword, ", ")
				case s.Graph:
					want = "needs --graph"
				}
				wantUsage(t, err, want)
				continue
			}
			same := c.Subword == usual.Subword || slices.Contains(unspelt, s.Name)
			model := usual.Model
			if s.Name == "graph" {
				model = ModelCBOW
			}
			if c.Mode != usual.Mode || c.Model != model || !same {
				t.Errorf("--%s %s trains mode %s, model %s, subword %s", s.Name, value, c.Mode, c.Model, c.Subword)
			}
		}
	}
}
