package wordcount

import (
	"fmt"
	"strings"
)

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
