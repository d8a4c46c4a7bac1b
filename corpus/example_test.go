package corpus_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/w2vcl/w2vcl/corpus"
)

func ExampleOpenFrom() {
	text := strings.NewReader("The cat sat on the mat.\nThe dog didn't!")
	c, err := corpus.OpenFrom(context.Background(), text, "example", corpus.Options{Tokenizer: corpus.Words, Lowercase: true}, corpus.Storage{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for s := range len(c.Sentences) - 1 {
		fmt.Println(c.Tokens[c.Sentences[s]:c.Sentences[s+1]])
	}
	fmt.Println(c.Vocabulary.Words[0], c.Vocabulary.Counts[0])
	// Output:
	// [0 1 6 5 0 4]
	// [0 3 2]
	// the 3
}

// Negatives are drawn from the counts to the power of 0.75.
func ExampleAlias() {
	negatives, err := corpus.NewAlias(corpus.CountPower([]uint64{40, 30, 20, 10}, 0.75))
	if err != nil {
		fmt.Println(err)
		return
	}
	const seed, step = 1, 0
	for _, bits := range corpus.Philox(seed, corpus.StreamNegatives.Sub(step), 0) {
		fmt.Print(negatives.Draw(bits), " ")
	}
	// Output: 0 0 1 3
}
