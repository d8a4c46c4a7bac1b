package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// Resolve layers the settings of a run, later ones winning: recipe of mode,
// preset and optimizer; the TOML file (none if file is empty); flags, by their
// canonical names. The result is validated. What the user got wrong comes back
// as a [terminal.UsageError].
func Resolve(file string, flags map[string]string) (Config, error) {
	c, set, had, err := layer(file, flags)
	if err != nil {
		return Config{}, err
	}
	if err := cmp.Or(c.checkStart(set, had), c.checkApplies(set)); err != nil {
		return Config{}, err
	}
	if err := c.checkLength(set); err != nil {
		return Config{}, err
	}
	setDependents(&c, set)
	if err := c.Validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Lengths are the settings that say how long to train. One of them does.
var Lengths = []string{"epochs", "iterations", "budget"}

// checkLength refuses two settings that both say how long to train, and 0, which stands for neither epochs nor iterations.
func (c *Config) checkLength(set given) error {
	if set["iterations"] != "" && c.Iterations < 1 {
		return terminal.Usagef("%s %d: must be at least 1", set["iterations"], c.Iterations)
	}
	if set["epochs"] != "" && c.Epochs < 1 {
		return terminal.Usagef("%s %d: must be at least 1", set["epochs"], c.Epochs)
	}
	first := ""
	for _, name := range Lengths {
		switch {
		case set[name] == "":
		case first == "":
			first = set[name]
		default:
			return terminal.Usagef("%s and %s both say how long to train: give one of them", first, set[name])
		}
	}
	return nil
}

// Read returns the settings that a run folder's configuration file records. They
// are not validated.
func Read(file string) (Config, error) {
	c, _, _, err := layer(file, nil)
	return c, err
}

// given holds the settings that file or flags set: by the setting's name, its
// name in a message, such as "--dim" or "run.toml: dim".
type given map[string]string

// layer applies recipe, file and flags. It returns which settings were set, and what encoderOf returns for --init.
func layer(file string, flags map[string]string) (c Config, set given, had map[string]string, err error) {
	texts := map[string]string{}
	set = given{}
	if file != "" {
		if texts, err = readTOML(file); err != nil {
			return c, nil, nil, err
		}
	}
	if slices.ContainsFunc(Lengths, func(name string) bool { _, ok := flags[name]; return ok }) {
		for _, name := range Lengths { // a flag wins over the file
			delete(texts, name)
		}
	}
	for name := range texts {
		set[name] = file + ": " + name
	}
	for name, text := range flags {
		texts[name], set[name] = text, "--"+name
	}
	mode := cmp.Or(texts["mode"], PresetMode(texts["preset"]), ModeCL)
	c, had = Defaults(mode, texts["preset"], texts["optimizer"], texts["model"]), encoderOf(texts["init"])
	if texts["model"] == "" && texts["graph"] != "" && c.trains(byPosition) { // a walk has no word order (benchmarks/walks)
		c = Defaults(mode, texts["preset"], texts["optimizer"], ModelCBOW)
	}
	c.goOn(had, texts, set)
	if c.trains(withSubwords) {
		subwordRecipe(&c, cmp.Or(texts["subword"], c.usualSubword(cmp.Or(texts["init"], texts["graph"]))))
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		s, ok := c.setting(name)
		if !ok {
			return c, nil, nil, terminal.Usagef("%s: no such setting", set[name])
		}
		if err := s.set(set[name], texts[name]); err != nil {
			return c, nil, nil, terminal.Usagef("%v", err)
		}
	}
	return c, set, had, nil
}

// CheckRecorded returns an error if one of the recorded settings of a run is none, or
// has a value that it cannot have.
func CheckRecorded(recorded map[string]string) error {
	_, _, _, err := layer("", recorded)
	return err
}

// checkApplies refuses settings that were set but that the mode does not use:
// a flag that is silently ignored makes another result than the user asked for.
func (c *Config) checkApplies(set given) error {
	if err := c.validateMode(); err != nil {
		return err
	}
	if !c.HierarchicalSoftmax { // "-hs 0" of word2vec.c is true of every mode
		delete(set, "hierarchical-softmax")
	}
	for _, s := range c.Settings() {
		if set[s.Name] != "" && !s.AppliesTo(c.Mode) {
			return terminal.Usagef("%s does not apply to mode %s (it is for mode %s): leave it out",
				set[s.Name], c.Mode, strings.Join(s.ModeNames(), ", "))
		}
		if set[s.Name] != "" && !s.AppliesWith(c.Mode, c.Model) {
			return s.OfOtherModel(set[s.Name], c.Mode, c.Model)
		}
		if set[s.Name] != "" && s.Negatives && c.HierarchicalSoftmax {
			return terminal.Usagef("%s does not apply to --hierarchical-softmax, "+
				"which has no negatives and no context vectors: leave it out", set[s.Name])
		}
		if set[s.Name] != "" && s.Text && c.Graph != "" {
			return terminal.Usagef("%s does not apply to --graph, whose walks are the text: leave it out", set[s.Name])
		}
		if set[s.Name] != "" && s.Graph && c.Graph == "" {
			return terminal.Usagef("%s needs --graph: it sets the walks over the graph", set[s.Name])
		}
		if set[s.Name] != "" && !c.uses(s) {
			return terminal.Usagef("%s does not apply to --subword %s (it is for %s): leave it out",
				set[s.Name], c.Subword, strings.Join(s.Subword, ", "))
		}
	}
	return nil
}

// usualSubword is the default of --subword: stretches gain most of what they gain by n-grams. It is none for vectors without an
// encoder that training goes on from (goOn continues an encoder), and for a graph, because names of nodes have no spelling.
func (c *Config) usualSubword(unspelt string) string {
	if c.in(Stretches) && unspelt == "" {
		return SubwordNGram
	}
	return SubwordNone
}

// OfOtherModel returns the error of a setting, by its name in a message, that a mode has with another model only.
func (s Setting) OfOtherModel(label, mode, model string) error {
	var others []string
	for _, m := range modes {
		if m.Name == mode && m.Trains(s.Modes) {
			others = append(others, m.Model)
		}
	}
	return terminal.Usagef("%s does not apply to --model %s of mode %s: leave it out, or give --model %s", label, model, mode, strings.Join(others, " or "))
}

// didYouMean suggests the setting whose name or alias is nearest.
func didYouMean(name string) string {
	settings := map[string]string{} // names of settings, by themselves and by aliases
	var known []string
	for _, s := range new(Config).Settings() {
		for _, k := range append([]string{s.Name}, s.Aliases...) {
			settings[k], known = s.Name, append(known, k)
		}
	}
	if near := terminal.Nearest(name, slices.Values(known)); near != "" {
		return fmt.Sprintf("; did you mean %q?", settings[near])
	}
	return ""
}
