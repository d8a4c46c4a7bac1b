package report

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Figures of papers stand alone: with their own colours on white, a legend, and
// letters of about 7 pt in a column of 84 mm.
const (
	paperWidth  = 84.0 // mm
	paperLetter = 14   // in units of the chart
	legendRow   = 20
)

// paperColors are those of M. Okabe and K. Ito, Color Universal Design, 2008, that are
// dark enough for lines on white, and a grey. Readers who see fewer colours tell them
// apart; series also differ by their marks.
var paperColors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#6b6b6b"}

func paperColor(series int) string { return paperColors[series%len(paperColors)] }

// A paperStyle is the look of a role in a paper. The word "series" is the colour of
// the series; an empty colour draws nothing.
type paperStyle struct {
	stroke, fill string
	width        float64 // of the stroke
	opacity      float64 // of the filling
}

// paperStyles has the look of every role.
var paperStyles = map[string]paperStyle{
	"grid":   {stroke: "#d9d9d9", width: 0.8},
	"axis":   {stroke: "#4d4d4d", width: 1},
	"line":   {stroke: "series", width: 1.8},
	"spread": {fill: "series", opacity: 0.15},
	"dot":    {fill: "series", opacity: 1},
	"bar":    {fill: "series", opacity: 1},
	"tick":   {fill: "#333333", opacity: 1},
	"name":   {fill: "#000000", opacity: 1},
	"label":  {fill: "#000000", opacity: 1},
}

// paperStyleOf returns the look of a shape, with colours in place of "series".
func paperStyleOf(s shape) paperStyle {
	style := paperStyles[s.role]
	for _, color := range []*string{&style.stroke, &style.fill} {
		if *color == "series" {
			*color = paperColor(s.series)
		}
	}
	return style
}

// dashes returns the pattern of a line: series of the same colour differ by it.
func dashes(series int) []float64 {
	return [][]float64{nil, {7, 3}, {2, 3}}[max(series, 0)/len(paperColors)%3]
}

// mark returns the corners of the mark of a series around a place; nil is a circle.
func mark(series int, at point, radius float64) []point {
	var corners, turn float64
	switch series % 5 {
	case 0:
		return nil
	case 1: // square
		corners, turn = 4, math.Pi/4
	case 2: // triangle
		corners, turn = 3, -math.Pi/2
	case 3: // diamond
		corners, turn = 4, 0
	default: // triangle on its tip
		corners, turn = 3, math.Pi/2
	}
	var points []point
	for k := range int(corners) {
		sin, cos := math.Sincos(turn + 2*math.Pi*float64(k)/corners)
		points = append(points, point{at.x + 1.3*radius*cos, at.y + 1.3*radius*sin})
	}
	return points
}

// paper returns the shapes of a chart that stands alone, and its height: marks tell
// series apart, and a legend is above.
func paper(c Chart) (shapes []shape, tall float64, title string) {
	drawn := c.draw()
	rows, x := 0.0, float64(left)
	for i, key := range c.legend() {
		wide := 34 + 7.6*float64(len([]rune(key.Name)))
		if i == 0 {
			rows = 1
		} else if x+wide > width {
			rows, x = rows+1, left
		}
		y := legendRow*rows - 4
		if _, bars := c.(BarChart); bars {
			shapes = append(shapes, shape{kind: rect, role: "bar", series: key.Color, at: []point{{x + 8, y - 10}, {x + 26, y}}})
		} else {
			shapes = append(shapes,
				shape{kind: segment, role: "line", series: key.Color, at: []point{{x, y - 4}, {x + 26, y - 4}}},
				shape{kind: dot, role: "dot", series: key.Color, at: []point{{x + 13, y - 4}}, radius: 3.5})
		}
		shapes = append(shapes, shape{kind: text, role: "label", series: noSeries, at: []point{{x + 32, y}}, text: key.Name, anchor: "start"})
		x += wide + 14
	}
	down := legendRow * rows
	for _, s := range drawn.shapes {
		moved := s
		moved.at, moved.tip = nil, ""
		for _, p := range s.at {
			moved.at = append(moved.at, point{p.x, p.y + down})
		}
		shapes = append(shapes, moved)
	}
	for i, s := range shapes {
		if s.role != "dot" {
			continue
		}
		if corners := mark(s.series, s.at[0], s.radius); corners != nil {
			shapes[i] = shape{kind: polygon, role: s.role, series: s.series, at: corners}
		}
	}
	return shapes, drawn.height + down, drawn.title
}

// WriteSVG writes a chart as a figure of a paper: a file that needs nothing else, with
// its own colours, 84 mm wide.
func WriteSVG(w io.Writer, c Chart) error {
	shapes, tall, title := paper(c)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%gmm" height="%.1fmm" viewBox="0 0 %d %g" role="img">`+"\n",
		paperWidth, paperWidth*tall/width, width, tall)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(title))
	fmt.Fprintf(&b, `<rect fill="#ffffff" width="%d" height="%g"/>`+"\n", width, tall)
	for _, s := range shapes {
		b.WriteString(s.element(svgLook(s)) + "\n")
	}
	_, err := io.WriteString(w, b.String()+"</svg>\n")
	return err
}

// svgLook returns the attributes of a shape: every program that shows SVG knows them,
// not every one knows style sheets.
func svgLook(s shape) string {
	style := paperStyleOf(s)
	if s.kind == text {
		return fmt.Sprintf(`fill=%q font-family="Liberation Sans, Arial, Helvetica, sans-serif" font-size="%d"`, style.fill, paperLetter)
	}
	look := `fill="none"`
	if style.fill != "" {
		look = fmt.Sprintf(`fill=%q fill-opacity="%g"`, style.fill, style.opacity)
	}
	if style.stroke != "" {
		look += fmt.Sprintf(` stroke=%q stroke-width="%g" stroke-linejoin="round"`, style.stroke, style.width)
		if d := dashes(s.series); d != nil {
			look += fmt.Sprintf(` stroke-dasharray="%g %g"`, d[0], d[1])
		}
	}
	return look
}
