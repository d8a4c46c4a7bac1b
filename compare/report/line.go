package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A Point is a point of a line. Low and High bound the spread of Y; both are Y if
// there is none.
type Point struct{ X, Y, Low, High float64 }

// A Series is a line. Points without a number are left out.
type Series struct {
	Name   string
	Color  int     // number of the colour, from 0
	Falls  float64 // X from where on more of it makes Y worse; 0: nowhere
	Points []Point
}

// A LineChart shows how values depend on one quantity.
type LineChart struct {
	Title  string // for readers who cannot see the chart
	X, Y   string // names of the axes, with units
	Log    bool   // X in powers of two
	Series []Series
}

// SVG draws the chart for a page.
func (l LineChart) SVG() template.HTML { return l.draw().pageSVG() }

func (l LineChart) draw() *canvas {
	var xs, ys []float64
	series := make([]Series, 0, len(l.Series))
	for _, s := range l.Series {
		var known []Point
		for _, p := range s.Points {
			if math.IsNaN(p.Y) || math.IsNaN(p.X) {
				continue
			}
			known = append(known, p)
			xs, ys = append(xs, p.X), append(ys, p.Y, p.Low, p.High)
		}
		if s.Points = known; len(known) > 0 {
			series = append(series, s)
		}
	}
	c := &canvas{title: l.Title}
	if len(xs) == 0 {
		return c.nothing()
	}
	if !l.Log {
		xs = append(xs, 0)
	}
	c.end = width - labelWidth(series)
	x := newAxis(xs, left, c.end, 6, l.Log)
	y := newAxis(ys, height-bottom, top, 5, false)
	c.yAxis(y, l.Y)
	c.xAxis(x, l.X)
	for _, s := range series {
		c.spread(s, x, y)
	}
	for _, s := range series {
		c.series(s, x, y)
	}
	c.labels(series, x, y)
	return c
}

// The names of series are at the ends of their lines, so that no legend is needed.
const (
	labelLetter = 9.2 // width of a letter
	labelMost   = 20  // letters
	labelRow    = 15  // height
	labelLeast  = 10  // height if there are many
	labelGap    = 16  // between a line and its name
)

// labelWidth returns the room that names need at the right.
func labelWidth(series []Series) float64 {
	most, shared := 0, sharedWord(series)
	for _, s := range series {
		most = max(most, min(labelMost, utf8.RuneCountInString(s.Name[shared:])))
	}
	return labelGap + 8 + labelLetter*float64(most)
}

// sharedWord returns the length of the word that the names of all series begin with, such as the mode of swept variants.
func sharedWord(series []Series) int {
	word, _, _ := strings.Cut(series[0].Name, " ")
	if len(series) == 1 || slices.ContainsFunc(series, func(s Series) bool { return !strings.HasPrefix(s.Name, word+" ") }) {
		return 0
	}
	return len(word) + 1
}

// labels writes the name of each series beside its last point, or as near as other names leave room.
func (c *canvas) labels(series []Series, x, y axis) {
	series = slices.Clone(series)
	last := func(s Series) point {
		p := s.Points[len(s.Points)-1]
		return point{x.at(p.X), y.at(p.Y)}
	}
	slices.SortStableFunc(series, func(a, b Series) int { return cmp.Compare(last(a).y, last(b).y) })
	lowest := float64(height - top)
	if rows := int(lowest/labelLeast) - 1; len(series) > rows {
		c.text(c.end+labelGap, lowest+4, "name", "start", fmt.Sprintf("and %d below", len(series)-rows))
		series, lowest = series[:rows], lowest-labelLeast
	}
	row := min(labelRow, lowest/float64(len(series)))
	places := make([]float64, len(series))
	for i, s := range series { // downwards, and back from the bottom
		places[i] = last(s).y
		if i > 0 {
			places[i] = max(places[i], places[i-1]+row)
		}
	}
	for i, limit := len(places)-1, lowest; i >= 0; i-- {
		places[i] = min(places[i], limit)
		limit = places[i] - row
	}
	shared := sharedWord(series)
	for i, s := range series {
		name := []rune(s.Name[shared:])
		if len(name) > labelMost {
			name = slices.Concat(name[:labelMost/2-1], []rune("…"), name[len(name)-labelMost/2:])
		}
		from := last(s)
		c.line("leader", s.Color, from.x, from.y, c.end+labelGap-3, max(places[i], 5))
		c.add(shape{kind: text, role: "label", series: s.Color, at: []point{{c.end + labelGap, max(places[i], 5) + 4}}, text: string(name), anchor: "start", tip: s.Name})
	}
}

// spread draws the area between the bounds of a series, if they differ.
func (c *canvas) spread(s Series, x, y axis) {
	var upper, lower []point
	wide := false
	for _, p := range s.Points {
		wide = wide || p.Low != p.High
		upper = append(upper, point{x.at(p.X), y.at(p.High)})
		lower = append(lower, point{x.at(p.X), y.at(p.Low)})
	}
	if wide {
		slices.Reverse(lower)
		c.add(shape{kind: polygon, role: "spread", series: s.Color, at: append(upper, lower...)})
	}
}

func (c *canvas) series(s Series, x, y axis) {
	if len(s.Points) == 0 {
		return
	}
	line := shape{kind: polyline, role: "line", series: s.Color}
	for _, p := range s.Points {
		line.at = append(line.at, point{x.at(p.X), y.at(p.Y)})
	}
	c.add(line)
	for i, p := range s.Points {
		tip := terminal.Minus(fmt.Sprintf("%s: %.4g at %s", s.Name, p.Y, Short(p.X)))
		if p.Low != p.High {
			tip += terminal.Minus(fmt.Sprintf(" (%.4g to %.4g)", p.Low, p.High))
		}
		c.add(shape{kind: dot, role: "dot", series: s.Color, at: line.at[i : i+1], radius: 3, tip: tip})
		if s.Falls > 0 && p.X == s.Falls {
			c.fall(s, line.at[i])
		}
	}
}

// fall marks the place from where on a series falls.
func (c *canvas) fall(s Series, at point) {
	y := at.y - 12
	if y < top+12 { // no room above
		y = at.y + 22
	}
	anchor := "middle"
	if at.x < left+30 {
		anchor = "start"
	} else if at.x > c.end-30 {
		anchor = "end"
	}
	c.add(shape{kind: dot, role: "dot", series: s.Color, at: []point{at}, radius: 5})
	c.text(at.x, y, "tick", anchor, "best here")
}
