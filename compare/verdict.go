package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A verdict names a difference only if its p, adjusted for all tests of the comparison, is below the level.
const significance = 0.05

// named reports whether the verdict names the difference.
func (d Difference) named() bool { return d.Holm < significance }

// from returns the difference as that of a variant from the other; ok is false if it is not one of a's.
func (d Difference) from(a, b string) (_ Difference, ok bool) {
	if d.Variant == b && d.Against == a {
		i := d.Difference
		d.Variant, d.Against, d.value = a, b, -d.value
		d.Difference.Value, d.Difference.Low, d.Difference.High = -i.Value, -i.High, -i.Low
	}
	return d, d.Variant == a && d.Against == b
}

// ranked returns the variants, that with the highest score first, and those without a score last.
func (r *Result) ranked() []VariantResult {
	order := slices.Clone(r.Variants)
	slices.SortStableFunc(order, func(a, b VariantResult) int { return cmp.Compare(b.Score.Mean, a.Score.Mean) })
	return order
}

// verdict says in a few sentences what differs beyond chance, and what to do next. The variant with the highest mean score is
// compared with the others.
func (r *Result) verdict() (said []string, next string) {
	order := slices.DeleteFunc(r.ranked(), func(v VariantResult) bool { return !v.Score.Mean.Valid() })
	switch len(order) {
	case 0:
		return []string{"No variant has a score."}, ""
	case 1:
		return []string{fmt.Sprintf("The mean score of %s is %s. There is nothing to compare it with.", order[0].Name, order[0].Score.Mean)}, ""
	}
	best := order[0]
	above, alike := r.apart(order)
	said = r.meanSentences(best, order[1], above, alike)
	for i, text := range said { // the first interval says what it is
		if before, after, found := strings.Cut(text, "["); found {
			said[i] = before + "[95%: " + after
			break
		}
	}
	if r.Tests > 0 {
		said = append(said, r.setSentence(best.Name, order[1:]))
	}
	if len(alike) == 0 {
		said = slices.DeleteFunc(append(said, r.hangsOn(best), r.tunedMore(best)), func(text string) bool { return text == "" })
	}
	if !r.Fair() {
		said = append(said, "But the variants differ in seconds, pairs and epochs by more than 1.5 times, so a higher score does not make a method better.")
	}
	switch {
	case len(alike) > 0:
		next = r.decider(alike[0])
	case !r.Fair():
		next = "Give all variants the same time or pairs: --budget 60s or --budget 2e9pairs."
	default:
		next = "More seeds would not change the verdict. " + r.further(best)
	}
	return said, next
}

// apart returns the differences of the best variant in the mean score from those that the verdict calls lower, and from the others.
func (r *Result) apart(ranked []VariantResult) (above, alike []Difference) {
	best := ranked[0].Name
	differences := r.fromBest(best)
	for _, v := range ranked[1:] {
		d, ok := find(differences[v.Name], theMean)
		if !ok || !v.Score.Mean.Valid() {
			continue
		}
		if d, _ := d.from(best, v.Name); d.named() {
			above = append(above, d)
		} else {
			alike = append(alike, d)
		}
	}
	return above, alike
}

// further says what could still change a verdict that no more seeds change.
func (r *Result) further(best VariantResult) string {
	var others []string
	for _, v := range r.lessTuned(best) {
		if rate, err := strconv.ParseFloat(v.Settings["lr"], 64); err == nil && v.plain() {
			others = append(others, fmt.Sprintf("--variant '%s: lr=%g,%g,%g'", v.Name, rate/2, rate, rate*2))
		}
	}
	if len(others) == 0 || !best.plain() {
		return "Try a larger --budget, with a new --out."
	}
	return fmt.Sprintf("More tuning might: repeat with --modes %s %s and a new --out.", best.Mode, strings.Join(others[:min(len(others), few)], " "))
}

// plain reports whether the variant is a mode with its recipe.
func (v VariantResult) plain() bool { return v.Name == v.Mode && len(v.Own) == 0 }

// lessTuned returns the variants whose recipes took far fewer runs to find than that of another.
func (r *Result) lessTuned(than VariantResult) []VariantResult {
	return slices.DeleteFunc(slices.Clone(r.Variants), func(v VariantResult) bool { return v.tuning() == 0 || v.tuning()*unequal >= than.tuning() })
}

