package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

// A Table is a table of a page and of a paper.
type Table struct {
	Name  string // of its files
	Title string
	Head  []string
	Rows  [][]Cell
	Note  string // what the numbers mean
	Rule  int    // row above which a rule is; 0: none

	Stacked bool // on the page, small texts are below the others
}

// A Cell of a table. Numbers have a true minus.
type Cell struct {
	Text, Small string
	Best        bool // the highest of its row
	Span        int  // columns that it fills; 0: one
}

func (t Table) columns() int { return len(t.Head) }

// Transposed returns the table with its rows as columns, without a rule.
func (t Table) Transposed() Table {
	rows := make([][]Cell, t.columns()-1)
	head := t.Head[:1:1]
	for i := range rows {
		rows[i] = []Cell{{Text: t.Head[i+1]}}
	}
	for _, row := range t.Rows {
		head = append(head, row[0].Text)
		for i := range rows {
			rows[i] = append(rows[i], row[i+1])
		}
	}
	t.Head, t.Rows, t.Rule = head, rows, 0
	return t
}

// WriteTeX writes a tabular for LaTeX with the package booktabs.
func (t Table) WriteTeX(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%% %s\n", terminal.VisibleLine(t.Title))
	if t.Note != "" {
		fmt.Fprintf(&b, "%% %s\n", terminal.VisibleLine(t.Note))
	}
	b.WriteString("% Needs \\usepackage{booktabs}.\n")
	fmt.Fprintf(&b, "\\begin{tabular}{l%s}\n\\toprule\n", strings.Repeat("r", t.columns()-1))
	head := make([]string, len(t.Head))
	for i, text := range t.Head {
		head[i] = TeX(text)
	}
	b.WriteString(strings.Join(head, " & ") + " \\\\\n\\midrule\n")
	for i, row := range t.Rows {
		if i > 0 && i == t.Rule {
			b.WriteString("\\midrule\n")
		}
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = c.teX()
		}
		b.WriteString(strings.Join(cells, " & ") + " \\\\\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Cell) teX() string {
	text := TeX(c.Text)
	if c.Best {
		text = `\textbf{` + text + `}`
	}
	if c.Small != "" {
		text += ` {\footnotesize ` + TeX(c.Small) + `}`
	}
	if c.Span > 1 {
		text = fmt.Sprintf(`\multicolumn{%d}{l}{%s}`, c.Span, text)
	}
	return text
}

// TeX escapes text for LaTeX.
func TeX(text string) string { return teX.Replace(terminal.VisibleLine(text)) }

var teX = strings.NewReplacer(
	`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`, `{`, `\{`, `}`, `\}`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `"`, `\textquotedbl{}`,
	"−", `$-$`, "±", `$\pm$`, "–", `--`, "×", `$\times$`, "µ", `$\mu$`, "·", `$\cdot$`, "…", `\dots{}`, "¾", `$^{3/4}$`, "°", `$^\circ$`,
	"χ²", `$\chi^2$`, "“", "``", "”", "''", "’", "'",
)

// WriteCSV writes the texts of the table. Columns with small texts have a second
// column for these.
func (t Table) WriteCSV(w io.Writer) error {
	small := make([]bool, t.columns())
	for _, row := range t.Rows {
		for i, c := range row {
			small[i] = small[i] || c.Small != ""
		}
	}
	rows := [][]string{nil}
	for i, text := range t.Head {
		rows[0] = append(rows[0], text)
		if small[i] {
			rows[0] = append(rows[0], strings.TrimSpace(text+" detail"))
		}
	}
	for _, row := range t.Rows {
		var texts []string
		for i, c := range row {
			texts = append(texts, plain(c.Text))
			if small[i] {
				texts = append(texts, plain(c.Small))
			}
			for k := range max(c.Span, 1) - 1 { // a value for all columns stands in each
				texts = append(texts, plain(c.Text))
				if small[i+k+1] {
					texts = append(texts, "")
				}
			}
		}
		rows = append(rows, texts)
	}
	return WriteCSV(w, rows)
}

// WriteCSV writes rows of texts. A text that a spreadsheet would take for a formula, such as the name of
// a file, begins with an apostrophe, as people type it there.
func WriteCSV(w io.Writer, rows [][]string) error {
	for _, row := range rows {
		for i, text := range row {
			row[i] = terminal.VisibleLine(text)
			if text != "" && strings.ContainsRune("=+-@", rune(text[0])) && !number().MatchString(text) {
				row[i] = "'" + row[i]
			}
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-+]?[0-9.]+(e[-+]?[0-9]+)?($|[ %])|^-$|^[-+]Inf$`) })

// plain writes a number as programs expect: with a hyphen for its sign, and without a star.
func plain(text string) string {
	text = strings.ReplaceAll(text, "−", "-")
	if bare := strings.TrimSuffix(text, "*"); number().MatchString(bare) {
		return bare
	}
	return text
}
