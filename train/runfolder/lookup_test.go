package runfolder

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/settings"
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

func (spelling) Parts(word string) int { return strings.Count(word, "z") }

func (spelling) Source() subword.Source { return subword.FromNGrams }

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
	if found, err = v.Lookup([]string{"the", "xyzzy"}); err != nil || found[0].Composed() || !found[1].Composed() || !slices.Equal(found[1].Vector, []float32{5}) ||
		found[0].Source != "" || found[1].String() != "from 2 n-grams" {
		t.Errorf("%+v, %v", found, err)
	}
	const none = `"xy" is not in the vocabulary (5 words), and has no vector from n-grams: no part of it is known`
	if _, err = v.Lookup([]string{"the", "xyz", "xy"}); err == nil || err.Error() != none || v.Has("xy") || !v.Has("xyz") || !v.Has("the") {
		t.Errorf("no known part: %v", err)
	}
}

// A run that was killed while its n-grams were fitted has vectors, but none of unseen words yet.
func TestLookupBeforeTheFit(t *testing.T) {
	c, err := settings.Resolve("", map[string]string{"corpus": "text", "out": "run", "mode": "word2vec", "unseen": "regress", "subword": "none"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(out+partialSuffix, 0o755); err != nil {
		t.Fatal(err)
	}
	table, err := embedding.NewTable([]string{"the", "river"}, 1, []float32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.WriteFile(filepath.Join(out+partialSuffix, ConfigFile), config, 0o600),
		embedding.Save(filepath.Join(out+partialSuffix, VectorsFile), table, embedding.Word2VecBinary))
	if err != nil {
		t.Fatal(err)
	}
	v, err := LoadVectors(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := v.Lookup([]string{"river"}); err != nil || found[0].Vector[0] != 2 {
		t.Errorf("a known word: %+v, %v", found, err)
	}
	if _, err := v.Lookup([]string{"rivers"}); err == nil || !strings.Contains(err.Error(), "when the run is complete") {
		t.Errorf("an unseen word: %v", err)
	}
}
