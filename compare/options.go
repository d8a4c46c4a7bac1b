package compare

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/settings"
)

// Options say what is compared.
type Options struct {
	Modes []string // the first is what the others are compared with
	Seeds int      // runs of each, with seeds that follow each other

	// Settings are those that all modes share, by the setting's name, as
	// flags would have them. A mode that has no use for one does without.
	Settings map[string]string
	// Own are settings of single modes, by mode and name. They win.
	Own map[string]map[string]string

	Contexts []int // sweep of mode cl over l; empty: the recipe's
	Batches  []int // sweep of mode vanilla over the minibatch; empty: the recipe's

	Budget   Budget
	Points   int    // evaluations of a run, at equal steps of its work
	Data     string // folder of evaluation sets
	Classify bool   // score the finished runs on the sets of sentences in Data, too
	Out      string

	// Corpus is the corpus as the report names it; empty: as Settings do, who
	// need a path that holds from any folder.
	Corpus string
}

// A Variant is a mode, or a mode at one point of a sweep.
type Variant struct {
	Name     string `json:"name"`
	Mode     string `json:"mode"`
	Contexts int    `json:"contexts,omitempty"` // of a sweep
	Batch    int    `json:"batch,omitempty"`    // of a sweep
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

// Variants lists what is compared, in the order of the modes.
func (o Options) Variants() []Variant {
	var all []Variant
	for _, mode := range o.Modes {
		switch {
		case mode == settings.ModeCL && len(o.Contexts) > 0:
			for _, l := range o.Contexts {
				all = append(all, Variant{Name: o.sweepName(mode, "l", l, o.Contexts), Mode: mode, Contexts: l})
			}
		case mode == settings.ModeVanilla && len(o.Batches) > 0:
			for _, b := range o.Batches {
				all = append(all, Variant{Name: o.sweepName(mode, "batch", b, o.Batches), Mode: mode, Batch: b})
			}
		default:
			all = append(all, Variant{Name: mode, Mode: mode})
		}
	}
	return all
}

func (o Options) sweepName(mode, what string, value int, values []int) string {
	if len(values) == 1 {
		return mode
	}
	return fmt.Sprintf("%s %s=%d", mode, what, value)
}

// Runs resolves the settings of all runs, seed by seed, so that an interrupted
// comparison has something of every mode. What the user got wrong is a
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
				return nil, terminal.Usagef("--seed %d: leaves no room for %d seeds", c.Seed, o.Seeds)
			}
			c.Seed += uint64(i)
			r := Run{Variant: v, Config: c}
			r.Config.Out = filepath.Join(o.Out, runsFolder, r.name())
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// check refuses what no run could tell.
func (o Options) check() error {
	known := settings.ModeNames()
	for i, mode := range o.Modes {
		if slices.Contains(o.Modes[:i], mode) {
			return terminal.Usagef("--modes: %s is there twice", mode)
		}
		if !slices.Contains(known, mode) {
			return terminal.Usagef("--modes: %q is none of %s", mode, strings.Join(known, ", "))
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
	case len(o.Contexts) > 0 && !slices.Contains(o.Modes, settings.ModeCL):
		return terminal.Usagef("--contexts is for mode %s, which is not compared", settings.ModeCL)
	case len(o.Batches) > 0 && !slices.Contains(o.Modes, settings.ModeVanilla):
		return terminal.Usagef("--batch is for mode %s, which is not compared", settings.ModeVanilla)
	}
	if err := unique("contexts", o.Contexts); err != nil {
		return err
	}
	if err := unique("batch", o.Batches); err != nil {
		return err
	}
	return o.checkSettings()
}

func unique(flag string, values []int) error {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return terminal.Usagef("--%s: %d is there twice", flag, v)
		}
	}
	return nil
}

// checkSettings refuses settings that would change nothing.
func (o Options) checkSettings() error {
	for _, mode := range slices.Sorted(maps.Keys(o.Own)) {
		if !slices.Contains(o.Modes, mode) {
			return terminal.Usagef("--set %s.…: mode %s is not compared", mode, mode)
		}
		for name := range o.Own[mode] {
			if slices.Contains([]string{"mode", "out", "seed", "corpus", "force", "matrix", "init"}, name) {
				return terminal.Usagef("--set %s.%s: a comparison sets that itself", mode, name)
			}
		}
	}
	var c settings.Config
	for _, s := range c.Settings() {
		if _, set := o.Settings[s.Name]; set && !slices.ContainsFunc(o.Modes, s.AppliesTo) {
			return terminal.Usagef("--%s does not apply to any of the modes (it is for mode %s)", s.Name, strings.Join(s.ModeNames(), ", "))
		}
	}
	return nil
}

// shared are the settings of group "Model and samples" that all modes have in
// common: what a mode's recipe is about is not among them.
var shared = []string{"dim", "window", "negative", "sample"}

// resolve returns the settings of a variant: those of the text and the shared
// ones from the recipe of mode cl, so that they are the same for all; the rest
// from the mode's own recipe; budget, sweep and the user's over them.
func (o Options) resolve(v Variant) (settings.Config, error) {
	texts := map[string]string{}
	defaults := settings.Defaults(settings.ModeCL, o.Settings["preset"], "")
	for _, s := range defaults.Settings() {
		if s.Group == settings.GroupText || slices.Contains(shared, s.Name) {
			texts[s.Name] = s.String()
		}
		if text, ok := o.Settings[s.Name]; ok && s.AppliesTo(v.Mode) {
			texts[s.Name] = text
		}
	}
	texts["mode"], texts["out"] = v.Mode, o.Out
	if v.Contexts > 0 {
		texts["contexts"] = strconv.Itoa(v.Contexts)
	}
	if v.Batch > 0 {
		texts["batch"] = strconv.Itoa(v.Batch)
	}
	o.Budget.apply(v.Mode, texts)
	own := o.Own[v.Mode]
	if _, ok := own["iterations"]; ok {
		delete(texts, "epochs")
	}
	maps.Copy(texts, own)
	c, err := settings.Resolve("", texts)
	if err != nil {
		return c, fmt.Errorf("mode %s: %w", v.Name, err)
	}
	return c, nil
}
