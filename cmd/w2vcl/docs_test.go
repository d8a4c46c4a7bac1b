package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/train/settings"
)

// TestDocumentsNameWhatThereIs: every command, flag and mode that a document names exists.
func TestDocumentsNameWhatThereIs(t *testing.T) {
	commands, flags := knownNames(newRoot(cli.Streams{}))
	top := filepath.Join("..", "..")
	documents, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "notebooks/README.md", "python/README.md"} {
		documents = append(documents, filepath.Join(top, name))
	}
	var (
		code    = regexp.MustCompile("`[^`\n]+`|(?m)^(?: {4}|\t).*$") // a span, or a line of a block
		command = regexp.MustCompile(`(?:^\s*|[/$|&;] ?|'|until )w2vcl ([a-z]+)`)
		flag    = regexp.MustCompile(`(?:^|[\s(])--([a-zA-Z][\w-]*)`)
		mode    = regexp.MustCompile(`--modes?[ =]([a-z0-9,=]+)`)
		others  = regexp.MustCompile(`\b(?:docker|apptainer|SBATCH|srun|scancel|python3?|pip|go|git|npm|mpirun|make|nvcc|apt-get)\b`) // programs with flags of their own
	)
	for _, path := range documents {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range code.FindAllString(string(data), -1) {
			text = strings.Trim(text, "`")
			for _, match := range command.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(commands, match[1]) {
					t.Errorf("%s: %q: there is no command %s", path, text, match[1])
				}
			}
			for _, match := range mode.FindAllStringSubmatch(text, -1) {
				for entry := range strings.SplitSeq(match[1], ",") {
					if entry != "" && !slices.Contains(settings.ModeNames(), entry) {
						t.Errorf("%s: %q: there is no mode %s", path, text, entry)
					}
				}
			}
			if others.MatchString(text) && !strings.Contains(text, "cmd/w2vcl") {
				continue
			}
			for _, match := range flag.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(flags, match[1]) {
					t.Errorf("%s: %q: there is no flag --%s", path, text, match[1])
				}
			}
		}
	}
}

// knownNames lists the names of all commands below one, and of their flags with the
// names that other tools use.
func knownNames(root *cobra.Command) (commands, flags []string) {
	for _, c := range root.Commands() {
		commands = append(commands, c.Name())
		c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		below, theirs := knownNames(c)
		commands, flags = append(commands, below...), append(flags, theirs...)
	}
	for _, s := range new(settings.Config).Settings() {
		flags = append(append(flags, s.Name), s.Aliases...)
	}
	return commands, append(flags, "help", "version")
}

// TestModesAreListed: the table of modes is complete.
func TestModesAreListed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "modes.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range settings.ModeNames() {
		if !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("the table of modes in docs/modes.md lacks %s", name)
		}
	}
}
