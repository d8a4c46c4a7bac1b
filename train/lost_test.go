package train

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// losses are ways to lose a run folder while it is trained.
var losses = map[string]func(t *testing.T, partial string) error{
	"removed":        func(_ *testing.T, partial string) error { return os.RemoveAll(partial) },
	"parent removed": func(_ *testing.T, partial string) error { return os.RemoveAll(filepath.Dir(partial)) },
	"moved": func(t *testing.T, partial string) error {
		return os.Rename(partial, filepath.Join(t.TempDir(), "elsewhere"))
	},
	"emptied": func(_ *testing.T, partial string) error {
		return errors.Join(os.RemoveAll(partial), os.Mkdir(partial, 0o755))
	},
	"settings removed":   removeFile(runfolder.ConfigFile),
	"vocabulary removed": removeFile(runfolder.VocabularyFile),
	"metrics removed":    removeFile(runfolder.MetricsFile),
}

func removeFile(name string) func(*testing.T, string) error {
	return func(_ *testing.T, partial string) error { return os.Remove(filepath.Join(partial, name)) }
}

// lossy runs a training and loses its folder after a half and at the end of it.
func lossy(t *testing.T, c settings.Config, lose func(t *testing.T, partial string) error) (string, error) {
	t.Helper()
	var shown bytes.Buffer
	_, err := Run(t.Context(), c, Options{
		Observations: 2, NoPlan: true,
		Observe: func(Observation) error {
			err := lose(t, c.Out+".partial")
			if errors.Is(err, os.ErrNotExist) { // it is lost already
				err = nil
			}
			return err
		},
	}, progress.New(&shown))
	return shown.String(), err
}

// TestLostFolder: a run folder that is removed or moved away during training is written
// again, whole, in every mode, with checkpoints and without.
func TestLostFolder(t *testing.T) {
	for _, mode := range allModes() {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := smallConfig(t, mode)
			c.Threads = 1
			if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
				t.Fatal(err)
			}
			want := entries(t, c.Out)
			for name, lose := range losses {
				if mode != settings.ModeCL && name != "removed" && name != "moved" { // the rest is not about the mode
					continue
				}
				for _, every := range []string{"0", "15"} {
					lost := c
					lost.Out, lost.Checkpoint = filepath.Join(t.TempDir(), "runs", "run"), interval(t, every)
					shown, err := lossy(t, lost, lose)
					if err != nil {
						t.Errorf("%s, checkpoints %s: %v", name, every, err)
						continue
					}
					if !strings.Contains(shown, "was removed or moved away") {
						t.Errorf("%s, checkpoints %s: the user was not told:\n%s", name, every, shown)
					}
					if got := entries(t, lost.Out); !slices.Equal(got, want) {
						t.Errorf("%s, checkpoints %s: left %q, want %q", name, every, got, want)
						continue
					}
					if got := entries(t, filepath.Dir(lost.Out)); len(got) != 1 {
						t.Errorf("%s, checkpoints %s: beside the run: %q", name, every, got)
					}
					for _, file := range []string{runfolder.VectorsFile, runfolder.ContextFile, runfolder.VocabularyFile} {
						if !bytes.Equal(mustRead(t, filepath.Join(lost.Out, file)), mustRead(t, filepath.Join(c.Out, file))) {
							t.Errorf("%s, checkpoints %s: %s differs", name, every, file)
						}
					}
					if got, want := lines(t, lost.Out), lines(t, c.Out); got != want {
						t.Errorf("%s, checkpoints %s: %d lines of metrics, want %d", name, every, got, want)
					}
				}
			}
		})
	}
}

// lines counts the lines of metrics of a run.
func lines(t *testing.T, out string) int {
	t.Helper()
	run, err := runfolder.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := run.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	return len(metrics)
}

// TestTakenFolder: what somebody else put in the place of a run is never touched; the
// run fails and says so.
func TestTakenFolder(t *testing.T) {
	const thesis = "thesis.tex"
	put := func(dir string) error {
		return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, thesis), []byte("text"), 0o600))
	}
	for _, every := range []string{"0", "15"} {
		for name, test := range map[string]struct {
			lose func(t *testing.T, partial string) error
			want string
		}{
			"a folder of somebody": {func(_ *testing.T, partial string) error {
				return errors.Join(os.RemoveAll(partial), put(partial))
			}, thesis},
			"a file": {func(_ *testing.T, partial string) error {
				return errors.Join(os.RemoveAll(partial), os.WriteFile(partial, []byte("text"), 0o600))
			}, "not a directory"},
			"another training": {func(t *testing.T, partial string) error {
				if err := os.RemoveAll(partial); err != nil {
					return err
				}
				other, err := runfolder.Create(strings.TrimSuffix(partial, ".partial"), false)
				if err == nil {
					t.Cleanup(other.Close)
				} else if strings.Contains(err.Error(), "another w2vcl") { // the second time
					err = nil
				}
				return err
			}, "another w2vcl is training there"},
			"a run in its place": {func(_ *testing.T, partial string) error {
				return put(strings.TrimSuffix(partial, ".partial"))
			}, "moved away, 'w2vcl resume"},
		} {
			c := smallConfig(t, settings.ModeCL)
			c.Checkpoint = interval(t, every)
			_, err := lossy(t, c, test.lose)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, checkpoints %s: got %v, want %q", name, every, err, test.want)
			}
			for _, dir := range []string{c.Out, c.Out + ".partial"} {
				if info, err := os.Stat(dir); err != nil || !info.IsDir() {
					continue
				}
				for _, entry := range entries(t, dir) {
					if path := filepath.Join(dir, entry); entry == thesis && string(mustRead(t, path)) != "text" {
						t.Errorf("%s, checkpoints %s: %s was changed", name, every, path)
					}
				}
			}
			if name != "a file" && name != "another training" && !exists(filepath.Join(c.Out, thesis)) && !exists(filepath.Join(c.Out+".partial", thesis)) {
				t.Errorf("%s, checkpoints %s: the file of somebody is gone", name, every)
			}
		}
	}
}
