package compare

import (
	"fmt"

	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/runfolder"
)

const (
	secondsName = "seconds: building M, and training"
	pairsName   = "pairs trained"
)

// QualityCharts is the mean score against seconds and against pairs.
func (p page) QualityCharts() []figure {
	mean := func(m CurvePoint) Spread { return m.Score }
	return []figure{
		p.curve("Mean score against time", secondsName, "mean score", byTime, mean),
		p.curve("Mean score against pairs trained", pairsName, "mean score", byPairs, mean),
	}
}

// SetCharts is the score of each set against seconds and pairs.
func (p page) SetCharts() []figure {
	var figures []figure
	i := 0
	for _, set := range p.Sets {
		if !set.Main {
			continue
		}
		k := i
		i++
		value := func(m CurvePoint) Spread { return m.Scores[k] }
		figures = append(figures,
			p.curve(set.Dataset+" against time", secondsName, set.Metric, byTime, value),
			p.curve(set.Dataset+" against pairs trained", pairsName, set.Metric, byPairs, value))
	}
	return figures
}

func byTime(m CurvePoint) float64  { return float64(m.Seconds.Mean) }
func byPairs(m CurvePoint) float64 { return float64(m.Pairs.Mean) }

// curve draws a quantity of all variants over the observations.
func (p page) curve(caption, x, y string, at func(CurvePoint) float64, value func(CurvePoint) Spread) figure {
	chart := report.LineChart{Title: caption, X: x, Y: y}
	for i, v := range p.Variants {
		s := report.Series{Name: v.Name, Color: i}
		for _, m := range v.Curve {
			s.Points = append(s.Points, pointOf(at(m), value(m)))
		}
		chart.Series = append(chart.Series, s)
	}
	return figure{Caption: caption, SVG: chart.SVG()}
}

func pointOf(x float64, s Spread) report.Point {
	return report.Point{X: x, Y: float64(s.Mean), Low: float64(s.Low), High: float64(s.High)}
}

// SpeedCharts is words a second and memory.
func (p page) SpeedCharts() []figure {
	speed := report.BarChart{Title: "words per second", X: "words of the text a second, training only"}
	memory := report.BarChart{Title: "memory", X: "bytes"}
	for i, v := range p.Variants {
		words := float64(v.WordsPerSecond.Mean)
		speed.Bars = append(speed.Bars, report.Bar{
			Name: v.Name, Label: report.Short(words), Parts: []report.Part{{Name: "words/s", Color: i, Value: words}},
		})
		memory.Bars = append(memory.Bars, report.Bar{Name: v.Name, Label: terminal.Bytes(v.Memory.Total), Parts: memoryParts(v.Memory)})
	}
	return []figure{
		{Caption: "Words per second", SVG: speed.SVG()},
		{Caption: "Memory that training needs", Note: memoryNote, Legend: memoryKeys(), SVG: memory.SVG()},
	}
}

const memoryNote = "Computed from sizes, as 'w2vcl plan' does; the comparison itself keeps the text beside them."

func memoryParts(m runfolder.Memory) []report.Part {
	return []report.Part{
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

// BandCharts is the losses of frequency bands: at the end, and on the way
// there.
func (p page) BandCharts() []figure {
	end := report.BoxChart{Title: "loss of words by frequency, at the end", X: "times the word occurs in the text", Y: "loss"}
	for b, band := range p.bands() {
		group := report.BoxGroup{Name: bandName(band.Band)}
		for i, v := range p.Variants {
			if len(v.Curve) == 0 {
				continue
			}
			last := v.Curve[len(v.Curve)-1].Bands[b]
			q := last.Quantiles
			group.Boxes = append(group.Boxes, report.Box{
				Name: v.Name, Color: i, Low: q[0], Q1: q[1], Median: q[2], Q3: q[3], High: q[4], Mean: last.Mean,
			})
		}
		end.Groups = append(end.Groups, group)
	}
	figures := []figure{{Caption: "Loss of words at the end", Note: "Box: the middle half of the words; whiskers: 90%; line: median; dot: mean.", SVG: end.SVG()}}
	last := len(p.bands()) - 1
	for _, b := range []int{0, last} {
		which := "most frequent"
		if b == last {
			which = "rarest"
		}
		words := fmt.Sprintf("the %s words (%s times)", which, bandName(p.bands()[b].Band))
		figures = append(figures,
			p.curve("Mean loss of "+words, secondsName, "mean loss", byTime, func(m CurvePoint) Spread { return m.Bands[b].Means }),
			p.curve("Variance of the loss between "+words, secondsName, "variance", byTime, func(m CurvePoint) Spread { return m.Bands[b].Variances }))
	}
	return figures
}

// bands are those of the first observation; all have the same words.
func (p page) bands() []BandOfSeeds { return p.Variants[0].Curve[0].Bands }

func bandName(b words.Band) string {
	if b.MinCount == b.MaxCount {
		return terminal.Number(b.MinCount)
	}
	return report.Short(float64(b.MinCount)) + "–" + report.Short(float64(b.MaxCount))
}

// BandRows is the table of mean and variance of the losses at the end.
func (p page) BandRows() [][]cell {
	var rows [][]cell
	for b, band := range p.bands() {
		row := []cell{{Text: bandName(band.Band)}}
		for _, v := range p.Variants {
			last := v.Curve[len(v.Curve)-1].Bands[b]
			row = append(row, cell{Text: fmt.Sprintf("%.3f", float64(last.Means.Mean)), Small: fmt.Sprintf("variance %.3f", float64(last.Variances.Mean))})
		}
		rows = append(rows, append(row, cell{Text: terminal.Number(band.Words)}))
	}
	return rows
}

// SweepCharts is the final scores against what a sweep varies.
func (p page) SweepCharts() []figure {
	var figures []figure
	for _, sweep := range []struct {
		caption, x string
		value      func(Variant) int
	}{
		{"Scores by context size (mode cl)", "columns l of M", func(v Variant) int { return v.Contexts }},
		{"Scores by batch size (mode vanilla)", "pairs in a minibatch", func(v Variant) int { return v.Batch }},
	} {
		chart := report.LineChart{Title: sweep.caption, X: sweep.x, Y: "score", Log: true}
		for i, set := range p.Sets {
			if !set.Main {
				continue
			}
			s := report.Series{Name: set.Dataset, Color: len(chart.Series)}
			for _, v := range p.Variants {
				if at := sweep.value(v.Variant); at > 0 {
					s.Points = append(s.Points, pointOf(float64(at), v.Scores[i]))
				}
			}
			chart.Series = append(chart.Series, s)
		}
		if len(chart.Series) > 0 && len(chart.Series[0].Points) > 1 {
			figures = append(figures, figure{Caption: sweep.caption, SVG: chart.SVG()})
		}
	}
	return figures
}

// SetLegend names the colours of the sweeps' charts.
func (p page) SetLegend() []report.Key {
	var keys []report.Key
	for _, set := range p.Sets {
		if set.Main {
			keys = append(keys, report.Key{Name: set.Dataset, Color: len(keys)})
		}
	}
	return keys
}
