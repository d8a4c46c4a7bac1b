package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// unequal is from where on a difference between the variants' work is no fair comparison.
const unequal = 1.5

// uneven is from where on a difference between the work of a variant's seeds is more than chance.
const uneven = 1.1

// A workSpan is how far an amount of work differs between the variants that were trained here.
type workSpan struct {
	name        string
	least, most float64
	few, many   string // variants
}

func (s workSpan) ratio() float64 { return s.most / s.least }

// fair reports whether the variants have about the same of it.
func (s workSpan) fair() bool { return s.least > 0 && s.ratio() <= unequal }

// text says how the amount differs.
func (s workSpan) text() string {
	if s.least == 0 || s.ratio() > 1.005 {
		return fmt.Sprintf("%s from %s (%s) to %s (%s)", s.name, report.Short(s.least), s.few, report.Short(s.most), s.many)
	}
	return fmt.Sprintf("%s %s each", s.name, report.Short(s.least))
}

// work returns the spans of seconds, pairs and words; none if fewer than two variants were trained.
func (r *Result) work() []workSpan {
	amounts := []struct {
		name string
		of   func(v VariantResult) float64
	}{
		{"seconds", VariantResult.seconds},
		{"pairs", func(v VariantResult) float64 { return float64(v.Pairs.Mean) }},
		{"epochs", func(v VariantResult) float64 { return float64(v.Epochs.Mean) }},
	}
	var spans []workSpan
	for _, amount := range amounts {
		span, trained := workSpan{name: amount.name}, 0
		for _, v := range r.Variants {
			if v.Mode == experiment.ModeExternal {
				continue
			}
			x := amount.of(v)
			if trained++; trained == 1 || x < span.least {
				span.least, span.few = x, v.Name
			}
			if x > span.most {
				span.most, span.many = x, v.Name
			}
		}
		if trained > 1 && span.most > 0 {
			spans = append(spans, span)
		}
	}
	return spans
}

// seconds returns the seconds of a run, as measured beforehand if they were: other programs slow a run down.
func (v VariantResult) seconds() float64 {
	if v.Length != nil {
		return v.Length.Seconds
	}
	return float64(v.SecondsMatrix.Mean + v.SecondsTrain.Mean)
}

// Fair reports whether the variants had about the same of seconds, pairs or words of the text: only then a
// report calls one of them the best.
func (r *Result) Fair() bool {
	spans := r.work()
	for _, s := range spans {
		if s.fair() {
			return true
		}
	}
	return len(spans) == 0
}

// A search is how the recipe of a variant was found, see [settings.Mode.Searched].
type search struct {
	Runs  int     `json:"runs"`
	Alike int     `json:"runs_alike"` // of these, in the search that all modes had alike
	Gain  float64 `json:"gain"`       // of the best of those, on items that were kept back
}

// searched returns how the recipe of a variant was found; nil if nobody recorded it.
func searched(v experiment.Variant, texts map[string]string) *search {
	var s search
	if m, ok := settings.FindMode(v.Mode); ok {
		s.Runs, s.Alike, s.Gain = m.Searched(texts["model"], texts["subword"], texts["preset"])
	}
	if s.Runs == 0 {
		return nil
	}
	return &s
}

// cell says how many runs there were.
func (s *search) cell() cell {
	switch {
	case s == nil:
		return cell{Text: "–"}
	case s.Alike == 0:
		return cell{Text: terminal.Quantity(terminal.Number(s.Runs), "run")}
	default:
		return cell{Text: terminal.Quantity(terminal.Number(s.Runs), "run"), Small: fmt.Sprintf("last %d: %s", s.Alike, signed(evaluate.Score(s.Gain)))}
	}
}

// unequalSearch says how the searches for the recipes of the variants differ; empty if their efforts were about equal.
func (p page) unequalSearch() string {
	var said []string
	least, most := math.MaxInt, 0
	for _, v := range p.Variants {
		if v.Mode == experiment.ModeExternal {
			continue
		}
		n, runs := 0, "no recorded run"
		if v.Searched != nil {
			n = v.Searched.Runs
			runs = terminal.Quantity(terminal.Number(n), "run")
		}
		least, most = min(least, n), max(most, n)
		said = append(said, runs+" for "+v.Name)
	}
	if len(said) < 2 || float64(most) <= unequal*float64(least) {
		return ""
	}
	return fmt.Sprintf("The recipes were not searched with equal effort: %s.", strings.Join(said, ", "))
}

