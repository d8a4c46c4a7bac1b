package nodes

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/w2vcl/w2vcl/evaluate/dataset"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// Labels are the labels of nodes, at least one each; made by [ReadLabels].
type Labels struct {
	Nodes   []string
	Classes []string
	Of      [][]int // by node: the numbers of its classes

	pairs [][2]int // node and class, in the order of the file
}

// ReadLabels reads the labels of nodes: lines with a node and a label of it, divided as those of a graph, perhaps
// below titles. Errors name the file, the line and the column.
func ReadLabels(ctx context.Context, path string) (*Labels, error) {
	lines, err := dataset.ReadLines(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the labels: %w", err)
	}
	l := &Labels{}
	if err := l.read(lines); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(l.pairs) == 0 {
		return nil, fmt.Errorf("%s: no labels", path)
	}
	return l, nil
}

// SetName is the name in results of the labels or edges in a file.
func SetName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

var titles = regexp.MustCompile(`(?i)^(node|vertex|user|page|id)[ _]?(id)?,(label|class|group|category|community|type)[ _]?(id)?$`)

// read reads lines. The first ones decide how all are divided.
func (l *Labels) read(lines []dataset.Line) error {
	all := func(yield func(int, []byte) bool) {
		for i := 0; i < len(lines) && yield(lines[i].Number, []byte(lines[i].Text)); i++ {
		}
	}
	columns, _, err := textfile.FindColumns(all)
	if err != nil {
		return err
	}
	add := l.adder()
	for number, line := range all {
		f, err := columns.Split(nil, line)
		if err == nil {
			err = check(f)
		}
		if err != nil {
			return fmt.Errorf("line %d, %w", number, err)
		}
		if number > lines[0].Number || !titles.Match(slices.Concat(f[0].Text, []byte{','}, f[1].Text)) {
			add(string(f[0].Text), string(f[1].Text))
		}
	}
	return nil
}

// check returns an error, which begins with a column, unless a line has a node, which is a word, and a label.
func check(line []textfile.Field) error {
	for k, f := range line {
		odd := func(r rune) bool { return unicode.IsControl(r) || k == 0 && unicode.IsSpace(r) }
		if len(f.Text) == 0 || bytes.ContainsFunc(f.Text, odd) || bytes.ContainsAny(f.Text, textfile.LineEnds) {
			return fmt.Errorf("column %d: %q is no node or label", f.At, f.Text)
		}
	}
	if n := len(line); n != 2 {
		return fmt.Errorf("column %d: %d columns; a line has two, a node and one of its labels", line[n-1].At, n)
	}
	return nil
}

// adder returns a function that gives a node a label, once.
func (l *Labels) adder() func(node, class string) {
	number := func(names *[]string) func(string) int {
		index := make(map[string]int)
		return func(name string) int {
			i, ok := index[name]
			if !ok {
				i = len(*names)
				index[name] = i
				*names = append(*names, name)
			}
			return i
		}
	}
	nodeNumber, classNumber := number(&l.Nodes), number(&l.Classes)
	seen := make(map[[2]int]bool)
	return func(node, class string) {
		pair := [2]int{nodeNumber(node), classNumber(class)}
		if seen[pair] {
			return
		}
		seen[pair] = true
		if pair[0] == len(l.Of) {
			l.Of = append(l.Of, nil)
		}
		l.Of[pair[0]] = append(l.Of[pair[0]], pair[1])
		l.pairs = append(l.pairs, pair)
	}
}
