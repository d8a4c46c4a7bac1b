package compare

import (
	"slices"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// An xAxis is a measure of the work that a run has done, for the curves.
type xAxis struct {
	against string // in captions
	name    string
	of      func(CurvePoint) float64
}

var (
	overTime  = xAxis{"time", "seconds: building M, and training", func(p CurvePoint) float64 { return float64(p.Seconds.Mean) }}
	overPairs = xAxis{"pairs trained", "pairs trained", func(p CurvePoint) float64 { return float64(p.Pairs.Mean) }}
)

const meanQuantity = "Mean score"

// MainChart shows the mean score against seconds.
func (p page) MainChart() []figure {
	f := p.curve(meanQuantity, "mean score", overTime, func(c CurvePoint) Spread { return c.Score })
	f.Legend = p.Legend()
	f.Note = "Lines are means over seeds; areas reach from the lowest to the highest seed."
	return []figure{f}
}

// WorkCharts shows the mean score against pairs, the speed and the memory.
func (p page) WorkCharts() []figure {
	return append([]figure{p.curve(meanQuantity, "mean score", overPairs, func(c CurvePoint) Spread { return c.Score })}, p.SpeedCharts()...)
}

// SetCharts shows the score of each main set against seconds and against pairs.
func (p page) SetCharts() []figure {
	var figures []figure
	for i, set := range p.mainSets() {
		score := func(c CurvePoint) Spread { return c.Scores[i] }
		figures = append(figures, p.curve(set.Dataset, set.Metric, overTime, score), p.curve(set.Dataset, set.Metric, overPairs, score))
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
			s.Falls = x.of(best)
		}
		for _, point := range v.Curve {
			s.Points = append(s.Points, pointOf(x.of(point), value(point)))
		}
		chart.Series = append(chart.Series, s)
	}
	return figure{Caption: caption, Chart: chart}
}

func pointOf(x float64, s Spread) report.Point {
	return report.Point{X: x, Y: float64(s.Mean), Low: float64(s.Low), High: float64(s.High)}
}

// SpeedCharts shows words a second and memory.
func (p page) SpeedCharts() []figure {
	speed := report.BarChart{Title: "words per second", X: "words of the text a second, training only"}
	memory := report.BarChart{Title: "memory", X: "bytes"}
	for i, v := range p.Variants {
		words := float64(v.WordsPerSecond.Mean)
		if words > 0 { // unknown of some other programs
			speed.Bars = append(speed.Bars, report.Bar{
				Name: v.Name, Label: report.Short(words), Parts: []report.Segment{{Name: "words/s", Color: i, Value: words}},
			})
		}
		if v.Mode == experiment.ModeExternal {
			continue
		}
		memory.Bars = append(memory.Bars, report.Bar{Name: v.Name, Label: terminal.Bytes(v.Memory.Total), Parts: memoryParts(v.Memory)})
	}
	return []figure{
		{Caption: "Words per second", Chart: speed},
		{Caption: "Memory that training needs", Note: memoryNote, Legend: memoryKeys(), Chart: memory},
	}
}

const memoryNote = "Computed from sizes, as by 'w2vcl plan'. The comparison itself also keeps the text in memory."

func memoryParts(m runfolder.Memory) []report.Segment {
	return []report.Segment{
		{Name: "text", Color: 5, Value: float64(m.Corpus)}, {Name: "matrix M", Color: 1, Value: float64(m.Matrix)},
		{Name: "tables W and C", Color: 0, Value: float64(m.Tables)}, {Name: "moments", Color: 3, Value: float64(m.Moments)},
		{Name: "work", Color: 4, Value: float64(m.Work)},
	}
}

func memoryKeys() []report.Key {
	var keys []report.Key
	for _, part := range memoryParts(runfolder.Memory{}) {
		keys = append(keys, report.Key{Name: part.Name, Color: part.Color})
	}
	return keys
}

// bands are those of the first observation. All observations have the same bands.
func (p page) bands() []BandOfSeeds { return p.Variants[0].Curve[0].Bands }

func bandName(b words.Band) string {
	if b.MinCount == b.MaxCount {
		return terminal.Number(b.MinCount)
	}
	return report.Short(float64(b.MinCount)) + "–" + report.Short(float64(b.MaxCount))
}

// SetLegend names the colours of the sweeps' charts.
func (p page) SetLegend() []report.Key {
	var keys []report.Key
	for i, set := range p.mainSets() {
		keys = append(keys, report.Key{Name: set.Dataset, Color: i})
	}
	return keys
}

// Figures lists all figures of the report.
func (p page) Figures() []figure {
	return slices.Concat(p.MainChart(), p.WorkCharts(), p.SetCharts(), p.SweepCharts())
}
