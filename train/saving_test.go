package train

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/runfolder"
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
	if err := j.exportRows(folder, runfolder.VectorsFile, values, nil); !errors.Is(err, errDiverged) {
		t.Errorf("NaN: %v", err)
	}
	values[7] = 0
	if err := os.RemoveAll(folder.Dir); err != nil {
		t.Fatal(err)
	}
	if err := j.exportRows(folder, runfolder.VectorsFile, values, nil); err == nil || errors.Is(err, errDiverged) {
		t.Errorf("no folder: %v", err)
	}
}
