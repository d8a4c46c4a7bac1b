package wordmap

import (
	_ "embed" // page.html
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageData is the map as the page's script reads it. Places have four digits, cosines
// three.
type pageData struct {
	Words     []string       `json:"words"`
	Groups    []int          `json:"groups"`
	TSNE      []float64      `json:"tsne"` // x and y of each word
	PCA       []float64      `json:"pca"`
	Neighbors [][]int        `json:"neighbors"` // row and thousandths of the cosine, by turns
	Light     [Groups]string `json:"light"`
	Dark      [Groups]string `json:"dark"`
}

// WriteHTML writes the map as a page that loads nothing.
func (m *Map) WriteHTML(w io.Writer) error {
	data := pageData{Words: m.Words, Groups: m.Group, TSNE: flat(m.TSNE), PCA: flat(m.PCA), Light: lightColors, Dark: darkColors}
	for _, list := range m.Neighbors {
		row := []int{}
		for _, x := range list {
			row = append(row, x.Row, int(math.Round(1000*float64(x.Cosine))))
		}
		data.Neighbors = append(data.Neighbors, row)
	}
	encoded, err := json.Marshal(data) // it escapes <, > and &
	if err != nil {
		return fmt.Errorf("cannot write the map: %w", err)
	}
	return pageTemplate.Execute(w, map[string]any{"Title": m.Title, "Data": template.JS(encoded)})
}

func flat(places []Place) []float64 {
	var values []float64
	for _, p := range places {
		values = append(values, math.Round(1e4*p.X)/1e4, math.Round(1e4*p.Y)/1e4)
	}
	return values
}
