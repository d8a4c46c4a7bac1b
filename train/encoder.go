package train

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/trainer"
)

// makeEncoder makes what composes word vectors, if there is to be one. Its
// parameters are allocated, but take no memory until they
// are first written.
func (j *job) makeEncoder(p *terminal.Progress) (err error) {
	c := &j.config
	switch c.Subword {
	case SubwordCNN:
		var widths []int
		if widths, err = parseWidths(c.Widths); err != nil {
			return terminal.Usagef("--widths %s: %v", c.Widths, err)
		}
		j.encoder, err = subword.NewCNN(j.vocabulary.Words, subword.CNNOptions{
			Dim: c.Dim, CharDim: c.CharDim, Widths: widths, Filters: c.Filters, Rate: c.SubwordLR,
			Spelling: subword.SpellingOptions{Gram: c.Gram, Limit: c.symbols()},
		})
	case SubwordNGram:
		j.encoder, err = subword.NewNGrams(j.vocabulary.Words, subword.NGramOptions{
			Dim: c.Dim, Shortest: c.MinGram, Longest: c.MaxGram, Buckets: c.Buckets, Rate: c.SubwordLR,
		})
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("--subword %s: %w", c.Subword, err)
	}
	if n := j.encoder.Truncated(); n > 0 {
		p.Notef("Note: %s longer than --max-chars %d: what is beyond is not read, but for the end of the word", terminal.Quantity(terminal.Number(n), "word"), c.MaxChars)
	}
	if c.WordTable {
		j.encoder = subword.WithWords(j.encoder)
	}
	j.momentBytes = c.graph().MomentBytes(j.encoder)
	return nil
}

// symbols is how many symbols of a word are read: n-grams of its characters and
// the marks of its two ends.
func (c *Config) symbols() int { return c.MaxChars + 2 - (c.Gram - 1) }

// parseWidths reads a list such as "2,3,4".
func parseWidths(text string) ([]int, error) {
	var widths []int
	for _, part := range strings.Split(text, ",") {
		width, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || width < 1 {
			return nil, fmt.Errorf("give numbers of characters from 1 up, with commas between: 2,3,4")
		}
		widths = append(widths, width)
	}
	return widths, nil
}

// validateSubword checks the shape of encoders.
func (c *Config) validateSubword(check checkFunc) {
	const most = 1 << 16
	check(c.CharDim >= 1 && c.CharDim <= most, "char-dim", "must be from 1 to %d", most)
	check(c.Filters >= 1 && c.Filters <= most, "filters", "must be from 1 to %d", most)
	check(c.MaxChars >= 1 && c.MaxChars <= most, "max-chars", "must be from 1 to %d", most)
	check(c.Gram >= 1 && c.Gram <= c.MaxChars, "gram", "must be from 1 to --max-chars %d", c.MaxChars)
	widths, err := parseWidths(c.Widths)
	check(err == nil, "widths", "%v", err)
	for _, width := range widths {
		check(width <= c.symbols(), "widths", "a filter cannot span more than a word, --max-chars %d and its two ends", c.MaxChars)
	}
	check(c.MinGram >= 1, "min-ngram", "must be at least 1")
	check(c.MaxGram >= c.MinGram && c.MaxGram <= most, "max-ngram", "must be from --min-ngram %d to %d", c.MinGram, most)
	check(c.Buckets >= 1 && c.Buckets <= 1<<31-1, "buckets", "must be from 1 to %d", 1<<31-1)
	check(c.SubwordLR > 0 && c.SubwordLR <= 1000, "subword-lr", "must be above 0, and at most 1000")
}

// refresh brings the table of words up to date.
func (j *job) refresh() error {
	if err := trainer.Refresh(j.trainer); err != nil {
		return fmt.Errorf("cannot compose the vectors: %w", err)
	}
	return nil
}

// exportEncoder writes what composes vectors that go with the given ones.
func (j *job) exportEncoder(folder *runFolder, vectors []float32) error {
	if j.encoder == nil {
		return nil
	}
	offset, err := subword.Offset(j.encoder, j.vocabulary.Words, vectors)
	if err != nil {
		return err
	}
	return subword.Save(folder.path(EncoderFile), j.encoder, offset)
}
