package main

import (
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/evaluate/words"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

const (
	chartRows    = 6
	chartLabel   = 8  // letters of the numbers beside a chart
	longestSpark = 24 // letters
)

// picture shows the run in lines of up to so many letters.
func (w *watched) picture(width int) []string {
	lines := []string{fmt.Sprintf("%s: mode %s, dim %d, %s", w.name, w.config.Mode, w.config.Dim, w.state())}
	line := ""
	for _, part := range w.news() { // as many on a line as have room
		if with := strings.TrimPrefix(line+"  "+part, "  "); utf8.RuneCountInString(with) <= width {
			line = with
			continue
		}
		lines, line = append(lines, line), part
	}
	if line != "" {
		lines = append(lines, line)
	}
	if losses := w.series(func(m runfolder.Metric) float64 { return m.Loss }); len(losses) > 1 && width >= 2*chartLabel {
		lines = append(append(lines, "", "loss"), blocks(losses, width)...)
	}
	if len(w.points) > 0 {
		lines = append(lines, w.observed(width)...)
	}
	for i, l := range lines {
		if letters := []rune(l); len(letters) > width {
			lines[i] = string(letters[:max(width, 0)])
		}
	}
	return lines
}

func (w *watched) series(number func(runfolder.Metric) float64) []float64 {
	var values []float64
	for _, m := range w.metrics {
		values = append(values, number(m))
	}
	return values
}

// observed shows the scores and the losses by frequency of a comparison's run, each with
// its course.
func (w *watched) observed(width int) []string {
	var rows [][2]string // name and number
	var courses [][]float64
	last := w.points[len(w.points)-1]
	for i, s := range last.Scores {
		rows = append(rows, [2]string{s.Dataset + " " + s.Metric, s.Score.String()})
		courses = append(courses, w.course(func(p compare.Point) float64 { return scoreAt(p.Scores, i) }))
	}
	scores := len(rows)
	for i, b := range last.Bands {
		rows = append(rows, [2]string{bandTitle(b), fmt.Sprintf("%.3f", b.Mean)})
		courses = append(courses, w.course(func(p compare.Point) float64 { return p.Bands[min(i, len(p.Bands)-1)].Mean }))
	}
	names, numbers := 0, 0
	for _, row := range rows {
		names, numbers = max(names, utf8.RuneCountInString(row[0])), max(numbers, utf8.RuneCountInString(row[1]))
	}
	room := min(longestSpark, width-names-numbers-6)
	lines := []string{"", fmt.Sprintf("scores at %.0f%%", 100*last.Fraction)}
	for i, row := range rows {
		if i == scores {
			lines = append(lines, "", "loss of words that occur")
		}
		line := fmt.Sprintf("  %-*s  %*s", names, row[0], numbers, row[1])
		if room >= 4 {
			line += "  " + spark(courses[i], room)
		}
		lines = append(lines, line)
	}
	return lines
}

func scoreAt(scores []evaluate.Result, i int) float64 {
	if i >= len(scores) {
		return math.NaN()
	}
	return float64(scores[i].Score)
}

func (w *watched) course(number func(compare.Point) float64) []float64 {
	var values []float64
	for _, p := range w.points {
		values = append(values, number(p))
	}
	return values
}

func bandTitle(b words.Band) string {
	return report.Short(float64(b.MinCount)) + "–" + report.Short(float64(b.MaxCount)) + " times"
}

// eighths are blocks of an eighth of a letter's height and more.
var eighths = []rune("▁▂▃▄▅▆▇█")

// spark draws values as one line of blocks.
func spark(values []float64, width int) string {
	values = resample(values, width)
	low, high := bounds(values)
	var b strings.Builder
	for _, v := range values {
		if math.IsNaN(v) {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(eighths[int(math.Round((v-low)/max(high-low, 1e-300)*7))])
	}
	return b.String()
}

// blocks draws values as columns of blocks, with the bounds at the side.
func blocks(values []float64, width int) []string {
	values = resample(values, width-chartLabel-1)
	low, high := bounds(values)
	lines := make([]string, chartRows)
	for row := range lines {
		label := ""
		switch row {
		case 0:
			label = fmt.Sprintf("%.4f", high)
		case chartRows - 1:
			label = fmt.Sprintf("%.4f", low)
		}
		line := []rune(fmt.Sprintf("%*s ", chartLabel, terminal.Minus(label)))
		floor := 8 * (chartRows - 1 - row)
		for _, v := range values {
			level := 1 + int(math.Round((v-low)/max(high-low, 1e-300)*(8*chartRows-1)))
			switch n := level - floor; {
			case math.IsNaN(v) || n < 1:
				line = append(line, ' ')
			default:
				line = append(line, eighths[min(n, 8)-1])
			}
		}
		lines[row] = strings.TrimRight(string(line), " ")
	}
	return lines
}

// bounds returns the smallest and the largest number.
func bounds(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// resample returns means of neighbouring values, width at the most.
func resample(values []float64, width int) []float64 {
	if len(values) <= width {
		return values
	}
	means := make([]float64, max(width, 0))
	for i := range means {
		from, to := i*len(values)/width, (i+1)*len(values)/width
		for _, v := range values[from:to] {
			means[i] += v / float64(to-from)
		}
	}
	return means
}

// writePage writes the run as a page that loads itself again every so many seconds.
func (w *watched) writePage(out io.Writer, seconds int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n<p>Mode %s, dim %d, %s. %s</p>\n", html.EscapeString(w.name), w.config.Mode, w.config.Dim,
		html.EscapeString(w.state()), html.EscapeString(strings.Join(w.news(), " · ")))
	figure := func(caption string, chart report.Chart, legend []report.Series) {
		fmt.Fprintf(&b, "<figure><figcaption>%s</figcaption>", html.EscapeString(caption))
		if len(legend) > 1 {
			b.WriteString(`<ul class="legend">`)
			for _, s := range legend {
				fmt.Fprintf(&b, `<li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="line %s" x1="0" y1="5" x2="26" y2="5"/></svg>%s</li>`,
					report.Key{Color: s.Color}.Class(), html.EscapeString(s.Name))
			}
			b.WriteString("</ul>")
		}
		b.WriteString(string(chart.SVG()) + "</figure>\n")
	}
	b.WriteString(`<div class="charts">`)
	for _, c := range []struct {
		name   string
		number func(runfolder.Metric) float64
	}{
		{"loss", func(m runfolder.Metric) float64 { return m.Loss }},
		{"learning rate", func(m runfolder.Metric) float64 { return m.LR }},
		{"words per second", func(m runfolder.Metric) float64 { return m.WordsPerSecond }},
	} {
		series := report.Series{Name: c.name}
		for _, m := range w.metrics {
			series.Points = append(series.Points, flatPoint(m.Seconds, c.number(m)))
		}
		figure(strings.ToUpper(c.name[:1])+c.name[1:],
			report.LineChart{Title: c.name, X: "seconds of training", Y: c.name, Series: []report.Series{series}},
			nil)
	}
	if scores, losses := w.observedSeries(); len(scores) > 0 {
		figure("Scores", report.LineChart{Title: "scores", X: "seconds of training", Y: "score", Series: scores}, scores)
		figure("Loss of words by their occurrences",
			report.LineChart{Title: "loss by frequency", X: "seconds of training", Y: "loss", Series: losses},
			losses)
	}
	b.WriteString("</div>\n")
	return report.RefreshingPage(out, w.name+": "+w.state(), template.HTML(b.String()), seconds)
}

func flatPoint(x, y float64) report.Point { return report.Point{X: x, Y: y, Low: y, High: y} }

// observedSeries returns the scores and the losses by frequency against seconds.
func (w *watched) observedSeries() (scores, losses []report.Series) {
	if len(w.points) == 0 {
		return nil, nil
	}
	last := w.points[len(w.points)-1]
	for i, s := range last.Scores {
		series := report.Series{Name: s.Dataset + " " + s.Metric, Color: i}
		for _, p := range w.points {
			series.Points = append(series.Points, flatPoint(p.Seconds, scoreAt(p.Scores, i)))
		}
		scores = append(scores, series)
	}
	for i, band := range last.Bands {
		series := report.Series{Name: bandTitle(band), Color: i}
		for _, p := range w.points {
			series.Points = append(series.Points, flatPoint(p.Seconds, p.Bands[min(i, len(p.Bands)-1)].Mean))
		}
		losses = append(losses, series)
	}
	return scores, losses
}