// unequalSpelling says which variants compose words from their spelling; empty if all do, or none by their recipes, or if encoders are what is
// compared. What they gain on rare words and on grammar says nothing of the modes.
func (p page) unequalSpelling() string {
	var composed, whole []string
	for _, v := range p.Variants {
		kind := v.Settings["subword"]
		switch _, chosen := v.Own["subword"]; {
		case chosen:
			return ""
		case v.Mode == experiment.ModeExternal:
		case kind == "" || kind == settings.SubwordNone:
			whole = append(whole, v.Name)
		default:
			composed = append(composed, fmt.Sprintf("%s (--subword %s)", v.Name, kind))
		}
	}
	if len(composed) == 0 || len(whole) == 0 {
		return p.Spelling
	}
	return fmt.Sprintf("Words are composed from their spelling in %s, but not in %s: --subword none makes that equal.",
		strings.Join(composed, ", "), strings.Join(whole, ", "))
}

// HeldEqual says what all runs had as much of.
func (p page) HeldEqual() string {
	b, err := experiment.ParseBudget(p.Budget)
	if err != nil {
		return "Held equal: " + p.Budget + "."
	}
	return "Held equal: " + b.Explain() + "."
}

// Work says how much of each the variants had; empty: there is nothing to compare.
func (p page) Work() string {
	var said []string
	for _, s := range p.work() {
		said = append(said, s.text())
	}
	if len(said) == 0 {
		return ""
	}
	return "The runs of a variant had, on average: " + strings.Join(said, "; ") + "."
}

// Notes are the sentences of the page that say how far the variants can be compared.
func (r *Result) Notes() []string {
	p := page{r}
	notes := append([]string{r.MeanNote(), p.SeedNote(), p.HeldEqual(), p.Work()}, p.Warnings()...)
	return slices.DeleteFunc(notes, func(note string) bool { return note == "" })
}

// Warnings name what a reader must know before the scores.
func (p page) Warnings() (warnings []string) {
	for _, v := range p.Variants {
		if least, most := v.Pairs.Low, v.Pairs.High; most > uneven*least {
			warnings = append(warnings, fmt.Sprintf("The seeds of %s trained unequally: from %s to %s pairs, so their scores differ by more than chance.",
				v.Name, report.Short(float64(least)), report.Short(float64(most))))
		}
	}
	for _, run := range p.Diverged {
		warnings = append(warnings, "Diverged, and left out: "+run+".")
	}
	for _, text := range append(p.overTrained(), p.unequalSearch(), p.unequalSpelling()) {
		if text != "" {
			warnings = append(warnings, text)
		}
	}
	return warnings
}

// fall is by how much a mean score falls in a run that is over-trained.
const fall = .01

// peak returns the observation from which on the mean score of a variant falls by more than seeds differ; ok is false if it does not.
func (v VariantResult) peak() (best CurvePoint, ok bool) {
	if len(v.Curve) < 2 {
		return CurvePoint{}, false
	}
	last := v.Curve[len(v.Curve)-1]
	best = slices.MaxFunc(v.Curve, func(a, b CurvePoint) int { return cmp.Compare(a.Score.Mean, b.Score.Mean) })
	return best, best.Score.Low > last.Score.High && best.Score.Mean-last.Score.Mean >= fall
}

// overTrained names the variants whose mean score fell before their runs ended.
func (p page) overTrained() (said []string) {
	for _, v := range p.Variants {
		if best, ok := v.peak(); ok {
			last := v.Curve[len(v.Curve)-1]
			said = append(said, fmt.Sprintf("%s is over-trained from %s s on: its mean score was %s there, and is %s after %s s.",
				v.Name, report.Short(float64(best.Seconds.Mean)), best.Score.Mean, last.Score.Mean, report.Short(float64(last.Seconds.Mean))))
		}
	}
	return said
}
