package compare

import (
	"bytes"
	_ "embed" // page.html
	"fmt"
	"html"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/compare/report"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/settings"
)

//go:embed page.html
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// writePage writes the report for people.
func (r *Result) writePage(w io.Writer) error {
	var body bytes.Buffer
	if err := pageTemplate().Execute(&body, page{r}); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return report.Page(w, page{r}.Title(), template.HTML(body.String()))
}

// A page gives the template its data.
type page struct{ *Result }

type figure struct {
	Caption string
	report.LineChart
}

// Name is the name of the figure's files.
func (f figure) Name() string { return slug(f.Caption) }

// slug makes a name of a file of a caption: letters and digits, with hyphens between
// them.
func slug(caption string) string {
	words := strings.FieldsFunc(strings.ToLower(caption), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-")
}

// Title names what is compared, the first few of many.
func (p page) Title() string {
	if p.Result.Title != "" {
		return p.Result.Title
	}
	names := namesOf(p.Variants)
	if len(names) > 6 {
		names = append(names[:5], fmt.Sprintf("%d more", len(p.Variants)-5))
	}
	return strings.Join(names, ", ") + " compared"
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
	return enumerate(names, itself)
}

// Unbroken returns a text in which no line ends behind a hyphen, as of a flag.
func (p page) Unbroken(text string) template.HTML {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = html.EscapeString(word)
		if strings.Contains(word, "-") {
			words[i] = "<span>" + words[i] + "</span>"
		}
	}
	return template.HTML(strings.Join(words, " "))
}

func (p page) Number(n int64) string { return terminal.Number(n) }

// Devices says where the runs trained; empty: all on the CPU.
func (p page) Devices() string {
	var lines []string
	for _, v := range p.Variants {
		if v.Device == "" {
			continue
		}
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, v.Device+": ") })
		if i < 0 {
			lines = append(lines, v.Device+": "+v.Name)
		} else {
			lines[i] += ", " + v.Name
		}
	}
	return strings.Join(lines, "; ")
}

// Externals names the variants that other programs trained; empty: none.
func (p page) Externals() string {
	external := slices.DeleteFunc(slices.Clone(p.Variants), func(v VariantResult) bool { return v.Mode != experiment.ModeExternal })
	return strings.Join(namesOf(external), ", ")
}

// Vocabularies reports whether variants that were trained have different vocabularies.
func (p page) Vocabularies() bool {
	return slices.ContainsFunc(p.Variants, func(v VariantResult) bool {
		return v.Mode != experiment.ModeExternal && v.Vocabulary != p.Variants[0].Vocabulary
	})
}

// Subject names the text, the seeds and the devices.
func (r *Result) Subject() string {
	p := page{r}
	said := fmt.Sprintf("%s: %s words (%s distinct), ", p.Text.Corpus, terminal.Number(p.Text.TrainWords), terminal.Number(p.Text.Vocabulary))
	if first := p.Runs[0].Seed; p.Seeds == 1 {
		said += fmt.Sprintf("seed %d only.", first)
	} else {
		said += fmt.Sprintf("%d seeds (%d to %d).", p.Seeds, first, first+uint64(p.Seeds)-1)
	}
	if p.Devices() != "" {
		said += " Trained on " + p.Devices() + "."
	}
	return said
}
