package report

import "fmt"

// A Segment is a piece of a bar.
type Segment struct {
	Name  string
	Color int
	Value float64
}

// A Bar is one part, or several end to end.
type Bar struct {
	Name  string
	Parts []Segment
	Label string // at the end of the bar
}

// A BarChart shows amounts as horizontal bars.
type BarChart struct {
	Title string
	X     string
	Bars  []Bar
}

func (b BarChart) draw() *canvas {
	const row = 40
	tall := float64(top + row*len(b.Bars) + bottom)
	c := newCanvas(b.Title, tall)
	if len(b.Bars) == 0 {
		return c.nothing()
	}
	const from, to = 14, width - 78 // the labels are on the right
	sums := []float64{0}
	for _, bar := range b.Bars {
		sums = append(sums, bar.sum())
	}
	x := newAxis(sums, from, to, 5, false)
	for _, tick := range x.ticks {
		c.line("grid", noSeries, x.at(tick), top, x.at(tick), tall-bottom)
		c.text(x.at(tick), tall-bottom+17, "tick", "middle", x.label(tick))
	}
	c.text((from+to)/2, tall-bottom+36, "name", "middle", b.X)
	for i, bar := range b.Bars {
		y := float64(top + row*i)
		c.text(from, y+13, "label", "start", bar.Name)
		end := 0.0
		for _, p := range bar.Parts {
			c.add(shape{
				kind: rect, role: "bar", series: p.Color, at: []point{{x.at(end), y + 18}, {x.at(end + p.Value), y + 32}},
				tip: fmt.Sprintf("%s, %s: %s", bar.Name, p.Name, Short(p.Value)),
			})
			end += p.Value
		}
		c.text(x.at(end)+5, y+29, "tick", "start", bar.Label)
	}
	return c
}

func (b Bar) sum() float64 {
	sum := 0.0
	for _, p := range b.Parts {
		sum += p.Value
	}
	return sum
}
