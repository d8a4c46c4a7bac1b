package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/evaluate/dataset"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// Labels are the labels of nodes, at least one each; made by [ReadLabels].
type Labels struct {
	Nodes   []string
	Classes []string
	Of      [][]int // by node: the numbers of its classes

	pairs [][2]int // node and class, in the order of the file
}

// ReadLabels reads the labels of nodes: lines with a node and a label of it,
// separated by a comma or white space. Errors name the file and the line.
func ReadLabels(ctx context.Context, path string) (*Labels, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the labels: %w", err)
	}
	defer f.Close()
	l := &Labels{}
	if err := l.readLines(memory.NewReader(ctx, f)); err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
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

func (l *Labels) readLines(r io.Reader) error {
	lines, err := dataset.ScanLines(r)
	if err != nil {
		return fmt.Errorf(" %w", err)
	}
	add := l.adder()
	for _, line := range lines {
		fields := strings.Fields(line.Text)
		if strings.Contains(line.Text, ",") {
			fields = strings.Split(line.Text, ",")
		}
		if len(fields) != 2 {
			return fmt.Errorf("%d: %d columns; a line has two, a node and one of its labels", line.Number, len(fields))
		}
		node, class := strings.TrimSpace(fields[0]), strings.TrimSpace(fields[1])
		if node == "" || class == "" {
			return fmt.Errorf("%d: %w", line.Number, errors.New("a node or a label is missing"))
		}
		add(node, class)
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
