package settings

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/device"
)

// Validate checks every setting by itself. It reports all problems at once, one a
// line, as a [terminal.UsageError]. Some problems only the corpus can show (a
// vocabulary too small for --negative): the run checks them once it has read it.
func (c *Config) Validate() error {
	if err := c.validateMode(); err != nil {
		return err
	}
	if err := c.validateDevice(); err != nil {
		return err
	}
	v := validator{config: c}
	if c.Corpus == "" && c.Graph == "" {
		v.problems = append(v.problems,
			"--corpus is missing: name a text file, a folder of them, or - for standard input; or a graph with --graph")
	}
	v.graph()
	v.numbers()
	v.training()
	v.encoder()
	v.choices()
	if len(v.problems) > 0 {
		return &terminal.UsageError{Message: strings.Join(v.problems, "\n")}
	}
	return nil
}

type validator struct {
	config   *Config
	problems []string
}

// check reports a problem of a setting, unless ok is true or the configuration
// has no use for the setting.
func (v *validator) check(ok bool, name, format string, args ...any) {
	if ok {
		return
	}
	if s, _ := v.config.setting(name); v.config.uses(s) {
		problem := fmt.Sprintf(format, args...)
		v.problems = append(v.problems, fmt.Sprintf("--%s %s: %s", name, cmp.Or(s.String(), `""`), problem))
	}
}

func (v *validator) atLeastOne(name string, value int, meaning string) {
	v.check(value >= 1, name, "%s must be at least 1", meaning)
	v.check(value <= math.MaxInt32, name, "%s must be at most %d", meaning, math.MaxInt32)
}

func (v *validator) numbers() {
	const most = math.MaxInt32
	c := v.config
	v.atLeastOne("min-count", c.MinCount, "how often a word must occur")
	v.check(c.MaxVocabulary >= 0 && c.MaxVocabulary <= most, "max-vocab",
		"must be from 1 to %d, or 0 for all words", most)
	v.atLeastOne("max-sentence", c.MaxSentence, "the words of a sentence")
	v.check(c.Dim >= 1 && c.Dim <= 1<<16, "dim", "vectors need from 1 to %d dimensions", 1<<16)
	v.check(c.Window >= 1 && c.Window <= 1<<20, "window",
		"the words on either side of the centre must be from 1 to %d", 1<<20)
	v.check(c.Window <= c.MaxSentence || c.MaxSentence < 1, "window",
		"a window cannot be longer than the longest sentence (--max-sentence %d)", c.MaxSentence)
	v.check(c.Negative >= 1 && c.Negative <= 1<<16, "negative",
		"training needs from 1 to %d negatives for each pair", 1<<16)
	v.check(math.Abs(c.NoiseExponent) <= 10, "noise-exponent", "must be from -10 to 10")
	v.check(c.Sample >= 0 && c.Sample < 1 || c.Sample == sampleOfText && c.in(Stretches), "sample",
		"the threshold is a fraction of the corpus, from 0 (no subsampling) to below 1")
	v.check(c.Contexts >= 1 && c.Contexts <= 1<<30, "contexts",
		"the iterations of an epoch must be from 1 to %d", 1<<30)
	v.samples()
	v.check(c.XMax > 0 && c.XMax <= 1e12, "x-max", "the count that weighs 1 must be above 0")
	v.check(c.Shift >= 1 && c.Shift <= 1e6, "shift", "must be at least 1")
	v.check(math.Abs(c.ContextWeight) <= 10, "context-weight", "must be from -10 to 10")
	v.check(c.Seed <= math.MaxInt64, "seed", "must be at most %d", int64(math.MaxInt64))
	v.check(c.Threads >= 0 && c.Threads <= 4096, "threads",
		"must be from 1 to 4096, or 0 for every processor")
}

