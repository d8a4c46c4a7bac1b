package train

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/progress"
	"github.com/w2vcl/w2vcl/runfolder"
	"github.com/w2vcl/w2vcl/settings"
)

// makeOlder turns the folder of an interrupted run into one of a version without
// tempered samples: neither config.toml nor the checkpoint knows of them. Its
// checkpoint has version 1, with one checksum.
func makeOlder(t *testing.T, out string) {
	t.Helper()
	config := filepath.Join(out, runfolder.ConfigFile)
	text := regexp.MustCompile(`(?m)^(tempering|positives|max-positives|shared-negatives|ngram-hash) = .*\n`).ReplaceAllString(string(mustRead(t, config)), "")
	text = strings.Replace(text, "context-weight = 1.0\n", "vectors = \"sum\"\n", 1)
	if strings.Contains(text, "context-weight") || strings.Contains(text, "positives") {
		t.Fatalf("the configuration is still new:\n%s", text)
	}
	if err := errors.Join(os.WriteFile(config, []byte(text), 0o600), os.Remove(filepath.Join(out, runfolder.ChecksumsFile))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(out, runfolder.CheckpointFile)
	data := mustRead(t, path)
	size := binary.LittleEndian.Uint64(data)
	header := regexp.MustCompile(`\\"(tempering|positives|max-positives|shared-negatives|ngram-hash)\\":\\"[^"]*\\",`).ReplaceAll(data[8:8+size], nil)
	header = bytes.Replace(header, []byte(`\"context-weight\":\"1\"`), []byte(`\"vectors\":\"sum\"`), 1)
	header = regexp.MustCompile(`,\\"metrics_xxh64\\":\\"\w+\\"`).ReplaceAll(header, nil)
	sum := regexp.MustCompile(`,"xxh64-data":"(\w+)","xxh64-header":"\w+"`).FindSubmatch(header)
	header = bytes.Replace(header, sum[0], nil, 1)
	header = bytes.Replace(header, []byte(`\"version\":2`), []byte(`\"version\":1,\"xxh64\":\"`+string(sum[1])+`\"`), 1)
	if bytes.Contains(header, []byte("context-weight")) || bytes.Contains(header, []byte("positives")) || bytes.Contains(header, []byte("metrics_xxh64")) {
		t.Fatalf("the checkpoint is still new: %s", header)
	}
	for len(header)%8 > 0 {
		header = append(header, ' ')
	}
	older := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	if err := os.WriteFile(path, append(append(older, header...), data[8+size:]...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestResumeOlder: a run of a version without tempered samples goes on with equal
// ones, as if it had never stopped.
func TestResumeOlder(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	c.Tempering, c.Positives, c.SharedNegatives, c.ContextWeight = 0, 1, 0, 1
	if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	want := hashOf(t, c.Out)
	c.Out = filepath.Join(t.TempDir(), "run")
	interruptRun(t, c)
	makeOlder(t, c.Out)
	run, err := runfolder.Open(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Config(); err != nil || got.Positives != 1 || got.Tempering != 0 || got.ContextWeight != 1 {
		t.Errorf("%v, %+v", err, got.Samples)
	}
	var shown bytes.Buffer
	if _, err := Resume(t.Context(), c.Out, nil, nil, progress.New(&shown)); err != nil {
		t.Fatal(err)
	}
	if hashOf(t, c.Out) != want {
		t.Error("other vectors")
	}
	if strings.Contains(shown.String(), "from here on") {
		t.Errorf("it tells of a change:\n%s", &shown)
	}

	// A change of the samples is one, whatever the folder does not say.
	c.Out = filepath.Join(t.TempDir(), "run")
	interruptRun(t, c)
	makeOlder(t, c.Out)
	config := filepath.Join(c.Out, runfolder.ConfigFile)
	text := append(mustRead(t, config), "\nshared-negatives = 4\n"...)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(t.Context(), c.Out, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "shared-negatives 0 until now, but its config.toml says 4") {
		t.Errorf("got %v", err)
	}
}

// TestResumeOlderNGrams: a run of a version without fastText's n-grams goes on with
// those it has.
func TestResumeOlderNGrams(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	c.Tempering, c.Positives, c.SharedNegatives, c.ContextWeight = 0, 1, 0, 1
	c.Subword, c.NGramHash, c.SubwordLR, c.Buckets = settings.SubwordNGram, settings.HashMarked, 0.05, 1000
	c.MinGram, c.MaxGram = 3, 6
	if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	want := hashOf(t, c.Out)
	c.Out = filepath.Join(t.TempDir(), "run")
	interruptRun(t, c)
	makeOlder(t, c.Out)
	run, err := runfolder.Open(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Config(); err != nil || got.NGramHash != settings.HashMarked {
		t.Errorf("%v, %+v", err, got.Encoder)
	}
	if _, err := Resume(t.Context(), c.Out, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if hashOf(t, c.Out) != want {
		t.Error("other vectors")
	}
}

// TestResumeWithAnotherContextWeight: what is exported may change, for training does
// not know it.
func TestResumeWithAnotherContextWeight(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	c.ContextWeight = 0.5
	if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	want := hashOf(t, c.Out)
	c.ContextWeight, c.Out = 1, filepath.Join(t.TempDir(), "run")
	interruptRun(t, c)
	var shown bytes.Buffer
	p := progress.New(&shown)
	if _, err := Resume(t.Context(), c.Out, map[string]string{"context-weight": "0.5"}, nil, p); err != nil {
		t.Fatal(err)
	}
	if hashOf(t, c.Out) != want {
		t.Error("other vectors")
	}
	if !strings.Contains(shown.String(), "--context-weight is 0.5 from here on; it was 1\n") {
		t.Errorf("no word of the change:\n%s", &shown)
	}
}

// Vectors of an interrupted run are not read with the weight of a run that goes on.
func TestContextWeightOfAFolder(t *testing.T) {
	c := smallConfig(t, settings.ModeCL)
	c.ContextWeight = 1
	interruptRun(t, c)
	words := func() []float32 {
		t.Helper()
		run, err := runfolder.Open(c.Out)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := run.Tables(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tables.Words
	}
	want := words()
	j := &job{}
	folder, err := runfolder.Reopen(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.open(folder, map[string]string{"context-weight": "0.25"}, nil); err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if err := j.prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := j.begin(folder, nil); err != nil {
		t.Fatal(err)
	}
	folder.Close() // as if the process were killed here
	for i, x := range words() {
		if d := x - want[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("value %d is %v, want %v", i, x, want[i])
		}
	}
}
