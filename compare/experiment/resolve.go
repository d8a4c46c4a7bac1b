package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// RunsFolder is the folder of run folders and records in that of a comparison.
const RunsFolder = "runs"

// A Run is one training of the comparison.
type Run struct {
	Variant
	Config settings.Config
}

// ID is the name of the run's folder and record.
func (r Run) ID() string { return fmt.Sprintf("%s-seed%d", r.folder(), r.Config.Seed) }

// Title names the run for people.
func (r Run) Title() string { return fmt.Sprintf("%s, seed %d", r.Name, r.Config.Seed) }

// TextKey is the same for runs that read the text in the same way. Walks over a graph are another text
// for each seed.
func (r Run) TextKey() string {
	var key strings.Builder
	for _, s := range r.Config.Settings() {
		if s.Section == settings.SectionText || r.Config.Graph != "" && (s.Graph || s.Name == "graph" || s.Name == "seed") {
			fmt.Fprintf(&key, "%s=%s ", s.Name, s)
		}
	}
	return key.String()
}

// Runs resolves the settings of all runs. They come seed by seed, so that an
// interrupted comparison has runs of every variant. Mistakes of the user are a
// [terminal.UsageError].
func (o Options) Runs() ([]Run, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o, _, err := o.EqualEncoder()
	if err != nil {
		return nil, err
	}
	var configs []settings.Config
	variants := o.All()
	for _, v := range variants {
		c, err := o.resolve(v)
		if err != nil {
			return nil, err
		}
		for i, other := range configs {
			if maps.Equal(c.Recorded(), other.Recorded()) && o.SaysLength(v) == o.SaysLength(variants[i]) {
				return nil, terminal.Usagef("variants %s and %s have the same settings: leave one of them out", variants[i].Name, v.Name)
			}
		}
		configs = append(configs, c)
	}
	var runs []Run
	for i := range o.Seeds {
		for k, v := range variants {
			r := Run{Variant: v, Config: configs[k]}
			if r.Config.Seed > math.MaxInt64-uint64(i) {
				return nil, terminal.Usagef("--seed %d: too large for %d seeds from there on", r.Config.Seed, o.Seeds)
			}
			r.Config.Seed += uint64(i)
			r.Config.Out = filepath.Join(o.Out, RunsFolder, r.ID())
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// sharedSamples returns the settings of section "Model and samples" that all variants have in
// common. Each mode is compared at its best, so these are few; papers compare modes with the same values.
func (o Options) sharedSamples() []string {
	if c := o.defaults(Variant{Mode: settings.ModeCL}); c.IsPublished() {
		return []string{"dim", "window", "negative", "sample"}
	}
	return []string{"dim"}
}

// shared returns the shared settings that a variant has a use for, of a list the first
// value.
func (o Options) shared(v Variant) map[string]string {
	defaults := o.defaults(v)
	encoder := cmp.Or(v.Own["subword"], valuesOf("subword", o.Settings["subword"])[0], defaults.Subword)
	texts := map[string]string{}
	for name, text := range o.Settings {
		s, ok := settings.Find(name)
		if ok && v.takes(s, defaults.Model) && (s.Subword == nil || slices.Contains(s.Subword, encoder)) {
			texts[name] = valuesOf(name, text)[0]
		}
	}
	return texts
}

func (o Options) defaults(v Variant) settings.Config {
	preset := cmp.Or(v.Own["preset"], o.Settings["preset"])
	return settings.Defaults(v.Mode, preset, "", valuesOf("model", cmp.Or(v.Own["model"], o.Settings["model"]))[0])
}

func (o Options) applies(s settings.Setting, v Variant) bool {
	return s.AppliesWith(v.Mode, o.defaults(v).Model)
}

func (v Variant) takes(s settings.Setting, model string) bool {
	return s.AppliesWith(v.Mode, model) && !(s.Negatives && v.withoutNegatives())
}

// withoutNegatives reports whether a variant has hierarchical softmax. Any other text than a bool
// is an error when the variant is resolved.
func (v Variant) withoutNegatives() bool {
	hierarchical, err := strconv.ParseBool(v.Own["hierarchical-softmax"])
	return err == nil && hierarchical
}

// recipe returns the settings of mode cl under those that all variants share.
func (o Options) recipe() (settings.Config, error) {
	texts := o.shared(Variant{Mode: settings.ModeCL})
	texts["mode"] = settings.ModeCL
	return settings.Resolve("", texts)
}

// IterationPairs returns about how many pairs an iteration has, on a text, in the first run of mode cl, or in the
// recipe if there is none.
func (o Options) IterationPairs(runs []Run, v *corpus.Vocabulary) (float64, error) {
	c, err := o.recipe()
	if i := slices.IndexFunc(runs, func(r Run) bool { return countsIterations(r.Mode) }); i >= 0 {
		c = runs[i].Config
	}
	if err != nil {
		return 0, err
	}
	c.FitText(v)
	return c.IterationPairs(v), nil
}

// resolve returns the settings of a variant. Those of the text and the shared ones
// come from the recipe of mode cl, so that all variants have the same; the others
// from the mode's own recipe. Budget and the variant's own settings go over them. A
// variant with a preset of its own has all but the text from there.
func (o Options) resolve(v Variant) (settings.Config, error) {
	recipe, err := o.recipe()
	if err != nil {
		return recipe, err
	}
	texts := map[string]string{}
	_, preset := v.Own["preset"]
	model, samples := o.defaults(v).Model, o.sharedSamples()
	for _, s := range recipe.Settings() {
		if !v.takes(s, model) || s.Text && o.Settings["graph"] != "" {
			continue
		}
		if s.Section == settings.SectionText || !preset && slices.Contains(samples, s.Name) {
			texts[s.Name] = s.String()
		}
	}
	maps.Copy(texts, o.shared(v))
	texts["mode"], texts["out"] = v.Mode, o.Out
	if !o.SaysLength(v) {
		o.Budget.apply(v.Mode, texts)
	}
	if slices.ContainsFunc(lengths, func(name string) bool { _, own := v.Own[name]; return own }) {
		for _, name := range lengths { // one of them says how long to train
			delete(texts, name)
		}
	}
	maps.Copy(texts, v.Own)
	c, err := settings.Resolve("", texts)
	if err != nil {
		return c, fmt.Errorf("variant %s: %w", v.Name, err)
	}
	return c, nil
}
