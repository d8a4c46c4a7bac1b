package train

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
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
	j.text.vocabulary, j.config.Dim = vocabulary, 1
	if err := j.exportTable(nil, "", make([]float32, len(words)-1)); err == nil || errors.Is(err, errDiverged) {
		t.Errorf("too few values: %v", err)
	}
	spoilt := make([]float32, len(words))
	spoilt[7] = float32(math.NaN())
	if err := j.exportTable(nil, "", spoilt); !errors.Is(err, errDiverged) {
		t.Errorf("NaN: %v", err)
	}
}
