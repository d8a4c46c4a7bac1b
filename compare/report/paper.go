package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Figures of papers stand alone: with their own colours on white, and
// letters of about 7 pt in a column of 84 mm.
const (
	paperWidth  = 84.0 // mm
	paperLetter = 14   // in units of the chart
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
	"leader": {stroke: "#b0b0b0", width: 0.8},
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

// paper returns the shapes of a chart that stands alone: marks tell series apart.
func (c *canvas) paper() []shape {
	shapes := slices.Clone(c.shapes)
	for i := range shapes {
		s := &shapes[i]
		if s.tip = ""; s.role != "dot" {
			continue
		}
		if corners := mark(s.series, s.at[0], s.radius); corners != nil {
			s.kind, s.at = polygon, corners
		}
	}
	return shapes
}

// WriteSVG writes a chart as a figure of a paper: a file that needs nothing else, with
// its own colours, 84 mm wide.
func WriteSVG(w io.Writer, l LineChart) error {
	c := l.draw()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%gmm" height="%.1fmm" viewBox="0 0 %d %d" role="img">`+"\n",
		paperWidth, paperWidth*height/width, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(c.title))
	fmt.Fprintf(&b, `<rect fill="#ffffff" width="%d" height="%d"/>`+"\n", width, height)
	for _, s := range c.paper() {
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
