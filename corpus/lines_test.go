package corpus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ReadLines hands out the tokens and lines that Read has, whatever the chunks.
func TestReadLines(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for range 50 {
		var text strings.Builder
		for range r.IntN(40) {
			for range r.IntN(12) {
				fmt.Fprintf(&text, "Word%d ", r.IntN(200)*r.IntN(200))
			}
			if r.IntN(3) == 0 {
				text.WriteString("na\u00efve\u2028" + strings.Repeat("long", 30))
			}
			text.WriteString("\n")
		}
		text.WriteString("the end")
		o := Options{MaxSentence: 1 + r.IntN(10), Lowercase: r.IntN(2) == 0, Tokenizer: Tokenizer(r.IntN(2)), chunkSize: 1 + r.IntN(300)}
		want, err := OpenFrom(t.Context(), strings.NewReader(text.String()), "text", o, Storage{})
		if err != nil {
			t.Fatal(err)
		}
		var sentences []string
		lines := 0
		stats, err := ReadLinesFrom(t.Context(), strings.NewReader(text.String()), "text", o, func(tokens []string, end bool) error {
			if len(tokens) > 0 {
				sentences = append(sentences, strings.Join(tokens, " "))
			}
			if end {
				lines++
			} else if len(tokens) != o.MaxSentence {
				t.Errorf("a piece of %d tokens", len(tokens))
			}
			return nil
		})
		if err != nil || stats.Tokens != want.Stats.Tokens || stats.Lines != want.Stats.Lines || int64(lines) != stats.Lines {
			t.Fatalf("%v, %d lines, %+v; want %+v", err, lines, stats, want.Stats)
		}
		var read []string
		for i := range len(want.Sentences) - 1 {
			var words []string
			for _, id := range want.Tokens[want.Sentences[i]:want.Sentences[i+1]] {
				words = append(words, want.Vocabulary.Words[id])
			}
			read = append(read, strings.Join(words, " "))
		}
		if !slices.Equal(sentences, read) {
			t.Fatalf("got  %q\nwant %q", sentences, read)
		}
	}
}

func TestReadLinesErrors(t *testing.T) {
	none := func([]string, bool) error { return nil }
	if _, err := ReadLines(t.Context(), "none", Options{}, none); err == nil {
		t.Error("a file that is not there is read")
	}
	stop := errors.New("stop")
	if _, err := ReadLinesFrom(t.Context(), strings.NewReader(strings.Repeat("a b\n", 1<<20)), "text", Options{}, func([]string, bool) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadLinesFrom(ctx, strings.NewReader("a"), "text", Options{}, none); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
