package report

import (
	"fmt"
	"math"
	"slices"

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
	return c
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
	if at.x < left+70 {
		anchor = "start"
	} else if at.x > width-right-70 {
		anchor = "end"
	}
	c.add(shape{kind: dot, role: "dot", series: s.Color, at: []point{at}, radius: 6})
	c.text(at.x, y, "tick", anchor, "over-trained from here")
}
