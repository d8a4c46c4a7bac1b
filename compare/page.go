package compare

import (
	"bytes"
	_ "embed" // page.html
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"

	"github.com/w2vcl/w2vcl/compare/report"
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
	report.Chart
}

// Name is the name of the figure's files.
func (f figure) Name() string { return slug(f.Caption) }

// Include is the line of LaTeX that shows the figure.
func (f figure) Include() string { return `\includegraphics{` + figuresFolder + "/" + f.Name() + "}" }

// slug makes a name of a file of a caption: letters and digits, with hyphens between
// them.
func slug(caption string) string {
	words := strings.FieldsFunc(strings.ToLower(caption), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
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

// Seed names the seeds of the runs.
func (p page) Seed() string {
	first, last := p.Runs[0].Seed, p.Runs[len(p.Runs)-1].Seed
	if first == last {
		return fmt.Sprintf("seed %d", first)
	}
	return fmt.Sprintf("seeds %d to %d", first, last)
}
