package train

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// smallText has two groups of words that never meet.
func smallText() string {
	return strings.Repeat("red green blue red blue green\none two three two one three\n", 50)
}

// smallConfig is a run of any mode that takes no time.
func smallConfig(t *testing.T, mode string) settings.Config {
	t.Helper()
	name := mode
	mode, model := withModel(name)
	flags := map[string]string{
		"mode": mode, "corpus": writeFile(t, "text", smallText()), "out": filepath.Join(t.TempDir(), "run"),
		"dim": "4", "negative": "2", "sample": "0", "epochs": "1", "threads": "2",
	}
	switch name {
	case settings.ModeCL:
		flags["model"], flags["contexts"] = model, "40"
	case onStretches:
		flags["model"], flags["batch"], flags["iterations"], flags["subword"] = model, "200", "6", "none"
		delete(flags, "epochs")
	}
	if slices.Contains(sequentialModes, mode) { // reproducible with one thread only
		flags["threads"] = "1"
	}
	for name := range flags {
		if s, ok := settings.Find(name); ok && !s.AppliesTo(mode) {
			delete(flags, name)
		}
	}
	c, err := settings.Resolve("", flags)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRunEndToEnd also holds that a run is the same from a file and from a
// reader, measured beforehand or not, on one thread or two.
func TestRunEndToEnd(t *testing.T) {
	for _, mode := range allModes() {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := smallConfig(t, mode)
			summary, err := Run(t.Context(), c, Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if summary.Vocab != 6 || summary.Tokens != 600 || summary.TrainWords != 600 || summary.Epochs != 1 && mode != onStretches || summary.Epochs <= 0 || summary.WordsPerSecond <= 0 || summary.Loss <= 0 && mode != settings.ModePPMI { // a matrix of six words is fitted exactly
				t.Errorf("summary %+v", summary)
			}
			again := c
			again.Out, again.Threads, again.Corpus = c.Out+"2", 1, "a reader"
			if _, err := Run(t.Context(), again, Options{Source: strings.NewReader(smallText())}, progress.New(&bytes.Buffer{})); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{runfolder.VectorsFile, runfolder.ContextFile, runfolder.VocabularyFile} {
				if !bytes.Equal(mustRead(t, filepath.Join(c.Out, name)), mustRead(t, filepath.Join(again.Out, name))) {
					t.Errorf("%s differs", name)
				}
			}
			if config := mustRead(t, filepath.Join(again.Out, runfolder.ConfigFile)); !bytes.Contains(config, []byte(`corpus = "a reader"`)) {
				t.Errorf("the reader's name was not recorded:\n%s", config)
			}
		})
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestMakePlanLeavesNothing(t *testing.T) {
	for _, mode := range allModes() {
		c := smallConfig(t, mode)
		dir := filepath.Dir(c.Out)
		if mode == settings.ModeCL {
			c.Matrix = filepath.Join(dir, "m")
		}
		moments := 0
		if slices.Contains(graphModes, mode) {
			c.GraphDOT = filepath.Join(dir, "g")
			moments = 2
		} else if mode == settings.ModeGloVe {
			moments = 1 // AdaGrad's sums of squares
		}
		plan, err := MakePlan(t.Context(), c, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := plan.Memory
		switch mode {
		case onStretches:
			m.Moments -= 4 * 6 // how often each word was updated
		case settings.ModeVanilla:
			m.Moments -= 4 * 2 // minibatches trained
		}
		if plan.Iterations < 1 || plan.SecondsTrain <= 0 || plan.PairsPerIteration <= 0 || m.Tables != int64(2*6+c.Positions())*4*4 || m.Moments != int64(moments)*m.Tables ||
			plan.Memory.Total != m.Corpus+m.Matrix+m.Tables+plan.Memory.Moments+m.Work || m.Peak < m.Total {
			t.Errorf("%s: plan %+v", mode, plan)
		}
		if c.FindMode().ReadsText() == (m.Matrix > 0) {
			t.Errorf("%s: matrix of %d bytes", mode, m.Matrix)
		}
		if got := entries(t, dir); got != nil {
			t.Errorf("%s: left %v", mode, got)
		}
	}
}

func TestRunOnTextWithoutNeighbours(t *testing.T) {
	for _, mode := range allModes() {
		c := smallConfig(t, mode)
		c.Corpus = writeFile(t, "text", strings.ReplaceAll(smallText(), " ", "\n"))
		_, err := Run(t.Context(), c, Options{}, nil)
		if err == nil || !strings.Contains(err.Error(), "every sentence has one word") {
			t.Errorf("%s: got %v", mode, err)
		}
	}
}
