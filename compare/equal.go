package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

// unequal is from where on a difference between the variants' work is no fair comparison.
const unequal = 1.5

// uneven is from where on a difference between the work of a variant's seeds is more than chance.
const uneven = 1.1

// A workSpan is how far an amount of work differs between the variants that were trained here.
type workSpan struct {
	what, unit  string
	least, most float64  // 0 if fewer than two variants were trained
	few, many   string   // variants
	all         []string // the amount of each, with its name
}

// fair reports whether the variants have about the same of it.
func (s workSpan) fair() bool { return s.least > 0 && s.most <= unequal*s.least }

// same reports whether the variants have the same of it, to the digits that are shown.
func (s workSpan) same() bool { return s.least > 0 && s.most <= 1.005*s.least }

// text says how the amount differs.
func (s workSpan) text() string {
	if s.same() {
		return terminal.Quantity(report.Short(s.least), strings.TrimSuffix(s.unit, "s")) + " each"
	}
	if len(s.all) == few {
		return enumerate(s.all, itself) + " " + s.unit
	}
	return fmt.Sprintf("from %s %s (%s) to %s (%s)", report.Short(s.least), s.unit, s.few, report.Short(s.most), s.many)
}

// sentence says whether the variants had the same of it.
func (s workSpan) sentence() string {
	answer := "no"
	switch {
	case s.same():
		answer = "yes"
	case s.fair():
		answer = "nearly"
	}
	return fmt.Sprintf("Same %s: %s, %s.", s.what, answer, s.text())
}

// work returns the spans of seconds, pairs and epochs; none if fewer than two variants were trained.
func (r *Result) work() []workSpan {
	return slices.DeleteFunc([]workSpan{
		r.span("time", "seconds", VariantResult.Seconds),
		r.span("pairs", "pairs", func(v VariantResult) float64 { return float64(v.Pairs.Mean) }),
		r.span("epochs", "epochs", func(v VariantResult) float64 { return float64(v.Epochs.Mean) }),
	}, func(s workSpan) bool { return s.most == 0 })
}

// span returns how far an amount differs.
func (r *Result) span(what, unit string, of func(v VariantResult) float64) workSpan {
	span := workSpan{what: what, unit: unit}
	for _, v := range r.Variants {
		if v.Mode == experiment.ModeExternal {
			continue
		}
		x := of(v)
		span.all = append(span.all, fmt.Sprintf("%s (%s)", report.Short(x), v.Name))
		if len(span.all) == 1 || x < span.least {
			span.least, span.few = x, v.Name
		}
		if x > span.most {
			span.most, span.many = x, v.Name
		}
	}
	if len(span.all) < 2 {
		return workSpan{}
	}
	return span
}

// Seconds returns the seconds of a run, as measured beforehand if they were: other programs slow a run down.
func (v VariantResult) Seconds() float64 {
	if v.Length != nil {
		return v.Length.Seconds
	}
	return v.clock()
}

// clock returns the seconds of a run by the clock.
func (v VariantResult) clock() float64 { return float64(v.SecondsMatrix.Mean + v.SecondsTrain.Mean) }

// slowed is how many times as long as measured beforehand the runs took.
func (v VariantResult) slowed() float64 {
	if seconds := v.Seconds(); seconds > 0 {
		return v.clock() / seconds
	}
	return 1
}

// Fair reports whether the variants had about the same of seconds, pairs or words of the text: only then a
// report calls one of them the best.
func (r *Result) Fair() bool {
	spans := r.work()
	return len(spans) == 0 || slices.ContainsFunc(spans, workSpan.fair)
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

// tuning is how many runs found the recipe of a variant; 0 if nobody recorded it.
func (v VariantResult) tuning() float64 {
	if v.Searched == nil {
		return 0
	}
	return float64(v.Searched.Runs)
}

// unequalSpelling says which variants compose words from their spelling; empty if all do, or none by their recipes, or if encoders are what is
// compared. What they gain on rare words and on grammar says nothing of the modes.
func (p page) unequalSpelling() string {
	var composed []string
	others := false
	for _, v := range p.Variants {
		kind := v.Settings["subword"]
		switch _, chosen := v.Own["subword"]; {
		case chosen:
			return ""
		case v.Mode == experiment.ModeExternal:
		case kind == "" || kind == settings.SubwordNone:
			others = true
		default:
			composed = append(composed, fmt.Sprintf("%s (--subword %s)", v.Name, kind))
		}
	}
	if what, _, found := strings.Cut(p.Spelling, ": "); found {
		return what + "."
	}
	if len(composed) == 0 || !others {
		return ""
	}
	return fmt.Sprintf("Only %s composes words from their spelling: --subword none makes that equal.", enumerate(composed, itself))
}

// HeldEqual says what all runs had as much of.
func (p page) HeldEqual() string {
	b, _ := experiment.ParseBudget(p.Budget) // which it wrote
	return "Held equal: " + b.Explain() + "."
}

// A Fact answers a question of readers, on the page and on a terminal.
type Fact struct{ Name, Text string }

// Facts answers what a reader asks after the verdict.
func (r *Result) Facts() []Fact {
	p := page{r}
	facts := []Fact{
		{"Fair?", p.fairness()}, {"Problems", p.problems()}, {"Next", r.Next},
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Text == "" })
}