// training checks how long a run trains, how much at once, and by which rates.
func (v *validator) training() {
	const most = math.MaxInt32
	c := v.config
	if c.in(Stretches) {
		v.check(c.Batch >= 0 && c.Batch <= 1<<28, "batch", "the words of an iteration must be from 1 to %d; 0 lets them follow from the text", 1<<28)
	} else {
		v.atLeastOne("batch", c.Batch, "the pairs or words of a minibatch")
	}
	v.check(!c.in(SentenceOrdered) || c.Batch <= 1<<16, "batch",
		"the words of a minibatch must be at most %d", 1<<16)
	v.check(c.Sync >= 0, "sync", "the words must be 1 or more; 0 lets them follow from the text")
	if c.Iterations == 0 && (c.Epochs != 0 || !c.in(Stretches)) {
		v.atLeastOne("epochs", c.Epochs, "the epochs")
		v.check(!c.in(LargeBatch) || int64(c.Epochs)*int64(c.Contexts) <= most || c.Contexts < 1, "epochs",
			"%d epochs of --contexts %d iterations are more than %d iterations", c.Epochs, c.Contexts, most)
	}
	v.check(c.Iterations >= 0 && c.Iterations <= most, "iterations", "must be from 1 to %d", most)
	v.check(c.LR > 0 && c.LR <= 100, "lr", "the learning rate must be above 0 (and at most 100)")
	v.check(!c.Together || !c.in(LargeBatch) || !c.HasEncoder(), "together", "with --model %s and an encoder, both steps meet the old words already", ModelSkipGram)
	v.check(c.LREnd >= 0 && c.LREnd <= max(c.LR, 0), "lr-end", "must be from 0 to --lr %v", c.LR)
	v.check(c.Decay != decayNone || c.LREnd == 0, "lr-end",
		"needs --decay %s or %s", decayLinear, decayEpochs)
	v.check(c.Decay != decayEpochs || c.Iterations == 0 && c.Epochs > 0 || c.in(WholeMatrix), "decay",
		"needs --epochs, not --iterations")
	const sign = "or the vectors change sign at every step"
	v.check(c.WeightDecay <= 1 || c.WeightDecay < 1/max(c.LR, 1e-9), "weight-decay", "must be from 0 to below 1/--lr, "+sign)
	v.check(c.WeightDecay >= 0, "weight-decay", "must be 0 or more")
	v.check(c.WeightDecay > 1 || c.LR*c.WeightDecay < 1 || c.LR > 100 || !c.trains(withOptimizer), "lr", "must be below 1/--weight-decay %g, "+sign, c.WeightDecay)
}

func (v *validator) samples() {
	const rowSamples = 1 << 30
	c := v.config
	v.check(c.Tempering >= 0 && c.Tempering <= 1, "tempering",
		"must be from 0 (all words have as many samples) to 1 (in proportion to their contexts)")
	v.check(c.Positives >= 0 && c.Positives <= maxPositives, "positives",
		"the samples of a word must be above 0, and at most %d; 0 lets them follow from the text", maxPositives)
	fewest := 0
	if c.in(Stretches) {
		fewest = 1
	}
	v.check(c.SharedNegatives >= fewest && c.SharedNegatives <= 1024, "shared-negatives",
		"must be from 1 to 1024; with --model sg 0 stands for negatives of each word's own")
	longest := c.Positives
	if c.Tempering > 0 {
		longest = maxPositives
	}
	v.check(longest*float64(c.Contexts) <= rowSamples || c.Contexts > rowSamples, "contexts",
		"a word would have up to %v times as many samples in an epoch, more than %d: "+
			"lower it or --positives", longest, rowSamples)
}

func (v *validator) encoder() {
	const most = 1 << 16
	c := v.config
	v.check(c.CharDim >= 1 && c.CharDim <= most, "char-dim", "must be from 1 to %d", most)
	v.check(len(c.Filters) == 1 || len(c.Filters) == len(c.Widths), "filters",
		"give one number for all --widths %s, or one for each", c.Widths)
	for _, filters := range c.Filters {
		v.check(filters >= 1 && filters <= most, "filters", "must be from 1 to %d", most)
	}
	v.check(c.MaxChars >= 1 && c.MaxChars <= most, "max-chars", "must be from 1 to %d", most)
	for i, gram := range c.Gram {
		v.check(gram <= c.MaxChars, "gram", "must be from 1 to --max-chars %d", c.MaxChars)
		v.check(i == 0 || gram > c.Gram[i-1], "gram", "must ascend, as in 1-5 or 1,3")
	}
	for _, width := range c.Widths {
		v.check(width <= c.symbols(), "widths",
			"a filter cannot span more than a word, --max-chars %d and its two ends", c.MaxChars)
	}
	v.check(c.MinGram >= 1, "min-ngram", "must be at least 1")
	v.check(c.MaxGram >= c.MinGram && c.MaxGram <= most, "max-ngram",
		"must be from --min-ngram %d to %d", c.MinGram, most)
	v.check(c.Buckets >= 1 && c.Buckets <= 1<<31-1, "buckets", "must be from 1 to %d", 1<<31-1)
	v.check(c.SubwordLR > 0 && c.SubwordLR <= 1000, "subword-lr", "must be above 0, and at most 1000")
}

