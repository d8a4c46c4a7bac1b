package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/w2vcl/w2vcl/cmd/internal/cli"
	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// The kinds of files that w2vcl writes. Walks, lists of words and joined texts have no
// mark of their own: what is plainly something else is refused.
var (
	matrixKind = cli.HeadKind("a matrix file of w2vcl",
		func(head string) bool { return wordcontext.IsMatrix([]byte(head)) })
	dotKind     = cli.StartKind("a graph in Graphviz's format", "digraph")
	mapKind     = cli.StartKind("a map", "<svg ")
	metricsKind = cli.StartKind("metrics that w2vcl wrote", "unit,seconds,loss,", `[{"unit":`, "[]")
	phrasesKind = cli.StartKind("a list of phrases", "# phrases of w2vcl\n")
	pairsKind   = cli.StartKind("a list of held-out edges", "# node node edge\n")
	edgesKind   = cli.StartKind("a list of edges that w2vcl wrote", "# node node\n")
	reportKind  = cli.FileKind{Name: "of a comparison", Is: func(path string) bool { return compare.Holds(filepath.Dir(path)) }}
	walksKind   = cli.HeadKind("a text of walks", isWalks)
	wordsKind   = cli.HeadKind("a list of words", isWords)
	vectorsKind = cli.FileKind{Name: "a file of vectors", Is: embedding.HoldsVectors}
)

// isWalks reports whether the beginning of a file may be that of walks: names of nodes with
// single spaces between. Prose has punctuation, and tables have tabs.
func isWalks(head string) bool {
	marks := 0
	for _, line := range wholeLines(head) {
		if line == "" || strings.ContainsAny(line, "\t\r") || slices.Contains(strings.Split(line, " "), "") {
			return false
		}
		for word := range strings.FieldsSeq(line) {
			if len(word) > 1 && strings.ContainsAny(word[len(word)-1:], ",.;:?!") {
				marks++
			}
		}
	}
	return cli.IsText(head) && marks <= len(strings.Fields(head))/100
}

// isWords reports whether the beginning of a file may be that of a list with one word a
// line, which may have a few spaces in it.
func isWords(head string) bool {
	const spaces = 3
	lines := wholeLines(head)
	return len(lines) > 0 && cli.IsText(head) && !slices.ContainsFunc(lines, func(line string) bool {
		return line == "" || strings.Contains(line, "\t") || strings.Count(line, " ") > spaces
	})
}

// wholeLines returns the lines of the beginning of a file that are not cut.
func wholeLines(head string) []string {
	lines := strings.Split(head, "\n")
	last := len(lines) - 1
	if lines[last] == "" || len(head) == cli.HeadBytes {
		lines = lines[:last]
	}
	return lines
}
