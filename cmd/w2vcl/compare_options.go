package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A variantList is the value of --modes.
type variantList []string

// Set reads the list.
func (l *variantList) Set(text string) error {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains(settings.ModeNames(), part) {
			return fmt.Errorf("%q is none of %s%s", part, strings.Join(settings.ModeNames(), ", "), terminal.DidYouMean(part, settings.ModeNames()))
		}
		list = append(list, part)
	}
	*l = list
	return nil
}

func (l *variantList) String() string { return strings.Join(*l, ",") }

// Type names the kind of value in help.
func (l *variantList) Type() string { return "list" }

// externalsValue is the value of --external.
type externalsValue []experiment.External

// Set reads one more file.
func (v *externalsValue) Set(text string) error {
	external, err := experiment.ParseExternal(text)
	*v = append(*v, external)
	return err
}

// String lists the files.
func (v *externalsValue) String() string { return strings.Join(v.Paths(), " ") }

// Paths returns the files, so that the check of a command's files covers them.
func (v *externalsValue) Paths() (paths []string) {
	for _, e := range *v {
		paths = append(paths, e.Vectors)
	}
	return paths
}

// Type names the kind of value in help.
func (v *externalsValue) Type() string { return "file" }

// takeFrom takes from the file what no flag gives.
func (o *compareOptions) takeFrom(file *experiment.File, changed func(flag string) bool) error {
	inFile := func(flag string, is bool) bool { return is && !changed(flag) }
	if inFile("seeds", file.Seeds > 0) {
		o.seeds = file.Seeds
	}
	if inFile("points", file.Points > 0) {
		o.points = file.Points
	}
	if inFile("data", file.Data != "") {
		o.data = file.Data
	}
	if inFile("out", file.Out != "") {
		o.out = file.Out
	}
	if inFile("classify", file.Classify) {
		o.classify = true
	}
	if inFile("budget", file.Budget != "") {
		var err error
		if o.budget, err = experiment.ParseBudget(file.Budget); err != nil {
			return terminal.Usagef("%s: budget: %v", o.settings.File, err)
		}
	}
	return nil
}

// length returns how long runs train: --budget, or what --equal says.
func (o *compareOptions) length(changed func(flag string) bool) (experiment.Budget, error) {
	if changed("equal") && changed("budget") {
		return o.budget, terminal.Usagef("--equal and --budget both say how long to train: give one of them")
	}
	if o.budget.Kind == "" || changed("equal") {
		return o.equal, nil
	}
	return o.budget, nil
}

// options returns what is compared: the file, and the flags over it.
func (o *compareOptions) options(cmd *cobra.Command) (experiment.Options, error) {
	file := experiment.NewFile()
	if o.settings.File != "" {
		var err error
		if file, err = experiment.ReadFile(o.settings.File); err != nil {
			return experiment.Options{}, err
		}
	}
	if o.quick {
		file.Shorten()
	}
	if err := o.takeFrom(file, cmd.Flags().Changed); err != nil {
		return experiment.Options{}, err
	}
	for name, text := range file.Settings {
		if _, ok := o.settings.Set[name]; !ok {
			o.settings.Set[name] = text
		}
	}
	budget, err := o.length(cmd.Flags().Changed)
	if err != nil {
		return experiment.Options{}, err
	}
	options := experiment.Options{
		Title: file.Title, Seeds: o.seeds, Points: o.points, Settings: o.settings.Set,
		Budget: budget, Out: o.out, Classify: o.classify,
		Corpus: o.settings.Set["corpus"],
	}
	for _, text := range file.External {
		if err := o.external.Set(text); err != nil {
			return options, terminal.Usagef("%s: external: %v", o.settings.File, err)
		}
	}
	options.External = o.external
	modes, variants := []string(o.modes), o.variants
	switch { // the flags that name variants, else those of the file, else --modes as it is by default
	case cmd.Flags().Changed("modes"):
	case len(variants) > 0:
		modes = nil
	case len(file.Modes)+len(file.Variants) > 0:
		modes, variants = file.Modes, file.Variants
	}
	options.Variants = append(experiment.Modes(modes), variants...)
	return options, nil
}
