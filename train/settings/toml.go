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
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// readTOML reads a configuration file into texts by setting name.
func readTOML(file string) (map[string]string, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return decodeTOML(data, file)
}

// ReadTOML reads a configuration file, or its content if data is not nil. keys are the names in it, in their order,
// those of tables with their parts apart.
func ReadTOML(file string, data []byte) (raw map[string]any, keys [][]string, err error) {
	if data == nil {
		if data, err = readFile(file); err != nil {
			return nil, nil, err
		}
	}
	meta, err := decodeRaw(data, file, &raw)
	for _, key := range meta.Keys() {
		keys = append(keys, key)
	}
	return raw, keys, err
}

// decodeRaw parses the content of a file.
func decodeRaw(data []byte, file string, raw *map[string]any) (toml.MetaData, error) {
	meta, err := toml.Decode(string(data), raw)
	var parse toml.ParseError
	switch {
	case errors.As(err, &parse):
		return meta, terminal.Usagef("%s:%d: %s; a configuration is a TOML file, such as config.toml of a run", file, parse.Position.Line, parse.Message)
	case err != nil:
		return meta, terminal.Usagef("%s: %v", file, err)
	}
	return meta, nil
}

// decodeTOML is readTOML of the content of a file.
func decodeTOML(data []byte, file string) (texts map[string]string, err error) {
	var raw map[string]any
	if _, err := decodeRaw(data, file, &raw); err != nil {
		return nil, err
	}
	var scratch Config
	texts = make(map[string]string, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		s, ok := scratch.setting(name)
		if !ok {
			return nil, terminal.Usagef("%s: unknown setting %q%s", file, name, didYouMean(name))
		}
		if name == "force" { // a file that is used again would replace a run each time
			return nil, terminal.Usagef("%s: force: only the command line says what is replaced: pass --force", file)
		}
		if texts[name], err = s.tomlText(raw[name]); err != nil {
			return nil, terminal.Usagef("%s: %s: %v", file, name, err)
		}
	}
	return texts, nil
}

// TOMLText returns a value of a TOML file as the text that a flag would take. A list of
// numbers, switches or choices becomes one text with commas.
func TOMLText(name string, value any) (string, error) {
	s, ok := new(Config).setting(name)
	if !ok {
		return "", Unknown(name)
	}
	list, ok := value.([]any)
	if !ok || !s.Single() {
		return s.tomlText(value)
	}
	var texts []string
	for _, each := range list {
		text, err := s.tomlText(each)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ","), nil
}

// largestFile is the size in bytes of the largest configuration file that is read;
// those of run folders have about one thousand.
const largestFile = 1 << 20

// readFile returns the content of a configuration file, which may be a pipe.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	var data []byte
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, largestFile+1))
	}
	if err == nil && len(data) > largestFile {
		err = fmt.Errorf("it has more than %d bytes, so it is not a configuration file", largestFile)
	}
	if err == nil {
		return data, nil
	}
	reason := err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		reason = "there is no such file"
	} else if info, statErr := os.Stat(name); statErr == nil && info.IsDir() {
		reason = "it is a folder; name the TOML file in it (a run folder's is config.toml)"
	}
	return nil, terminal.Usagef("--config %s: %s", name, reason)
}

// TOML returns the configuration as a commented TOML file that [Resolve] reads
// back to the same run. It holds the settings the mode uses, all of them, so
// that a later change of a recipe does not change an old run. Where the run
// lies (--out) and whether it replaced another are not part of it.
func (c Config) TOML() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("# A run of w2vcl, every setting resolved. Repeat it with\n" +
		"#   w2vcl train --config config.toml --out DIR\n")
	section := ""
	for _, s := range c.Settings() {
		if !s.Record || !c.uses(s) || c.leftOut(s.Name) {
			continue
		}
		if s.Section != section {
			section = s.Section
			fmt.Fprintf(&out, "\n# %s\n", section)
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
	case "freeze":
		return c.Freeze == freezeNone
	case "init-moments":
		return !c.Moments
	case "subword":
		return c.Subword == SubwordNone && !c.in(Stretches) && c.Init == "" // which may have an encoder unless told otherwise
	case "max-memory":
		return c.MaxMemory.IsZero()
	case "budget":
		return c.Budget.Kind == ""
	case "iterations": // those of a budget or of epochs follow from these
		return c.Iterations == 0 || c.Budget.Kind != "" || c.stretchesInEpochs()
	case "epochs":
		return c.Epochs == 0 || c.Iterations != 0 && !c.stretchesInEpochs() || c.Budget.Kind != ""
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
