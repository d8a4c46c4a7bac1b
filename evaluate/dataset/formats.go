// Package dataset finds the data sets of words and of sentences in a folder, and
// reads them. It tells them from other files by their content. These are the
// formats of their files:
//
//   - similarity: two words with -n, -v or -j behind them, and a score, as in MEN;
//     two words and a score, in columns between tabs;
//     two words and a score, in columns between commas;
//     two words and a score, in columns between spaces.
//     The score is the first column of numbers behind the words. A first line
//     without a number is a line of titles: the score stands under the title with
//     "simlex", "human", "mean", "score", "rating", "average", "similarity" or
//     "relatedness" in it, as in SimLex-999.
//   - analogy: five columns of MSR, as "good better rough JJ_JJR rougher",
//     where the fourth names the section;
//     four words, lines ": section" between them, as in questions-words.txt,
//     or without sections;
//     BATS: a word, a tab, and its answers with / between them. The files of a
//     folder, and of folders beside it, are the sections of one set.
//   - categorization: four columns of BLESS: concept-n, class, relation, word;
//     columns titled category or class, and word or concept; commas or tabs
//     between them.
//   - classification: a label, which is a whole number, then the words of a sentence;
//     a label of TREC, as DESC:manner, of which the first part counts, then a question;
//     a number, a tab and a quoted sentence with <e1> and <e2>, then its relation
//     in a line below, as in SemEval-2010 task 8.
//     Folders train/pos, train/neg, test/pos and test/neg of texts are a set of reviews.
//
// Empty lines, and lines that begin with "#" or "//", are passed over; "//" is no
// comment in sets of categories, and sets of sentences have no comments.
//
// Start at [Find] and [FindSentences] (find.go, sentences.go). The table of formats
// is in this file; the files beside it read the sets of one task each. A new format
// is an entry of the table, with its name in the list above.
package dataset

import (
	"context"
	"slices"

	"github.com/w2vcl/w2vcl/evaluate"
)

// A Format is a way in which files hold the items of a task.
type Format struct {
	Task    string // one of package evaluate's
	Name    string // for people, up to 74 characters: what stands in a line
	Example string // a small file

	joins bool // files of a folder are one set together

	// matches looks at the first lines of a file, at least one, without comments
	// and without spaces around them.
	matches func(lines []string) bool
	// read adds the items of a file to a set. Errors name the file and the line.
	read func(ctx context.Context, path string, s *Set) error
}

// formats lists all formats. Of several that match a file, the first is the file's.
var formats = []Format{
	categories("four columns of BLESS: concept-n, class, relation, word",
		"tiger-n\tanimal\tattri\twild-j\ncream-n\tfood\thyper\tdessert-n\n", blessColumns),
	categories("columns titled category or class, and word or concept; commas or tabs",
		"index,category,word\n0,animal,tiger\n1,food,cream\n", titledColumns),
	similarity("two words with -n, -v or -j behind them, and a score",
		"tiger-n cat-n 7.35\nice-n cream-n 9\n", lemmas),
	similarity("two words and a score, in columns between tabs",
		"tiger\tcat\t7.35\nice\tcream\t9\n", columns("\t", hasTabs)),
	similarity("two words and a score, in columns between commas",
		"Word 1,Word 2,Human (mean)\ntiger,cat,7.35\nice,cream,9\n", columns(",", hasCommas)),
	similarity("two words and a score, in columns between spaces",
		"tiger cat 7.35\nice cream 9\n", columns(" ", hasSpaces)),
	analogy(`five columns of MSR, as "good better rough JJ_JJR rougher"`,
		"good better rough JJ_JJR rougher\n", isClassedQuestion),
	{
		Task: evaluate.TaskAnalogy, Name: "BATS: a word, a tab, and its answers with / between them",
		Example: "good\tbetter\nrough\trougher/coarser\n", joins: true,
		matches: isRelation, read: readRelation,
	},
	analogy(`four words, lines ": section" between them, as in questions-words.txt`,
		": JJ_JJR\ngood better rough rougher\n", isQuestion),
	{
		Task:    evaluate.TaskClassification,
		Name:    "a number, a tab and a quoted sentence with <e1> and <e2>",
		Example: "1\t\"The <e1>tiger</e1> eats <e2>ice cream</e2>.\"\nCause-Effect(e1,e2)\nComment: rarely\n\n2\t\"A <e1>cat</e1>, <e2>too</e2>\"\nOther\n",
		matches: func(lines []string) bool { return relationLine().MatchString(lines[0]) },
		read:    readMarked,
	},
	{
		Task:    evaluate.TaskClassification,
		Name:    "a label of TREC, as DESC:manner, of which the first part counts",
		Example: "ANIM:wild the tiger likes ice cream\nPET:tame the cat does not\n",
		matches: func(lines []string) bool { return mostly(lines, isTRECQuestion) },
		read:    readSentences,
	},
	{
		Task:    evaluate.TaskClassification,
		Name:    "a label, which is a whole number, then the words of a sentence",
		Example: "1 the tiger likes ice cream\n0 the cat does not\n",
		matches: func(lines []string) bool { return mostly(lines, isSentence) },
		read:    readSentences,
	},
}

// Formats returns all formats of files.
func Formats() []Format { return slices.Clone(formats) }

// formatOf looks at the beginning of a file. It returns nil if the file has none of
// the formats.
func formatOf(path string) (*Format, error) {
	lines, err := firstLines(path)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	for i := range formats {
		if formats[i].matches(lines) {
			return &formats[i], nil
		}
	}
	return nil, nil
}

// mostly reports whether more than half of the lines are good. The few others are
// errors, which reading the file reports.
func mostly(lines []string, good func(line string) bool) bool {
	count := 0
	for _, l := range lines {
		if good(l) {
			count++
		}
	}
	return 2*count > len(lines)
}
