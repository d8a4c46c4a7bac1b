package settings

import (
	"maps"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
)

// An OlderSetting is a setting of earlier versions. Their configuration files and
// run folders have it, and its flag is still understood.
type OlderSetting struct {
	Name   string
	Now    string            // the setting that took its place
	Values map[string]string // its values, as texts of that setting
}

// OlderSettings lists them.
func OlderSettings() []OlderSetting {
	return []OlderSetting{
		{Name: "vectors", Now: "context-weight", Values: map[string]string{"sum": "1", "words": "0"}},
	}
}

// isOlder reports whether earlier versions had a setting of that name.
func isOlder(name string) bool {
	return slices.ContainsFunc(OlderSettings(), func(o OlderSetting) bool { return o.Name == name })
}

// renamed returns the settings of a file or of flags with the names of today. source
// goes before a name in messages.
func renamed(values map[string]string, source string) (map[string]string, error) {
	values = maps.Clone(values)
	for _, o := range OlderSettings() {
		text, ok := values[o.Name]
		if !ok {
			continue
		}
		now, ok := o.Values[text]
		if !ok {
			return nil, terminal.Usagef("%s%s %s: choose %s; better, give %s%s", source, o.Name, text,
				strings.Join(slices.Sorted(maps.Keys(o.Values)), " or "), source, o.Now)
		}
		if _, twice := values[o.Now]; twice {
			return nil, terminal.Usagef("%s%s is the older name of %s%s: give one of them", source, o.Name, source, o.Now)
		}
		delete(values, o.Name)
		values[o.Now] = now
	}
	return values, nil
}

// Current returns the recorded settings of a run, as texts by name, with the names of
// today. Runs of versions that did not have tempered samples had equal ones, runs of mode
// vanilla were lazy, those without a choice of n-grams had HashMarked, and CNNs took the
// maximum of standardized features.
func Current(recorded map[string]string) map[string]string {
	texts, err := renamed(recorded, "")
	if err != nil {
		return recorded // not written by w2vcl
	}
	then := map[string]string{}
	switch texts["mode"] {
	case ModeCL:
		then = equalSamples()
	case ModeVanilla:
		then["adam"] = AdamLazy
	}
	switch texts["subword"] {
	case SubwordNGram:
		then["ngram-hash"] = HashMarked
	case SubwordCNN:
		then["pool"], then["standardize"] = string(subword.PoolMax), "true"
	}
	for name, text := range then {
		if _, ok := texts[name]; !ok {
			texts[name] = text
		}
	}
	return texts
}

// equalSamples are the settings of samples that earlier versions did not have.
func equalSamples() map[string]string {
	r := untempered(1, true, false)
	c := Config{Samples: Samples{Positives: r.positives, MaxPositives: r.maxPositives}}
	texts := map[string]string{}
	for _, name := range []string{"tempering", "positives", "max-positives", "shared-negatives"} {
		s, _ := c.setting(name)
		texts[name] = s.String()
	}
	return texts
}

// isOlderRun reports whether a configuration file was written by a version without
// tempered samples for a run of mode cl, without --adam for one of mode vanilla, or without
// a choice of n-grams or of a CNN's pool. All runs of these versions recorded certain settings, which together
// nobody sets by hand.
func isOlderRun(file map[string]string) bool {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := file[name]; return !ok })
	}
	return has("vectors", "passes") || !has("adam") && has("batch", "decay", "noise-exponent", "threads") ||
		!has("ngram-hash") && has("buckets", "min-ngram", "max-ngram", "subword-lr", "seed", "noise", "form") ||
		!has("pool") && has("char-dim", "widths", "filters", "max-chars", "subword-lr", "seed", "noise", "form")
}
