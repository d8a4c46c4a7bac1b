package wordcount

import (
	"fmt"
	"strings"
)

// Stats counts a text, and the part of it that reading kept.
//
// The numbers add up: the words that are not in the vocabulary had Tokens - LongTokens -
// TokensUsed tokens. Unless the vocabulary was given, TokensUsed is the sum of its counts.
type Stats struct {
	Files        int64 `json:"files"`         // files read; stdin is one
	Bytes        int64 `json:"bytes"`         // bytes of text, after decompression
	Lines        int64 `json:"lines"`         // lines, with a last line that has no line feed
	Tokens       int64 `json:"tokens"`        // tokens in the text
	Types        int64 `json:"types"`         // different words in the text, LongTokens left out
	TokensUsed   int64 `json:"tokens_used"`   // tokens whose word is in the vocabulary
	Sentences    int64 `json:"sentences"`     // sentences: lines, and pieces of lines, with at least one used token
	CutSentences int64 `json:"cut_sentences"` // lines with more than Options.MaxSentence used tokens, cut into pieces
	InvalidUTF8  int64 `json:"invalid_utf8"`  // bytes outside UTF-8, each replaced by U+FFFD
	LongTokens   int64 `json:"long_tokens"`   // tokens longer than MaxTokenBytes, left out like rare words
	Punctuated   int64 `json:"punctuated"`    // tokens that end in punctuation after a letter or digit: many in raw text
	Capitalized  int64 `json:"capitalized"`   // tokens that begin with a capital letter
}

// MaxTokenBytes is the longest token, in bytes of the text, that can become a
// word. A longer one (base64, a file without spaces) is not a word of any language. It is
// removed like a word below the minimum count and counted in Stats.LongTokens.
const MaxTokenBytes = 64 << 10

// Shares of the tokens above which a text looks raw.
const (
	manyPunctuated  = 0.03
	manyCapitalized = 0.05
	allCapitalized  = 0.95 // from here on capitals tell no words apart: they are codes, as of genes
)

// Raw tells what shows that a text was read as people write it, where words with
// punctuation at their end, and words with capitals, are other words than those without;
// and the settings that would help. Both are "" for a text that was prepared.
func (s Stats) Raw() (signs, advice string) {
	var seen, settings []string
	tokens := float64(max(s.Tokens, 1))
	if share := float64(s.Punctuated) / tokens; share > manyPunctuated {
		seen = append(seen, fmt.Sprintf("%.0f%% of the words end in punctuation", 100*share))
		settings = append(settings, "--tokenizer words")
	}
	if share := float64(s.Capitalized) / tokens; share > manyCapitalized && share < allCapitalized {
		seen = append(seen, fmt.Sprintf("%.0f%% of the words begin with a capital letter", 100*share))
		settings = append(settings, "--lowercase")
	}
	return strings.Join(seen, " and "), strings.Join(settings, " ")
}
