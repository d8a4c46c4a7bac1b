package train

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// Resolve layers the settings of a run, later ones winning: recipe of mode,
// preset and optimizer; the TOML file (none if file is empty); flags, by their
// canonical names. The result is validated. What the user got wrong comes back
// as a [terminal.UsageError].
func Resolve(file string, flags map[string]string) (Config, error) {
	c, set, err := layer(file, flags)
	if err != nil {
		return Config{}, err
	}
	if err := c.checkApplies(set); err != nil {
		return Config{}, err
	}
	if set["iterations"] != "" && c.Iterations < 1 { // not set it is 0: whole epochs
		return Config{}, terminal.Usagef("%s %d: must be at least 1", set["iterations"], c.Iterations)
	}
	if set["epochs"] != "" && set["iterations"] != "" {
		return Config{}, terminal.Usagef("%s and %s both say how long to train: give one of them", set["epochs"], set["iterations"])
	}
	dependentDefaults(&c, set)
	if err := c.Validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// settingsSet holds what was set by file or flag: by the setting's name, how to
// call it in a message, such as "--dim" or "run.toml: dim".
type settingsSet map[string]string

// layer applies recipe, file and flags, and tells which settings were set.
func layer(file string, flags map[string]string) (Config, settingsSet, error) {
	var fromFile map[string]string
	if file != "" {
		var err error
		if fromFile, err = readTOML(file); err != nil {
			return Config{}, nil, err
		}
	}
	// One of the two says how long to train; a flag wins over the file.
	if _, ok := flags["epochs"]; ok {
		delete(fromFile, "iterations")
	}
	if _, ok := flags["iterations"]; ok {
		delete(fromFile, "epochs")
	}
	selector := func(name string) string {
		if text, ok := flags[name]; ok {
			return text
		}
		return fromFile[name]
	}
	c := Defaults(selector("mode"), selector("preset"), selector("optimizer"))
	if kind := selector("subword"); kind != "" && slices.Contains(graphModes, c.Mode) {
		subwordRecipe(&c, kind)
	}
	set := settingsSet{}
	if err := c.apply(fromFile, file+": ", set); err != nil {
		return Config{}, nil, err
	}
	if err := c.apply(flags, "--", set); err != nil {
		return Config{}, nil, err
	}
	return c, set, nil
}

// apply sets the values of one source.
func (c *Config) apply(values map[string]string, source string, set settingsSet) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		label := source + name
		s, ok := c.setting(name)
		if !ok {
			return terminal.Usagef("%s: no such setting", label)
		}
		if err := s.Set(values[name]); err != nil {
			return terminal.Usagef("%s: %v", label, err)
		}
		set[name] = label
	}
	return nil
}

// checkApplies refuses settings that were set but that the mode does not use:
// a flag that is silently ignored makes a result that is not what was asked.
func (c *Config) checkApplies(set settingsSet) error {
	if err := c.validateMode(); err != nil {
		return err
	}
	for _, s := range c.Settings() {
		if set[s.Name] != "" && !s.AppliesTo(c.Mode) {
			return terminal.Usagef("%s does not apply to mode %s (it is for mode %s): leave it out",
				set[s.Name], c.Mode, strings.Join(s.Modes, ", "))
		}
		if set[s.Name] != "" && !c.uses(s) {
			return terminal.Usagef("%s does not apply to --subword %s (it is for %s): leave it out",
				set[s.Name], c.Subword, strings.Join(s.Subword, ", "))
		}
	}
	return nil
}

// readTOML reads a configuration file into texts by setting name.
func readTOML(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		reason := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			reason = "there is no such file"
		} else if info, statErr := os.Stat(file); statErr == nil && info.IsDir() {
			reason = "it is a folder; name the TOML file in it (a run folder's is config.toml)"
		}
		return nil, terminal.Usagef("--config %s: %s", file, reason)
	}
	var raw map[string]any
	if err := toml.Unmarshal(data, &raw); err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return nil, terminal.Usagef("%s:%d: %s", file, parse.Position.Line, parse.Message)
		}
		return nil, terminal.Usagef("%s: %v", file, err)
	}
	var scratch Config
	texts := make(map[string]string, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		s, ok := scratch.setting(name)
		if !ok {
			return nil, terminal.Usagef("%s: unknown setting %q%s", file, name, didYouMean(name))
		}
		if texts[name], err = s.tomlText(raw[name]); err != nil {
			return nil, terminal.Usagef("%s: %s: %v", file, name, err)
		}
	}
	return texts, nil
}

// didYouMean suggests the setting whose name or alias is nearest.
func didYouMean(name string) string {
	best, bestDistance := "", max(2, len(name)/3)+1
	for _, s := range new(Config).Settings() {
		for _, known := range append([]string{s.Name}, s.Aliases...) {
			if d := terminal.EditDistance(name, known); d < bestDistance {
				best, bestDistance = s.Name, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// TOML returns the configuration as a commented TOML file that [Resolve] reads
// back to the same run. It holds the settings the mode uses, all of them, so
// that a later change of a recipe does not change an old run. Where the run
// lies (--out) and whether it replaced another are not part of it.
func (c Config) TOML() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("# A run of w2vcl, every setting resolved. Repeat it with\n" +
		"#   w2vcl train --config config.toml --out DIR\n")
	group := ""
	for _, s := range c.Settings() {
		if !s.Record || !c.uses(s) || c.leftOut(s.Name) {
			continue
		}
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&out, "\n# %s\n", group)
		}
		if err := toml.NewEncoder(&out).Encode(map[string]any{s.Name: s.raw()}); err != nil {
			return nil, fmt.Errorf("cannot record setting %s: %w", s.Name, err)
		}
	}
	return out.Bytes(), nil
}

// leftOut tells which settings say nothing in this configuration.
func (c *Config) leftOut(name string) bool {
	switch name {
	case "matrix":
		return c.Matrix == ""
	case "init":
		return c.Init == ""
	case "subword":
		return c.Subword == SubwordNone
	case "max-memory":
		return c.MaxMemory == ""
	case "iterations":
		return c.Iterations == 0
	case "epochs":
		return c.Iterations != 0
	default:
		return false
	}
}

// absolute makes a recorded path independent of the working folder.
func absolute(path string) string {
	if path == "" || path == "-" {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
