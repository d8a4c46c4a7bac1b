package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

type cell = report.Cell

// Tables lists all tables of the report that have rows.
func (p page) Tables() []report.Table {
	return slices.DeleteFunc([]report.Table{
		p.LeadTable(false), p.MainTable(), p.OtherTable(), p.ClassTable(),
		p.BandTable(), p.SettingTable(),
	}, func(t report.Table) bool { return len(t.Rows) == 0 })
}

func namesOf(variants []VariantResult) []string {
	var names []string
	for _, v := range variants {
		names = append(names, v.Name)
	}
	return names
}

func sizeCell(bytes int64) cell {
	if bytes == 0 {
		return cell{Text: "–"}
	}
	return cell{Text: terminal.Bytes(bytes)}
}

func positive(x float64) cell {
	if !(x > 0) {
		return cell{Text: "–"}
	}
	return cell{Text: report.Short(x)}
}

func score(s Spread) cell { return cell{Text: s.Mean.String(), Small: s.deviation()} }

// deviation writes ± the deviation between seeds, nothing if there is one seed.
func (s Spread) deviation() string {
	if !s.Deviation.Valid() {
		return ""
	}
	return fmt.Sprintf("± %.3f", float64(s.Deviation))
}

const coverageNote = "In small print: the metric, and the items whose words are all known."

// MainTable, ClassTable and OtherTable are the tables of scores, one row a set and one
// column a variant.
func (p page) MainTable() report.Table {
	note := "Bold: the highest score of a row. " + coverageNote
	if len(p.Differences) > 0 {
		note += " Beside scores: ± standard deviation between seeds; the 95% interval of the difference from " + p.ranked()[0].Name +
			", not adjusted for the number of tests; p, which is adjusted."
	}
	return p.scoreTable(tableMain, "scores", "Scores at the end", note)
}

// ClassTable has the scores of sets of sentences.
func (p page) ClassTable() report.Table {
	return p.scoreTable(tableClasses, "classes", "Classes of sentences",
		"The share of sentences whose class a small convolutional network finds. These sets do not count for the mean score. In small print: the metric, and the words that have a vector.")
}

// OtherTable has the other metrics.
func (p page) OtherTable() report.Table {
	return p.scoreTable(tableOthers, "other-metrics", "Other metrics", coverageNote)
}

// scoreTable has the sets that count first, then the mean of these, then the others.
func (p page) scoreTable(table, name, title, note string) report.Table {
	t := report.Table{Name: name, Title: title, Head: append([]string{"set"}, namesOf(p.Variants)...), Note: note, Stacked: true}
	differences := p.fromBest(p.ranked()[0].Name)
	row := func(set Set, head cell, counts bool, of func(VariantResult) Spread, top VariantResult) []cell {
		cells := []cell{head}
		for _, v := range p.Variants {
			c := score(of(v))
			if d, ok := find(differences[v.Name], set); ok && d.Difference.Low.Valid() {
				c.Small = strings.TrimSpace(fmt.Sprintf("%s [%s, %s]", c.Small, d.Difference.Low, d.Difference.High))
				if d.Holm.Valid() {
					c.Small += ", " + probability(d.Holm)
				}
			}
			c.Best = counts && c.Text == of(top).Mean.String()
			cells = append(cells, c)
		}
		return cells
	}
	var others [][]cell
	for i, set := range p.Sets {
		cells := row(set, cell{Text: set.Dataset, Small: set.Metric + ", " + coverage(set)}, set.Weight > 0, func(v VariantResult) Spread { return v.Scores[i] }, p.top(i))
		switch {
		case set.table() != table:
		case set.Main && set.Weight == 0:
			cells[0].Small += ", not counted"
			others = append(others, cells)
		default:
			t.Rows = append(t.Rows, cells)
		}
	}
	if table == tableMain {
		t.Rows = append(t.Rows, row(theMean, cell{Text: meanName}, true, func(v VariantResult) Spread { return v.Score }, p.ranked()[0]))
		t.Rule = len(t.Rows)
	}
	t.Rows = append(t.Rows, others...)
	return t
}

