package sequential

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
)

// BenchmarkTrain measures words per second of all modes at dimension 128, window
// 5, K = 5 and sample 1e-4. The text is a file, min-count 5, if
// W2VCL_BENCH_CORPUS names one, and else drawn by Zipf's law.
func BenchmarkTrain(b *testing.B) {
	text, noise := benchText(b)
	for name, c := range modes() {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", name, threads), func(b *testing.B) {
				c.Dim, c.Sample, c.Threads, c.Epochs = 128, 1e-4, threads, 1
				tr, err := New(text, noise, c)
				if err != nil {
					b.Fatal(err)
				}
				words, unit := 0.0, 0
				for b.Loop() {
					report, err := tr.Advance(context.Background(), unit%tr.Units(), 0.025)
					if err != nil {
						b.Fatal(err)
					}
					words += report.Words
					unit++
				}
				b.ReportMetric(words/b.Elapsed().Seconds(), "words/s")
				b.ReportMetric(0, "ns/op") // units differ in size
			})
		}
	}
}

func benchText(b *testing.B) (*corpus.Corpus, *corpus.Alias) {
	path := os.Getenv("W2VCL_BENCH_CORPUS")
	if path == "" {
		return corpustest.Read(b, corpustest.Zipf(1, 2_000_000, 60_000, 0))
	}
	text, err := corpus.Read(context.Background(), path, corpus.Options{MinCount: 5})
	if err != nil {
		b.Fatal(err)
	}
	noise, err := corpus.NewAlias(corpus.CountPower(text.Vocabulary.Counts, 0.75))
	if err != nil {
		b.Fatal(err)
	}
	return text, noise
}
