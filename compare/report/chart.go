package report

import "html/template"

// A Chart is one of the charts of this package.
type Chart interface {
	// SVG draws the chart for a page.
	SVG() template.HTML

	draw() *canvas
	legend() []Key // of a figure that stands alone; empty: it needs none
}

// A Key is an entry of a legend.
type Key struct {
	Name  string
	Color int
}

// Class returns the CSS classes of the key's sample.
func (k Key) Class() string { return class(k.Color) }

// SVG draws the chart for a page.
func (l LineChart) SVG() template.HTML { return l.draw().pageSVG() }

// SVG draws the chart for a page.
func (b BarChart) SVG() template.HTML { return b.draw().pageSVG() }

func (l LineChart) legend() []Key {
	var keys []Key
	for _, s := range l.Series {
		keys = append(keys, Key{s.Name, s.Color})
	}
	return keys
}

// legend names the parts of bars. Bars of one part have their names beside them.
func (b BarChart) legend() []Key {
	var keys []Key
	if len(b.Bars) > 0 && len(b.Bars[0].Parts) > 1 {
		for _, part := range b.Bars[0].Parts {
			keys = append(keys, Key{part.Name, part.Color})
		}
	}
	return keys
}
