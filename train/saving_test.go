package train

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/runfolder"
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
	trainer := newFake(1, len(words), 1)
	j.trainer = trainer
	values := trainer.w
	values[7] = float32(math.NaN())
	if err := j.exportTables(folder); !errors.Is(err, ErrDiverged) {
		t.Errorf("NaN: %v", err)
	}
	values[7] = 0
	if err := os.RemoveAll(folder.Dir); err != nil {
		t.Fatal(err)
	}
	if err := j.exportTables(folder); err == nil || errors.Is(err, ErrDiverged) {
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
	if err := j.exportTables(folder); err == nil || errors.Is(err, ErrDiverged) {
		t.Errorf("n-grams that cannot be fitted: %v", err)
	}
	if got, want := entries(t, folder.Dir), []string{runfolder.ContextFile, runfolder.VectorsFile}; !slices.Equal(got, want) {
		t.Errorf("before the encoder there are %v, want %v", got, want)
	}
	trainer.w[3] = float32(math.NaN())
	if err := j.exportTables(folder); !errors.Is(err, ErrDiverged) {
		t.Errorf("NaN: %v", err)
	}
}
