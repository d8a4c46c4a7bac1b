package runfolder

import (
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
)

// spelling is an encoder that writes the length of a word.
type spelling struct{}

func (spelling) Dim() int { return 1 }

func (spelling) Encode(words []string, dst []float32) error {
	for i, word := range words {
		dst[i] = float32(len(word))
	}
	return nil
}

func TestLookup(t *testing.T) {
	table, err := embedding.NewTable([]string{"the", "River", "rivers", "driver", "economy"}, 1, []float32{10, 20, 30, 40, 50})
	if err != nil {
		t.Fatal(err)
	}
	v := &Vectors{Table: table}
	found, err := v.Lookup([]string{"rivers", "the"})
	if err != nil || found[0].Row != 2 || found[1].Row != 0 || found[1].Word != "the" || found[1].Vector[0] != 10 || found[0].Composed() {
		t.Errorf("%+v, %v", found, err)
	}
	for word, want := range map[string]string{
		"river":  `"river" is not in the vocabulary (5 words); did you mean River, rivers, driver?`,
		"ecnomy": "did you mean economy?",
		"hte":    "did you mean the?", // neighbours swapped
		"xyz":    "(5 words); 'train --subword ngram' gives unseen words vectors, too",
		"my xyz": "give one word at a time",
	} {
		_, err := v.Lookup([]string{"the", word})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: error %v, want one that ends with %q", word, err, want)
		}
	}
	if _, err := v.Lookup([]string{"abc", "xyz"}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two words: error %v", err)
	}
	v.Encoder = spelling{}
	if found, err = v.Lookup([]string{"the", "xyzzy"}); err != nil || found[0].Composed() || !found[1].Composed() || !slices.Equal(found[1].Vector, []float32{5}) {
		t.Errorf("%+v, %v", found, err)
	}
}
