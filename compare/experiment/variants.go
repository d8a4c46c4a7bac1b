package experiment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/train/settings"
)

// A Variant is a mode with settings of its own.
type Variant struct {
	Name string `json:"name"`
	Mode string `json:"mode"`

	// Own are the settings in which it differs from what all share, by name, as texts
	// that a flag would take. They go before [Options.Settings].
	Own map[string]string `json:"own,omitempty"`
}

// variantName is what a variant may be called: its runs are in folders of that name, and it heads a column.
var variantName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,59}$`) })

const nameRule = "names have at most 60 characters: letters a to z and A to Z, digits, - and _, and do not begin with -"

// folder is the part of the names of the variant's run folders before the seed.
func (v Variant) folder() string {
	return strings.NewReplacer(" ", "-", "=", "", ",", "-", "/", "-").Replace(v.Name)
}

// Modes returns variants of modes without settings of their own.
func Modes(modes []string) []Variant {
	var variants []Variant
	for _, mode := range modes {
		variants = append(variants, Variant{Name: mode, Mode: mode})
	}
	return variants
}

// ParseVariant reads "NAME: SETTING=VALUE,SETTING=VALUE", see [NewVariant]. A value with
// commas is a list.
func ParseVariant(text string) (Variant, error) {
	name, list, _ := strings.Cut(text, ":")
	own, last := map[string]string{}, ""
	for part := range strings.SplitSeq(list, ",") {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch _, twice := own[key]; {
		case ok && twice:
			return Variant{}, fmt.Errorf("%q sets %s twice", text, key)
		case ok && key != "":
			own[key], last = value, key
		case !ok && last != "" && key != "":
			own[last] += "," + key
		case strings.TrimSpace(list) != "":
			return Variant{}, fmt.Errorf("%q is not of the form 'NAME: SETTING=VALUE,SETTING=VALUE'", text)
		}
	}
	return NewVariant(strings.TrimSpace(name), own)
}

// NewVariant returns a variant with its settings. Its mode is the setting mode, else the mode
// that is called as the variant is, else the one of its preset.
func NewVariant(name string, own map[string]string) (Variant, error) {
	v := Variant{Name: name, Mode: own["mode"], Own: maps.Clone(own)}
	delete(v.Own, "mode")
	if _, ok := settings.FindMode(name); v.Mode == "" && ok {
		v.Mode = name
	}
	if v.Mode == "" {
		v.Mode = settings.PresetMode(own["preset"])
	}
	return v, v.check()
}

// All lists every variant, one for each value of a list.
func (o Options) All() []Variant {
	var all []Variant
	var c settings.Config
	for _, v := range o.Variants {
		swept := []Variant{v}
		for _, s := range c.Settings() {
			text, own := v.Own[s.Name]
			if shared, ok := o.Settings[s.Name]; !own && ok && o.applies(s, v) {
				text = shared
			}
			if values := valuesOf(s.Name, text); len(values) > 1 {
				swept = over(swept, s.Name, values)
			}
		}
		all = append(all, swept...)
	}
	return all
}

// over returns every variant once with each of the values, which show in its name.
func over(variants []Variant, setting string, values []string) []Variant {
	var all []Variant
	for _, v := range variants {
		for _, value := range values {
			own := maps.Clone(v.Own)
			if own == nil {
				own = map[string]string{}
			}
			own[setting] = value
			all = append(all, Variant{Name: SweptName(v.Name, setting, value), Mode: v.Mode, Own: own})
		}
	}
	return all
}

// SweptName is the name of a variant at one value of a setting of which several are compared.
func SweptName(name, setting, value string) string {
	return fmt.Sprintf("%s %s=%s", name, setting, value)
}

// valuesOf returns the values of a setting that a text lists: one, unless the setting is one
// of which several can be compared.
func valuesOf(name, text string) []string {
	s, ok := settings.Find(name)
	if !ok || !s.Single() || slices.Contains(ownSettings, name) || !strings.Contains(text, ",") {
		return []string{text}
	}
	var values []string
	for value := range strings.SplitSeq(text, ",") {
		values = append(values, strings.TrimSpace(value))
	}
	return values
}
