package compare

import (
	"bytes"
	_ "embed" // page.html
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/settings"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// writePage writes the report for people.
func (r *Result) writePage(w io.Writer) error {
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, page{r}); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return report.Page(w, page{r}.Title(), template.HTML(body.String()))
}

// A page gives the template what it shows.
type page struct{ *Result }

// A chart with the words beneath it.
type figure struct {
	Caption string
	Note    string
	Legend  []report.Key // of its own
	SVG     template.HTML
}

func (p page) Title() string {
	var names []string
	for _, v := range p.Variants {
		names = append(names, v.Name)
	}
	if len(names) > 6 {
		names = append(names[:5], fmt.Sprintf("%d more", len(p.Variants)-5))
	}
	return strings.Join(names, ", ") + " compared"
}

func (p page) Explain() string {
	b, err := ParseBudget(p.Budget)
	if err != nil {
		return p.Budget
	}
	return b.Explain()
}

func (p page) Number(n int64) string { return terminal.Number(n) }
func (p page) Count(n int) string    { return terminal.Number(n) }

func (p page) Legend() []report.Key {
	var keys []report.Key
	for i, v := range p.Variants {
		keys = append(keys, report.Key{Name: v.Name, Color: i})
	}
	return keys
}

// A cell of a table.
type cell struct {
	Text, Small string
	Best        bool
}

// SpeedRows is the table of times and amounts, a row for each variant.
func (p page) SpeedRows() [][]cell {
	var rows [][]cell
	for _, v := range p.Variants {
		rows = append(rows, []cell{
			{Text: v.Name}, score(v.Score), seconds(v.SecondsMatrix), seconds(v.SecondsTrain), amount(v.WordsPerSecond),
			amount(v.PairsPerSecond), amount(v.Pairs), {Text: fmt.Sprintf("%.3g", float64(v.Epochs.Mean))}, {Text: terminal.Bytes(v.Memory.Total)},
		})
	}
	markBest(rows, func(i int) evaluate.Score { return p.Variants[i].Score.Mean }, 1)
	return rows
}

func seconds(s Spread) cell {
	if s.Mean == 0 {
		return cell{Text: "–"}
	}
	return cell{Text: fmt.Sprintf("%.1f", float64(s.Mean)), Small: deviation(s, "%.1f")}
}

func amount(s Spread) cell { return cell{Text: report.Short(float64(s.Mean))} }

func score(s Spread) cell { return cell{Text: s.Mean.String(), Small: deviation(s, "%.3f")} }

// deviation writes ± the deviation over seeds, nothing if there is one seed.
func deviation(s Spread, format string) string {
	if !s.Deviation.Valid() {
		return ""
	}
	return fmt.Sprintf("± "+format, float64(s.Deviation))
}

// markBest marks the largest of a column's values.
func markBest(rows [][]cell, value func(row int) evaluate.Score, column int) {
	best := -1
	for i := range rows {
		if v := value(i); v.Valid() && (best < 0 || v > value(best)) {
			best = i
		}
	}
	if best >= 0 {
		rows[best][column].Best = true
	}
}

// MainRows, ClassRows and OtherRows are the tables of scores: a row for each set,
// a column for each variant.
func (p page) MainRows() [][]cell  { return p.scoreRows(tableMain) }
func (p page) ClassRows() [][]cell { return p.scoreRows(tableClasses) }
func (p page) OtherRows() [][]cell { return p.scoreRows(tableOthers) }

func (p page) scoreRows(table string) [][]cell {
	var rows [][]cell
	for i, set := range p.Sets {
		if set.table() != table {
			continue
		}
		row := []cell{{Text: set.Dataset, Small: set.Metric}}
		best := -1
		for k, v := range p.Variants {
			row = append(row, score(v.Scores[i]))
			if mean := v.Scores[i].Mean; mean.Valid() && (best < 0 || mean > p.Variants[best].Scores[i].Mean) {
				best = k
			}
		}
		if best >= 0 {
			row[1+best].Best = true
		}
		rows = append(rows, append(row, coverage(set)))
	}
	return rows
}

func coverage(s Set) cell {
	share := 100 * float64(s.Found) / float64(max(s.Total, 1))
	return cell{Text: fmt.Sprintf("%.0f%%", share), Small: fmt.Sprintf("%s of %s", terminal.Number(s.Found), terminal.Number(s.Total))}
}

// DifferenceRows is the table of differences from the first variant.
func (p page) DifferenceRows() [][]cell {
	var rows [][]cell
	for _, set := range p.Sets {
		row := []cell{{Text: set.Dataset, Small: set.Metric}}
		var items cell
		for _, d := range p.Differences {
			if d.Against != p.Variants[0].Name || d.Dataset != set.Dataset || d.Task != set.Task || d.Metric != set.Metric {
				continue
			}
			items.Text = terminal.Number(d.Items)
			row = append(row, cell{
				Text:  signed(d.Difference.Value),
				Small: fmt.Sprintf("%s to %s, p %s", signed(d.Difference.Low), signed(d.Difference.High), probability(d.P)),
				Best:  d.Holm < 0.05,
			})
		}
		if len(row) > 1 {
			rows = append(rows, append(row, items))
		}
	}
	return rows
}

func signed(s evaluate.Score) string {
	if !s.Valid() {
		return s.String()
	}
	return strings.Replace(fmt.Sprintf("%+.3f", float64(s)), "-", "−", 1)
}

func probability(p float64) string {
	if p < 0.001 {
		return "< .001"
	}
	return strings.TrimPrefix(strconv.FormatFloat(p, 'f', 3, 64), "0")
}

// A setting is a row of the table of settings.
type setting struct {
	Name   string
	Values []string // one for all variants, or one for each
}

// SettingRows lists every setting. One that is the same for all that have it
// has one value.
func (p page) SettingRows() []setting {
	var rows []setting
	var c settings.Config
	for _, s := range c.Settings() {
		row := setting{Name: s.Name}
		used, same := false, true
		for _, v := range p.Variants {
			value := settingOf(v, s)
			used = used || value != "–"
			row.Values = append(row.Values, value)
			same = same && value == row.Values[0]
		}
		if same {
			row.Values = row.Values[:1]
		}
		if used {
			rows = append(rows, row)
		}
	}
	return rows
}

// settingOf returns the value of a setting that says something.
func settingOf(v VariantResult, s settings.Setting) string {
	if s.Subword != nil && !slices.Contains(s.Subword, v.Settings["subword"]) {
		return "–"
	}
	value, open := v.Settings[s.Name], false
	switch s.Name {
	case "epochs":
		open = value == strconv.Itoa(endless)
	case "iterations":
		open = value == strconv.Itoa(endlessIterations)
		if value == "0" { // whole epochs
			value = ""
		}
	}
	switch {
	case open:
		return "until the budget ends"
	case value == "":
		return "–"
	}
	return value
}

// Seed says which seeds were used.
func (p page) Seed() string {
	first, last := p.Runs[0].Seed, p.Runs[len(p.Runs)-1].Seed
	if first == last {
		return fmt.Sprintf("seed %d", first)
	}
	return fmt.Sprintf("seeds %d to %d", first, last)
}
