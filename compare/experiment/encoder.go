package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/w2vcl/w2vcl/train/settings"
)

// EqualEncoder returns the options with the same encoder for all variants that do not choose one: the encoder of a
// recipe among theirs, or none if one of these variants cannot have it. So the order of training is what differs, and
// not what words are composed of. why says which variant cannot, and is empty if all can.
func (o Options) EqualEncoder() (equal Options, why string, err error) {
	equal = o
	equal.Settings = maps.Clone(o.Settings)
	var free []Variant // they do not choose
	for _, v := range o.All() {
		if cmp.Or(v.Own["subword"], o.Settings["subword"]) != "" {
			continue
		}
		c, err := o.resolve(v)
		if err != nil {
			return o, "", err
		}
		free = append(free, v)
		if c.HasEncoder() {
			equal.Settings["subword"] = c.Subword
		}
	}
	for _, v := range free {
		if reason := equal.without(v); reason != "" && equal.Settings["subword"] != "" {
			equal.Settings["subword"] = settings.SubwordNone
			return equal, fmt.Sprintf("No variant composes words from their spelling, because %s cannot: %s.", v.Name, reason), nil
		}
	}
	return equal, "", nil
}

// without says why a variant cannot have the encoder that all share; empty if it can.
func (o Options) without(v Variant) string {
	recipe := o.defaults(v)
	c, err := o.resolve(v)
	switch {
	case v.Own["preset"] != "" && recipe.IsPublished():
		return "preset " + v.Own["preset"] + " has no encoder"
	case err != nil:
		return errors.Unwrap(err).Error()
	case !c.HasEncoder():
		return "mode " + v.Mode + " has no encoders"
	default:
		return ""
	}
}
