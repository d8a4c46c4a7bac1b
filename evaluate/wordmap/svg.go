package wordmap

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// The picture, in pixels.
const (
	svgWidth, svgHeight = 1200.0, 720.0
	svgMargin           = 28.0
	farthest            = 34.0 // of a word from its place
)

// Colours of the groups on a light and on a dark ground, of about the same lightness
// each.
var (
	lightColors = [Groups]string{"#1f6fb4", "#b3471b", "#2a7d3f", "#9a3b8a", "#80691b", "#c02f4a", "#0f7a80", "#5f55b8", "#5b6470"}
	darkColors  = [Groups]string{"#74b3f0", "#f0955f", "#74c98a", "#dd8fd0", "#d3b752", "#f5869a", "#58c7cd", "#a9a1f2", "#a9b4c0"}
)

// rules returns the CSS of the groups in these colours.
func rules(colors [Groups]string) string {
	var b strings.Builder
	for g, color := range colors {
		fmt.Fprintf(&b, ".g%d{fill:%s}", g, color)
	}
	return b.String()
}

// A label is a word with its place on the picture, in the middle of its letters.
type label struct {
	word int
	x, y float64
	size float64 // of letters
}

// WriteSVG writes the map as a picture for light and dark grounds. Words that have no
// room near their place are dots.
func (m *Map) WriteSVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img">`+"\n", svgWidth, svgHeight)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(terminal.VisibleLine(m.Title)))
	b.WriteString("<style>text{font-family:Helvetica,Arial,sans-serif;text-anchor:middle;dominant-baseline:central;" +
		"paint-order:stroke;stroke:#fbfbf9;stroke-width:3}.ground{fill:#fbfbf9;stroke:#d9d9d2}circle{opacity:.5}" + rules(lightColors) +
		"@media(prefers-color-scheme:dark){text{stroke:#14171c}.ground{fill:#14171c;stroke:#30363d}" + rules(darkColors) + "}</style>\n")
	fmt.Fprintf(&b, `<rect class="ground" x=".5" y=".5" width="%g" height="%g" rx="10"/>`+"\n", svgWidth-1, svgHeight-1)
	places := onPicture(m.Places)
	labels := m.labels(places)
	named := make([]bool, len(m.Words))
	for _, l := range labels {
		named[l.word] = true
	}
	for i, p := range places {
		if !named[i] {
			fmt.Fprintf(&b, `<circle class="g%d" cx="%.0f" cy="%.0f" r="1.6"/>`+"\n", m.Group[i], p.X, p.Y)
		}
	}
	for _, l := range labels {
		fmt.Fprintf(&b, `<text class="g%d" x="%.0f" y="%.0f" font-size="%.0f">%s</text>`+"\n", m.Group[l.word], l.x, l.y, l.size, html.EscapeString(terminal.VisibleLine(m.Words[l.word])))
	}
	_, err := io.WriteString(w, b.String()+"</svg>\n")
	return err
}

// onPicture spreads places over the whole picture.
func onPicture(places []Place) []Place {
	var high Place
	for _, p := range places {
		high = Place{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	spread := make([]Place, len(places))
	for i, p := range places {
		spread[i] = Place{
			X: svgMargin + p.X/max(high.X, 1e-9)*(svgWidth-2*svgMargin),
			Y: svgMargin + p.Y/max(high.Y, 1e-9)*(svgHeight-2*svgMargin),
		}
	}
	return spread
}

// labels places words near their places so that they do not overlap: the first words
// first, each at the nearest free point of a spiral around its place.
func (m *Map) labels(places []Place) []label {
	taken := &boxes{map[[2]int][]box{}}
	var kept []label
	largest, smallest := 19.0, 11.0
	if len(m.Words) > 400 {
		largest, smallest = 15, 9
	}
	for i, p := range places {
		size := largest - (largest-smallest)*float64(i)/float64(max(len(places)-1, 1))
		wide, tall := 0.3*size*float64(utf8.RuneCountInString(m.Words[i]))+2, 0.6*size
		if wide > svgWidth/2-svgMargin {
			continue // a word of no language
		}
		for _, step := range spiral {
			x := min(max(p.X+step.X, svgMargin+wide), svgWidth-svgMargin-wide)
			y := min(max(p.Y+step.Y, svgMargin+tall), svgHeight-svgMargin-tall)
			if box := (box{x, y, wide, tall}); taken.free(box) {
				taken.add(box)
				kept = append(kept, label{i, x, y, size})
				break
			}
		}
	}
	return kept
}

// spiral has the points to try around a place, the nearest first.
var spiral = func() (steps []Place) {
	steps = []Place{{}}
	for r := 3.0; r < farthest; r += 3 {
		for a := 0.0; a < 2*math.Pi; a += 2 * math.Pi / r {
			steps = append(steps, Place{X: r * math.Cos(a), Y: r * math.Sin(a)})
		}
	}
	return steps
}()

// A box is a rectangle around a middle, with half its width and height.
type box struct{ x, y, wide, tall float64 }

func (b box) overlaps(o box) bool {
	return math.Abs(b.x-o.x) <= b.wide+o.wide && math.Abs(b.y-o.y) <= b.tall+o.tall
}

// boxes finds overlaps by the squares of a grid that boxes touch.
type boxes struct{ squares map[[2]int][]box }

const gridSquare = 40.0

func (b *boxes) each(x box, do func(square [2]int) bool) bool {
	for i := int(math.Floor((x.x - x.wide) / gridSquare)); float64(i)*gridSquare <= x.x+x.wide; i++ {
		for k := int(math.Floor((x.y - x.tall) / gridSquare)); float64(k)*gridSquare <= x.y+x.tall; k++ {
			if !do([2]int{i, k}) {
				return false
			}
		}
	}
	return true
}

func (b *boxes) free(x box) bool {
	return b.each(x, func(square [2]int) bool {
		return !slices.ContainsFunc(b.squares[square], x.overlaps)
	})
}

func (b *boxes) add(x box) {
	b.each(x, func(square [2]int) bool {
		b.squares[square] = append(b.squares[square], x)
		return true
	})
}
