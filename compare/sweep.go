package compare

import (
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/settings"
)

// A sweep compares a mode with itself at several values of one of its settings.
type sweep struct {
	setting string // that varies, for all modes that use it
	label   string // of the value in a variant's name
	caption string // of the chart
	axis    string // of the chart

	values func(o Options) []int // empty: the recipe's value
	value  func(v *Variant) *int // 0 outside of the sweep
}

// sweeps is the table of all sweeps.
var sweeps = []sweep{
	{
		setting: "contexts", label: "l", caption: "Scores by length", axis: "iterations l of an epoch",
		values: func(o Options) []int { return o.Contexts }, value: func(v *Variant) *int { return &v.Contexts },
	},
	{
		setting: "batch", label: "batch", caption: "Scores by batch size", axis: "pairs in a minibatch",
		values: func(o Options) []int { return o.Batches }, value: func(v *Variant) *int { return &v.Batch },
	},
}

// modes lists the modes that use the setting.
func (s sweep) modes() []string {
	found, _ := settings.Find(s.setting)
	return found.ModeNames()
}

// over returns every variant once with each of the values. Only several values
// show in the name.
func (s sweep) over(variants []Variant, values []int) []Variant {
	var all []Variant
	for _, v := range variants {
		for _, value := range values {
			swept := v
			if len(values) > 1 {
				swept.Name = fmt.Sprintf("%s %s=%d", v.Name, s.label, value)
			}
			*s.value(&swept) = value
			all = append(all, swept)
		}
	}
	return all
}

// title is the caption with the modes that are swept.
func (s sweep) title() string {
	return fmt.Sprintf("%s (mode %s)", s.caption, strings.Join(s.modes(), ", "))
}
