package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A measure is what a reader asks of each variant.
type measure struct {
	name, detail string
	of           func(v VariantResult) cell
	brief        bool // also in a short table
}

// LeadTable answers the first questions: the mean score, the score of each set, and what they cost. Variants are columns, the best one
// first; of many, they are rows. A short one has the seconds and the memory, and no other costs.
func (r *Result) LeadTable(short bool) report.Table {
	p, ranked := page{r}, r.ranked()
	t := report.Table{
		Name: "comparison", Title: "Scores and costs", Head: append([]string{""}, namesOf(ranked)...), Stacked: true,
		Note: p.leadNote(ranked[0].Name),
	}
	list := func(measures []measure) {
		for _, m := range measures {
			row := []cell{{Text: m.name, Small: m.detail}}
			for _, v := range ranked {
				row = append(row, m.of(v))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	list(p.scoreMeasures(ranked))
	t.Rule = len(t.Rows)
	costs := p.costMeasures()
	if short {
		costs = slices.DeleteFunc(costs, func(m measure) bool { return !m.brief })
	}
	list(costs)
	if short && slices.ContainsFunc(r.Differences, func(d Difference) bool {
		return d.named() && (d.Variant == ranked[0].Name || d.Against == ranked[0].Name)
	}) {
		t.Head[0] = "* p < .05 against " + ranked[0].Name
	}
	if p.Many() {
		t.Head[0] = cmp.Or(t.Head[0], "variant")
		t = t.Transposed()
	}
	return t
}

// leadNote explains the first table.
func (p page) leadNote(best string) string {
	small := "Small print: the difference from " + best + ", before rounding"
	switch {
	case len(p.Differences) == 0:
		small = ""
	case p.Many():
		small += ". Metrics, intervals and p: in the table of all scores; * p < .05."
	case p.SeveralSeeds:
		small += ", and Welch's p over seeds and items after Holm's correction; * p < .05."
	default:
		small += "."
	}
	return joined([]string{
		small,
		fmt.Sprintf("Seconds: of a run with %s; if idle, on a machine that does nothing else.", terminal.Quantity(strconv.Itoa(p.Machine.Threads), "thread")),
		"Words/s: epochs × words ÷ seconds, if idle where that is known. Memory: that training takes. Pairs: with negatives. Tuning runs found the recipe, by " + enumerate(tunedOn, itself) + " of English Wikipedia.",
	})
}

// Many reports whether the variants are too many for columns of a table.
func (p page) Many() bool { return len(p.Variants) > few+1 }

// scoreMeasures are the mean score, the sets that it is of, and the sets of sentences.
func (p page) scoreMeasures(ranked []VariantResult) []measure {
	best := ranked[0].Name
	differences := p.fromBest(best)
	above, alike := p.apart(ranked)
	measures := []measure{{name: meanName, detail: p.counted(), of: func(v VariantResult) cell {
		c := p.behind(differences[v.Name], v.Score, theMean)
		c.Best = v.Name == best && len(above) > 0 && len(alike) == 0
		return c
	}}}
	for i, set := range p.Sets {
		if set.Main && set.LeftOut == "" || set.table() == tableClasses {
			measures = append(measures, measure{name: set.Dataset, detail: set.Metric + ", " + coverage(set), of: func(v VariantResult) cell {
				return p.behind(differences[v.Name], v.Scores[i], set)
			}})
		}
	}
	return measures
}

// fromBest returns the differences of each variant from the best one.
func (r *Result) fromBest(best string) map[string][]Difference {
	differences := map[string][]Difference{}
	for _, d := range r.Differences {
		other := d.Variant
		if other == best {
			other = d.Against
		}
		if d, ok := d.from(other, best); ok {
			differences[other] = append(differences[other], d)
		}
	}
	return differences
}

// find returns the difference on a set, or in theMean.
func find(differences []Difference, set Set) (_ Difference, ok bool) {
	if i := slices.IndexFunc(differences, func(d Difference) bool { return d.of(set) }); i >= 0 {
		return differences[i], true
	}
	return Difference{}, false
}

// counted says how many of the sets the mean score is of.
func (p page) counted() string {
	sets := p.mainSets()
	all := terminal.Quantity(strconv.Itoa(len(sets)), "set")
	counted := slices.DeleteFunc(sets, func(s Set) bool { return s.Weight == 0 })
	return fmt.Sprintf("%d of %s, weighted", len(counted), all)
}

// behind is a score with the difference from that of the best.
func (p page) behind(differences []Difference, score Spread, set Set) cell {
	c := cell{Text: score.Mean.String()}
	d, ok := find(differences, set)
	if !ok {
		return c
	}
	c.Small = signed(d.Difference.Value)
	if d.Holm.Valid() && !p.Many() {
		c.Small += ", " + probability(d.Holm)
	}
	if d.named() {
		c.Text += "*"
	}
	return c
}

// costMeasures are what the scores took. How long runs train is fixed in seconds of a machine that does nothing else, if Lengths were measured.
func (p page) costMeasures() []measure {
	var measures []measure
	add := func(name string, brief bool, of func(v VariantResult) cell) {
		measures = append(measures, measure{name: name, of: of, brief: brief})
	}
	clock := "seconds"
	if slices.ContainsFunc(p.Variants, func(v VariantResult) bool { return v.Length != nil }) {
		add("seconds if idle", true, func(v VariantResult) cell {
			if v.Length == nil {
				return positive(0)
			}
			return positive(v.Length.Seconds)
		})
		clock = "clock s per run"
	}
	add(clock, true, func(v VariantResult) cell { return positive(v.clock()) })
	add("memory", true, func(v VariantResult) cell { return sizeCell(v.Memory.Total) })
	if p.Devices() != "" {
		add("GPU memory", true, func(v VariantResult) cell { return sizeCell(v.Memory.Device) })
	}
	if p.Vocabularies() {
		add("vocabulary", false, func(v VariantResult) cell { return cell{Text: terminal.Number(v.Vocabulary)} })
	}
	add("tuning runs", false, func(v VariantResult) cell { return positive(v.tuning()) })
	// A page of a phone leaves out the last three.
	add("pairs", false, func(v VariantResult) cell { return positive(float64(v.Pairs.Mean)) })
	add("epochs", false, func(v VariantResult) cell { return positive(float64(v.Epochs.Mean)) })
	add("words/s", false, func(v VariantResult) cell { return positive(float64(v.Words.Mean) / v.Seconds()) })
	return measures
}

// Recipes says what the variants are: the mode, and the settings of its own, where the name does not say so; of a few variants also the
// settings that people ask for first.
func (p page) Recipes() string {
	asked := []string{"model", "subword", "window", "negative", "sample", "lr", "optimizer"}
	if p.Many() {
		asked = nil
	}
	var said []string
	for _, v := range p.Variants {
		if recipe := v.recipe(asked); recipe != "" {
			said = append(said, fmt.Sprintf("%s: %s.", v.Name, recipe))
		}
	}
	return strings.Join(said, " ")
}

// recipe is what Recipes says of a variant.
func (v VariantResult) recipe(asked []string) string {
	var said []string
	if first, _, _ := strings.Cut(v.Name, " "); first != v.Mode {
		said = append(said, v.Mode)
	}
	for _, name := range slices.Sorted(maps.Keys(v.Own)) {
		if !strings.Contains(v.Name, name+"="+v.Own[name]) {
			said = append(said, name+" "+terminal.Minus(v.Own[name]))
		}
	}
	for _, name := range asked {
		_, own := v.Own[name]
		if value := v.Settings[name]; !own && value != "" && value != "-1" { // -1: as the text demands
			said = append(said, name+" "+terminal.Minus(value))
		}
	}
	return strings.Join(said, ", ")
}
