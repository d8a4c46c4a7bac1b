package report

import (
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// The size of a chart in its own units, which are about pixels. A page scales charts
// to the width it has.
const (
	width  = 480
	height = 240

	left, top, bottom = 66, 14, 44 // margins; the right one is as wide as the names of series
)

// colors is the number of colour classes in the style sheet. Further series have the
// same colours with other lines.
const colors = 9

// class returns the CSS classes of a series: its colour and its kind of line.
func class(series int) string {
	return fmt.Sprintf("s%d d%d", series%colors, series/colors%3)
}

// noSeries is the series of shapes that belong to the chart itself.
const noSeries = -1

// A kind says how a shape is drawn.
type kind int

const (
	segment  kind = iota // a straight line between two points
	polyline             // a line through points
	polygon              // an area
	dot                  // a mark at a point
	text                 // letters at a point
)

// A shape is one mark of a chart. Pages draw it in the colours of their style sheet
// (pageSVG), papers in its own (paper.go).
type shape struct {
	kind   kind
	role   string // what it shows: a class of the style sheet, and a line of paperStyles
	series int    // or noSeries
	at     []point

	radius  float64 // of a dot
	text    string
	anchor  string // of text: start, middle or end
	upright bool   // text that runs upwards
	tip     string // on hover
}

type point struct{ x, y float64 }

type canvas struct {
	title  string  // for readers who cannot see the chart
	end    float64 // of the axes, at the right
	shapes []shape
}

func (c *canvas) add(s shape) { c.shapes = append(c.shapes, s) }

func (c *canvas) text(x, y float64, role, anchor, words string) {
	c.add(shape{kind: text, role: role, series: noSeries, at: []point{{x, y}}, text: words, anchor: anchor})
}

func (c *canvas) line(role string, series int, x1, y1, x2, y2 float64) {
	c.add(shape{kind: segment, role: role, series: series, at: []point{{x1, y1}, {x2, y2}}})
}

// yAxis draws grid, ticks and name of a vertical axis.
func (c *canvas) yAxis(a axis, name string) {
	for _, tick := range a.ticks {
		y := a.at(tick)
		c.line("grid", noSeries, left, y, c.end, y)
		c.text(left-6, y+4, "tick", "end", a.label(tick))
	}
	c.add(shape{kind: text, role: "name", series: noSeries, at: []point{{13, (a.start + a.end) / 2}}, text: name, anchor: "middle", upright: true})
}

// xAxis draws line, ticks and name of a horizontal axis.
func (c *canvas) xAxis(a axis, name string) {
	y := float64(height - bottom)
	c.line("axis", noSeries, left, y, c.end, y)
	for _, tick := range a.ticks {
		x := a.at(tick)
		c.line("axis", noSeries, x, y, x, y+4)
		c.text(x, y+17, "tick", "middle", a.label(tick))
	}
	c.text((left+c.end)/2, y+36, "name", "middle", name)
}

// nothing returns a chart that says that there is nothing to show.
func (c *canvas) nothing() *canvas {
	c.text(width/2, height/2, "name", "middle", "nothing to show")
	return c
}

// pageSVG returns the SVG of a page, with the classes of the style sheet. All text of
// callers in it is escaped.
func (c *canvas) pageSVG() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, width, height, escape(c.title))
	for _, s := range c.shapes {
		look := fmt.Sprintf(`class=%q`, s.role)
		if s.series != noSeries {
			look = fmt.Sprintf(`class=%q`, s.role+" "+class(s.series))
		}
		b.WriteString(s.element(look))
	}
	return template.HTML(b.String() + "</svg>")
}

// element returns the SVG element of a shape with the attributes of its look.
func (s shape) element(look string) string {
	first := s.at[0]
	tip := ""
	if s.tip != "" {
		tip = "<title>" + escape(s.tip) + "</title>"
	}
	switch s.kind {
	case segment:
		return fmt.Sprintf(`<line %s x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, look, first.x, first.y, s.at[1].x, s.at[1].y)
	case polyline:
		return fmt.Sprintf(`<polyline %s points=%q/>`, look, places(s.at))
	case polygon:
		return fmt.Sprintf(`<polygon %s points=%q/>`, look, places(s.at))
	case dot:
		return fmt.Sprintf(`<circle %s cx="%.1f" cy="%.1f" r="%g">%s</circle>`, look, first.x, first.y, s.radius, tip)
	}
	if s.upright {
		return fmt.Sprintf(`<text %s transform="translate(%.1f %.1f) rotate(-90)" text-anchor=%q>%s</text>`,
			look, first.x, first.y, s.anchor, escape(s.text))
	}
	return fmt.Sprintf(`<text %s x="%.1f" y="%.1f" text-anchor=%q>%s%s</text>`, look, first.x, first.y, s.anchor, tip, escape(s.text))
}

func places(points []point) string {
	texts := make([]string, len(points))
	for i, p := range points {
		texts[i] = fmt.Sprintf("%.1f,%.1f", p.x, p.y)
	}
	return strings.Join(texts, " ")
}

// escape returns a text for XML and HTML, in which it is one line.
func escape(text string) string { return html.EscapeString(terminal.VisibleLine(text)) }
