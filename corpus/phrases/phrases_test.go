package phrases

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/testdata"
)

type goldenCase struct {
	Scorer    string
	Threshold float64
	Common    []string
	Passes    []struct {
		Entries int
		Found   int
		Best    []struct {
			Phrase string
			Score  float64
		}
		SHA256 string
	}
}

// Passes over the text in the program join the phrases that gensim's Phrases
// joins, with every scorer that gensim has, in its first 400 sentences (testdata/make_golden.py).
func TestGensim(t *testing.T) {
	if testing.Short() {
		t.Skip("four passes over a text of 2 MB")
	}
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	var text [][]string
	_, err = corpus.ReadLinesFrom(t.Context(), testdata.Corpus(), testdata.CorpusName, corpus.Options{}, func(tokens []string, _ bool) error {
		if len(tokens) > 0 && len(text) < 400 {
			text = append(text, slices.Clone(tokens))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		scorer, err := FindScorer(c.Scorer)
		if err != nil {
			t.Fatal(err)
		}
		sentences := text
		for i, want := range c.Passes {
			l, err := NewLearner(Options{Scorer: scorer, Threshold: c.Threshold, Delimiter: "_", Common: c.Common})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range sentences {
				l.Add(s)
			}
			same, entries := l.sameText()
			if entries != want.Entries || l.Reduced() {
				t.Errorf("%s, pass %d: %d entries, want %d", c.Scorer, i+1, entries, want.Entries)
			}
			p := l.pass(same, entries)
			for _, best := range want.Best {
				near := func(x Phrase) bool {
					return strings.ReplaceAll(x.Words, " ", "_") == best.Phrase && math.Abs(x.Score-best.Score) < 1e-9*math.Abs(best.Score)
				}
				if !slices.ContainsFunc(p.Phrases, near) {
					t.Errorf("%s, pass %d: there is no %s of score %v", c.Scorer, i+1, best.Phrase, best.Score)
				}
			}
			j, hash := NewJoiner(List{Delimiter: "_", Common: c.Common, Passes: []Pass{p}}), sha256.New()
			var joined [][]string
			for _, s := range sentences {
				s = slices.Clone(j.Join(s))
				joined = append(joined, s)
				hash.Write([]byte(strings.Join(s, " ") + "\n"))
			}
			if got := hex.EncodeToString(hash.Sum(nil)); got != want.SHA256 {
				t.Errorf("%s, threshold %v, pass %d: other phrases than gensim's", c.Scorer, c.Threshold, i+1)
			}
			sentences = joined
		}
	}
}

func learn(t *testing.T, text string, o Options) Pass {
	t.Helper()
	l, err := NewLearner(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text, "\n") {
		l.Add(strings.Fields(line))
	}
	return l.Pass()
}

// The score of word2phrase.c: (count(ab) - δ) / (count(a) count(b)) N.
func TestWord2Phrase(t *testing.T) {
	scorer, err := FindScorer("word2phrase")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Scorer: scorer, Threshold: 1, MinCount: 1, Delimiter: "_"}
	p := learn(t, "new york is new\nnew york was old", o)
	// new 3, york 2, new york 2, of 8 tokens
	if len(p.Phrases) != 1 || p.Phrases[0] != (Phrase{"new york", 2, (2. - 1) / (3 * 2) * 8}) {
		t.Errorf("%+v", p)
	}
	l := List{Delimiter: "_", Passes: []Pass{p}}
	if got := strings.Join(NewJoiner(l).Join(strings.Fields("york new york new new york")), " "); got != "york new_york new new_york" {
		t.Error(got)
	}
}

// Common words stand inside phrases only.
func TestCommon(t *testing.T) {
	scorer, _ := FindScorer("gensim")
	o := Options{Scorer: scorer, Threshold: 0.1, MinCount: 1, Delimiter: "_", Common: []string{"of", "the"}}
	text := strings.Repeat("the bank of the america of\n", 3)
	p := learn(t, text, o)
	if len(p.Phrases) != 1 || p.Phrases[0].Words != "bank of the america" {
		t.Fatalf("%+v", p)
	}
	j := NewJoiner(List{Delimiter: "_", Common: o.Common, Passes: []Pass{p}})
	for sentence, want := range map[string]string{
		"the bank of the america of":           "the bank_of_the_america of",
		"bank of of":                           "bank of of",
		"of bank the bank of the america bank": "of bank the bank_of_the_america bank",
		"":                                     "",
	} {
		if got := strings.Join(j.Join(strings.Fields(sentence)), " "); got != want {
			t.Errorf("%q becomes %q, want %q", sentence, got, want)
		}
	}
}

// Rare entries go when there are too many.
func TestMaxEntries(t *testing.T) {
	scorer, _ := FindScorer("word2phrase")
	l, err := NewLearner(Options{Scorer: scorer, Threshold: -1, MinCount: 1, Delimiter: "_", MaxEntries: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"a b", "a b", "a b", "c d", "e f"} {
		l.Add(strings.Fields(s))
	}
	if p := l.Pass(); !l.Reduced() || len(p.Phrases) != 1 || p.Phrases[0].Words != "a b" {
		t.Errorf("%+v", p)
	}
}

func TestOptions(t *testing.T) {
	scorer, _ := FindScorer("npmi")
	for _, o := range []Options{
		{}, {Scorer: scorer}, {Scorer: scorer, Delimiter: " "}, {Scorer: scorer, Delimiter: "_", MinCount: -1},
		{Scorer: scorer, Delimiter: "_", MaxEntries: -1},
	} {
		if _, err := NewLearner(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if _, err := FindScorer("best"); err == nil || !strings.Contains(err.Error(), "word2phrase or gensim or npmi") {
		t.Error(err)
	}
}

// What is written is read; what is wrong is told with its line.
func TestFile(t *testing.T) {
	want := List{Delimiter: "_", Common: []string{"of", "the"}, Passes: []Pass{
		{[]Phrase{{"new york", 12, 3.5}, {"bank of america", 7, -0.25}}}, {[]Phrase{{"new_york times", 5, 1e9}}},
	}}
	var file bytes.Buffer
	if err := want.Write(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	got, err := Read(&file)
	if err != nil || got.Delimiter != "_" || !slices.Equal(got.Common, want.Common) || len(got.Passes) != 2 ||
		!slices.Equal(got.Passes[0].Phrases, want.Passes[0].Phrases) || !slices.Equal(got.Passes[1].Phrases, want.Passes[1].Phrases) {
		t.Errorf("%+v, %v", got, err)
	}
	for change, problem := range map[string]string{
		"1\tnew york\t12\t3.5\n":   "",
		"1\tnew york\t12\n":        "line 8: 3 cells instead of 4",
		"0\tnew york\t12\t3.5\n":   "line 8: \"0\" is not the number of a pass",
		"999\tnew york\t12\t3.5\n": "line 8: \"999\" is not the number of a pass",
		"1\tnew\t12\t3.5\n":        "line 8: \"new\" is not a phrase",
		"1\tnew  y\t12\t3.5\n":     "line 8: \"new  y\" is not a phrase",
		"1\tnew y\tx\t3.5\n":       "line 8: \"x\" is not a count",
		"1\tnew y\t1\tx\n":         "line 8: \"x\" is not a score",
	} {
		_, err := Read(strings.NewReader(text + change))
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: error %v, want %q", change, err, problem)
		}
	}
	for _, text := range []string{"", "new york\n", title + "\n"} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// FuzzRead: a list that is read can be written, read again and applied.
func FuzzRead(f *testing.F) {
	f.Add(title + "\n" + delimiterLine + "_\n" + commonLine + "of\n" + columnsLine + "\n1\tnew york\t2\t0.5\n")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		NewJoiner(l).Join(strings.Fields(text))
	})
}
