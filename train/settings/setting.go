package settings

import (
	"encoding"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Setting is one entry of the table of settings. Its value points into the
// [Config] that the table was made of.
type Setting struct {
	Name    string   // of the flag and in TOML
	Aliases []string // names other tools use; accepted as flags, not shown
	Section string   // heading in help
	Choices []Choice // the values it may have; nil: others
	Modes   ability  // of the modes that use it; zero: all do
	Subword []string // kinds of --subword that use it; nil: all
	Record  bool     // written to the run folder's config.toml
	Resume  bool     // may change when a run is resumed

	Study     bool // a variant of papers, or for those who develop w2vcl: help has it last
	Negatives bool // of no use without negatives, with --hierarchical-softmax
	Text      bool // of no use with --graph
	Graph     bool // of no use without --graph

	help        string // one line; a word in backquotes names the value
	value       any    // *string, *bool, *int, *uint64, *float64 or a textValue, into a Config
	hideDefault bool
}

// A Choice is one value of a setting that names a choice.
type Choice struct {
	Name string
	Help string // a few words; may be empty where the name says it all
}

// A textValue is a value with a syntax of its own.
type textValue interface {
	encoding.TextUnmarshaler
	fmt.Stringer
}

// Help returns the setting's line of help, with its choices. A word in
// backquotes names the value.
func (s Setting) Help() string {
	if s.Choices == nil {
		return s.help
	}
	var list strings.Builder
	for i, c := range s.Choices {
		switch {
		case i > 0 && i == len(s.Choices)-1:
			list.WriteString(" or ")
		case i > 0:
			list.WriteString(", ")
		}
		list.WriteString(c.Name)
		if c.Help != "" {
			list.WriteString(" (" + c.Help + ")")
		}
	}
	return fmt.Sprintf("%s: `NAME` is %s", s.help, &list)
}

// studies is the last heading of help.
const studies = "Variants of papers, and for development"

// HelpSection is the heading that help lists the setting under.
func (s Setting) HelpSection() string {
	if s.Study {
		return studies
	}
	return s.Section
}

// AppliesTo reports whether the mode of that name uses the setting, with any of its models.
func (s Setting) AppliesTo(mode string) bool {
	return s.Modes == 0 || slices.Contains(s.ModeNames(), mode)
}

// AppliesWith reports whether the mode of that name uses the setting with a model.
func (s Setting) AppliesWith(mode, model string) bool {
	m, _ := findMode(mode, model)
	return m.Trains(s.Modes)
}

// ModeNames lists the modes that use the setting.
func (s Setting) ModeNames() []string { return modesThat(s.Modes) }

// uses reports whether the configuration has a use for the setting.
func (c *Config) uses(s Setting) bool {
	if s.Text && c.Graph != "" || s.Graph && c.Graph == "" {
		return false
	}
	if s.Negatives && c.HierarchicalSoftmax || s.Subword != nil && !slices.Contains(s.Subword, c.Subword) {
		return false
	}
	return s.AppliesWith(c.Mode, c.Model)
}

// ShowsDefault reports whether help should print the value as the default.
func (s Setting) ShowsDefault() bool {
	return !s.hideDefault && s.String() != "" && s.String() != "false"
}

// Single reports whether a value of the setting is a number, a switch or a choice. Such a
// value has no comma, so that a list of them can stand for several.
func (s Setting) Single() bool {
	switch s.value.(type) {
	case *bool, *int, *uint64, *float64:
		return true
	default:
		return s.Choices != nil
	}
}

// IsBool reports whether the setting is a switch.
func (s Setting) IsBool() bool {
	_, ok := s.value.(*bool)
	return ok
}

// Type names the kind of value for help and error messages.
func (s Setting) Type() string {
	switch s.value.(type) {
	case *bool:
		return "bool"
	case *int:
		return "whole number"
	case *uint64:
		return "whole number from 0 up"
	case *float64:
		return "number"
	default:
		return "text"
	}
}

// String returns the value as a flag would take it.
func (s Setting) String() string {
	switch v := s.value.(type) {
	case *string:
		return *v
	case *bool:
		return strconv.FormatBool(*v)
	case *int:
		return strconv.Itoa(*v)
	case *uint64:
		return strconv.FormatUint(*v, 10)
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case textValue:
		return v.String()
	default: // the zero Setting, which flag packages make to compare defaults
		return ""
	}
}

// set parses text into the value. label names the setting in the error.
func (s Setting) set(label, text string) error {
	var err error
	switch v := s.value.(type) {
	case *string:
		*v = text
	case *bool:
		*v, err = strconv.ParseBool(text)
	case *int:
		*v, err = strconv.Atoi(text)
	case *uint64:
		*v, err = strconv.ParseUint(text, 10, 64)
	case *float64:
		*v, err = strconv.ParseFloat(text, 64)
		if err == nil && (math.IsNaN(*v) || math.IsInf(*v, 0)) {
			err = strconv.ErrRange
		}
	case textValue:
		if err := v.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("%s %s: %w", label, text, err)
		}
	}
	if err != nil {
		kind := strings.Replace(s.Type(), "bool", "switch (true or false)", 1)
		return fmt.Errorf("%s: %q is not a %s", label, text, kind)
	}
	return nil
}

// raw returns the value itself, in a type TOML knows.
func (s Setting) raw() any {
	switch v := s.value.(type) {
	case *bool:
		return *v
	case *int:
		return int64(*v)
	case *uint64:
		return int64(*v) // Validate keeps seeds below 2^63
	case *float64:
		return *v
	default:
		return s.String()
	}
}

// tomlText turns a value of a TOML file into the text a flag would have, after
// checking that the file gave it in the setting's own type.
func (s Setting) tomlText(value any) (string, error) {
	ok := false
	switch s.value.(type) {
	case *bool:
		_, ok = value.(bool)
	case *int, *uint64:
		_, ok = value.(int64)
	case *float64:
		switch value.(type) {
		case int64, float64:
			ok = true
		}
	case *Numbers: // one may stand alone
		switch value.(type) {
		case int64, string:
			ok = true
		}
	default:
		_, ok = value.(string)
	}
	if !ok {
		return "", fmt.Errorf("%v is not a %s", quoted(value), s.Type())
	}
	return fmt.Sprint(value), nil
}

// quoted puts quotation marks around a text.
func quoted(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}
