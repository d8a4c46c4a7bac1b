package compare

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/settings"
)

// Options say what is compared.
type Options struct {
	// Modes are compared, the first with each of the others. NAME=MODE is a mode under
	// another name, with settings of its own: so a mode can be compared with itself.
	Modes []string
	Seeds int // runs of each mode, with seeds that follow each other

	// Settings are those that all modes share, by name, as texts that a flag
	// would take. A mode that does not use one does without it.
	Settings map[string]string
	// ModeSettings are settings of single modes, by the mode's name here and the
	// setting's name. They go before Settings.
	ModeSettings map[string]map[string]string

	Contexts []int // to compare, iterations of an epoch of mode cl; empty: the recipe's
	Batches  []int // to compare, pairs of a minibatch; empty: the recipe's

	Budget   Budget
	Points   int    // observations of a run, at equal steps of its work
	Data     string // folder of evaluation sets
	Classify bool   // also score the finished runs on the sets of sentences in Data
	Out      string // folder of the report and the runs

	// Corpus is the name of the corpus in the report; empty: its name in Settings,
	// which must be a path that holds from any folder.
	Corpus string
}

// A Variant is a mode, or a mode at one point of a sweep.
type Variant struct {
	Name     string `json:"name"`
	Mode     string `json:"mode"`
	Contexts int    `json:"contexts,omitempty"` // of a sweep
	Batch    int    `json:"batch,omitempty"`    // of a sweep

	of string // its name in Options.Modes
}

// A Run is one training of the comparison.
type Run struct {
	Variant
	Config settings.Config
}

// name is the name of the run's folder and record.
func (r Run) name() string {
	return fmt.Sprintf("%s-seed%d", strings.NewReplacer(" ", "-", "=", "").Replace(r.Variant.Name), r.Config.Seed)
}

// Variants lists everything that is compared, in the order of the modes.
func (o Options) Variants() []Variant {
	var all []Variant
	for _, entry := range o.Modes {
		name, mode := NameOf(entry)
		variants := []Variant{{Name: name, Mode: mode, of: name}}
		for _, s := range sweeps {
			if values := s.values(o); len(values) > 0 && slices.Contains(s.modes(), mode) {
				variants = s.over(variants, values)
			}
		}
		all = append(all, variants...)
	}
	return all
}

// NameOf returns the name and the mode of an entry of Options.Modes.
func NameOf(entry string) (name, mode string) {
	name, mode, other := strings.Cut(entry, "=")
	if !other {
		mode = name
	}
	return name, mode
}

// names lists the names of what is compared, modes their modes.
func (o Options) names() (names, modes []string) {
	for _, entry := range o.Modes {
		name, mode := NameOf(entry)
		names, modes = append(names, name), append(modes, mode)
	}
	return names, modes
}

