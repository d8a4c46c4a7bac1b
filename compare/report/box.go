package report

import (
	"fmt"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A Box sums up a distribution by its quantiles (whiskers at 5% and 95%, quarters,
// median) and its mean.
type Box struct {
	Name                      string
	Color                     int
	Low, Q1, Median, Q3, High float64
	Mean                      float64
}

// A BoxSet holds boxes to compare with each other.
type BoxSet struct {
	Name  string
	Boxes []Box
}

// A BoxChart shows distributions side by side.
type BoxChart struct {
	Title string
	X, Y  string
	Sets  []BoxSet
}

func (b BoxChart) draw() *canvas {
	c := newCanvas(b.Title, height)
	ys := []float64{0}
	for _, g := range b.Sets {
		for _, box := range g.Boxes {
			ys = append(ys, box.Low, box.High)
		}
	}
	if len(ys) == 1 {
		return c.nothing()
	}
	y := newAxis(ys, height-bottom, top, 5, false)
	c.yAxis(y, b.Y)
	c.xAxis(axis{}, b.X)
	wide := float64(width-left-right) / float64(len(b.Sets))
	for i, g := range b.Sets {
		from := left + wide*float64(i)
		c.text(from+wide/2, height-bottom+17, "tick", "middle", g.Name)
		step := wide * 0.84 / float64(max(len(g.Boxes), 1))
		for k, box := range g.Boxes {
			c.box(box, y, from+wide*0.08+step*(float64(k)+0.5), min(step*0.7, 24))
		}
	}
	return c
}

// box draws one box around a vertical line at x.
func (c *canvas) box(b Box, y axis, x, wide float64) {
	tip := terminal.Minus(fmt.Sprintf("%s: mean %.3f, median %.3f, half of the words from %.3f to %.3f, 90%% from %.3f to %.3f",
		b.Name, b.Mean, b.Median, b.Q1, b.Q3, b.Low, b.High))
	c.line("whisker", b.Color, x, y.at(b.Low), x, y.at(b.Q1))
	c.line("whisker", b.Color, x, y.at(b.Q3), x, y.at(b.High))
	high := y.at(b.Q3)
	low := max(y.at(b.Q1), high+0.5)
	c.add(shape{kind: rect, role: "half", series: b.Color, at: []point{{x - wide/2, high}, {x + wide/2, low}}, tip: tip})
	c.line("median", b.Color, x-wide/2, y.at(b.Median), x+wide/2, y.at(b.Median))
	c.add(shape{kind: dot, role: "mean", series: b.Color, at: []point{{x, y.at(b.Mean)}}, radius: 2.2, tip: tip})
}
