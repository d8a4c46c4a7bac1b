package walk

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A layout says how to read the lines of a file of edges. The first lines decide it for the whole file.
type layout struct {
	textfile.Columns
	weighted bool
	titles   []textfile.Field // of the first line; nil: it is an edge
	numbers  bool             // the first line holds titles because all names below begin like numbers
	twoSets  bool             // a number may mean different nodes in the two columns
}

// foreign matches the beginning of files that look like lists of edges but are not: matrices of Matrix Market, KONECT's graphs
// of two sets of nodes, pairs that [Graph.WritePairs] writes, lists of Python, graphs of DIMACS.
const foreign = `(?i)^(%%MatrixMarket|%+ *bip\b|# node node edge\s|\(.*\)\s)|(^|\n)p (edge|sp|max) \d`

// newLayout decides how to read a file from its first lines, of which the first has that number.
func newLayout(head []byte, number int, weighted bool) (l *layout, err error) {
	if regexp.MustCompile(foreign).Match(head[:min(len(head), 1<<10)]) {
		return nil, errors.New("line 1, column 1: this is a matrix, a graph of two sets of nodes, held-out pairs or another format: the guide says how to write a list of edges")
	}
	l = &layout{weighted: weighted}
	lines := func(yield func(int, []byte) bool) {
		number := number
		for line := range bytes.Lines(head) {
			if line = bytes.TrimSuffix(line, []byte{'\n'}); !isComment(line) && !yield(number, line) {
				return
			}
			number++
		}
	}
	var rows []textfile.Row
	if l.Columns, rows, err = textfile.FindColumns(lines); err != nil || len(rows) == 0 {
		return l, err
	}
	if err := l.judge(rows); err != nil {
		return nil, fmt.Errorf("line %d%w", rows[0].Line, err)
	}
	return l, nil
}

// isComment reports whether a line is empty, or a comment without other line ends.
func isComment(line []byte) bool {
	text := bytes.TrimLeft(line, " \t\r")
	return len(text) == 0 || (text[0] == '#' || text[0] == '%') && !bytes.ContainsAny(bytes.TrimSuffix(text, []byte{'\r'}), textfile.LineEnds)
}

// titleWords are usual titles of columns of nodes, as titleWord returns them. True: the title names one of two sets of nodes.
var titleWords = map[string]bool{
	"source": false, "src": false, "from": false, "from_node": false, "fromnode": false, "head": false, "node": false, "node_1": false, "id_1": false,
	"target": false, "dst": false, "to": false, "to_node": false, "tonode": false, "tail": false, "dest": false, "node_2": false, "id_2": false,
	"user": true, "item": true, "customer": true, "product": true,
}

// titleWord returns a title in lower case, without "id" at its end.
func titleWord(title []byte) string {
	return strings.TrimRight(strings.TrimSuffix(strings.ToLower(string(title)), "id"), "_ ")
}

// judge decides from the first rows whether the first one holds titles. An error begins with the place of a column.
func (l *layout) judge(rows []textfile.Row) error {
	first := rows[0].Fields
	if len(first) < 2 || l.weighted && len(first) < 3 {
		return fmt.Errorf(", column %d: %s do not make an edge, which has two nodes and, in a weighted graph, a weight", first[len(first)-1].At, l.Columns)
	}
	known, twoSets, err := l.known(first)
	odd := l.Count > 2 && !isValue(first[2].Text)
	odder, words, again := false, false, len(rows) == 1 // below the first row
	for _, row := range rows[1:] {
		odder = odder || odd && !isValue(row.Fields[2].Text)
		for _, f := range row.Fields[:2] {
			words = words || !startsNumber(f.Text)
			again = again || bytes.Equal(f.Text, first[0].Text) || bytes.Equal(f.Text, first[1].Text)
		}
	}
	switch {
	case err != nil:
		return err
	case startsNumber(first[0].Text) || startsNumber(first[1].Text) || l.weighted && !odd: // an edge
	case known, !again && odd && !odder && !startsNumber(first[2].Text):
		l.titles = first
	case !words && !odd && !again:
		l.titles, l.numbers = first, true
	}
	if odd && !l.weighted && l.titles == nil {
		return fmt.Errorf(", column %d: the third column, %q, is no number: the nodes must stand in the first two columns", first[2].At, first[2].Text)
	}
	l.twoSets = l.titles != nil && !words && (twoSets || !known && len(first[0].Text) > 1)
	return nil
}

// known reports whether the first row has usual titles, and whether these name two sets of nodes.
func (l *layout) known(first []textfile.Field) (known, twoSets bool, err error) {
	nodes, wrong := 0, -1
	for k, f := range first {
		word := titleWord(f.Text)
		two, ok := titleWords[word]
		if ok && nodes < k || word == "weight" && l.weighted && k != 2 {
			wrong = k
		}
		if ok {
			nodes, twoSets = nodes+1, two
		}
	}
	if nodes > 1 && wrong >= 0 {
		return false, false, fmt.Errorf(", column %d: the title %q stands above the wrong column: the first two columns must hold nodes, and the third the weight",
			first[wrong].At, first[wrong].Text)
	}
	return nodes > 1, twoSets, nil
}

// checkName returns an error if a node cannot have this name.
func (l *layout) checkName(name []byte) error {
	switch {
	case len(name) == 0 || !utf8.Valid(name) || bytes.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\uFEFF' }):
		return fmt.Errorf("%q cannot be the name of a node, which is UTF-8 text without white space or control characters", name)
	case l.titles != nil && (bytes.Equal(name, l.titles[0].Text) || bytes.Equal(name, l.titles[1].Text) || l.numbers && !startsNumber(name)):
		return fmt.Errorf("%q is a node here, but the first line was read as titles, %q and %q: move that line down if it is an edge", name, l.titles[0].Text, l.titles[1].Text)
	}
	return nil
}

// startsNumber reports whether a column begins like a number, or says that a number is missing.
func startsNumber(text []byte) bool {
	return len(text) > 0 && strings.IndexByte("0123456789+-.", text[0]) >= 0 ||
		isValue(text) || slices.Contains([]string{"na", "null", "none"}, strings.ToLower(string(text)))
}

// isValue reports whether a column behind the nodes may hold this text: a number, nothing, or what NetworkX writes.
func isValue(text []byte) bool {
	_, err := strconv.ParseFloat(string(text), 64)
	return len(text) == 0 || text[0] == '{' || err == nil || errors.Is(err, strconv.ErrRange)
}

// describe says how the file was read.
func (l *layout) describe() string {
	if l.titles == nil {
		return l.String()
	}
	return fmt.Sprintf("%s below the titles %q and %q", l.String(), l.titles[0].Text, l.titles[1].Text)
}