// Runs resolves the settings of all runs. They come seed by seed, so that an
// interrupted comparison has runs of every mode. Mistakes of the user are a
// [terminal.UsageError].
func (o Options) Runs() ([]Run, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var runs []Run
	for i := range o.Seeds {
		for _, v := range o.Variants() {
			c, err := o.resolve(v)
			if err != nil {
				return nil, err
			}
			if c.Seed > math.MaxInt64-uint64(i) {
				return nil, terminal.Usagef("--seed %d: too large for %d seeds from there on", c.Seed, o.Seeds)
			}
			c.Seed += uint64(i)
			r := Run{Variant: v, Config: c}
			r.Config.Out = filepath.Join(o.Out, runsFolder, r.name())
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// check refuses mistakes that no single run would show.
func (o Options) check() error {
	known := settings.ModeNames()
	names, modes := o.names()
	for i, mode := range modes {
		switch name := names[i]; {
		case slices.Contains(names[:i], name):
			return terminal.Usagef("--modes: %s is there twice; give one of them a name of its own, NAME=%s", name, mode)
		case !slices.Contains(known, mode):
			return terminal.Usagef("--modes: %q is none of %s", mode, strings.Join(known, ", "))
		case name != mode && (slices.Contains(known, name) || !variantName.MatchString(name)):
			return terminal.Usagef("--modes: %q cannot be the name of a mode: names have letters, digits, - and _, and are not those of modes", name)
		}
	}
	switch {
	case len(o.Modes) == 0:
		return terminal.Usagef("--modes is missing: name some of %s", strings.Join(known, ", "))
	case o.Out == "":
		return terminal.Usagef("--out is missing: name the folder for the report and the runs")
	case o.Seeds < 1 || o.Seeds > 1000:
		return terminal.Usagef("--seeds %d: must be from 1 to 1000", o.Seeds)
	case o.Points < 1 || o.Points > 1000:
		return terminal.Usagef("--points %d: must be from 1 to 1000", o.Points)
	}
	for _, s := range sweeps {
		if err := o.checkSweep(s); err != nil {
			return err
		}
	}
	return o.checkSettings()
}

// checkSweep refuses a sweep of no mode, and values that are there twice.
func (o Options) checkSweep(s sweep) error {
	values := s.values(o)
	_, modes := o.names()
	compared := func(mode string) bool { return slices.Contains(modes, mode) }
	if len(values) > 0 && !slices.ContainsFunc(s.modes(), compared) {
		return terminal.Usagef("--%s is for mode %s, which is not compared", s.setting, strings.Join(s.modes(), ", "))
	}
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return terminal.Usagef("--%s: %d is there twice", s.setting, v)
		}
	}
	return nil
}

// variantName is what a mode may be called: its runs are in folders of that name.
var variantName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

// ownSettings are the settings of runs that a comparison sets itself.
var ownSettings = []string{"mode", "out", "seed", "corpus", "force", "matrix", "graph-dot", "init"}

// checkSettings refuses settings that would change nothing.
func (o Options) checkSettings() error {
	names, modes := o.names()
	for _, mode := range slices.Sorted(maps.Keys(o.ModeSettings)) {
		if !slices.Contains(names, mode) {
			return terminal.Usagef("--set %s.…: mode %s is not compared", mode, mode)
		}
		for name := range o.ModeSettings[mode] {
			if slices.Contains(ownSettings, name) {
				return terminal.Usagef("--set %s.%s: a comparison sets that itself", mode, name)
			}
		}
	}
	var c settings.Config
	for _, s := range c.Settings() {
		if _, set := o.Settings[s.Name]; set && !slices.ContainsFunc(modes, s.AppliesTo) {
			return terminal.Usagef("--%s does not apply to any of the modes (it is for mode %s)", s.Name, strings.Join(s.ModeNames(), ", "))
		}
	}
	return nil
}

// sharedSamples are the settings of group "Model and samples" that all modes have
// in common. The others are the point of each mode's recipe.
var sharedSamples = []string{"dim", "window", "negative", "sample"}

// recipe returns the settings of mode cl under those that all modes share.
func (o Options) recipe() (settings.Config, error) {
	texts := map[string]string{"mode": settings.ModeCL}
	for name, text := range o.Settings {
		if s, ok := settings.Find(name); ok && s.AppliesTo(settings.ModeCL) {
			texts[name] = text
		}
	}
	return settings.Resolve("", texts)
}

// positives returns the samples that a word of a text has in an iteration of the first
// run of mode cl, or of the recipe if there is none.
func (o Options) positives(runs []Run, v *corpus.Vocabulary) (float64, error) {
	c, err := o.recipe()
	if i := slices.IndexFunc(runs, func(r Run) bool { return countsIterations(r.Mode) }); i >= 0 {
		c = runs[i].Config
	}
	c.FitText(v)
	return c.Positives, err
}

// resolve returns the settings of a variant. Those of the text and the shared ones
// come from the recipe of mode cl, so that all modes have the same; the others
// from the mode's own recipe. Budget, sweep and the user's settings go over them.
func (o Options) resolve(v Variant) (settings.Config, error) {
	texts := map[string]string{}
	defaults, err := o.recipe()
	if err != nil {
		return defaults, err
	}
	for _, s := range defaults.Settings() {
		if s.Group == settings.GroupText || slices.Contains(sharedSamples, s.Name) {
			texts[s.Name] = s.String()
		}
		if text, ok := o.Settings[s.Name]; ok && s.AppliesTo(v.Mode) {
			texts[s.Name] = text
		}
	}
	texts["mode"], texts["out"] = v.Mode, o.Out
	for _, s := range sweeps {
		if value := *s.value(&v); value > 0 {
			texts[s.setting] = strconv.Itoa(value)
		}
	}
	o.Budget.apply(v.Mode, texts)
	if _, ok := o.ModeSettings[v.of]["iterations"]; ok {
		delete(texts, "epochs") // one of the two says how long to train
	}
	maps.Copy(texts, o.ModeSettings[v.of])
	c, err := settings.Resolve("", texts)
	if err != nil {
		return c, fmt.Errorf("mode %s: %w", v.Name, err)
	}
	return c, nil
}
