package train

import (
	"fmt"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"math"
	"slices"
	"strings"
)

// Validate checks every setting by itself. All problems are reported at once,
// one a line, as a [terminal.UsageError]. What only the corpus can tell (a vocabulary
// too small for --negative) is checked once it is read.
func (c *Config) Validate() error {
	if err := c.validateMode(); err != nil {
		return err
	}
	if err := c.validateDevice(); err != nil {
		return err
	}
	var problems []string
	if c.Corpus == "" {
		problems = append(problems, "--corpus is missing: name a text file, a folder of them, or - for standard input")
	}
	check := func(ok bool, name, format string, args ...any) {
		if s, _ := c.setting(name); !ok && c.uses(s) {
			problems = append(problems, fmt.Sprintf("--%s %s: %s", name, orElse(s.String(), `""`), fmt.Sprintf(format, args...)))
		}
	}
	oneOf := func(name, value string, allowed ...string) {
		for _, a := range allowed {
			if value == a {
				return
			}
		}
		check(false, name, "choose %s", strings.Join(allowed, " or "))
	}
	c.validateNumbers(check)
	c.validateChoices(check, oneOf)
	if len(problems) > 0 {
		return &terminal.UsageError{Message: strings.Join(problems, "\n")}
	}
	return nil
}

type checkFunc = func(ok bool, name, format string, args ...any)

func (c *Config) validateNumbers(check checkFunc) {
	const most = math.MaxInt32
	atLeastOne := func(name string, value int, what string) {
		check(value >= 1, name, "%s must be at least 1", what)
		check(value <= most, name, "%s must be at most %d", what, most)
	}
	atLeastOne("min-count", c.MinCount, "how often a word must occur")
	atLeastOne("max-sentence", c.MaxSentence, "the words of a sentence")
	check(c.Dim >= 1 && c.Dim <= 1<<16, "dim", "vectors need from 1 to %d dimensions", 1<<16)
	check(c.Window >= 1 && c.Window <= 1<<20, "window", "the words on either side of the centre must be from 1 to %d", 1<<20)
	check(c.Window <= c.MaxSentence || c.MaxSentence < 1, "window", "a window cannot be longer than the longest sentence (--max-sentence %d)", c.MaxSentence)
	check(c.Negative >= 1 && c.Negative <= 1<<16, "negative", "training needs from 1 to %d negatives for each pair", 1<<16)
	check(math.Abs(c.NoiseExponent) <= 10, "noise-exponent", "must be from -10 to 10")
	check(c.Sample >= 0 && c.Sample < 1, "sample", "the threshold is a fraction of the corpus, from 0 (no subsampling) to below 1")
	check(c.Passes >= 1 && c.Passes <= 1000, "passes", "the corpus is read from 1 to 1000 times")
	check(c.Contexts >= 1 && c.Contexts <= 1<<30, "contexts", "the columns of M must be from 1 to %d", 1<<30)
	atLeastOne("batch", c.Batch, "the pairs of a minibatch")
	if c.Iterations == 0 {
		atLeastOne("epochs", c.Epochs, "the epochs")
		check(c.Mode != ModeCL || int64(c.Epochs)*int64(c.Contexts) <= most || c.Contexts < 1, "epochs",
			"%d epochs of --contexts %d iterations are more than %d iterations", c.Epochs, c.Contexts, most)
	}
	check(c.Iterations >= 0 && c.Iterations <= most, "iterations", "must be from 1 to %d", most)
	check(c.LR > 0 && c.LR <= 100, "lr", "the learning rate must be above 0 (and at most 100)")
	check(c.LREnd >= 0 && c.LREnd <= max(c.LR, 0), "lr-end", "must be from 0 to --lr %v", c.LR)
	check(c.Decay == DecayLinear || c.LREnd == 0, "lr-end", "needs --decay %s", DecayLinear)
	check(c.WeightDecay >= 0 && c.WeightDecay < 1/max(c.LR, 1e-9), "weight-decay", "must be from 0 to below 1/--lr, or the vectors change sign at every step")
	c.validateSubword(check)
	check(c.Seed <= math.MaxInt64, "seed", "must be at most %d", int64(math.MaxInt64))
	check(c.Threads >= 0 && c.Threads <= 4096, "threads", "must be from 1 to 4096, or 0 for every processor")
}

func (c *Config) validateChoices(check checkFunc, oneOf func(name, value string, allowed ...string)) {
	oneOf("preset", c.Preset, PresetTuned, PresetPaper)
	oneOf("tokenizer", c.Tokenizer, TokenizerWhitespace, TokenizerWords)
	oneOf("noise", c.Noise, NoiseMatrix, NoiseCounts)
	check(c.Noise != NoiseMatrix || c.Mode == ModeCL, "noise", "mode %s has no matrix; use --noise %s", c.Mode, NoiseCounts)
	oneOf("vectors", c.Vectors, VectorsSum, VectorsWords)
	oneOf("decay", c.Decay, DecayLinear, DecayNone)
	oneOf("optimizer", c.Optimizer, OptimizerAdam, OptimizerAdamRow, OptimizerSGD)
	oneOf("precision", c.Precision, PrecisionFloat32, PrecisionHalf)
	check(c.Precision != PrecisionHalf || c.Device != DeviceCPU, "precision", "the CPU has tables of %s only", PrecisionFloat32)
	oneOf("form", c.Form, FormFused, FormStock)
	oneOf("subword", c.Subword, SubwordNone, SubwordCNN, SubwordNGram)
	check(c.Optimizer != OptimizerSGD || !slices.Contains(encoders, c.Subword), "optimizer",
		"--subword %s needs %s or %s: what all words share has gradients of very different sizes", c.Subword, OptimizerAdam, OptimizerAdamRow)
	check(c.Form != FormStock || !slices.Contains(encoders, c.Subword), "form", "--subword %s has no stock form", c.Subword)
	oneOf("model", c.Model, ModelSkipGram, ModelCBOW)
	_, err := parseInterval(c.Checkpoint)
	check(err == nil, "checkpoint", "%v", err)
	_, err = parseSize(c.MaxMemory, math.MaxInt64)
	check(err == nil, "max-memory", "%v", err)
}

func (c *Config) validateMode() error {
	if knownMode(c.Mode) {
		return nil
	}
	built := strings.Join(Modes(), ", ")
	for _, planned := range plannedModes {
		if c.Mode == planned {
			return terminal.Usagef("--mode %s: this build of w2vcl does not have it; it has %s", c.Mode, built)
		}
	}
	return terminal.Usagef("--mode %s: unknown mode; this build has %s", c.Mode, built)
}
