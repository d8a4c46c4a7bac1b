package experiment

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// ModeExternal is the mode of vectors that another program trained.
const ModeExternal = "external"

// An External is a file of vectors that another program trained: a row beside ours. Several of
// one name are its runs with several seeds.
type External struct {
	Name    string
	Vectors string  // path of the file, or of a run folder
	Seconds float64 // of training; 0: unknown
	Epochs  float64 // passes over the text; 0: unknown
	Memory  int64   // bytes at the peak; 0: unknown
}

// Variant returns the row of the vectors.
func (e External) Variant() Variant {
	return Variant{Name: e.Name, Mode: ModeExternal, Own: map[string]string{"vectors": filepath.Base(e.Vectors)}}
}

// ParseExternal reads "NAME=FILE,seconds=S,epochs=N,memory=SIZE", of which all but name and file
// may be left out.
func ParseExternal(text string) (External, error) {
	name, rest, ok := strings.Cut(text, "=")
	e := External{Name: strings.TrimSpace(name)}
	if !ok || !variantName().MatchString(e.Name) || strings.TrimSpace(rest) == "" {
		return e, fmt.Errorf("%q is not of the form NAME=FILE,seconds=S,epochs=N,memory=SIZE; %s", text, nameRule)
	}
	parts := strings.Split(rest, ",")
	for len(parts) > 1 { // what stands behind the path, from the right: a path may have commas
		key, value, _ := strings.Cut(parts[len(parts)-1], "=")
		field := map[string]*float64{"seconds": &e.Seconds, "epochs": &e.Epochs}[strings.TrimSpace(key)]
		var err error
		switch {
		case field != nil:
			*field, err = strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err == nil && !(*field > 0 && *field <= math.MaxInt32) {
				err = fmt.Errorf("%s must be above 0", strings.TrimSpace(key))
			}
		case strings.TrimSpace(key) == "memory":
			var size settings.Size
			if size, err = settings.ParseSize(strings.TrimSpace(value)); err == nil {
				e.Memory, err = size.Bytes(0)
			}
		default:
			e.Vectors = strings.Join(parts, ",")
			return e, nil
		}
		if err != nil {
			return e, fmt.Errorf("%q: %w", text, err)
		}
		parts = parts[:len(parts)-1]
	}
	e.Vectors = parts[0]
	return e, nil
}

// Externals lists the variants that Options.External has, each once.
func (o Options) Externals() []Variant {
	var variants []Variant
	for _, e := range o.External {
		if !slices.ContainsFunc(variants, func(v Variant) bool { return v.Name == e.Name }) {
			variants = append(variants, e.Variant())
		}
	}
	return variants
}

// Rows lists all variants of a report: those that are trained, then those of others.
func (o Options) Rows() []Variant { return append(o.All(), o.Externals()...) }

// checkExternals refuses names that are taken.
func (o Options) checkExternals() error {
	all := o.All()
	for _, e := range o.External {
		if slices.ContainsFunc(all, func(v Variant) bool { return v.Name == e.Name }) {
			return terminal.Usagef("--external %s: a variant of this comparison has that name; take another", e.Name)
		}
	}
	return nil
}
