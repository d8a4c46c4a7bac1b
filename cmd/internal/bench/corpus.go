package bench

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/w2vcl/w2vcl/corpus"
)

// A CorpusResult says how fast a text is read, counted and encoded.
type CorpusResult struct {
	Threads    int   `json:"threads"`
	Files      int64 `json:"files"`
	Bytes      int64 `json:"bytes"`       // of text, decompressed
	Tokens     int64 `json:"tokens"`      // in the text
	TokensUsed int64 `json:"tokens_used"` // in the vocabulary
	Vocabulary int   `json:"words"`       // V

	Read           Measurement `json:"read_seconds"`
	BytesPerSecond float64     `json:"bytes_per_second"` // by the median
	WordsPerSecond float64     `json:"words_per_second"` // tokens in the text, by the median
}

// MeasureCorpus calls read again and again, which reads the whole text. The first
// call is not measured: it reads files from the disk, later ones from the system's
// cache. after, if not nil, is called after each call with its number; the call that
// is not measured has number 0.
func MeasureCorpus(ctx context.Context, read func(context.Context) (*corpus.Corpus, error), threads, repeat int, after func(i int)) (CorpusResult, error) {
	var (
		r       CorpusResult
		seconds []float64
	)
	for i := range repeat + 1 {
		start := time.Now()
		c, err := read(ctx)
		if err != nil {
			return r, err
		}
		if took := time.Since(start).Seconds(); i > 0 {
			seconds = append(seconds, took)
		}
		s := c.Stats
		r = CorpusResult{
			Threads: threads, Files: s.Files, Bytes: s.Bytes, Tokens: s.Tokens, TokensUsed: s.TokensUsed,
			Vocabulary: c.Vocabulary.Len(),
		}
		if after != nil {
			after(i)
		}
		if err := c.Close(); err != nil {
			return r, err
		}
		debug.FreeOSMemory() // each call begins like the first
	}
	r.Read = Measured(seconds)
	r.BytesPerSecond = rate(float64(r.Bytes), r.Read.Median)
	r.WordsPerSecond = rate(float64(r.Tokens), r.Read.Median)
	return r, nil
}
