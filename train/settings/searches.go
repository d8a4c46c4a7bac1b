package settings

import "github.com/w2vcl/w2vcl/sequential"

// An equalSearch is the part of a recipe's search that all modes had alike: the recipe, ten changes of one setting, and the best
// changes together (benchmarks/recipes; a test compares this table with its data).
type equalSearch struct {
	runs int     // that ended
	gain float64 // of the best over the recipe, in the mean score of five sets, with other seeds, on other items than chose it
}

// equalSearches are the equal searches by mode. They changed the recipes of psgnscc and glove. The other gains are noise, take twice
// the time (vanilla), or are losses on a short text (ppmi). CBOW with n-grams had a search of its own.
var equalSearches = map[string]equalSearch{
	ModeCL:                          {12, -0.0040},
	ModeVanilla:                     {12, 0.0165},
	string(sequential.Word2Vec):     {runs: 12},
	searchedComposed:                {12, 0.0035},
	string(sequential.PWord2Vec):    {12, -0.0010},
	string(sequential.FullW2V):      {12, 0.0023},
	string(sequential.FullRegister): {runs: 12},
	string(sequential.PARW2V):       {12, -0.0029},
	string(sequential.PSGNScc):      {12, 0.0124},
	ModePPMI:                        {12, 0.0100},
	ModeGloVe:                       {12, 0.0628},
}

// searchedComposed is word2vec with CBOW on n-grams.
const searchedComposed = "word2vec-ngram"

// Searched is how many runs the search for the mode's recipe had with a model, an encoder and a preset, as benchmarks record it: of the
// sentence-ordered modes together, which share a recipe; 0 where nobody recorded one, as of papers. Of these, so many were those of a
// search that all modes had alike, whose best run gained so much.
func (m Mode) Searched(model, encoder, preset string) (runs, alike int, gain float64) {
	if preset == presetVanillaLong && m.Name == ModeVanilla {
		return 14, 0, 0 // benchmarks/vanilla
	}
	if preset != presetTuned {
		return 0, 0, 0
	}
	equal := equalSearches[m.searchedAs(model, encoder)]
	earlier := 0
	m, _ = findMode(m.Name, model)
	switch m.Family {
	case Stretches:
		earlier = 468 // 229 of a prototype, 201 and 38 of w2vcl
	case LargeBatch:
		earlier = 979
	case SentenceOrdered:
		earlier = 86
	}
	return earlier + equal.runs, equal.runs, equal.gain
}

// searchedAs is the name of the search in equalSearches that had this model and encoder; none if there was none. Model positional
// has what was searched with model cbow.
func (m Mode) searchedAs(model, encoder string) string {
	means := model == ModelCBOW || model == ModelPositional
	composed := means && encoder == SubwordNGram
	plain := !means && (encoder == SubwordNone || encoder == "")
	switch {
	case m.Name == string(sequential.Word2Vec) && composed:
		return searchedComposed
	case m.Name == ModeCL && composed, m.Name != ModeCL && plain:
		return m.Name
	}
	return ""
}