// hangsOn names a few sets without each of which another variant would lead; "": there is none.
func (r *Result) hangsOn(best VariantResult) string {
	var said []string
	for k, s := range r.Sets {
		if s.Weight == 0 || s.Weight == 1 {
			continue
		}
		without := func(v VariantResult) evaluate.Score {
			return (v.Score.Mean - evaluate.Score(s.Weight)*v.Scores[k].Mean) / evaluate.Score(1-s.Weight)
		}
		first := slices.MaxFunc(r.Variants, func(a, b VariantResult) int { return cmp.Compare(without(a), without(b)) })
		if without(first) > without(best) {
			said = append(said, fmt.Sprintf("without %s, %s would lead, %s to %s", s.Dataset, first.Name, without(first), without(best)))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return after("", strings.Join(said[:min(len(said), few)], "; ")) + "."
}

// tunedMore says that the recipe of the best variant took many more runs to find than those of others; "": it did not.
func (r *Result) tunedMore(best VariantResult) string {
	less := r.lessTuned(best)
	if len(less) == 0 {
		return ""
	}
	least := slices.MinFunc(less, func(a, b VariantResult) int { return cmp.Compare(a.tuning(), b.tuning()) })
	who := least.Name
	if more := slices.ContainsFunc(less, func(v VariantResult) bool { return v.tuning() != least.tuning() }); !more && len(less) > 1 && len(less) == len(r.Variants)-1 {
		who = "the others"
	}
	return fmt.Sprintf("But %s was tuned with %s runs, %s with %s.", best.Name, report.Short(best.tuning()), who, report.Short(least.tuning()))
}

// meanSentences say how the best variant differs from the others in the mean score.
func (r *Result) meanSentences(best, next VariantResult, above, alike []Difference) []string {
	said := r.budgetClause()
	with := func(d Difference) string { return d.Against + " by " + d.text() }
	if len(r.Variants) == 2 {
		scores := fmt.Sprintf("The mean scores are %s and %s, a difference of %s", best.Score.Mean, next.Score.Mean, append(above, alike...)[0].text())
		switch {
		case len(above) > 0:
			return []string{said + fmt.Sprintf("%s scores higher than %s.", best.Name, next.Name), scores + ", " + beyond + "."}
		case r.SeveralSeeds:
			said += fmt.Sprintf("%s and %s cannot be told apart.", best.Name, next.Name)
		default:
			said = after(said, fmt.Sprintf("one seed cannot tell %s and %s apart.", best.Name, next.Name))
		}
		return []string{said, scores + "."}
	}
	list := []string{r.highest(said, best, alike)}
	it := best.Name
	if len(alike) == 0 { // it alone was named
		it = "It"
	}
	switch {
	case len(above) > few:
		list = append(list, fmt.Sprintf("%s is higher than %s, by %s (%s) or more, %s.",
			it, others(len(above), len(r.Variants)-1), above[0].text(), above[0].Against, beyond))
	case len(above) > 0:
		list = append(list, fmt.Sprintf("%s is higher than %s, %s.", it, enumerate(above, with), beyond))
	}
	apart := best.Name + " cannot be told apart from "
	if !r.SeveralSeeds {
		apart = "One seed cannot tell " + best.Name + " apart from "
	}
	beside := func(d Difference) string { return d.Against + " (" + d.text() + ")" }
	switch {
	case len(alike) > few:
		who := others(len(alike), len(r.Variants)-1)
		if len(alike) == len(r.Variants)-1 {
			who = fmt.Sprintf("any of the %d others", len(alike))
		}
		list = append(list, apart+who+", such as "+beside(alike[0])+".")
	case len(alike) > 0:
		list = append(list, apart+enumerate(alike, beside)+".")
	}
	return list
}

// after returns a sentence that begins with no name, behind a clause if there is one.
func after(clause, sentence string) string {
	if clause == "" {
		return strings.ToUpper(sentence[:1]) + sentence[1:]
	}
	return clause + sentence
}

// highest names, behind a clause, the variants with the highest mean score, in the order in which they were given: chance decides which
// of them is first.
func (r *Result) highest(clause string, best VariantResult, alike []Difference) string {
	if len(alike) == 0 {
		return clause + fmt.Sprintf("%s has the highest mean score, %s.", best.Name, best.Score.Mean)
	}
	names := slices.DeleteFunc(namesOf(r.Variants), func(name string) bool {
		return name != best.Name && !slices.ContainsFunc(alike, func(d Difference) bool { return d.Against == name })
	})
	who := enumerate(names, itself)
	switch {
	case len(names) == len(r.Variants):
		return after(clause, fmt.Sprintf("none of the %d variants stands out; the highest mean score is %s.", len(names), best.Score.Mean))
	case len(names) > few:
		who = fmt.Sprintf("%d of %d variants", len(names), len(r.Variants))
	}
	return clause + fmt.Sprintf("%s have the highest mean scores, up to %s.", who, best.Score.Mean)
}

// few variants are named one by one.
const few = 3

// others names many variants of all but the best.
func others(n, all int) string {
	if n == 2 && all == 2 {
		return "both"
	}
	if n == all {
		return fmt.Sprintf("all %d others", n)
	}
	return fmt.Sprintf("%d of the %d others", n, all)
}

// beyond is what a difference is that the verdict names.
const beyond = "more than chance explains"

// text returns the difference with its interval.
func (d Difference) text() string {
	if !d.Difference.Low.Valid() {
		return d.Difference.Value.String()
	}
	return fmt.Sprintf("%s [%s, %s]", d.Difference.Value, d.Difference.Low, d.Difference.High)
}

// budgetClause begins the verdict with what the variants had as much of.
func (r *Result) budgetClause() string {
	b, err := experiment.ParseBudget(r.Budget)
	spans := r.work()
	if err != nil || len(spans) == 0 {
		return ""
	}
	for _, s := range spans {
		if b.IsEqual() && s.unit == b.Kind {
			return "With " + s.text() + ", "
		}
	}
	return "With " + b.Brief() + ", "
}

// setSentence names the sets on which the best variant differs from the others.
func (r *Result) setSentence(best string, rest []VariantResult) string {
	var said []string
	differences := r.fromBest(best)
	for i, word := range []string{"higher", "lower"} {
		var groups []string
		sets := map[string][]string{} // by the variants from which the best one differs
		for _, set := range r.Sets {
			var names []string
			for _, v := range rest {
				if d, ok := find(differences[v.Name], set); ok && d.named() && d.value < 0 == (i == 0) {
					names = append(names, v.Name)
				}
			}
			if len(names) == 0 {
				continue
			}
			group := others(len(names), len(rest))
			if len(names) <= few && group != "both" {
				group = enumerate(names, itself)
			}
			if sets[group] == nil {
				groups = append(groups, group)
			}
			sets[group] = append(sets[group], set.Dataset)
		}
		is := fmt.Sprintf("%s is significantly %s ", best, word)
		for _, group := range groups {
			said = append(said, fmt.Sprintf("on %s, %sthan %s", enumerate(sets[group], itself), is, group))
			is = ""
		}
	}
	if len(said) == 0 {
		return "No single set tells them apart."
	}
	return "O" + strings.Join(said, "; ")[1:] + "."
}

// top returns the variant with the highest score on a set.
func (r *Result) top(set int) VariantResult {
	return slices.MaxFunc(r.Variants, func(a, b VariantResult) int { return cmp.Compare(a.Scores[set].Mean, b.Scores[set].Mean) })
}

// enumerate lists the first few of many.
func enumerate[T any](list []T, text func(T) string) string {
	const most = 6
	var texts []string
	for _, x := range list[:min(len(list), most)] {
		texts = append(texts, text(x))
	}
	if more := len(list) - most; more > 0 {
		texts = append(texts, terminal.Number(more)+" more")
	}
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// decider says what would name a difference that the verdict does not name, if it stays as large.
func (r *Result) decider(d Difference) string {
	const most = 100
	between := fmt.Sprintf("tell %s from %s", d.Variant, d.Against)
	switch {
	case !r.Testable:
		return fmt.Sprintf("No set has %d items that all variants know: too few to judge chance by.", leastItems)
	case !r.SeveralSeeds:
		return "Add seeds with --seeds 3 and the same --out: one seed does not show how far seeds differ."
	}
	for more := 1; more <= most; more++ {
		if _, p := d.test(float64(more)); p*float64(r.Tests) < significance {
			return fmt.Sprintf("%s would %s, if the difference stays.", terminal.Quantity(terminal.Number(more), "more seed"), between)
		}
	}
	normal := distuv.UnitNormal.Quantile(1 - significance/2/float64(r.Tests))
	if times := d.items * normal * normal / (d.value * d.value); times > 1 && times < most {
		return fmt.Sprintf("More seeds would not %s, but sets of about %s times as many items would, if the difference stays.", between, report.Short(math.Ceil(times)))
	}
	return fmt.Sprintf("Neither %d more seeds nor %d times as many items would %s.", most, most, between)
}

// MeanNote says what the mean score is, and which sets it leaves out.
func (r *Result) MeanNote() string {
	var in, reasons []string
	out := map[string][]string{} // by reason
	for _, s := range r.Sets {
		switch {
		case s.LeftOut != "":
			if out[s.LeftOut] == nil {
				reasons = append(reasons, s.LeftOut)
			}
			out[s.LeftOut] = append(out[s.LeftOut], s.Dataset)
		case s.Weight > 0:
			in = append(in, s.Dataset)
		}
	}
	if len(in) == 0 {
		return "No set has a score."
	}
	note := fmt.Sprintf("%s, weighted in the mean score by known items, at most %s each.", enumerate(in, itself), terminal.Number(mostItems))
	for i, reason := range reasons {
		reasons[i] = enumerate(out[reason], itself) + " (" + reason + ")"
	}
	if len(reasons) > 0 {
		note += " Left out: " + strings.Join(reasons, "; ") + "."
	}
	return note
}

func itself(text string) string { return text }