// choices checks that every setting of a choice has one of its values, and that
// the values go together.
func (v *validator) choices() {
	c := v.config
	for _, s := range c.Settings() {
		var names []string
		for _, choice := range s.Choices {
			names = append(names, choice.Name)
		}
		if s.Choices != nil && !slices.Contains(names, s.String()) {
			v.check(false, s.Name, "choose %s%s", strings.Join(names, " or "), terminal.DidYouMean(s.String(), names))
		}
	}
	v.check(!c.noise().needsMatrix || c.trains(inIterations), "noise",
		"mode %s has no matrix; use --noise %s", c.Mode, noiseCounts)
	v.check(!device.Precision(c.Precision).Rounds() || c.Device != DeviceCPU, "precision",
		"the CPU has tables of %s only", PrecisionFloat32)
	v.checkInit()
	if !c.HasEncoder() {
		return
	}
	v.check(!c.in(Minibatch) || !c.ComposesRows(), "subword",
		"mode %s has no rows that are composed of n-grams, only networks: choose %s or %s", c.Mode, strings.Join(networks("max-chars"), ", "), SubwordNone)
	v.check(c.trains(withOptimizer) || c.ComposesRows(), "subword",
		"mode %s has no networks, only means: choose %s", c.Mode, strings.Join([]string{SubwordNGram, SubwordNone}, ", "))
	v.check(c.trains(withOptimizer) || c.SubwordLR <= 1, "subword-lr",
		"in mode %s at most 1: n-grams take a share of what a word learns", c.Mode)
	var shared []string
	for _, o := range optim.Methods() {
		if o.Shared {
			shared = append(shared, string(o.Name))
		}
	}
	v.check(c.ComposesRows() || slices.Contains(shared, c.Optimizer), "optimizer",
		"--subword %s needs %s: the parameters that all words share have gradients of very different sizes",
		c.Subword, strings.Join(shared, " or "))
}

func (c *Config) validateMode() error {
	if m, ok := FindMode(c.Mode); ok {
		return c.validateModel(m)
	}
	built := strings.Join(ModeNames(), ", ")
	if mode := PresetMode(c.Mode); mode != "" {
		return terminal.Usagef("--mode %s: that is a preset of mode %s: give --preset %s instead",
			c.Mode, mode, c.Mode)
	}
	if advice := otherNames[terminal.Folded(c.Mode)]; advice != "" {
		return terminal.Usagef("--mode %s: %s", c.Mode, advice)
	}
	if near := terminal.Meant(c.Mode, ModeNames()); near != "" {
		return terminal.Usagef("--mode %s: unknown mode; did you mean %s?", c.Mode, near)
	}
	return terminal.Usagef("--mode %s: unknown mode; this build has %s", c.Mode, built)
}

// validateModel checks --model first, because which settings are of use depends on it.
func (c *Config) validateModel(m Mode) error {
	var names []string
	for _, choice := range modelChoices(m.Name) {
		names = append(names, choice.Name)
	}
	if len(names) == 0 || slices.Contains(names, c.Model) {
		return nil
	}
	if near := otherModels[terminal.Folded(c.Model)]; slices.Contains(names, near) {
		return terminal.Usagef("--model %s: mode %s has %s; did you mean %s?", c.Model, m.Name, strings.Join(names, ", "), near)
	}
	return terminal.Usagef("--model %s: mode %s has %s%s", cmp.Or(c.Model, `""`), m.Name, strings.Join(names, ", "), terminal.DidYouMean(c.Model, names))
}

