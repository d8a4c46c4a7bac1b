package dataset

import (
	"maps"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate"
)

// TestContained: parts of a set are found by their items, whatever their names, the order of words and their case.
func TestContained(t *testing.T) {
	pairs := func(name string, words ...string) Set {
		s := Set{Task: evaluate.TaskSimilarity, Name: name}
		for i := 0; i < len(words); i += 2 {
			s.Pairs = append(s.Pairs, Pair{First: words[i], Second: words[i+1], Score: float64(i)})
		}
		return s
	}
	sets := []Set{
		pairs("part", "B", "a", "c", "d"), pairs("whole", "a", "b", "c", "d", "e", "f"), pairs("half", "a", "b", "x", "y"),
		pairs("apart", "x", "z"), pairs("of a part", "d", "c"),
		{Task: evaluate.TaskAnalogy, Name: "questions", Sections: []Section{{Questions: []Question{{A: "a", B: "b", C: "c", D: "d"}}}}},
		{Task: evaluate.TaskAnalogy, Name: "more", Sections: []Section{{Questions: []Question{{A: "a", B: "b", C: "c", D: "d"}, {A: "a", B: "b", C: "e", D: "f"}}}}},
		{Task: evaluate.TaskCategorization, Name: "classes", Members: []Member{{"a", "b"}}},
	}
	want := map[string]string{"part": "whole", "of a part": "whole", "questions": "more"}
	if got := Contained(sets); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
