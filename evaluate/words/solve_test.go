package words

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// randomTable has words w0, w1, … and every seventh row like an earlier one.
func randomTable(t testing.TB, words, dim int) *embedding.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(words), uint64(dim)))
	names := make([]string, words)
	values := make([]float32, words*dim)
	for i := range names {
		names[i] = fmt.Sprintf("w%d", i)
		row := values[i*dim : (i+1)*dim]
		for k := range row {
			row[k] = float32(random.NormFloat64())
		}
		if i%7 == 6 {
			copy(row, values[random.IntN(i)*dim:])
		}
	}
	table, err := embedding.NewTable(names, dim, values)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func newLookup(t testing.TB, table *embedding.Table, restrict int) *evaluate.Lookup {
	t.Helper()
	l, err := evaluate.NewLookup(table, restrict)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// question asks what is to c as b is to a.
func question(a, b, c, d string) dataset.Question {
	return dataset.Question{A: a, B: b, C: c, D: d}
}

// naiveAnswer is the definition of 3CosAdd and 3CosMul.
func naiveAnswer(t *embedding.Table, m Method, q rows, limit int) int {
	best, answer := 0.0, -1
	for x := range limit {
		if x == q.a || x == q.b || x == q.c {
			continue
		}
		cos := func(y int) float64 { return evaluate.Cosine(t.Vector(x), t.Vector(y)) }
		score := cos(q.b) - cos(q.a) + cos(q.c)
		if m == CosMul {
			score = (cos(q.b) + 1) / 2 * (cos(q.c) + 1) / 2 / ((cos(q.a)+1)/2 + 0.001)
		}
		if answer < 0 || score > best+1e-6 { // equal vectors: the first row
			best, answer = score, x
		}
	}
	return answer
}

// randomQuestions have the naive answers of one method as the expected ones.
func randomQuestions(t *embedding.Table, m Method, count, limit int) dataset.Section {
	random := rand.New(rand.NewPCG(9, 9))
	s := dataset.Section{Name: "random"}
	for range count {
		q := rows{random.IntN(limit), random.IntN(limit), random.IntN(limit), 0, nil}
		if answer := naiveAnswer(t, m, q, limit); answer >= 0 {
			s.Questions = append(s.Questions, question(t.Words[q.a], t.Words[q.b], t.Words[q.c], t.Words[answer]))
		}
	}
	return s
}

func TestPassAgainstNaive(t *testing.T) {
	for _, c := range []struct{ words, dim, limit int }{
		{4, 1, 4}, {5, 2, 5}, {255, 3, 255}, {256, 3, 256}, {257, 3, 200}, {600, 10, 600}, {600, 10, 599},
	} {
		table := randomTable(t, c.words, c.dim)
		l := newLookup(t, table, c.limit)
		for _, m := range []Method{CosAdd, CosMul} {
			s := randomQuestions(table, m, 40, c.limit)
			tallies, err := answerSection(context.Background(), l, s, 0, Options{Methods: []Method{m}})
			if err != nil {
				t.Fatal(err)
			}
			n := len(s.Questions)
			if got := tallies[m]; got != (tally{right: n, found: n, total: n}) || n == 0 {
				t.Errorf("%+v, %s: %+v of %d questions as the naive loop", c, m, got, n)
			}
		}
	}
}

// TestManyWords: more question words than fit a block of full width.
func TestManyWords(t *testing.T) {
	table := randomTable(t, 4500, 6)
	l := newLookup(t, table, 0)
	s := dataset.Section{Name: "many"}
	for i := 0; i+2 < 4500; i += 3 {
		q := rows{i, i + 1, i + 2, 0, nil}
		s.Questions = append(s.Questions, question(table.Words[i], table.Words[i+1], table.Words[i+2], table.Words[q.a]))
	}
	expected := s.Questions[:3]
	for i := range expected {
		expected[i].D = table.Words[naiveAnswer(table, CosMul, rows{3 * i, 3*i + 1, 3*i + 2, 0, nil}, 4500)]
	}
	tallies, err := answerSection(context.Background(), l, s, 0, Options{Methods: []Method{CosMul}})
	if err != nil {
		t.Fatal(err)
	}
	// The others expect a question word, which is never the answer.
	if got := tallies[CosMul]; got != (tally{3, 1500, 1500}) {
		t.Errorf("got %+v", got)
	}
}

func TestResultsDoNotDependOnProcessors(t *testing.T) {
	table := loadTable(t, "../testdata/vectors.txt")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want, _, err := Score(context.Background(), table, "../testdata/questions.txt", Options{Sections: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, processors := range []int{2, 5} {
		runtime.GOMAXPROCS(processors)
		got, _, err := Score(context.Background(), table, "../testdata/questions.txt", Options{Sections: true})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d processors: %v, want %v; error %v", processors, got, want, err)
		}
	}
}

// TestExcludedSpellings: where case is ignored, no spelling of a question word
// is an answer.
func TestExcludedSpellings(t *testing.T) {
	words := []string{"man", "king", "woman", "King", "WOMAN", "queen", "Queen"}
	vectors := []float32{
		1, 0, // man
		1, 1, // king
		0, 0.1, // woman
		1, 1.1, // King
		0.1, 1, // WOMAN
		0.3, 1, // queen
		0.2, 1, // Queen, nearer to the question
	}
	table, err := embedding.NewTable(words, 2, vectors)
	if err != nil {
		t.Fatal(err)
	}
	s := dataset.Section{Name: "royal", Questions: []dataset.Question{question("man", "king", "woman", "queen")}}
	tallies, err := answerSection(context.Background(), newLookup(t, table, 0), s, 0, Options{Methods: []Method{CosAdd}})
	if err != nil {
		t.Fatal(err)
	}
	if got := tallies[CosAdd]; got != (tally{1, 1, 1}) {
		t.Errorf("%+v, want 1 right", got)
	}
}

// TestLRCosDegenerate: sections that leave nothing to learn from.
func TestLRCosDegenerate(t *testing.T) {
	table := randomTable(t, 10, 3)
	l := newLookup(t, table, 0)
	for _, c := range []struct {
		name      string
		questions []dataset.Question
		want      tally
	}{
		{"one pair", []dataset.Question{question("w1", "w2", "w1", "w2")}, tally{0, 0, 1}},
		{"one answer", []dataset.Question{question("w1", "w2", "w3", "w2")}, tally{0, 2, 2}},
		{"answer is source", []dataset.Question{question("w1", "w1", "w2", "w2")}, tally{0, 2, 2}},
		{"unknown", []dataset.Question{question("x", "y", "z", "u")}, tally{0, 0, 2}},
	} {
		tallies, err := answerSection(context.Background(), l, dataset.Section{Name: "s", Questions: c.questions}, 0, Options{Methods: []Method{LRCos}})
		if err != nil || tallies[LRCos] != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, tallies[LRCos], err, c.want)
		}
	}
	// Without a section, pairs are not one relation.
	tallies, err := answerSection(context.Background(), l, dataset.Section{Name: "", Questions: []dataset.Question{question("w1", "w2", "w3", "w4")}}, 0, Options{Methods: []Method{LRCos}})
	if _, ok := tallies[LRCos]; ok || err != nil {
		t.Errorf("no section: %+v, %v", tallies, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, m := range []Method{CosAdd, CosMul, LRCos} {
		_, err := answerSection(ctx, newLookup(t, randomTable(t, 10, 3), 0), dataset.Section{Name: "s", Questions: []dataset.Question{question("w1", "w2", "w3", "w4")}}, 0, Options{Methods: []Method{m}})
		if err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("%s: error %v", m, err)
		}
	}
}

// TestAnyAnswer: each listed answer is right, by every method, and the question is asked if the table
// has one of them.
func TestAnyAnswer(t *testing.T) {
	table, err := embedding.NewTable([]string{"man", "king", "woman", "queen", "house"}, 2, []float32{1, 0, 1, 1, 0.1, 1, 0.2, 2, 1, -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		d    string
		also []string
		want tally
	}{
		{"queen", nil, tally{1, 1, 1}}, {"house", []string{"empress", "Queen"}, tally{1, 1, 1}}, {"empress", []string{"queen"}, tally{1, 1, 1}},
		{"house", []string{"empress"}, tally{0, 1, 1}}, {"empress", []string{"ruler"}, tally{0, 0, 1}},
	} {
		q := question("man", "king", "woman", x.d)
		q.Also = x.also
		s := dataset.Section{Name: "royal", Questions: []dataset.Question{q}}
		l := newLookup(t, table, 0)
		tallies, err := answerSection(t.Context(), l, s, 0, Options{Methods: []Method{CosAdd, CosMul}})
		if err != nil || tallies[CosAdd] != x.want || tallies[CosMul] != x.want {
			t.Errorf("%+v: %+v (%v), want %+v", q, tallies, err, x.want)
		}
		values, err := questionItems(t.Context(), l, []dataset.Section{s}, Options{Methods: []Method{CosAdd}})
		if err != nil || (values[0] == 1) != (x.want.right == 1) || (values[0] != values[0]) != (x.want.found == 0) {
			t.Errorf("%+v: item %v (%v)", q, values, err)
		}
		pairs, total := distinctPairs(l, s.Questions)
		if want := 1 + x.want.found; len(pairs) != want || total != 2 {
			t.Errorf("%+v: %d pairs of %d, want %d", q, len(pairs), total, want)
		}
	}
}

// TestCosMulEpsilon: with the ε of Levy and Goldberg the word opposite to a wins here; with .01 the
// other one did.
func TestCosMulEpsilon(t *testing.T) {
	var vectors []float32
	for _, degrees := range []float64{180, 161, 162, 0, 11.5} {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		vectors = append(vectors, float32(cos), float32(sin))
	}
	table, err := embedding.NewTable([]string{"a", "b", "c", "opposite", "other"}, 2, vectors)
	if err != nil {
		t.Fatal(err)
	}
	s := dataset.Section{Questions: []dataset.Question{question("a", "b", "c", "opposite")}}
	tallies, err := answerSection(t.Context(), newLookup(t, table, 0), s, 0, Options{Methods: []Method{CosMul}})
	if got := tallies[CosMul]; err != nil || got != (tally{1, 1, 1}) {
		t.Errorf("%+v, %v", got, err)
	}
}
