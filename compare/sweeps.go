package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/train/settings"
)

// A Sweep is a setting with numbers for values, of which several are compared.
type Sweep struct {
	Setting string      `json:"setting"`
	Lines   []SweepLine `json:"groups"`
}

// A SweepLine holds variants that differ in nothing but the setting of the sweep, by rising
// values.
type SweepLine struct {
	Name   string       `json:"name"`
	Values []SweepValue `json:"values"`
}

// A SweepValue is the value of a variant.
type SweepValue struct {
	Variant int     `json:"variant"` // its number in Result.Variants
	Value   float64 `json:"value"`
}

// sweeps finds the settings that variants differ in, in the order of the table of settings.
func sweeps(variants []VariantResult) []Sweep {
	var found []Sweep
	var c settings.Config
	for _, s := range c.Settings() {
		if !slices.ContainsFunc(variants, func(v VariantResult) bool { _, own := v.Own[s.Name]; return own }) {
			continue
		}
		sweep := Sweep{Setting: s.Name}
		var keys []string
		for i, v := range variants {
			value, err := strconv.ParseFloat(v.Settings[s.Name], 64)
			if err != nil {
				continue
			}
			rest := maps.Clone(v.Own)
			delete(rest, s.Name)
			key := fmt.Sprint(v.Mode, rest) // maps are printed in order
			k := slices.Index(keys, key)
			if k < 0 {
				k = len(keys)
				keys = append(keys, key)
				suffix := strings.TrimPrefix(experiment.SweptName("", s.Name, v.Own[s.Name]), " ")
				sweep.Lines = append(sweep.Lines, SweepLine{Name: strings.TrimSpace(strings.Replace(v.Name, suffix, "", 1))})
			}
			sweep.Lines[k].Values = append(sweep.Lines[k].Values, SweepValue{i, value})
		}
		sweep.Lines = slices.DeleteFunc(sweep.Lines, func(l SweepLine) bool { return !l.rises() })
		if len(sweep.Lines) > 0 {
			found = append(found, sweep)
		}
	}
	return found
}

// rises sorts the line, and reports whether it has several values, each once.
func (l SweepLine) rises() bool {
	slices.SortStableFunc(l.Values, func(a, b SweepValue) int { return cmp.Compare(a.Value, b.Value) })
	for i := range l.Values[1:] {
		if l.Values[i].Value == l.Values[i+1].Value {
			return false
		}
	}
	return len(l.Values) > 1
}

func (s Sweep) title(what string) string { return fmt.Sprintf("%s by %s", what, s.Setting) }

// log reports whether the axis of a chart is better logarithmic: the values span much.
func (s Sweep) log() bool {
	low, high := s.Lines[0].Values[0].Value, 0.0
	for _, l := range s.Lines {
		low, high = min(low, l.Values[0].Value), max(high, l.Values[len(l.Values)-1].Value)
	}
	return low > 0 && high >= 8*low
}

// SweepCharts shows the final scores of each sweep against the values of its setting: each
// line by set, and the lines by mean score and speed.
func (p page) SweepCharts() []figure {
	var figures []figure
	for _, sweep := range p.Sweeps {
		for _, l := range sweep.Lines {
			figures = append(figures, p.lineChart(sweep, l))
		}
		if len(sweep.Lines) > 1 {
			figures = append(figures, p.linesChart(sweep, "Mean score", "mean score", func(v VariantResult) Spread { return v.Score }))
		}
		figures = append(figures, p.linesChart(sweep, "Words per second", "words per second", func(v VariantResult) Spread { return v.WordsPerSecond }))
	}
	return figures
}

func (p page) lineChart(sweep Sweep, l SweepLine) figure {
	title := sweep.title("Scores of " + l.Name)
	chart := report.LineChart{Title: title, X: sweep.Setting, Y: "score", Log: sweep.log()}
	for i, set := range p.Sets {
		if !set.Main {
			continue
		}
		s := report.Series{Name: set.Dataset, Color: len(chart.Series)}
		for _, v := range l.Values {
			s.Points = append(s.Points, pointOf(v.Value, p.Variants[v.Variant].Scores[i]))
		}
		chart.Series = append(chart.Series, s)
	}
	return figure{title, chart}
}

func (p page) linesChart(sweep Sweep, what, axis string, number func(VariantResult) Spread) figure {
	title := sweep.title(what)
	chart := report.LineChart{Title: title, X: sweep.Setting, Y: axis, Log: sweep.log()}
	for k, l := range sweep.Lines {
		s := report.Series{Name: l.Name, Color: k}
		for _, v := range l.Values {
			s.Points = append(s.Points, pointOf(v.Value, number(p.Variants[v.Variant])))
		}
		chart.Series = append(chart.Series, s)
	}
	return figure{title, chart}
}
