package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Setting is one entry of the table of settings. It has the methods of a
// flag value (Set, String, Type), so a command line can use it as it is.
type Setting struct {
	Name    string   // of the flag and in TOML
	Aliases []string // names other tools use; accepted as flags, not shown
	Help    string   // one line; a word in backquotes names the value
	Group   string   // heading in help
	Modes   []string // modes that use it; nil: all
	Subword []string // kinds of --subword that use it; nil: all
	Record  bool     // written to the run folder's config.toml
	Resume  bool     // may change when a run is resumed

	value       any // *string, *bool, *int, *uint64 or *float64, into a Config
	hideDefault bool
}

// AppliesTo reports whether mode uses the setting.
func (s Setting) AppliesTo(mode string) bool {
	return s.Modes == nil || slices.Contains(s.Modes, mode)
}

// uses reports whether the configuration has a use for the setting.
func (c *Config) uses(s Setting) bool {
	return s.AppliesTo(c.Mode) && (s.Subword == nil || slices.Contains(s.Subword, c.Subword))
}

// ShowsDefault reports whether help should print the value as the default.
func (s Setting) ShowsDefault() bool {
	return !s.hideDefault && s.String() != "" && s.String() != "false"
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
	default: // the zero Setting, which flag packages make to compare defaults
		return ""
	}
}

// Set parses text into the value.
func (s Setting) Set(text string) error {
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
	}
	if err != nil {
		return fmt.Errorf("%q is not a %s", text, strings.Replace(s.Type(), "bool", "switch (true or false)", 1))
	}
	return nil
}

// raw returns the value itself, in a type TOML knows.
func (s Setting) raw() any {
	switch v := s.value.(type) {
	case *string:
		return *v
	case *bool:
		return *v
	case *int:
		return int64(*v)
	case *uint64:
		return int64(*v) // Validate keeps seeds below 2^63
	case *float64:
		return *v
	default:
		return nil
	}
}

// tomlText turns a value of a TOML file into the text a flag would have, after
// checking that the file gave it in the setting's own type.
func (s Setting) tomlText(value any) (string, error) {
	ok := false
	switch s.value.(type) {
	case *string:
		_, ok = value.(string)
	case *bool:
		_, ok = value.(bool)
	case *int, *uint64:
		_, ok = value.(int64)
	case *float64:
		switch value.(type) {
		case int64, float64:
			ok = true
		}
	}
	if !ok {
		return "", fmt.Errorf("%v is not a %s", tomlShow(value), s.Type())
	}
	return fmt.Sprint(value), nil
}

func tomlShow(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}
