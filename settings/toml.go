package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// readTOML reads a configuration file into texts by setting name, with the names of
// today.
func readTOML(file string) (map[string]string, error) {
	data, err := readFile(file)
	if err != nil {
		reason := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			reason = "there is no such file"
		} else if info, statErr := os.Stat(file); statErr == nil && info.IsDir() {
			reason = "it is a folder; name the TOML file in it (a run folder's is config.toml)"
		}
		return nil, terminal.Usagef("--config %s: %s", file, reason)
	}
	return decodeTOML(data, file)
}

// decodeTOML is readTOML of the content of a file.
func decodeTOML(data []byte, file string) (texts map[string]string, err error) {
	var raw map[string]any
	if err := toml.Unmarshal(data, &raw); err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return nil, terminal.Usagef("%s:%d: %s", file, parse.Position.Line, parse.Message)
		}
		return nil, terminal.Usagef("%s: %v", file, err)
	}
	var scratch Config
	texts = make(map[string]string, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		s, ok := scratch.setting(name)
		if isOlder(name) {
			s, ok = Setting{value: new(string)}, true
		}
		if !ok {
			return nil, terminal.Usagef("%s: unknown setting %q%s", file, name, didYouMean(name))
		}
		if texts[name], err = s.tomlText(raw[name]); err != nil {
			return nil, terminal.Usagef("%s: %s: %v", file, name, err)
		}
	}
	older := isOlderRun(texts)
	if texts, err = renamed(texts, file+": "); err == nil && older {
		texts = Current(texts)
	}
	return texts, err
}

// largestFile is the size in bytes of the largest configuration file that is read;
// those of run folders have about one thousand.
const largestFile = 1 << 20

// readFile returns the content of a configuration file, which may be a pipe.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err == nil && len(data) > largestFile {
		err = fmt.Errorf("it has more than %d bytes, so it is no configuration file", largestFile)
	}
	return data, err
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
		return c.MaxMemory.IsZero()
	case "iterations":
		return c.Iterations == 0
	case "epochs":
		return c.Iterations != 0
	default:
		return false
	}
}

// Recorded returns the settings that a run folder records, as texts by name.
func (c *Config) Recorded() map[string]string {
	all := map[string]string{}
	for _, s := range c.Settings() {
		if s.Record && c.uses(s) && !c.leftOut(s.Name) {
			all[s.Name] = s.String()
		}
	}
	return all
}
