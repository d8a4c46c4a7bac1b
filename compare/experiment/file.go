package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/benchmarks/experiments"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A File is what a configuration file says of a comparison; what it leaves out is zero.
type File struct {
	Title    string
	Modes    []string
	Variants []Variant
	External []string          // as [ParseExternal] reads them
	Settings map[string]string // that all variants share
	Quick    *File             // of its small version: seeds, points, budget, and settings that differ
	Seeds    int
	Points   int
	Budget   string
	Data     string
	Out      string
	Classify bool
}

// The tables of a file: with a table for each variant; with what is different in a small version.
const (
	variantsTable = "variants"
	quickTable    = "quick"
)

// NewFile returns a file that says nothing.
func NewFile() *File {
	quick := File{Seeds: 1, Points: 1, Budget: "1s", Settings: map[string]string{}}
	return &File{Settings: map[string]string{}, Quick: &quick}
}

// Shorten makes the small version.
func (f *File) Shorten() {
	f.Seeds, f.Points, f.Budget = f.Quick.Seeds, f.Quick.Points, f.Quick.Budget
	maps.Copy(f.Settings, f.Quick.Settings)
}

// ReadFile reads a comparison from a TOML file, or the experiment of that name: settings that all variants share, by
// name; what the flags of the command say, by the flag's name; and a table [variants.NAME] of
// settings for each variant. A table [quick] has what is different in a small version. A list of values stands for a
// variant of each. Mistakes are a [terminal.UsageError] with the name of the file.
func ReadFile(path string) (*File, error) {
	raw, keys, err := settings.ReadTOML(path, experiments.Read(path))
	if err != nil {
		return nil, err
	}
	f := NewFile()
	for _, key := range keys {
		switch name := key[0]; name {
		case variantsTable:
			if len(key) > 1 && !slices.ContainsFunc(f.Variants, func(v Variant) bool { return v.Name == key[1] }) {
				err = f.addVariant(key[1], raw[variantsTable])
			}
		case quickTable:
			if table, ok := raw[name].(map[string]any); !ok {
				err = fmt.Errorf("it is not a table: write [%s]", quickTable)
			} else if len(key) > 1 {
				err = f.Quick.set(key[1], table[key[1]])
			}
		default:
			err = f.set(name, raw[name])
		}
		if err != nil {
			return nil, terminal.Usagef("%s: %s: %v", path, strings.Join(key, "."), err)
		}
	}
	if _, ok := f.Settings["mode"]; ok {
		return nil, terminal.Usagef("%s: mode: say modes = [...], or name it in a table [%s.NAME]", path, variantsTable)
	}
	return f, nil
}

// set takes what the file says by a name: for a flag, or a setting.
func (f *File) set(name string, value any) (err error) {
	fields := map[string]any{
		"title": &f.Title, "modes": &f.Modes, "external": &f.External, "seeds": &f.Seeds, "points": &f.Points,
		"budget": &f.Budget, "data": &f.Data, "out": &f.Out, "classify": &f.Classify,
	}
	if field := fields[name]; field != nil {
		return setField(field, value)
	}
	f.Settings[name], err = settings.TOMLText(name, value)
	return err
}

func (f *File) addVariant(name string, tables any) error {
	table, ok := tables.(map[string]any)[name].(map[string]any)
	if !ok {
		return fmt.Errorf("it is not a table: write [%s.%s]", variantsTable, name)
	}
	own := map[string]string{}
	for key, value := range table {
		text, err := settings.TOMLText(key, value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		own[key] = text
	}
	v, err := NewVariant(name, own)
	f.Variants = append(f.Variants, v)
	return err
}

func setField(field, value any) error {
	ok := false
	switch f := field.(type) {
	case *string:
		*f, ok = value.(string)
	case *bool:
		*f, ok = value.(bool)
	case *int:
		var n int64
		n, ok = value.(int64)
		*f = int(n)
		if ok && n < 1 {
			return fmt.Errorf("%d: must be at least 1", n)
		}
	case *[]string:
		list, isList := value.([]any)
		ok = isList && !slices.ContainsFunc(list, func(each any) bool { _, text := each.(string); return !text })
		for _, each := range list {
			text, _ := each.(string)
			*f = append(*f, text)
		}
	}
	if !ok {
		return fmt.Errorf("%v has the wrong type", value)
	}
	return nil
}
