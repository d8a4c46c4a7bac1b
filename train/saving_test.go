package train

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// Only vectors that are not finite are called diverged: memory may lack for their index.
func TestSavingWithoutMemory(t *testing.T) {
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
	_, release := memory.NewGuard(1)
	err = j.exportTable(nil, "", make([]float32, len(words)))
	release()
	if !errors.Is(err, memory.ErrRoom) || errors.Is(err, errDiverged) {
		t.Errorf("without memory: %v", err)
	}
	spoilt := make([]float32, len(words))
	spoilt[7] = float32(math.NaN())
	if err := j.exportTable(nil, "", spoilt); !errors.Is(err, errDiverged) {
		t.Errorf("NaN: %v", err)
	}
}
