package train

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/encoded"
	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

func vectorsOf(t *testing.T, c settings.Config) []byte {
	t.Helper()
	if _, err := Run(t.Context(), c, Options{NoPlan: true}, nil); err != nil {
		t.Fatalf("%s: %v", c.Mode, err)
	}
	return vectorsIn(t, c.Out)
}

func vectorsIn(t *testing.T, folder string) []byte {
	t.Helper()
	vectors, err := os.ReadFile(filepath.Join(folder, runfolder.VectorsFile))
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

// TestCache: every mode trains the same vectors on a text in memory, on one in a file, and
// on the file that is there already.
func TestCache(t *testing.T) {
	for _, mode := range allModes() {
		c := smallConfig(t, mode)
		c.Threads = 1 // the sentence-ordered modes are repeatable with one
		want := vectorsOf(t, c)
		c.Cache, c.Force = filepath.Join(t.TempDir(), "cache"), true
		for _, when := range []string{"written", "there"} {
			if !slices.Equal(vectorsOf(t, c), want) {
				t.Errorf("%s: other vectors when the file is %s", mode, when)
			}
			if files := entries(t, c.Cache); len(files) != 1 {
				t.Errorf("%s: the cache holds %v when the file is %s", mode, files, when)
			}
			if files := entries(t, c.Out); slices.Contains(files, runfolder.TextFile) {
				t.Errorf("%s: the run folder has an encoded text", mode)
			}
		}
		for _, name := range entries(t, c.Cache) {
			path := filepath.Join(c.Cache, name)
			if err := os.Truncate(path, 1000); err != nil {
				t.Fatal(err)
			}
			_, err := Run(t.Context(), c, Options{NoPlan: true}, nil)
			if !errors.Is(err, encoded.ErrTruncated) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: a truncated file: %v", mode, err)
			}
		}
	}
}

// TestVocabularyFile: a vocabulary that is written is read again by the next run, which then
// trains the same; one from elsewhere leaves its words only.
func TestVocabularyFile(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	c.Vocabulary, c.Force = filepath.Join(t.TempDir(), "words"), true
	want := vectorsOf(t, c)
	data, err := os.ReadFile(c.Vocabulary)
	if err != nil || !strings.HasPrefix(string(data), "</s> ") {
		t.Fatalf("%v, %q", err, data)
	}
	if !slices.Equal(vectorsOf(t, c), want) {
		t.Error("other vectors with the vocabulary of the same text")
	}
	c.MaxVocabulary, c.Negative = 3, 1
	vectorsOf(t, c)
	lines, err := os.ReadFile(filepath.Join(c.Out, runfolder.VocabularyFile))
	if n := strings.Count(string(lines), "\n"); err != nil || n != 3 {
		t.Errorf("%v, %d words, want 3", err, n)
	}
}

// TestTextInRunFolder: a large text has a file in the run folder. It stays with a run that is
// interrupted, serves the one that goes on, and goes when that is finished.
func TestTextInRunFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("a text of 60 MB")
	}
	c := smallConfig(t, string(sequential.Word2Vec))
	c.Corpus = writeFile(t, "large", strings.Repeat("the red fox and the blue dog\n", 2_000_000))
	c.MaxMemory = size(t, terminal.Bytes(machine.Resident()+128e6))
	c.Sample, c.Negative = 2e-7, 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	there := false
	_, err := Run(ctx, c, Options{NoPlan: true, Observations: 10, Observe: func(Observation) error {
		there = exists(filepath.Join(c.Out+".partial", runfolder.TextFile))
		cancel()
		return nil
	}}, nil)
	if !errors.Is(err, ErrInterrupted) || !there || !exists(filepath.Join(c.Out, runfolder.TextFile)) {
		t.Fatalf("%v; a file while it trains: %v; files: %v", err, there, entries(t, c.Out))
	}
	before, err := os.Stat(filepath.Join(c.Out, runfolder.TextFile))
	if err != nil {
		t.Fatal(err)
	}
	same := false
	_, err = Resume(t.Context(), nil, c.Out, nil, func(string) Options {
		return Options{NoPlan: true, Observations: 10, Observe: func(Observation) error {
			now, err := os.Stat(filepath.Join(c.Out+".partial", runfolder.TextFile))
			same = err == nil && os.SameFile(before, now)
			return nil
		}}
	}, nil)
	if err != nil || !same || exists(filepath.Join(c.Out, runfolder.TextFile)) {
		t.Errorf("%v; the same file while it goes on: %v; files: %v", err, same, entries(t, c.Out))
	}
}
