package compare

import (
	"cmp"
	"fmt"
	"maps"
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
		p.VariantTable(), p.CostTable(),
		p.MainTable(), p.OtherTable(), p.ClassTable(), p.DifferenceTable(),
		p.BandTable(), p.SettingTable(),
	}, func(t report.Table) bool { return len(t.Rows) == 0 })
}

// boldNote is the one meaning of bold and green.
const boldNote = "Bold: where the verdict names a difference, the best score of the row and every score that nothing tells from the best. "

func (p page) names() []string {
	var names []string
	for _, v := range p.Variants {
		names = append(names, v.Name)
	}
	return names
}

func (p page) columns(first, last string) []string {
	return append(append([]string{first}, p.names()...), last)
}

// VariantTable says what the variants are: how each differs from what all share. It has no
// rows if they are modes and nothing else.
func (p page) VariantTable() report.Table {
	t := report.Table{
		Name: "variants", Title: "Variants", Head: []string{"variant", "mode", "its own settings"},
		Note: "All else is the same for all variants, or comes from the recipe of the mode; “All settings” below has every value.",
	}
	plain := true
	for _, v := range p.Variants {
		var own []string
		for _, name := range slices.Sorted(maps.Keys(v.Own)) {
			own = append(own, name+" = "+terminal.Minus(v.Own[name]))
		}
		plain = plain && len(own) == 0 && v.Name == v.Mode
		t.Rows = append(t.Rows, []cell{{Text: v.Name}, {Text: v.Mode}, {Text: cmp.Or(strings.Join(own, ", "), "–")}})
	}
	if plain {
		t.Rows = nil
	}
	return t
}

