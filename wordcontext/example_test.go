package wordcontext_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// The matrix of table 4 of the paper: one sentence, window 2, five contexts a
// word. "like" and "apple" have three contexts each, so two columns more repeat
// them.
func Example() {
	ctx := context.Background()
	c, err := corpus.OpenFrom(ctx, strings.NewReader("i like apple juice"), "example", corpus.Options{}, corpus.Storage{})
	if err != nil {
		log.Fatal(err)
	}
	m, err := wordcontext.Build(ctx, c, wordcontext.Options{Window: 2, Contexts: 5, Passes: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for i, word := range c.Vocabulary.Words {
		fmt.Printf("%-5s:", word)
		for j := range m.Contexts() {
			fmt.Printf(" %s", c.Vocabulary.Words[m.At(i, j)])
		}
		fmt.Println()
	}
	// Output:
	// apple: like i juice i juice
	// i    : apple like like apple like
	// juice: like apple like apple apple
	// like : i apple juice i juice
}
