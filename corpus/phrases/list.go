package phrases

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A Phrase is one that was found.
type Phrase struct {
	Words string // two with a space between; a phrase of an earlier pass is one word
	Count int64  // in the text, as joined by the passes before
	Score float64
}

// A Pass is the phrases that one pass over a text found, frequent ones first.
type Pass struct{ Phrases []Phrase }

// A List is the phrases of all passes, in their order.
type List []Pass

// A Joiner joins the phrases of a list in sentences. It is for one goroutine.
type Joiner struct {
	passes []map[string]string // words with a space between, and joined

	pair          []byte
	before, after []string
}

// NewJoiner prepares joining.
func NewJoiner(l List) *Joiner {
	j := &Joiner{}
	for _, p := range l {
		phrases := make(map[string]string, len(p.Phrases))
		for _, phrase := range p.Phrases {
			phrases[phrase.Words] = strings.ReplaceAll(phrase.Words, " ", "_")
		}
		j.passes = append(j.passes, phrases)
	}
	return j
}

// Join returns a sentence with its phrases joined, in all passes. The result is
// valid until the next call.
func (j *Joiner) Join(sentence []string) []string {
	for _, phrases := range j.passes {
		j.after = j.pass(j.after[:0], sentence, phrases)
		sentence, j.before, j.after = j.after, j.after, j.before
	}
	return sentence
}

// pass appends the sentence with the phrases of one pass joined, from the left.
func (j *Joiner) pass(to, sentence []string, phrases map[string]string) []string {
	for i := 0; i < len(sentence); i++ {
		if i+1 < len(sentence) {
			j.pair = append(append(append(j.pair[:0], sentence[i]...), ' '), sentence[i+1]...)
			if phrase, ok := phrases[string(j.pair)]; ok {
				to = append(to, phrase)
				i++
				continue
			}
		}
		to = append(to, sentence[i])
	}
	return to
}

// The first lines of a file of phrases.
const (
	title       = "# phrases of w2vcl"
	columnsLine = "pass\tphrase\tcount\tscore"
)

// Write writes a list: a title, then a line for each phrase, tabs between pass, phrase, count and score.
func (l List) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	_, err := fmt.Fprintf(out, "%s\n%s\n", title, columnsLine)
	for i, p := range l {
		for _, phrase := range p.Phrases {
			if err == nil {
				_, err = fmt.Fprintf(out, "%d\t%s\t%d\t%.6g\n", i+1, phrase.Words, phrase.Count, phrase.Score)
			}
		}
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// Read reads a list of Write. Lines may have been taken out, or changed by hand.
// Errors name the line.
func Read(r io.Reader) (List, error) {
	var l List
	lines, titled := textfile.NewLines(r), false
	for lines.Next() {
		titled = true
		if problem := l.line(lines.Number, lines.Text()); problem != "" {
			return nil, fmt.Errorf("line %d: %s", lines.Number, problem)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !titled {
		return nil, errNoList
	}
	return l, nil
}

var errNoList = fmt.Errorf("it is not a list of phrases, which begins with %q", title)

// line reads a line, and returns what is wrong with it.
func (l *List) line(number int, line string) string {
	if number == 1 && line != title {
		return errNoList.Error()
	}
	if line == "" || line == columnsLine || strings.HasPrefix(line, "# ") && !strings.Contains(line, "\t") {
		return ""
	}
	cells := strings.Split(line, "\t")
	if len(cells) != 4 {
		return fmt.Sprintf("%d cells instead of 4: pass, phrase, count, score", len(cells))
	}
	const most = 100 // passes
	pass, err := strconv.Atoi(cells[0])
	if err != nil || pass < 1 || pass > most {
		return fmt.Sprintf("%q is not the number of a pass, from 1 to %d", cells[0], most)
	}
	count, err := strconv.ParseInt(cells[2], 10, 64)
	if err != nil {
		return fmt.Sprintf("%q is not a count", cells[2])
	}
	score, err := strconv.ParseFloat(cells[3], 64)
	if err != nil {
		return fmt.Sprintf("%q is not a score", cells[3])
	}
	if len(strings.Fields(cells[1])) != 2 || strings.Join(strings.Fields(cells[1]), " ") != cells[1] || !utf8.ValidString(cells[1]) {
		return fmt.Sprintf("%q is not a phrase: two words with a space between", cells[1])
	}
	for len(*l) < pass {
		*l = append(*l, Pass{})
	}
	p := &(*l)[pass-1]
	p.Phrases = append(p.Phrases, Phrase{cells[1], count, score})
	return ""
}
