package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/testdata"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A benchText is the text of a benchmark, with the settings of reading it.
type benchText struct {
	settings cli.SettingFlags
	config   settings.Config
	options  corpus.Options
	builtin  bool // the text that comes with w2vcl
}

// addTo defines the flags of the text and of the settings that include accepts.
func (t *benchText) addTo(cmd *cobra.Command, include func(name string) bool) {
	t.settings.AddTo(cmd, func(setting settings.Setting) bool {
		switch setting.Name {
		case "corpus", "threads":
			return true
		case "vocab":
			return false
		default:
			return setting.Section == settings.SectionText || include(setting.Name)
		}
	})
	cmd.Flags().Lookup("corpus").Usage = "text file or folder at `PATH` (default: the text that comes with w2vcl)"
	cmd.Flags().Lookup("cache").Usage = "read into a file in the folder `DIR`, anew each time, and not into memory"
}

// resolve resolves all settings. Without --corpus and --config it takes the text that
// comes with w2vcl, and the settings of the demo below the given ones.
func (t *benchText) resolve() error {
	texts := map[string]string{"mode": settings.ModeCL}
	if t.builtin = t.settings.Set["corpus"] == "" && t.settings.File == ""; t.builtin {
		texts = settings.Demo()
		texts["corpus"], texts["contexts"] = testdata.CorpusName, "2048"
	}
	texts["model"] = settings.ModelSkipGram // it has a matrix
	maps.Copy(texts, t.settings.Set)
	var err error
	if t.config, err = settings.Resolve(t.settings.File, texts); err != nil {
		return err
	}
	c := &t.config
	if c.Threads == 0 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	if t.options, err = c.TextOptions(); err != nil {
		return err
	}
	if _, err := os.Stat(c.Corpus); !t.builtin && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--corpus %s: there is no such file or folder", c.Corpus)
	}
	return nil
}

// read reads the text.
func (t *benchText) read(ctx context.Context) (*corpus.Corpus, error) {
	if t.builtin {
		return corpus.ReadFrom(ctx, testdata.Corpus(), testdata.CorpusName, t.options)
	}
	if folder := t.config.Cache; folder != "" {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, fmt.Errorf("--cache: %w", err)
		}
		file := filepath.Join(folder, fmt.Sprintf("bench-%d%s", os.Getpid(), corpus.FileSuffix))
		return corpus.Open(ctx, t.config.Corpus, t.options, corpus.Storage{File: file, Always: true, Remove: true})
	}
	return corpus.Read(ctx, t.config.Corpus, t.options)
}

// recorded returns the settings of the command for the JSON.
func (t *benchText) recorded(cmd *cobra.Command) map[string]string {
	values := map[string]string{}
	for _, setting := range t.config.Settings() {
		if cmd.Flags().Lookup(setting.Name) != nil {
			values[setting.Name] = setting.String()
		}
	}
	return values
}
