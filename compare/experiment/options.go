package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// Options say what is compared.
type Options struct {
	Title string // of the report; empty: the names of the variants

	// Variants are compared, the first with each of the others. A setting may have a list of
	// values, which stands for a variant for each of them; see [Options.All].
	Variants []Variant
	External []External // vectors of other programs, scored beside ours
	Seeds    int        // runs of each variant, with seeds that follow each other

	// Settings are those that all variants share, by name, as texts that a flag would
	// take; a list of values is compared. A variant whose mode does not use one does
	// without it.
	Settings map[string]string

	Budget   Budget
	Points   int    // observations of a run, at equal steps of its work
	Data     string // folder of evaluation sets
	Classify bool   // also score the finished runs on the sets of sentences in Data
	Out      string // folder of the report and the runs

	// Corpus is the name of the corpus in the report; empty: its name in Settings,
	// which must be a path that holds from any folder.
	Corpus string
}

// ownSettings are the settings of runs that a comparison sets itself.
var ownSettings = []string{"mode", "out", "seed", "corpus", "graph", "force", "matrix", "graph-dot", "init"}

// check refuses mistakes that no single run would show.
func (o Options) check() error {
	switch {
	case len(o.Variants) == 0:
		return terminal.Usagef("--modes is missing: name some of %s, or give a --variant", strings.Join(settings.ModeNames(), ", "))
	case o.Out == "":
		return terminal.Usagef("--out is missing: name the folder for the report and the runs")
	case o.Seeds < 1 || o.Seeds > 1000:
		return terminal.Usagef("--seeds %d: must be from 1 to 1000", o.Seeds)
	case o.Points < 1 || o.Points > 1000:
		return terminal.Usagef("--points %d: must be from 1 to 1000", o.Points)
	}
	for i, v := range o.Variants {
		if err := v.check(); err != nil {
			return err
		}
		if slices.ContainsFunc(o.Variants[:i], func(other Variant) bool { return other.Name == v.Name }) {
			return terminal.Usagef("%s is there twice; give one of them a name of its own: --variant 'NAME: mode=%s'", v.Name, v.Mode)
		}
	}
	if err := o.checkShared(); err != nil {
		return err
	}
	if err := o.checkExternals(); err != nil {
		return err
	}
	return o.checkLists()
}

// checkShared refuses shared settings that would change nothing.
func (o Options) checkShared() error {
	used := func(s settings.Setting) bool {
		return slices.ContainsFunc(o.Variants, func(v Variant) bool { return o.applies(s, v) })
	}
	var c settings.Config
	for _, s := range c.Settings() {
		if _, set := o.Settings[s.Name]; !set || used(s) {
			continue
		}
		byModel := slices.IndexFunc(o.Variants, func(v Variant) bool { return s.AppliesTo(v.Mode) })
		if byModel >= 0 {
			v := o.Variants[byModel]
			return s.OfOtherModel("--"+s.Name, v.Mode, o.defaults(v).Model)
		}
		return terminal.Usagef("--%s does not apply to any of the modes (it is for mode %s)", s.Name, strings.Join(s.ModeNames(), ", "))
	}
	return nil
}

// checkLists refuses values that are compared twice, and too many variants.
func (o Options) checkLists() error {
	lists := []map[string]string{o.Settings}
	for _, v := range o.Variants {
		lists = append(lists, v.Own)
	}
	for _, texts := range lists {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			values := valuesOf(name, texts[name])
			for i, value := range values {
				if slices.Contains(values[:i], value) {
					return terminal.Usagef("--%s: %s is there twice", name, value)
				}
			}
		}
	}
	const most = 1000
	if n := len(o.All()); n > most {
		return terminal.Usagef("%d variants are too many to compare: at most %d", n, most)
	}
	folders := map[string]string{}
	for _, v := range o.All() {
		if other, taken := folders[v.folder()]; taken {
			return terminal.Usagef("variants %s and %s would have the same folder: give one of them another name", other, v.Name)
		}
		folders[v.folder()] = v.Name
	}
	return nil
}

// check refuses a variant that cannot be.
func (v Variant) check() error {
	known := settings.ModeNames()
	switch {
	case v.Mode == "" && variantName().MatchString(v.Name):
		return terminal.Usagef("variant %s says no mode: add mode=%s or another", v.Name, settings.ModeCL)
	case v.Mode != "" && !slices.Contains(known, v.Mode):
		return terminal.Usagef("variant %s: mode %q is none of %s", v.Name, v.Mode, strings.Join(known, ", "))
	case v.Name != v.Mode && (slices.Contains(known, v.Name) || !variantName().MatchString(v.Name)):
		return terminal.Usagef("%q cannot be the name of a variant: %s, and are not those of modes", v.Name, nameRule)
	}
	for _, name := range slices.Sorted(maps.Keys(v.Own)) {
		if slices.Contains(ownSettings, name) {
			return terminal.Usagef("variant %s: a comparison sets %s itself", v.Name, name)
		}
		if _, ok := settings.Find(name); !ok {
			return fmt.Errorf("variant %s: %w", v.Name, settings.Unknown(name))
		}
	}
	return nil
}
