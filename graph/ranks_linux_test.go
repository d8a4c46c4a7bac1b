package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/sequential/composed"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// englishCorpus is a random text with the frequencies of a subsampled English one.
func englishCorpus(b *testing.B, r *rand.Rand, words, tokens int) *corpus.Corpus {
	c := &corpus.Corpus{Sentences: []int{0}}
	names, counts := make([]string, words), make([]uint64, words)
	for i := range names {
		names[i], counts[i] = fmt.Sprint(i), 1
	}
	for i := range tokens {
		word := int(float64(words) * r.Float64() * r.Float64())
		c.Tokens = append(c.Tokens, uint32(word))
		counts[word]++
		if i%25 == 24 {
			c.Sentences = append(c.Sentences, i+1)
		}
	}
	var err error
	if c.Vocabulary, err = corpus.NewVocabulary(names, counts); err != nil {
		b.Fatal(err)
	}
	return c
}

// englishParts has 26 parts a word of so many, of which some are in many words.
func englishParts(r *rand.Rand, words, dim, parts int) *composed.Composition {
	x := &composed.Composition{Dim: dim, Starts: []uint32{0}, Parts: make([]float32, parts*dim), Own: make([]float32, words*dim), Rate: 1}
	for range words {
		for range 26 {
			x.Symbols = append(x.Symbols, uint32(float64(parts)*math.Pow(r.Float64(), 2.5)))
		}
		x.Starts = append(x.Starts, uint32(len(x.Symbols)))
	}
	x.Randomize = func(seed uint64) { trainer.Randomize(x.Parts, dim, seed) }
	return x
}

// BenchmarkCBOWOnRanks reports the processor time of an iteration on all ranks together, which are goroutines of one thread each.
func BenchmarkCBOWOnRanks(b *testing.B) {
	const words, iterations = 18_116, 12
	text := englishCorpus(b, rand.New(rand.NewPCG(1, 1)), words, 1_500_000)
	for _, dim := range []int{100, 300} {
		for _, composes := range []bool{false, true} {
			for _, ranks := range []int{1, 2, 4} {
				b.Run(fmt.Sprintf("N=%d/parts=%v/ranks=%d", dim, composes, ranks), func(b *testing.B) {
					o := testOptions(dim, 8, 1, FormFused, optim.Adam)
					o.SharedNegatives = 64
					x := cbowCase{corpus: text, words: 45_000, options: o}
					if composes {
						x.parts = func() *composed.Composition { return englishParts(rand.New(rand.NewPCG(1, 2)), words, dim, 70_000) }
					}
					err := x.onRanksOf(b, ranks, 2*iterations, func(l *lead.Trainer) error {
						if _, err := advanceOn(b, l, 0, iterations); err != nil { // first
							return err
						}
						start := processorTime(b)
						_, err := advanceOn(b, l, iterations, 2*iterations)
						b.ReportMetric((processorTime(b)-start)*1e3/iterations, "CPU-ms/iteration")
						return err
					})
					if err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}

func processorTime(b *testing.B) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