// CostTable is the table of times and amounts, one row a variant.
func (p page) CostTable() report.Table {
	t := report.Table{
		Name: "cost", Title: "Scores, time, speed and memory",
		Head: []string{"variant", "mean score", "training, s", "words/s", "pairs/s", "pairs", "epochs", "memory", "search"},
		Note: p.MeanNote() + " Words are counted before subsampling, times epochs. A pair is one dot product with its update. " +
			"Search: how many runs tuned the recipe (the sentence-ordered modes together). The last of them tried as many changes of every mode: " +
			"the small number is what the best change gained on items that were kept back.",
	}
	builds := slices.ContainsFunc(p.Variants, func(v VariantResult) bool { return v.SecondsMatrix.Mean > 0 })
	if builds {
		t.Head = append(t.Head, "M, s")
	}
	onGPU := p.Devices() != ""
	if onGPU {
		t.Head = append(t.Head, "GPU memory")
	}
	if p.Vocabularies() {
		t.Head = append(t.Head, "vocabulary")
	}
	for _, v := range p.Variants {
		row := []cell{
			{Text: v.Name}, score(v.Score), seconds(v.SecondsTrain), amount(v.WordsPerSecond),
			amount(v.PairsPerSecond), amount(v.Pairs), amount(v.Epochs), sizeCell(v.Memory.Total), v.Searched.cell(),
		}
		if builds {
			row = append(row, seconds(v.SecondsMatrix))
		}
		if onGPU && v.Device == "" {
			row = append(row, cell{Text: "–"})
		} else if onGPU {
			row = append(row, cell{Text: terminal.Bytes(v.Memory.Device)})
		}
		if p.Vocabularies() {
			row = append(row, cell{Text: terminal.Number(v.Vocabulary)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func seconds(s Spread) cell {
	if s.Mean == 0 {
		return cell{Text: "–"}
	}
	return cell{Text: fmt.Sprintf("%.1f", float64(s.Mean)), Small: deviation(s, "%.1f")}
}

func sizeCell(bytes int64) cell {
	if bytes == 0 {
		return cell{Text: "–"}
	}
	return cell{Text: terminal.Bytes(bytes)}
}

func amount(s Spread) cell {
	if s.Mean == 0 {
		return cell{Text: "–"}
	}
	return cell{Text: report.Short(float64(s.Mean))}
}

func score(s Spread) cell { return cell{Text: s.Mean.String(), Small: deviation(s, "%.3f")} }

// deviation writes ± the deviation between seeds, nothing if there is one seed.
func deviation(s Spread, format string) string {
	if !s.Deviation.Valid() {
		return ""
	}
	return fmt.Sprintf("± "+format, float64(s.Deviation))
}

const coverageNote = "Items with a word that is not in the vocabulary are left out. Coverage is the share of the other items; " +
	"where vocabularies differ, the cell has the highest and the lowest, and the scores cannot be compared."

// MainTable, ClassTable and OtherTable are the tables of scores, one row a set and one
// column a variant.
func (p page) MainTable() report.Table {
	return p.scoreTable(tableMain, "scores", "Scores at the end", boldNote+coverageNote)
}

// ClassTable has the scores of sets of sentences.
func (p page) ClassTable() report.Table {
	return p.scoreTable(tableClasses, "classes", "Classes of sentences",
		"The score is the share of sentences whose class a small convolutional network finds. The network is trained on the vectors, which stay as they are. "+
			"Coverage is the share of the words of all sentences that have a vector. These sets do not count for the mean score.")
}

// OtherTable has the other metrics.
func (p page) OtherTable() report.Table {
	return p.scoreTable(tableOthers, "other-metrics", "Other metrics", coverageNote)
}

func (p page) scoreTable(table, name, title, note string) report.Table {
	t := report.Table{Name: name, Title: title, Head: p.columns("set", "coverage"), Note: note}
	for i, set := range p.Sets {
		if set.table() != table {
			continue
		}
		row := []cell{{Text: set.Dataset, Small: set.Metric}}
		best := p.best(i)
		for k, v := range p.Variants {
			c := score(v.Scores[i])
			c.Best = best[k]
			row = append(row, c)
		}
		t.Rows = append(t.Rows, append(row, coverage(set)))
	}
	return t
}

func coverage(s Set) cell {
	share := func(found int) string { return fmt.Sprintf("%.0f%%", 100*float64(found)/float64(max(s.Total, 1))) }
	c := cell{Text: share(s.Found), Small: terminal.Number(s.Found)}
	if s.Fewest < s.Found {
		c.Text += " to " + share(s.Fewest)
		c.Small += " to " + terminal.Number(s.Fewest)
	}
	c.Small += " of " + terminal.Number(s.Total)
	return c
}

// DifferenceTable is the table of differences from the first variant.
func (p page) DifferenceTable() report.Table {
	first := p.Variants[0].Name
	t := report.Table{
		Name: "differences", Title: "Differences from " + first, Stacked: true,
		Head: append(append([]string{"set"}, p.names()[1:]...), "items"),
		Note: "Each cell has the score minus the score of " + first + ", its 95% interval and the two-sided p, by Welch's test of means over seeds. The variances over seeds and over the choice " +
			"of items (1,000 bootstrap samples) are added. The seeds of a variant are taken to vary at least as much as those of all variants do on average; if all have one seed, the interval is over items alone and nothing is tested. " +
			"A star (*) marks p below .05 after Holm's correction for " + terminal.Quantity(terminal.Number(p.Tests), "test") + ": all pairs of variants in the mean score and on the sets that it counts. " +
			"Questions that share words vary more than the intervals say.",
	}
	for _, set := range append([]Set{{Task: taskMean, Dataset: meanName}}, p.Sets...) {
		row := []cell{{Text: set.Dataset, Small: set.Metric}}
		var items cell
		for _, d := range p.Differences {
			if d.Against != first || !d.of(set) {
				continue
			}
			items.Text = terminal.Number(d.Items)
			star := ""
			if d.named() {
				star = "*"
			}
			c := cell{Text: signed(d.Difference.Value) + star}
			if d.Difference.Low.Valid() {
				c.Small = fmt.Sprintf("%s to %s", signed(d.Difference.Low), signed(d.Difference.High))
			}
			if d.P.Valid() {
				c.Small += ", p " + probability(d.P)
			}
			row = append(row, c)
		}
		if len(row) > 1 {
			t.Rows = append(t.Rows, append(row, items))
		}
	}
	return t
}

func (d Difference) of(s Set) bool {
	return d.Dataset == s.Dataset && d.Task == s.Task && d.Metric == s.Metric
}

// best says of each variant whether its score on a set is the best, or nothing tells it from the best. None is where no variant differs from the
// best, or where the variants' work differs too much.
func (r *Result) best(set int) []bool {
	best := make([]bool, len(r.Variants))
	top := -1
	for i, v := range r.Variants {
		if s := v.Scores[set].Mean; s.Valid() && (top < 0 || s > r.Variants[top].Scores[set].Mean) {
			top = i
		}
	}
	differs := false
	for i, v := range r.Variants {
		best[i] = v.Scores[set].Mean.Valid()
		for _, d := range r.Differences {
			if d, ok := d.from(r.Variants[max(top, 0)].Name, v.Name); ok && d.of(r.Sets[set]) && d.named() {
				best[i], differs = false, true
			}
		}
	}
	if !differs || !r.Fair() {
		clear(best)
	}
	return best
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

func probability(p evaluate.Score) string {
	if p < 0.001 {
		return "< .001"
	}
	return strings.TrimPrefix(strconv.FormatFloat(float64(p), 'f', 3, 64), "0")
}

// lossNote says why losses of variants can be put beside one another.
const lossNote = "All variants have the same pairs and the same formula, whatever their training minimizes. A variant that trains with other negatives, " +
	"on a subsampled text or by another loss is not made for this one, so compare variance and shape before level."

// BandTable is the table of mean and variance of the losses at the end.
func (p page) BandTable() report.Table {
	t := report.Table{
		Name: "loss", Title: "Loss of words by frequency, at the end", Head: p.columns("occurrences", "words"),
		Note: lossNote + " Means over the words of a band, and the variance between them.",
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
	t := report.Table{Name: "settings", Title: "Settings", Head: append([]string{"setting"}, p.names()[:len(trained)]...)}
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