// fairness says what the variants had the same of, and what makes them unequal.
func (p page) fairness() string {
	var said []string
	for _, s := range p.work() {
		if s.fair() || !p.Fair() {
			said = append(said, s.sentence())
		}
	}
	if tuning := p.span("tuning", "runs", VariantResult.tuning); tuning.fair() {
		said = append(said, tuning.sentence())
	} else if tuning.most > 0 {
		runs := "up to "
		if tuning.least > 0 { // else nobody recorded it
			runs = report.Short(tuning.least) + " to "
		}
		said = append(said, fmt.Sprintf("Same tuning: no, %s%s runs%s.", runs, report.Short(tuning.most), p.onTunedSets()))
	}
	if p.Externals() != "" {
		said = append(said, p.Externals()+" trained elsewhere.")
	}
	return joined(append(said, p.unequalSpelling()))
}

// tunedOn are the sets by which recipes were tuned.
var tunedOn = []string{"MEN", "RW", "SimLex-999", "WS-353", "Google"}

// onTunedSets says that recipes were chosen by scores on sets of this comparison.
func (p page) onTunedSets() string {
	if slices.ContainsFunc(p.Sets, func(s Set) bool { return s.Weight > 0 && slices.Contains(tunedOn, s.Dataset) }) {
		return ", by scores on these test sets"
	}
	return ""
}

// joined joins the sentences that say something.
func joined(said []string) string {
	return strings.Join(slices.DeleteFunc(said, func(text string) bool { return text == "" }), " ")
}

// problems names what went wrong.
func (p page) problems() string {
	said, slowed := p.overTrained(), 0.0
	for _, v := range p.Variants {
		slowed = max(slowed, v.slowed())
		if !v.Score.Mean.Valid() && slices.ContainsFunc(p.Sets, func(s Set) bool { return s.Weight > 0 }) {
			said = append(said, v.Name+" has no mean score, because it has no score on a set that counts.")
		}
		if least, most := v.Pairs.Low, v.Pairs.High; most > uneven*least {
			said = append(said, fmt.Sprintf("The seeds of %s trained unequally, from %s to %s pairs, so their scores differ by more than chance.",
				v.Name, report.Short(float64(least)), report.Short(float64(most))))
		}
	}
	for _, run := range p.Diverged {
		why, _, _ := strings.Cut(run, ";")
		said = append(said, "Left out: "+why+".")
	}
	for _, set := range p.Sets {
		if set.Main && set.Found == 0 {
			said = append(said, "The vocabulary lacks words of every item of "+set.Dataset+".")
		}
	}
	if len(p.Missing) > 0 {
		said = append(said, "Not finished, and left out: "+strings.Join(p.Missing, "; ")+". The same command continues.")
	}
	if slowed > unequal {
		said = append(said, fmt.Sprintf("A busy machine slowed runs up to %.1f times, but they trained in full.", slowed))
	}
	if len(said) == 0 {
		return "None: no run diverged, and none is over-trained."
	}
	return joined(said)
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
			said = append(said, fmt.Sprintf("%s is over-trained: its mean score was %s after %s of %s s, and is %s.",
				v.Name, best.Score.Mean, report.Short(float64(best.Seconds.Mean)/v.slowed()), report.Short(float64(last.Seconds.Mean)/v.slowed()), last.Score.Mean))
		}
	}
	return said
}
