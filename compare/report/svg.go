package report

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// The size of a chart in its own units, which are about pixels. A page scales charts
// to the width it has.
const (
	width  = 480
	height = 300

	left, right, top, bottom = 66, 24, 14, 44 // margins
)

// colors is the number of colour classes in the style sheet. Further series have the
// same colours with other lines.
const colors = 9

// class returns the CSS classes of a series: its colour and its kind of line.
func class(series int) string {
	return fmt.Sprintf("s%d d%d", series%colors, series/colors%3)
}

// A canvas collects the elements of one SVG.
type canvas struct {
	b      strings.Builder
	height float64
}

func newCanvas(title string, height float64) *canvas {
	c := &canvas{height: height}
	fmt.Fprintf(&c.b, `<svg class="chart" viewBox="0 0 %d %g" role="img" aria-label="%s">`, width, height, html.EscapeString(title))
	return c
}

func (c *canvas) addf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// text writes text, escaped.
func (c *canvas) text(x, y float64, class, anchor, text string) {
	c.addf(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(text))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.addf(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// title returns a tooltip, escaped.
func title(text string) string { return "<title>" + html.EscapeString(text) + "</title>" }

// yAxis draws grid, ticks and name of a vertical axis.
func (c *canvas) yAxis(a axis, name string) {
	for _, tick := range a.ticks {
		y := a.at(tick)
		c.line("grid", left, y, width-right, y)
		c.text(left-6, y+4, "tick", "end", a.label(tick))
	}
	middle := (a.start + a.end) / 2
	c.addf(`<text class="name" transform="translate(13 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, middle, html.EscapeString(name))
}

// xAxis draws line, ticks and name of a horizontal axis.
func (c *canvas) xAxis(a axis, name string) {
	y := c.height - bottom
	c.line("axis", left, y, width-right, y)
	for _, tick := range a.ticks {
		x := a.at(tick)
		c.line("axis", x, y, x, y+4)
		c.text(x, y+17, "tick", "middle", a.label(tick))
	}
	c.text((left+width-right)/2, y+36, "name", "middle", name)
}

// finish returns the SVG. All text of callers in it is escaped.
func (c *canvas) finish() template.HTML {
	return template.HTML(c.b.String() + "</svg>")
}

// nothing returns a chart that says that there is nothing to show.
func (c *canvas) nothing() template.HTML {
	c.text(width/2, c.height/2, "name", "middle", "nothing to show")
	return c.finish()
}
