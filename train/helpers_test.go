package train

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantUsage(t *testing.T, err error, want string) {
	t.Helper()
	var usage *terminal.UsageError
	if !errors.As(err, &usage) {
		t.Fatalf("got %v, want a usage error", err)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want it to say %q", err, want)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func modesOf(families ...settings.Family) (names []string) {
	for _, m := range settings.Modes() {
		if slices.Contains(families, m.Family) {
			names = append(names, m.Name)
		}
	}
	return names
}

// onStretches is mode cl with its default model where tests go through modes; settings.ModeCL alone is that of M there.
const onStretches = settings.ModeCL + ", " + settings.ModelPositional

// allModes are the names of all modes, and onStretches.
func allModes() []string { return append(settings.ModeNames(), onStretches) }

// withModel returns the mode and the model of a name in allModes.
func withModel(name string) (mode, model string) {
	mode, model, _ = strings.Cut(name, ", ")
	if mode == settings.ModeCL && model == "" {
		model = settings.ModelSkipGram
	}
	return mode, model
}

// graphModes, sequentialModes and deviceModes are groups of modes.
var (
	graphModes      = append(modesOf(settings.LargeBatch, settings.Minibatch), onStretches)
	sequentialModes = modesOf(settings.SentenceOrdered)
	deviceModes     = func() (names []string) {
		for _, m := range settings.Modes() {
			if m.Trains(settings.OnGPU) {
				names = append(names, m.Name)
			}
		}
		return names
	}()
)

func interval(t *testing.T, text string) (i settings.Interval) {
	t.Helper()
	if err := i.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return i
}

func size(t *testing.T, text string) settings.Size {
	t.Helper()
	s, err := settings.ParseSize(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
