package phrases

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

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
	o := Options{Threshold: 1, MinCount: 1}
	p := learn(t, "new york is new\nnew york was old", o)
	// new 3, york 2, new york 2, of 8 tokens
	if len(p.Phrases) != 1 || p.Phrases[0] != (Phrase{"new york", 2, (2. - 1) / (3 * 2) * 8}) {
		t.Errorf("%+v", p)
	}
	l := List{p}
	if got := strings.Join(NewJoiner(l).Join(strings.Fields("york new york new new york")), " "); got != "york new_york new new_york" {
		t.Error(got)
	}
}

// Rare entries go when there are too many.
func TestMaxEntries(t *testing.T) {
	l, err := NewLearner(Options{Threshold: -1, MinCount: 1})
	if err != nil {
		t.Fatal(err)
	}
	l.most = 5
	for _, s := range []string{"a b", "a b", "a b", "c d", "e f"} {
		l.Add(strings.Fields(s))
	}
	if p := l.Pass(); !l.Reduced() || len(p.Phrases) != 1 || p.Phrases[0].Words != "a b" {
		t.Errorf("%+v", p)
	}
}

// What is written is read; what is wrong is told with its line.
func TestFile(t *testing.T) {
	want := List{
		{[]Phrase{{"new york", 12, 3.5}, {"bank america", 7, -0.25}}}, {[]Phrase{{"new_york times", 5, 1e9}}},
	}
	var file bytes.Buffer
	if err := want.Write(&file); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	got, err := Read(&file)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for change, problem := range map[string]string{
		"1\tnew york\t12\t3.5\n":   "",
		"1\tnew york\t12\n":        "line 6: 3 cells instead of 4",
		"0\tnew york\t12\t3.5\n":   "line 6: \"0\" is not the number of a pass",
		"999\tnew york\t12\t3.5\n": "line 6: \"999\" is not the number of a pass",
		"1\tnew\t12\t3.5\n":        "line 6: \"new\" is not a phrase",
		"1\tnew  y\t12\t3.5\n":     "line 6: \"new  y\" is not a phrase",
		"1\tnew y\tx\t3.5\n":       "line 6: \"x\" is not a count",
		"1\tnew y\t1\tx\n":         "line 6: \"x\" is not a score",
	} {
		_, err := Read(strings.NewReader(text + change))
		if (err == nil) != (problem == "") || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: error %v, want %q", change, err, problem)
		}
	}
	for _, text := range []string{"", "new york\n"} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// FuzzRead: a list that is read can be written, read again and applied.
func FuzzRead(f *testing.F) {
	f.Add(title + "\n" + columnsLine + "\n1\tnew york\t2\t0.5\n")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		NewJoiner(l).Join(strings.Fields(text))
	})
}
