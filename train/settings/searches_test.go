package settings

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestSearches: the table of equal searches is what their data say.
func TestSearches(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "benchmarks", "recipes", "equal-search", "search.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	runs, epochs, kept := map[string]int{}, map[string]string{}, map[string][]float64{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		cells := strings.Split(line, "\t") // mode, role, epochs, seed, settings, judged on, seconds, five scores, their mean; or diverged
		mode, role := cells[0], cells[1]
		if role == "search" {
			runs[mode]++
			epochs[mode] = cells[2]
			continue
		}
		mean, err := strconv.ParseFloat(cells[len(cells)-1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if cells[2] == epochs[mode] { // as long as in the search
			kept[mode+role] = append(kept[mode+role], mean)
		}
	}
	for mode, n := range runs {
		gain := 0.0
		best, recipe := kept[mode+"chosen"], kept[mode+"recipe"]
		if len(recipe) == 0 { // the search has not ended
			n = 0
		}
		if len(best) == 2 && len(recipe) == 2 {
			gain = (best[0] + best[1] - recipe[0] - recipe[1]) / 2
		}
		if s := equalSearches[mode]; s.runs != n || math.Abs(s.gain-gain) > 0.0001 {
			t.Errorf("%s: {%d, %.4f} in the table, %d runs gained %.5f", mode, s.runs, s.gain, n, gain)
		}
	}
	for mode := range equalSearches {
		if runs[mode] == 0 {
			t.Errorf("%s had no search", mode)
		}
	}
}

// TestSearched: a search counts only for the model and the encoder that it had.
func TestSearched(t *testing.T) {
	for _, c := range []struct {
		mode, model, encoder, preset string
		as                           string
	}{
		{"cl", "cbow", "ngram", "tuned", "cl"}, {"cl", "cbow", "none", "tuned", ""}, {"cl", "sg", "none", "tuned", ""},
		{"word2vec", "sg", "none", "tuned", "word2vec"}, {"word2vec", "cbow", "none", "tuned", ""}, {"word2vec", "cbow", "ngram", "tuned", searchedComposed},
		{"word2vec", "sg", "ngram", "tuned", ""}, {"vanilla", "", "none", "tuned", "vanilla"}, {"vanilla", "", "cnn", "tuned", ""},
		{"ppmi", "", "", "tuned", "ppmi"}, {"psgnscc", "sg", "", "tuned", "psgnscc"}, {"parw2v", "sg", "none", "parw2v", ""},
	} {
		m, _ := FindMode(c.mode)
		want := equalSearches[c.as]
		runs, alike, gain := m.Searched(c.model, c.encoder, c.preset)
		if alike != want.runs || gain != want.gain || runs < alike || c.preset != presetTuned && runs > 0 {
			t.Errorf("%+v: %d runs, %d alike, gain %v", c, runs, alike, gain)
		}
	}
	for name, as := range map[string]string{"cl": "cl", "glove": "glove", "fullw2v": "fullw2v", "word2vec": "word2vec"} {
		c := Defaults(name, "", "", "")
		if m := c.FindMode(); m.searchedAs(c.Model, c.Subword) != as {
			t.Errorf("the recipe of %s is that of the search of %q", name, m.searchedAs(c.Model, c.Subword))
		}
	}
}
