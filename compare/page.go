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

// A page gives the template its data.
type page struct{ *Result }

// A figure is a chart with its texts.
type figure struct {
	Caption string
	Note    string
	Legend  []report.Key // if it is not the one of the section
	SVG     template.HTML
}

// Title names what is compared, the first few of many.
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

// BudgetMeaning explains the budget.
func (p page) BudgetMeaning() string {
	b, err := ParseBudget(p.Budget)
	if err != nil {
		return p.Budget
	}
	return b.Explain()
}

// Repeatable lists the modes whose vectors are the same to the bit for any number of
// threads; the others are so with one thread.
func (p page) Repeatable() string {
	var names []string
	for _, m := range settings.Modes() {
		if m.Family != settings.SentenceOrdered {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, " and ")
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

// SpeedRows is the table of times and amounts, one row a variant.
func (p page) SpeedRows() [][]cell {
	var rows [][]cell
	var means []evaluate.Score
	for _, v := range p.Variants {
		means = append(means, v.Score.Mean)
		rows = append(rows, []cell{
			{Text: v.Name}, score(v.Score), seconds(v.SecondsMatrix), seconds(v.SecondsTrain), amount(v.WordsPerSecond),
			amount(v.PairsPerSecond), amount(v.Pairs), {Text: fmt.Sprintf("%.3g", float64(v.Epochs.Mean))}, {Text: terminal.Bytes(v.Memory.Total)},
		})
	}
	if best := largest(means); best >= 0 {
		rows[best][1].Best = true
	}
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

// deviation writes ± the deviation between seeds, nothing if there is one seed.
func deviation(s Spread, format string) string {
	if !s.Deviation.Valid() {
		return ""
	}
	return fmt.Sprintf("± "+format, float64(s.Deviation))
}

// largest returns the place of the largest valid score, or -1.
func largest(scores []evaluate.Score) int {
	best := -1
	for i, s := range scores {
		if s.Valid() && (best < 0 || s > scores[best]) {
			best = i
		}
	}
	return best
}

// MainRows, ClassRows and OtherRows are the tables of scores, one row a set and one
// column a variant.
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
		var means []evaluate.Score
		for _, v := range p.Variants {
			row = append(row, score(v.Scores[i]))
			means = append(means, v.Scores[i].Mean)
		}
		if best := largest(means); best >= 0 && set.Found >= evaluate.MinItems {
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
			c := cell{Text: signed(d.Difference.Value), Best: d.Holm < 0.05} // false without a p-value
			if d.P.Valid() {
				c.Small = fmt.Sprintf("%s to %s, p %s", signed(d.Difference.Low), signed(d.Difference.High), probability(d.P))
			}
			row = append(row, c)
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

func probability(p evaluate.Score) string {
	if p < 0.001 {
		return "< .001"
	}
	return strings.TrimPrefix(p.String(), "0")
}

// A setting is a row of the table of settings.
type setting struct {
	Name   string
	Values []string // one for all variants, or one for each
}

// SettingRows lists the settings. One with the same value for all variants has that
// value once; one that no variant uses is left out.
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

// settingOf returns the value of a setting of a variant, or a dash if it says
// nothing.
func settingOf(v VariantResult, s settings.Setting) string {
	if s.Subword != nil && !slices.Contains(s.Subword, v.Settings["subword"]) {
		return "–"
	}
	value, open := v.Settings[s.Name], false
	switch s.Name {
	case "epochs":
		open = value == strconv.Itoa(endlessEpochs)
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

// Seed names the seeds of the runs.
func (p page) Seed() string {
	first, last := p.Runs[0].Seed, p.Runs[len(p.Runs)-1].Seed
	if first == last {
		return fmt.Sprintf("seed %d", first)
	}
	return fmt.Sprintf("seeds %d to %d", first, last)
}
