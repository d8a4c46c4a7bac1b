package dataset

import (
	"path/filepath"
	"slices"
	"strings"
)

// publishedNames maps the beginning of a file's name, without punctuation, case
// and a leading "EN", to the name that the field uses.
var publishedNames = []struct{ prefix, name string }{
	{"ws353sim", "WS-353-SIM"},
	{"ws353rel", "WS-353-REL"},
	{"wordsimsimilarity", "WS-353-SIM"},
	{"wordsimrelatedness", "WS-353-REL"},
	{"ws353", "WS-353"},
	{"wordsim353", "WS-353"},
	{"simlex", "SimLex-999"},
	{"simverb", "SimVerb-3500"},
	{"mentr", "MEN"},
	{"mendataset", "MEN"},
	{"mturk771", "MTurk-771"},
	{"mturk", "MTurk-287"},
	{"rwstanford", "RW"},
	{"rg65", "RG-65"},
	{"mc30", "MC-30"},
	{"yp130", "YP-130"},
	{"verb143", "Verb-143"},
	{"questionswords", "Google"},
	{"msr", "MSR"},
	{"battig", "Battig"},
	{"bless", "BLESS"},
	{"bats", "BATS"},
	{"essli", "ESSLLI-2008"},
	{"esslli", "ESSLLI-2008"},
	{"wordrelationship", "MSR"},
}

// publishedName returns the name that the field uses for a set, or stem.
func publishedName(stem string) string {
	key := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(stem))
	if key == "ap" {
		return "AP"
	}
	for _, key := range []string{key, strings.TrimPrefix(key, "en")} {
		for _, n := range publishedNames {
			if strings.HasPrefix(key, n.prefix) {
				return n.name
			}
		}
	}
	return stem
}

func hasPublishedName(path string) bool {
	stem := stemOf(path)
	return publishedName(stem) != stem
}

// stemOf returns a file's name without its extension.
func stemOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// nameSets gives each set the name that the field uses, or its file's name where
// the first is taken, or its path where both are taken.
func nameSets(sets []Set, root string) {
	taken := make(map[string]bool)
	for i := range sets {
		s := &sets[i]
		stem := stemOf(s.Path)
		relative, err := filepath.Rel(root, s.Path)
		if err != nil {
			relative = s.Path
		}
		choices := []string{publishedName(stem), stem, filepath.ToSlash(relative)}
		free := slices.IndexFunc(choices, func(name string) bool { return !taken[s.Task+name] })
		s.Name = choices[max(free, 0)]
		taken[s.Task+s.Name] = true
	}
}

// sentenceSetNames maps the names that files of sentences usually have to the names
// that the field uses.
var sentenceSetNames = map[string]string{
	"rt-polarity": "MR", "subj": "Subj", "stsa.binary": "SST-2", "stsa.fine": "SST-1", "custrev": "CR", "mpqa": "MPQA", "aclImdb": "IMDB",
}

func sentenceSetName(stem string) string {
	if name, ok := sentenceSetNames[stem]; ok {
		return name
	}
	return stem
}
