package report

import (
	"bytes"
	"fmt"
	"html/template"
	"math/rand/v2"
	"strings"
	"testing"
)

// paperCharts are a chart of nothing, and one with more series than there are colours.
func paperCharts() map[string]LineChart {
	random := rand.New(rand.NewPCG(3, 3))
	lines := LineChart{Title: "a < b", X: "seconds", Y: "score"}
	for i := range 19 {
		s := Series{Name: fmt.Sprintf("variant-%d", i), Color: i}
		for x := range 4 {
			y := random.Float64() - 0.5
			s.Points = append(s.Points, Point{float64(x), y, y - 0.1, y + 0.1})
		}
		lines.Series = append(lines.Series, s)
	}
	return map[string]LineChart{"lines": lines, "nothing": {Title: "none"}}
}

// TestPaperSVG: a figure of a paper is well-formed, draws nothing outside of its area,
// and needs no style sheet.
func TestPaperSVG(t *testing.T) {
	for name, chart := range paperCharts() {
		var b bytes.Buffer
		if err := WriteSVG(&b, chart); err != nil {
			t.Fatal(err)
		}
		text := parse(t, template.HTML(b.String()), height)
		for _, s := range chart.Series {
			if !strings.Contains(text, s.Name) {
				t.Errorf("%s lacks the name %s", name, s.Name)
			}
		}
		if strings.Contains(b.String(), "class=") || !strings.Contains(b.String(), `width="84mm"`) {
			t.Errorf("%s depends on a page:\n%s", name, b.String())
		}
	}
}

// TestPaperStyles: every role has a look in a paper, and in the style sheet of the page.
func TestPaperStyles(t *testing.T) {
	for name, chart := range paperCharts() {
		for _, s := range chart.draw().paper() {
			if _, ok := paperStyles[s.role]; !ok {
				t.Errorf("%s: no style of %q", name, s.role)
			}
			if s.kind != text && !strings.Contains(style, "."+s.role+" {") && !strings.Contains(style, "."+s.role+",") {
				t.Errorf("%s: the style sheet lacks .%s", name, s.role)
			}
		}
	}
}

// TestMarks: series of neighbouring numbers differ by mark and colour, all others by
// mark, colour or dashes.
func TestMarks(t *testing.T) {
	looks := map[string]int{}
	for i := range 3 * len(paperColors) {
		look := fmt.Sprint(mark(i, point{}, 3), paperColor(i), dashes(i))
		if other, twice := looks[look]; twice {
			t.Errorf("series %d looks like %d", i, other)
		}
		looks[look] = i
	}
}
