package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// A Point is a point of a line. Low and High bound the spread of Y; both are Y if
// there is none.
type Point struct{ X, Y, Low, High float64 }

// A Series is a line. Points without a number are left out.
type Series struct {
	Name   string
	Color  int // number of the colour, from 0
	Points []Point
}

// A LineChart shows how values depend on one quantity.
type LineChart struct {
	Title  string // for readers who cannot see the chart
	X, Y   string // names of the axes, with units
	Log    bool   // X in powers of two
	Series []Series
}

// SVG draws the chart.
func (l LineChart) SVG() template.HTML {
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
		s.Points = known
		series = append(series, s)
	}
	c := newCanvas(l.Title, height)
	if len(xs) == 0 {
		return c.nothing()
	}
	if !l.Log {
		xs = append(xs, 0)
	}
	x := newAxis(xs, left, width-right, 6, l.Log)
	y := newAxis(ys, height-bottom, top, 5, false)
	c.yAxis(y, l.Y)
	c.xAxis(x, l.X)
	for _, s := range series {
		c.spread(s, x, y)
	}
	for _, s := range series {
		c.series(s, x, y)
	}
	return c.finish()
}

// spread draws the area between the bounds of a series, if they differ.
func (c *canvas) spread(s Series, x, y axis) {
	var upper, lower []string
	wide := false
	for _, p := range s.Points {
		wide = wide || p.Low != p.High
		upper = append(upper, fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.High)))
		lower = append([]string{fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.Low))}, lower...)
	}
	if wide {
		c.addf(`<polygon class="spread %s" points="%s %s"/>`, class(s.Color), strings.Join(upper, " "), strings.Join(lower, " "))
	}
}

// series draws the line of a series and its points.
func (c *canvas) series(s Series, x, y axis) {
	var line []string
	for _, p := range s.Points {
		line = append(line, fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.Y)))
	}
	c.addf(`<polyline class="line %s" points="%s"/>`, class(s.Color), strings.Join(line, " "))
	for _, p := range s.Points {
		text := fmt.Sprintf("%s: %.4g at %s", s.Name, p.Y, Short(p.X))
		if p.Low != p.High {
			text += fmt.Sprintf(" (%.4g to %.4g)", p.Low, p.High)
		}
		c.addf(`<circle class="dot %s" cx="%.1f" cy="%.1f" r="3">%s</circle>`, class(s.Color), x.at(p.X), y.at(p.Y), title(text))
	}
}
