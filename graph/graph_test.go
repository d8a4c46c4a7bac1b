package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/operation"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/tensor"
)

func freshRandom(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func randomMatrix(r *rand.Rand, rows, n int) *tensor.Dense {
	data := make([]float32, rows*n)
	for i := range data {
		data[i] = float32(r.NormFloat64()) / float32(math.Sqrt(float64(n)))
	}
	return dense(data, rows, n)
}

// tableDifference is the largest difference relative to the largest value, or to
// 0.1 where all are smaller: after updates a value may be a sum of large terms that cancel, and
// keeps their rounding.
func tableDifference(a, b []float32) float64 { return differenceOver(a, b, 0.1) }

func differenceOver(a, b []float32, least float64) float64 {
	difference, size := 0.0, least
	for i := range a {
		difference = max(difference, math.Abs(float64(a[i])-float64(b[i])))
		size = max(size, math.Abs(float64(a[i])))
	}
	return difference / size
}

func testOptions(dim, negatives, threads int, method optim.Method) Options {
	return Options{Dim: dim, Negatives: negatives, Seed: 7, Threads: threads,
		Optimizer: optim.Options{Method: method, WeightDecay: .1}}
}

// smallCorpus makes a corpus of random sentences, some of one word.
func smallCorpus(t testing.TB, r *rand.Rand, v, sentences int) *corpus.Corpus {
	t.Helper()
	words, counts := make([]string, v), make([]uint64, v)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", i)
	}
	vocabulary, err := corpus.NewVocabulary(words, counts)
	if err != nil {
		t.Fatal(err)
	}
	c := &corpus.Corpus{Vocabulary: vocabulary, Sentences: []int{0}}
	for range sentences {
		for range 1 + r.IntN(12) {
			w := uint32(r.IntN(v))
			counts[w]++
			c.Tokens = append(c.Tokens, w)
		}
		c.Sentences = append(c.Sentences, len(c.Tokens))
	}
	return c
}

func uniformNoise(t testing.TB, n int) *corpus.Alias {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1
	}
	a, err := corpus.NewAlias(weights)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A panic inside Gorgonia comes out as an error.
func TestPanicIsError(t *testing.T) {
	err := func() (err error) {
		defer operation.Recovered("test", &err)
		panic("boom")
	}()
	if err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("error is %v", err)
	}
}
