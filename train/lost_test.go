package train

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

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
			}, "was removed or moved away"},
			"a file": {func(_ *testing.T, partial string) error {
				return errors.Join(os.RemoveAll(partial), os.WriteFile(partial, []byte("text"), 0o600))
			}, "was removed or moved away"},
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
			}, "was removed or moved away"},
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
