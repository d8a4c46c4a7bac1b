package report

import (
	"fmt"
	"io"
	"time"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
)

// pointsPerMM is how many points of PDF a millimetre has.
const pointsPerMM = 72 / 25.4

// WritePDF writes a chart as a figure of a paper: one page, 84 mm wide, with its fonts in
// it, as publishers ask for. Equal charts give equal files.
func WritePDF(w io.Writer, c Chart) error {
	shapes, tall, title := paper(c)
	scale := paperWidth * pointsPerMM / width
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width * scale, Ht: tall * scale}})
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetCatalogSort(true)
	doc.SetTitle(title, true)
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	doc.AddUTF8FontFromBytes("sans", "", liberationsansregular.TTF)
	doc.AddPage()
	doc.SetFont("sans", "", paperLetter*scale)
	doc.SetLineJoinStyle("round")
	for _, s := range shapes {
		drawPDF(doc, s, scale)
	}
	if err := doc.Output(w); err != nil {
		return fmt.Errorf("cannot write a PDF: %w", err)
	}
	return nil
}

// drawPDF draws one shape.
func drawPDF(doc *fpdf.Fpdf, s shape, scale float64) {
	style := paperStyleOf(s)
	at := make([]fpdf.PointType, len(s.at))
	for i, p := range s.at {
		at[i] = fpdf.PointType{X: p.x * scale, Y: p.y * scale}
	}
	if s.kind == text {
		pdfText(doc, s, style, at[0])
		return
	}
	how := ""
	if style.stroke != "" {
		doc.SetDrawColor(rgb(style.stroke))
		doc.SetLineWidth(style.width * scale)
		pattern := []float64{}
		for _, d := range dashes(s.series) {
			pattern = append(pattern, d*scale)
		}
		doc.SetDashPattern(pattern, 0)
		how = "D"
	}
	if style.fill != "" {
		doc.SetFillColor(rgb(style.fill))
		how = "F" + how
	}
	// The opacity is that of the filling: an outline comes in a pass of its own.
	passes := []string{how}
	if how == "FD" && style.opacity < 1 {
		passes = []string{"F", "D"}
	}
	for _, pass := range passes {
		if pass[0] == 'F' && style.opacity < 1 {
			doc.SetAlpha(style.opacity, "Normal")
		}
		pdfPath(doc, s, at, pass, scale)
		doc.SetAlpha(1, "Normal")
	}
}

func pdfPath(doc *fpdf.Fpdf, s shape, at []fpdf.PointType, how string, scale float64) {
	switch s.kind {
	case segment, polyline:
		doc.MoveTo(at[0].X, at[0].Y)
		for _, p := range at[1:] {
			doc.LineTo(p.X, p.Y)
		}
		doc.DrawPath("D")
	case polygon:
		doc.Polygon(at, how)
	case rect:
		doc.Rect(at[0].X, at[0].Y, at[1].X-at[0].X, at[1].Y-at[0].Y, how)
	case dot:
		doc.Circle(at[0].X, at[0].Y, s.radius*scale, how)
	}
}

func pdfText(doc *fpdf.Fpdf, s shape, style paperStyle, at fpdf.PointType) {
	doc.SetTextColor(rgb(style.fill))
	x := at.X
	switch wide := doc.GetStringWidth(s.text); s.anchor {
	case "middle":
		x -= wide / 2
	case "end":
		x -= wide
	}
	if !s.upright {
		doc.Text(x, at.Y, s.text)
		return
	}
	doc.TransformBegin()
	doc.TransformRotate(90, at.X, at.Y)
	doc.Text(x, at.Y, s.text)
	doc.TransformEnd()
}

// rgb returns the parts of a colour #rrggbb.
func rgb(color string) (r, g, b int) {
	_, _ = fmt.Sscanf(color, "#%02x%02x%02x", &r, &g, &b) // colours are those of paper.go
	return r, g, b
}
