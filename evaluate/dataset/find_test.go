package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/evaluatetest"

	"github.com/w2vcl/w2vcl/internal/memory"
)

func namesOf(sets []Set) (names []string) {
	for _, s := range sets {
		names = append(names, s.Task+" "+s.Name)
	}
	return names
}

func TestFind(t *testing.T) {
	pairs := 0
	similar := func() string { // another set each time
		pairs++
		return fmt.Sprintf("a b %d\nc d 2\n", pairs)
	}
	dir := evaluatetest.Folder(t, map[string]string{
		"similarity/EN-WS-353-ALL.txt":  similar(),
		"similarity/EN-WS-353-SIM.txt":  similar(),
		"similarity/wordsim353.tsv":     similar(),
		"similarity/EN-SIMLEX-999.txt":  similar(),
		"similarity/EN-MEN-TR-3k.txt":   similar(),
		"similarity/EN-RW-STANFORD.txt": similar(),
		"similarity/mental-states.txt":  similar(),
		"other/mental-states.txt":       similar(),
		"other/again/mental-states.txt": similar(),
		"analogy/questions-words.txt":   ": s\na b c d\n",
		"analogy/MSR.txt":               "a b c d\n",
		"README.md":                     "# Data\n\nThese files are word similarity sets.\nSee the paper.\n",
		"categorization/ap.csv":         "index,category,word\n0,tree,acacia\n1,tree,apple\n",
		"categorization/EN-BLESS.txt":   "alligator-n\tanimal\tattri\tgreen-j\n",
		"classification/reviews.all":    "1 the rock is destined to be\n0 simplistic , silly and tedious .\n",
		"graphs/edges.txt":              "1 2\n2 3\n",
		"graphs/weighted.txt":           "1 2 0.5\n2 3 0.25\n",
		"graphs/binary.mat":             "MATLAB\x00\x01",
		"empty.txt":                     "",
		"comments.txt":                  "# nothing\n",
		"one-word.txt":                  "word\n",
		".hidden/set.txt":               similar(),
		".set.txt.swp":                  similar(),
	})
	sets, notes, err := Find(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{ // in the order of the paths; a name goes to the first that asks
		"analogy MSR", "analogy Google", "categorization BLESS", "categorization AP",
		"similarity mental-states", "similarity other/mental-states.txt",
		"similarity MEN", "similarity RW", "similarity SimLex-999", "similarity WS-353", "similarity WS-353-SIM",
		"similarity similarity/mental-states.txt", "similarity wordsim353",
	}
	if got := namesOf(sets); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(notes) != 7 {
		t.Errorf("%d notes: %q", len(notes), notes)
	}
	for _, note := range notes {
		if !strings.Contains(note, "skipped") {
			t.Errorf("note %q", note)
		}
	}
}

// TestBATS: files in folders beside each other are the sections of one set, wherever the search begins.
func TestBATS(t *testing.T) {
	dir := evaluatetest.Folder(t, map[string]string{
		"BATS_3.0/1_Inflectional_morphology/I01 [noun - plural_reg].txt": "album\talbums\nart\tarts\nbook\tbooks\n",
		"BATS_3.0/4_Lexicographic_semantics/L08 [synonyms - exact].txt":  "sofa\tcouch/divan\nhome\thouse/ abode /\n",
		"BATS_3.0/README.md": "# BATS\n\nThe Bigger Analogy Test Set.\n",
		"copy/1_Inflectional_morphology/I01 [noun - plural_reg].txt": "art\tarts\nbook\tbooks\nalbum\talbums\n",
		"copy/4_Lexicographic_semantics/L08 [synonyms - exact].txt":  "sofa\tcouch/divan\nhome\thouse/abode\n",
		"counts.tsv": "the\t100\nof\t50\n",
		"edges.tsv":  "1\t2\n2\t3\n",
	})
	sets, notes, err := Find(t.Context(), dir, "")
	if err != nil || !slices.Equal(namesOf(sets), []string{"analogy BATS"}) || len(notes) != 4 {
		t.Fatalf("%q, notes %q (%v)", namesOf(sets), notes, err)
	}
	s := sets[0].Sections
	if len(s) != 2 || s[0].Name != "1_Inflectional_morphology/I01 [noun - plural_reg]" || len(s[0].Questions) != 6 || len(s[1].Questions) != 2 {
		t.Fatalf("sections %+v", s)
	}
	want := Question{A: "home", B: "house", C: "sofa", D: "couch", Also: []string{"divan"}}
	if got := s[1].Questions[1]; !reflect.DeepEqual(got, want) {
		t.Errorf("question %+v, want %+v", got, want)
	}
	for path, want := range map[string]string{
		"BATS_3.0": "analogy BATS", "BATS_3.0/4_Lexicographic_semantics": "analogy 4_Lexicographic_semantics",
		"BATS_3.0/4_Lexicographic_semantics/L08 [synonyms - exact].txt": "analogy L08 [synonyms - exact]",
	} {
		sets, _, err := Find(t.Context(), filepath.Join(dir, filepath.FromSlash(path)), "")
		if err != nil || !slices.Equal(namesOf(sets), []string{want}) {
			t.Errorf("%s: %q (%v)", path, namesOf(sets), err)
		}
	}
}

// TestTREC: train and test files, in both of their forms, are one set.
func TestTREC(t *testing.T) {
	for _, files := range []map[string]string{
		{"train_5500.label": "DESC:manner How did it go ?\nHUM:ind Who was he ?\n", "TREC_10.label": "NUM:dist How far is it ?\n"},
		{"TREC.train.all": "0 How did it go ?\n1 Who was he ?\n", "TREC.test.all": "2 How far is it ?\n"},
		{"TREC.train": "0 How did it go ?\n1 Who was he ?\n", "TREC.test": "2 How far is it ?\n"},
	} {
		dir := evaluatetest.Folder(t, files)
		paths := []string{dir}
		for name := range files {
			paths = append(paths, filepath.Join(dir, name))
		}
		for _, path := range paths {
			sets, strangers, notes, err := FindSentences(t.Context(), path)
			if err != nil || len(sets) != 1 || len(strangers)+len(notes) != 0 {
				t.Fatalf("%s: %+v, %q, %q (%v)", path, sets, strangers, notes, err)
			}
			s := sets[0]
			if s.Name != "TREC" || len(s.Training) != 2 || len(s.Test) != 1 || s.Training[0].Label != "DESC" && s.Training[0].Label != "0" || len(s.Test[0].Words) != 5 {
				t.Errorf("%s: %+v", path, s)
			}
		}
	}
}

// TestSameSets: a set counts once, in whatever formats and orders it is there; sets
// that only look alike count each.
func TestSameSets(t *testing.T) {
	dir := evaluatetest.Folder(t, map[string]string{
		"EN-WS-353-ALL.txt":     "Tiger\tcat\t7.35\ntiger\ttiger\t10.00\n",
		"copy/ws353.csv":        "Word 1,Word 2,Human (mean)\ntiger,tiger,10\nTiger,cat,7.35\n",
		"other-scores.txt":      "Tiger\tcat\t7.35\ntiger\ttiger\t9\n",
		"fewer.txt":             "tiger\ttiger\t10.00\n",
		"questions-words.txt":   ": s\na b c d\ne f g h\n",
		"copy/questions.txt":    "// the same\n: s\ne f g h\na b c d\n",
		"other-section.txt":     ": t\na b c d\ne f g h\n",
		"categories.csv":        "word,category\na,x\nb,y\n",
		"copy/categories.tsv":   "category\tword\nx\ta\ny\tb\n",
		"other-categories.csv":  "word,category\na,y\nb,x\n",
		"copy/similar/copy.txt": "a b 1\n",
	})
	sets, notes, err := Find(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"similarity WS-353", "categorization categories", "analogy Google", "similarity copy", "similarity fewer",
		"categorization other-categories", "similarity other-scores", "analogy other-section",
	}
	if got := namesOf(sets); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	note := filepath.Join(dir, "copy", "ws353.csv") + ": the same set as " + filepath.Join(dir, "EN-WS-353-ALL.txt") + ", counted once"
	if len(notes) != 3 || notes[1] != note {
		t.Errorf("notes %q", notes)
	}
	if sets, notes, err = Find(t.Context(), dir, evaluate.TaskSimilarity); len(sets) != 4 || len(notes) != 1 || err != nil {
		t.Errorf("of one task: %d sets, notes %q (%v)", len(sets), notes, err)
	}
}

// TestRelationsBomb: files of relations, whose questions are the square of their lines, are refused before they fill
// the memory.
func TestRelationsBomb(t *testing.T) {
	dir := t.TempDir()
	for i := range 8 {
		var lines strings.Builder
		for k := range mostPairs {
			fmt.Fprintf(&lines, "a%d_%d\tb%d\n", i, k, k)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("relation%d.txt", i)), []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, release := memory.NewGuard(memory.Resident() + 200<<20)
	defer release()
	if _, _, err := Find(t.Context(), dir, ""); !errors.Is(err, memory.ErrRoom) || !strings.Contains(err.Error(), "relation") {
		t.Errorf("%v", err)
	}
}
