package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// tokens splits raw text into runs of letters, digits and apostrophes.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(text, "\u2019", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\''
	})
}

// relationLine is a sentence of SemEval-2010 task 8: a number, a tab and a quoted sentence with two
// marked parts.
var relationLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+\t"(.*)<e1>(.*)</e1>(.*)<e2>(.*)</e2>(.*)"$`) })

// readMarked reads sentences in which two parts are marked, with the relation between them in the
// line below, perhaps with a comment in a third (Hendrickx et al. 2010).
func readMarked(ctx context.Context, path string, s *Set) error {
	lines, err := ReadLines(ctx, path)
	if err != nil {
		return err
	}
	for i := 0; i < len(lines); i++ {
		parts := relationLine().FindStringSubmatch(lines[i].Text)
		if parts == nil {
			return fmt.Errorf("%s:%d: no sentence with <e1> and <e2>, for example 1<TAB>\"The <e1>cat</e1> eats the <e2>fish</e2>.\"", path, lines[i].Number)
		}
		var sentence Sentence
		for part, text := range parts[1:] {
			words := tokens(textfile.ValidUTF8(text))
			sentence.Words = append(sentence.Words, words...)
			if marked := part%2 == 1; marked && len(words) == 0 {
				return fmt.Errorf("%s:%d: no word between <e%d> and </e%d>", path, lines[i].Number, part/2+1, part/2+1)
			} else if marked {
				sentence.Ends = append(sentence.Ends, len(sentence.Words)-1)
			}
		}
		if i++; i == len(lines) || strings.ContainsAny(lines[i].Text, " \t\"") {
			return fmt.Errorf("%s:%d: no relation in the next line, for example Cause-Effect(e1,e2)", path, lines[i-1].Number)
		}
		sentence.Label = lines[i].Text
		s.Sentences = append(s.Sentences, sentence)
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1].Text, "Comment:") {
			i++
		}
	}
	return nil
}

// reviewOf knows the files of IMDB's reviews (Maas et al. 2011) by their folders,
// train/pos/1_9.txt. unlabelled are those that nobody is asked about.
func reviewOf(file string) (stem, part, label string, unlabelled bool) {
	folder := filepath.Dir(file)
	label, part = filepath.Base(folder), "."+filepath.Base(filepath.Dir(folder))
	if filepath.Ext(file) != ".txt" || part != ".train" && part != ".test" || !slices.Contains([]string{"pos", "neg", "unsup"}, label) {
		return "", "", "", false
	}
	return filepath.Dir(filepath.Dir(folder)), part, label, label == "unsup"
}

func readReview(path, label string) (Sentence, error) {
	data, err := readFile(path)
	if err != nil {
		return Sentence{}, err
	}
	text := strings.ReplaceAll(textfile.ValidUTF8(string(data)), "<br />", " ")
	words := tokens(text)
	if len(words) == 0 {
		return Sentence{}, fmt.Errorf("%s: %w", path, errors.New("the review has no words"))
	}
	return Sentence{Label: label, Words: words}, nil
}
