package compare

import (
	"slices"

	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// An xAxis is a measure of the work that a run has done, for the curves.
type xAxis struct {
	against string // in captions
	name    string
	of      func(VariantResult, CurvePoint) float64
}

var (
	overTime  = xAxis{"time", "seconds, with building the matrix", func(v VariantResult, c CurvePoint) float64 { return float64(c.Seconds.Mean) / v.slowed() }}
	overPairs = xAxis{"pairs trained", "pairs trained", func(_ VariantResult, c CurvePoint) float64 { return float64(c.Pairs.Mean) }}
)

const meanQuantity = "Mean score"

// MainCharts show the mean score against seconds and against pairs.
func (p page) MainCharts() []figure {
	score := func(c CurvePoint) Spread { return c.Score }
	return []figure{p.curve(meanQuantity, "mean score", overTime, score), p.curve(meanQuantity, "mean score", overPairs, score)}
}

// SetCharts shows the score of each main set against seconds.
func (p page) SetCharts() []figure {
	var figures []figure
	for i, set := range p.mainSets() {
		figures = append(figures, p.curve(set.Dataset, set.Metric, overTime, func(c CurvePoint) Spread { return c.Scores[i] }))
	}
	return figures
}

// mainSets lists the sets that are shown over time, in the order of
// CurvePoint.Scores.
func (p page) mainSets() []Set {
	return slices.DeleteFunc(slices.Clone(p.Sets), func(s Set) bool { return !s.Main })
}

// curve draws a quantity of all variants against their work.
func (p page) curve(quantity, yName string, x xAxis, value func(CurvePoint) Spread) figure {
	caption := quantity + " against " + x.against
	chart := report.LineChart{Title: caption, X: x.name, Y: yName}
	for i, v := range p.Variants {
		if len(v.Curve) == 0 {
			continue
		}
		s := report.Series{Name: v.Name, Color: i}
		if best, ok := v.peak(); ok && quantity == meanQuantity {
			s.Falls = x.of(v, best)
		}
		for _, point := range v.Curve {
			s.Points = append(s.Points, pointOf(x.of(v, point), value(point)))
		}
		chart.Series = append(chart.Series, s)
	}
	return figure{caption, chart}
}

func pointOf(x float64, s Spread) report.Point {
	return report.Point{X: x, Y: float64(s.Mean), Low: float64(s.Low), High: float64(s.High)}
}

// bands are those of the first observation. All observations have the same bands.
func (p page) bands() []BandOfSeeds { return p.Variants[0].Curve[0].Bands }

func bandName(b words.Band) string {
	if b.MinCount == b.MaxCount {
		return terminal.Number(b.MinCount)
	}
	return report.Short(float64(b.MinCount)) + "–" + report.Short(float64(b.MaxCount))
}

// Figures lists all figures of the report.
func (p page) Figures() []figure {
	return slices.Concat(p.MainCharts(), p.SetCharts(), p.SweepCharts())
}
