package settings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/w2vcl/w2vcl/sequential"
)

// A preset is where the defaults of a run come from: the tuned recipe of its mode, or the
// settings that a paper publishes.
type preset struct {
	Choice
	mode string // that it trains if --mode does not say; empty: that of other runs

	// published are the values that the paper names, as texts by the setting's name. A mode
	// takes those that it uses. What the paper does not name comes from the mode's
	// published recipe.
	published map[string]string
	own       map[string]string // values for the preset's mode alone
}

// Names of presets. The other papers are named as their modes are.
const (
	presetTuned       = "tuned" // the best recipe known; the default
	presetPaper       = "paper" // the paper of the mode, see Mode.Paper
	presetW2VCL       = "w2vcl"
	presetBlazingText = "blazingtext"
	presetVanillaLong = "vanilla-long"
)

// onceAnEpoch is a --sync of more words than a text has.
const onceAnEpoch = "1000000000000"

// presets is the table of all presets, see docs/papers.md. word2vec's are the defaults
// of the published program.
var presets = []preset{
	{Choice: Choice{presetTuned, "the best recipe known"}},
	{Choice: Choice{presetPaper, "the paper of the mode"}},
	{
		Choice: Choice{presetW2VCL, "W2V-CL and its baseline"},
		mode:   ModeCL,
		published: map[string]string{
			"dim": "500", "window": "2", "negative": "5", "min-count": "50",
			"sample": "0", "dynamic-window": "false", "epochs": "1",
		},
	},
	{
		Choice: Choice{string(sequential.FullW2V), "FULL-W2V and the codes it is compared with"},
		mode:   string(sequential.FullW2V),
		published: map[string]string{
			"dim": "128", "window": "5", "negative": "5", "min-count": "5",
			"sample": "1e-4", "join-lines": "true", "epochs": "20",
		},
	},
	{
		Choice: Choice{string(sequential.PWord2Vec), "pWord2Vec"},
		mode:   string(sequential.PWord2Vec),
		published: map[string]string{
			"dim": "300", "window": "5", "negative": "5", "sample": "1e-4",
			"combine-rule": "mean",
		},
	},
	{
		Choice: Choice{presetBlazingText, "BlazingText, in --mode word2vec"},
		mode:   string(sequential.Word2Vec),
		published: map[string]string{
			"dim": "100", "window": "5", "negative": "5", "min-count": "5",
			"sample": "1e-4", "lr": "0.05", "epochs": "20", "combine-rule": "mean",
			"sync": onceAnEpoch,
		},
	},
	{
		Choice: Choice{string(sequential.PARW2V), "PAR-Word2Vec, with uniform negatives"},
		mode:   string(sequential.PARW2V),
		published: map[string]string{
			"dim": "128", "window": "8", "negative": "5", "noise-exponent": "0",
			"epochs": "10",
		},
	},
	{
		Choice: Choice{string(sequential.Word2Vec), "word2vec.c's defaults, with skip-gram"},
		mode:   string(sequential.Word2Vec),
		published: map[string]string{
			"dim": "100", "window": "5", "negative": "5", "min-count": "5",
			"sample": "1e-3", "epochs": "5",
		},
	},
	{
		Choice:    Choice{ModeGloVe, "GloVe"},
		mode:      ModeGloVe,
		published: map[string]string{"window": "10", "sample": "0"},
		own:       map[string]string{"x-max": "100", "epochs": "50"},
	},
	{ // the best of 14 settings, benchmarks/vanilla
		Choice: Choice{presetVanillaLong, "a baseline tuned as long as cl, at ten times the pairs of vanilla's default"},
		mode:   ModeVanilla,
		published: map[string]string{
			"window": "5", "negative": "10", "sample": "1e-3", "epochs": "8", "batch": "1024",
			"lr": "0.005", "weight-decay": "0.02", "decay": decayLinear,
		},
	},
}

func presetChoices() []Choice { return choicesOf(presets, func(p preset) Choice { return p.Choice }) }

// findPreset returns the preset of that name, in a mode; presetPaper is the one of the
// mode's paper. ok is false if there is none.
func findPreset(name string, m Mode) (p preset, ok bool) {
	if name == presetPaper {
		name = m.Paper
	}
	i := slices.IndexFunc(presets, func(p preset) bool { return p.Name == name })
	if i < 0 {
		return preset{}, false
	}
	return presets[i], true
}

// PresetMode returns the mode that a preset trains if nothing else says which; empty if any.
func PresetMode(name string) string {
	p, _ := findPreset(name, Mode{})
	return p.mode
}

// IsPublished reports whether the defaults are those of a paper.
func (c *Config) IsPublished() bool {
	p, ok := findPreset(c.Preset, c.FindMode())
	return ok && p.Name != presetTuned
}

// publishedFor returns the values of the preset that the mode uses. An epoch of mode cl is
// another thing than one of a text, so the number of those says nothing there.
func (c *Config) publishedFor() map[string]string {
	p, _ := findPreset(cmp.Or(c.Preset, presetTuned), c.FindMode())
	used := map[string]string{}
	for name, text := range p.published {
		s, _ := c.setting(name)
		if s.AppliesWith(c.Mode, c.Model) && (name != "epochs" || !c.trains(inIterations) || p.mode == c.Mode && c.in(LargeBatch)) {
			used[name] = text
		}
	}
	if p.mode == c.Mode {
		maps.Copy(used, p.own)
	}
	return used
}

// publish sets the values of the preset.
func (c *Config) publish() {
	for name, text := range c.publishedFor() {
		s, _ := c.setting(name)
		_ = s.set(name, text) // a test sets them all
	}
}
