package dataset

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Question "a is to b as c is to ?" has the answer d. Also are other right answers.
type Question struct {
	A, B, C, D string
	Also       []string
}

// A Section is a relation and its questions. A file without sections is one
// section without a name.
type Section struct {
	Name      string
	Questions []Question
}

// analogy makes a format of questions; is tells its lines. The lines of all such
// formats are read alike.
func analogy(name, example string, is func(line string) bool) Format {
	return Format{
		Task: evaluate.TaskAnalogy, Name: name, Example: example,
		matches: func(lines []string) bool { return mostly(lines, is) },
		read:    readAnalogies,
	}
}

// wordClasses is the fourth column of MSR's questions, as JJ_JJR: adjective to
// comparative.
var wordClasses = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z$]+_[A-Za-z$]+$`) })

// parseQuestion reads "a b c d", or MSR's "a b c JJ_JJR d", whose fourth
// column names the section.
func parseQuestion(line string) (q Question, section string, err error) {
	f := strings.Fields(line)
	switch {
	case len(f) == 4:
		return Question{A: f[0], B: f[1], C: f[2], D: f[3]}, "", nil
	case len(f) == 5 && wordClasses().MatchString(f[3]):
		return Question{A: f[0], B: f[1], C: f[2], D: f[4]}, f[3], nil
	}
	return Question{}, "", fmt.Errorf("%d words; a question has 4", len(f))
}

func isClassedQuestion(line string) bool {
	_, section, err := parseQuestion(line)
	return err == nil && section != ""
}

func isQuestion(line string) bool {
	_, _, err := parseQuestion(line)
	return err == nil || strings.HasPrefix(line, ":")
}

// readAnalogies reads a file of questions in sections, which may come in several
// parts.
func readAnalogies(ctx context.Context, path string, s *Set) error {
	lines, err := ReadLines(ctx, path)
	if err != nil {
		return err
	}
	heading := ""
	for i, line := range lines {
		if strings.HasPrefix(line.Text, ":") {
			if heading = strings.TrimSpace(line.Text[1:]); heading == "" {
				return fmt.Errorf("%s:%d: the section has no name", path, line.Number)
			}
			continue
		}
		q, name, err := parseQuestion(line.Text)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, line.Number, err)
		}
		if err := s.ask(cmp.Or(name, heading), q, len(lines)-i); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(s.Sections) == 0 {
		return fmt.Errorf("%s: no questions", path)
	}
	return nil
}

// ask adds a question to a section. At most left more questions are to come, or this one.
func (s *Set) ask(section string, q Question, left int) (err error) {
	i := slices.IndexFunc(s.Sections, func(s Section) bool { return s.Name == section })
	if i < 0 {
		i = len(s.Sections)
		s.Sections = append(s.Sections, Section{Name: section})
	}
	questions := &s.Sections[i].Questions
	if len(*questions) == cap(*questions) { // by half, so that a large section is not copied often
		if *questions, err = memory.Grow(*questions, min(left, len(*questions)/2+16)); err != nil {
			return err
		}
	}
	*questions = append(*questions, q)
	return nil
}