// coverage says how many items of a set the variants know.
func coverage(s Set) string {
	text := terminal.Number(s.Found)
	if s.Fewest < s.Found {
		text += " to " + terminal.Number(s.Fewest)
	}
	return text + " of " + terminal.Number(s.Total)
}

func (d Difference) of(s Set) bool {
	return d.Dataset == s.Dataset && d.Task == s.Task && d.Metric == s.Metric
}

func signed(s evaluate.Score) string {
	if !s.Valid() {
		return s.String()
	}
	text := fmt.Sprintf("%+.3f", float64(s))
	if strings.Trim(text, "+-0.") == "" { // rounded to zero, which has no sign
		return text[1:]
	}
	return terminal.Minus(text)
}

// probability writes a p-value as in "p = .012".
func probability(p evaluate.Score) string {
	switch {
	case p < 0.001:
		return "p < .001"
	case p > 0.995:
		return "p > .99"
	}
	digits := 2
	if p < 0.1 {
		digits = 3
	}
	return "p = " + strings.TrimPrefix(strconv.FormatFloat(float64(p), 'f', digits, 64), "0")
}

// BandTable is the table of mean and variance of the losses at the end.
func (p page) BandTable() report.Table {
	t := report.Table{
		Name: "loss", Title: "Loss of words by frequency, at the end", Stacked: true, Head: slices.Concat([]string{"occurrences"}, namesOf(p.Variants), []string{"words"}),
		Note: "The loss of a word is the mean over 16 of its contexts with negatives, the same pairs for all variants. " +
			"Compare the rows of a column. Columns differ also because variants minimize different losses.",
	}
	for b, band := range p.bands() {
		row := []cell{{Text: bandName(band.Band)}}
		for _, v := range p.Variants {
			if len(v.Curve) == 0 { // losses need C, which other programs' vectors lack
				row = append(row, cell{Text: "–"})
				continue
			}
			last := v.Curve[len(v.Curve)-1].Bands[b]
			row = append(row, cell{Text: fmt.Sprintf("%.3f", float64(last.Means.Mean)), Small: fmt.Sprintf("variance %.3f", float64(last.Variances.Mean))})
		}
		t.Rows = append(t.Rows, append(row, cell{Text: terminal.Number(band.Words)}))
	}
	return t
}

// ofOthers are settings that say nothing of a comparison: of checkpoints, and of several hosts.
var ofOthers = []string{"checkpoint", "sync", "combine-rule"}

// SettingTable lists the settings. One with the same value for all variants has that
// value once; one that no variant uses is left out.
func (p page) SettingTable() report.Table {
	trained := slices.DeleteFunc(slices.Clone(p.Variants), func(v VariantResult) bool { return v.Mode == experiment.ModeExternal })
	t := report.Table{
		Name: "settings", Title: "Settings", Head: append([]string{"setting"}, namesOf(trained)...),
		Note: "Tuning is the number of runs that found a recipe, on English Wikipedia with " + enumerate(tunedOn, itself) + ".",
		Rows: [][]cell{{{Text: "tuning"}}},
	}
	for _, v := range trained {
		t.Rows[0] = append(t.Rows[0], positive(v.tuning()))
	}
	var c settings.Config
	for _, s := range c.Settings() {
		row := []cell{{Text: s.Name}}
		used, same := false, true
		for _, v := range trained {
			value := cmp.Or(terminal.Minus(v.Settings[s.Name]), "–")
			used = used || value != "–" && !slices.Contains(ofOthers, s.Name)
			row = append(row, cell{Text: value})
			same = same && value == row[1].Text
		}
		if same {
			row = row[:2]
			row[1].Span = len(trained)
		}
		if used {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
