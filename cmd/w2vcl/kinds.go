package main

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/compare"
	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// The kinds of files that w2vcl writes. Walks, lists of words and joined texts have no
// mark of their own: what is plainly something else is refused.
var (
	matrixKind  = headKind("a matrix file of w2vcl", func(head string) bool { return wordcontext.IsMatrix([]byte(head)) })
	dotKind     = startKind("a graph in Graphviz's format", "digraph")
	pageKind    = startKind("a page", "<!DOCTYPE html>")
	mapKind     = startKind("a map", "<!DOCTYPE html>", "<svg ")
	metricsKind = startKind("metrics that w2vcl wrote", "unit,seconds,loss,", `[{"unit":`, "[]")
	phrasesKind = startKind("a list of phrases", "# phrases of w2vcl\n")
	pairsKind   = startKind("a list of held-out edges", "# node node edge\n")
	reportKind  = fileKind{"of a comparison", func(path string) bool { return compare.Holds(filepath.Dir(path)) }}
	textKind    = headKind("a text", isText)
	walksKind   = headKind("a text of walks", isWalks)
	wordsKind   = headKind("a list of words", isWords)
	vectorsKind = headKind("a file of vectors", func(head string) bool { return embedding.IsVectors([]byte(head)) })
)

// isText reports whether the beginning of a file may be that of a text in UTF-8: it has no
// NUL, and is neither vectors nor one of the formats that begin with a sign of theirs.
func isText(head string) bool {
	cut := len(head)
	for n := 0; n < utf8.UTFMax && cut > 0 && !utf8.RuneStart(head[cut-1]); n++ {
		cut--
	}
	if strings.ContainsRune(head, 0) || !utf8.ValidString(head[:max(cut-1, 0)]) {
		return false
	}
	for _, start := range []string{"{", "[", "<!DOCTYPE", "<html", "<svg", "<?xml", "digraph", "#!", "unit,seconds,loss,", "# phrases of w2vcl\n", "# node node edge\n"} {
		if strings.HasPrefix(head, start) {
			return false
		}
	}
	// Walks over nodes with numbers for names look like vectors of whole numbers.
	return !strings.Contains(head, ".") || !embedding.IsVectors([]byte(head))
}

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
	return isText(head) && marks <= len(strings.Fields(head))/100
}

// isWords reports whether the beginning of a file may be that of a list with one word a
// line, which may have a few spaces in it.
func isWords(head string) bool {
	const spaces = 3
	lines := wholeLines(head)
	return len(lines) > 0 && isText(head) && !slices.ContainsFunc(lines, func(line string) bool {
		return line == "" || strings.Contains(line, "\t") || strings.Count(line, " ") > spaces
	})
}

// wholeLines returns the lines of the beginning of a file that are not cut.
func wholeLines(head string) []string {
	lines := strings.Split(head, "\n")
	last := len(lines) - 1
	if lines[last] == "" || len(head) == headBytes {
		lines = lines[:last]
	}
	return lines
}
