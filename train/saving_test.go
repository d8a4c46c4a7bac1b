package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
)

// Only vectors that are not finite are called diverged, whatever else is wrong.
func TestSavingDiverged(t *testing.T) {
	words, counts := make([]string, 1<<15), make([]uint64, 1<<15)
	for i := range words {
		words[i], counts[i] = fmt.Sprint("word", i), uint64(len(words)-i)
	}
	vocabulary, err := corpus.NewVocabulary(words, counts)
	if err != nil {
		t.Fatal(err)
	}
	j, _ := fakeJob(t, "", 1)
	j.text.setVocabulary(vocabulary)
	j.config.Dim = 1
	folder, err := runfolder.Create(filepath.Join(t.TempDir(), "run"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	values := make([]float32, len(words))
	values[7] = float32(math.NaN())
	if err := j.exportRows(folder, runfolder.VectorsFile, j.rows(values, nil)); !errors.Is(err, errDiverged) {
		t.Errorf("NaN: %v", err)
	}
	values[7] = 0
	if err := os.RemoveAll(folder.Dir); err != nil {
		t.Fatal(err)
	}
	if err := j.exportRows(folder, runfolder.VectorsFile, j.rows(values, nil)); err == nil || errors.Is(err, errDiverged) {
		t.Errorf("no folder: %v", err)
	}
}

// The encoder is written last, so that whoever kills a run while n-grams are fitted keeps its vectors, and diverged vectors are
// called so.
func TestSavingEncoderLast(t *testing.T) {
	j, _ := fakeJob(t, filepath.Join(t.TempDir(), "run"), 1)
	trainer := newFake(1, 3, 2)
	j.trainer = trainer
	var err error
	if j.unseen, err = subword.NewFit([]string{"of", "another", "text", "."}, j.config.Dim, nil); err != nil {
		t.Fatal(err)
	}
	folder, err := runfolder.Create(j.config.Out, false)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := os.WriteFile(folder.Path(runfolder.EncoderFile), []byte("of vectors before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.exportTables(folder); err == nil || errors.Is(err, errDiverged) {
		t.Errorf("n-grams that cannot be fitted: %v", err)
	}
	if got, want := entries(t, folder.Dir), []string{runfolder.ContextFile, runfolder.VectorsFile}; !slices.Equal(got, want) {
		t.Errorf("before the encoder there are %v, want %v", got, want)
	}
	trainer.w[3] = float32(math.NaN())
	if err := j.exportTables(folder); !errors.Is(err, errDiverged) {
		t.Errorf("NaN: %v", err)
	}
}

// Of two losses, rare words lean on the n-grams that are fitted; with a sum, one vector of the two alone, or --unseen encoder no word does.
func TestRareWordsLean(t *testing.T) {
	run := func(name, unseen, known string) (table *embedding.Table, counts []uint64) {
		c := subwordConfig(t, settings.ModeCL, name)
		c.Unseen, c.Known = unseen, known
		if _, err := Run(t.Context(), c, Options{}, nil); err != nil {
			t.Fatal(err)
		}
		table, err := embedding.Load(t.Context(), filepath.Join(c.Out, runfolder.VectorsFile))
		if err != nil {
			t.Fatal(err)
		}
		vocabulary, err := corpus.ReadVocabularyTSV(bytes.NewReader(mustRead(t, filepath.Join(c.Out, runfolder.VocabularyFile))), "vocabulary")
		if err != nil {
			t.Fatal(err)
		}
		return table, vocabulary.Counts
	}
	for _, x := range [][2]string{{"two", "own"}, {"two", "spelling"}, {"cnn", "mean"}} {
		fitted, _ := run(x[0], "regress", x[1])
		if trained, _ := run(x[0], "encoder", x[1]); !slices.Equal(fitted.Vectors, trained.Vectors) {
			t.Errorf("%s, --known %s: vectors lean", x[0], x[1])
		}
	}
	trained, counts := run("two", "encoder", "mean")
	leaning, _ := run("two", "regress", "mean")
	grams, err := subword.NewFit(trained.Words, trained.Dim, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := grams.FitLeaning(trained.Vectors, counts, unseenRidge, 1)
	if err != nil {
		t.Fatal(err)
	}
	for v, word := range trained.Words {
		got, from := leaning.Vectors[v*trained.Dim:][:trained.Dim], trained.Vectors[v*trained.Dim:][:trained.Dim]
		if want := l.Vector(v, make([]float32, trained.Dim)); !slices.Equal(got, want) || slices.Equal(got, from) {
			t.Errorf("%q: %v, want %v; trained %v", word, got, want, from)
		}
	}
}
