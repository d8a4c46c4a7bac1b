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
	data, err := os.ReadFile(filepath.Join("..", "benchmarks", "recipes", "equal-search", "search.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	runs, recipe, best := map[string]int{}, map[string]float64{}, map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		cells := strings.Split(line, "\t") // mode, role, epochs, seed, settings, judged on, seconds, five scores, their mean
		if cells[1] != "search" || len(cells) < 13 {
			continue
		}
		mean, err := strconv.ParseFloat(cells[12], 64)
		if err != nil {
			t.Fatal(err)
		}
		mode := cells[0]
		if runs[mode]++; cells[4] == "recipe" {
			recipe[mode] = mean
		}
		best[mode] = max(best[mode], mean)
	}
	for mode, n := range runs {
		gain := best[mode] - recipe[mode]
		if s := equalSearches[mode]; s.runs != n || math.Abs(s.gain-gain) > 1e-9 || recipe[mode] == 0 {
			t.Errorf("%s: {%d, %.4f} in the table, %d runs gained %.4f from %.4f", mode, s.runs, s.gain, n, gain, recipe[mode])
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
		{"ppmi", "", "", "tuned", "ppmi"}, {"parw2v", "sg", "none", "parw2v", ""},
	} {
		m, _ := FindMode(c.mode)
		want := equalSearches[c.as]
		runs, alike, gain := m.Searched(c.model, c.encoder, c.preset)
		if alike != want.runs || gain != want.gain || runs < alike || c.preset != presetTuned && runs > 0 {
			t.Errorf("%+v: %d runs, %d alike, gain %v", c, runs, alike, gain)
		}
	}
	for name, as := range map[string]string{"cl": "cl", "glove": "glove", "fullw2v": "fullw2v", "word2vec": "word2vec"} {
		c := Defaults(name, "", "")
		if m := c.FindMode(); m.searchedAs(c.Model, c.Subword) != as {
			t.Errorf("the recipe of %s is that of the search of %q", name, m.searchedAs(c.Model, c.Subword))
		}
	}
}