// validateDevice checks --device and all that a GPU cannot do.
func (c *Config) validateDevice() error {
	if c.Device == DeviceCPU {
		return nil
	}
	ordinals, err := device.Ordinals(c.Device)
	if err != nil {
		return terminal.Usagef("--device: %v", err)
	}
	m := c.FindMode()
	if !m.Trains(OnGPU) {
		return terminal.Usagef("--device %s: mode %s does not train on a GPU; %s do",
			c.Device, c.Mode, strings.Join(modesThat(OnGPU), ", "))
	}
	if c.GraphDOT != "" {
		return terminal.Usagef("--graph-dot: GPUs train without a Gorgonia graph; use --device %s", DeviceCPU)
	}
	if c.Together && !c.in(SentenceOrdered) {
		return terminal.Usagef("--together: GPUs update the tables in two steps; use --device %s", DeviceCPU)
	}
	if len(ordinals) > 1 {
		if err := c.checkSeveral(m); err != nil {
			return err
		}
	}
	return c.checkKernels(m)
}

// checkSeveral checks what several GPUs cannot train.
func (c *Config) checkSeveral(m Mode) error {
	network := m.Family == LargeBatch && c.Subword == SubwordCNN
	switch {
	case m.Family == Minibatch:
		return terminal.Usagef("--device %s: mode %s trains on one GPU; choose one of them", c.Device, c.Mode)
	case m.Family == Stretches:
		return terminal.Usagef("--device %s: --model %s trains on one GPU, because two were 1.1 to 1.2 times as fast: choose one of them, or --model %s",
			c.Device, c.Model, ModelSkipGram)
	case network && !slices.Equal(c.Gram, Numbers{1}):
		return terminal.Usagef("--gram %v: on several GPUs a CNN reads characters; give --gram 1, or choose one GPU of --device %s", c.Gram, c.Device)
	case c.HasEncoder() && !network:
		return terminal.Usagef("--subword %s: several GPUs cannot train it; choose one GPU of --device %s", c.Subword, c.Device)
	}
	return nil
}

// checkKernels asks the device whether its kernels can train the configuration.
func (c *Config) checkKernels(m Mode) error {
	var err error
	switch m.Family {
	case SentenceOrdered:
		if c.HasEncoder() && (!c.ComposesRows() || !device.ComposesOn(sequential.Algorithm(c.Mode))) {
			return terminal.Usagef("--subword %s: mode %s does not train it on a GPU", c.Subword, c.Mode)
		}
		if c.HasEncoder() && device.Precision(c.Precision).Rounds() {
			return terminal.Usagef("--precision %s: does not go with --subword", c.Precision)
		}
		err = device.CheckSequential(c.SequentialOptions(nil), device.Precision(c.Precision))
	case Stretches:
		if c.HasNetwork() {
			return terminal.Usagef("--subword %s: --model %s of mode %s has no network on a GPU", c.Subword, c.Model, c.Mode)
		}
		err = device.CheckCBOW(c.GraphOptions(nil), device.Precision(c.Precision))
	case LargeBatch, Minibatch:
		switch {
		case c.HasNetwork() && c.Subword != SubwordCNN:
			return terminal.Usagef("--subword %s: GPUs have kernels for %s and %s alone; give --device %s", c.Subword, SubwordCNN, SubwordNGram, DeviceCPU)
		case c.HasNetwork() && m.Family == Minibatch && !slices.Equal(c.Gram, Numbers{1}):
			return terminal.Usagef("--gram %v: on a GPU a CNN of mode %s reads characters; give --gram 1, or --device %s", c.Gram, c.Mode, DeviceCPU)
		}
		check := device.CheckCL
		if m.Family == Minibatch {
			check = device.CheckVanilla
		}
		err = check(c.GraphOptions(nil), device.Precision(c.Precision))
		switch {
		case err != nil:
		case c.Subword == SubwordCNN:
			options := c.networkOptions()
			err = device.CheckEncoder(&options, device.Precision(c.Precision))
		case c.HasEncoder():
			err = device.CheckEncoder(nil, device.Precision(c.Precision))
		}
	}
	var unsupported *device.UnsupportedError
	switch {
	case errors.As(err, &unsupported):
		s, _ := c.setting(unsupported.Setting)
		return terminal.Usagef("--%s %s: %s", s.Name, s, unsupported.Reason)
	case err != nil:
		return terminal.Usagef("--device %s: %v", c.Device, err)
	case !device.Built:
		return terminal.Usagef("--device %s: %v", c.Device, device.ErrNotBuilt)
	}
	return nil
}
