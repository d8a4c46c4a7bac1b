package sequential

import "testing"

// Every entry of the table is complete. That what it creates trains is for the
// tests of eachMode: its sentences against the paper's, the loss falls, one
// thread repeats every bit, Reset goes back to the start.
func TestAlgorithms(t *testing.T) {
	seen := map[Algorithm]bool{}
	for _, d := range Algorithms() {
		if d.Name == "" || d.Help == "" || d.create == nil || seen[d.Name] {
			t.Errorf("the entry of %q is not complete, or comes twice", d.Name)
		}
		seen[d.Name] = true
		if found, err := Find(d.Name); err != nil || found.Help != d.Help {
			t.Errorf("%s: found as %+v, %v", d.Name, found, err)
		}
		if r := d.Recipe; r.LearningRate < 0 || r.LearningRate > 1 || r.NoiseExponent < -10 || r.NoiseExponent > 10 {
			t.Errorf("%s: recipe %+v", d.Name, r)
		}
		if !d.trains(SkipGram) || len(d.Models) > 0 && d.Models[0].Name != SkipGram || d.trains("lstm") {
			t.Errorf("%s: models %+v", d.Name, d.Models)
		}
	}
	if _, err := Find("magic"); err == nil {
		t.Error("an unknown algorithm is found")
	}
}

func TestRecipeOf(t *testing.T) {
	for _, x := range []struct {
		algorithm Algorithm
		model     Model
		want      Recipe
	}{
		{Word2Vec, SkipGram, Recipe{}},
		{Word2Vec, CBOW, Recipe{LearningRate: 0.05, ContextWeight: 1}},
		{FullW2V, SkipGram, Recipe{NoiseExponent: 0.5, ContextWeight: 1}},
		{FullRegister, SkipGram, Recipe{NoiseExponent: 0.5, ContextWeight: 1}},
		{PARW2V, SkipGram, Recipe{LearningRate: 0.03}},
	} {
		d, err := Find(x.algorithm)
		if got := d.RecipeOf(x.model); err != nil || got != x.want {
			t.Errorf("%s %s: %+v, %v", x.algorithm, x.model, got, err)
		}
	}
}
