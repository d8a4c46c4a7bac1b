package walk

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/w2vcl/w2vcl/internal/matlab"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// ReadOptions say how to read a file of edges.
type ReadOptions struct {
	Directed bool   // an edge leads only from its first node to its second
	Weighted bool   // the third column, or the numbers of the matrix, are weights
	Matrix   string // name of the adjacency matrix in a MATLAB file; empty: "network"
}

// Read reads a graph from an edge list or a MATLAB file of version 5, which it
// recognizes by the first bytes. Either may be compressed with gzip. The path "-" is
// standard input. notes tell the user what Read ignored and what the graph has that is unusual.
//
// An edge list has one edge a line: two nodes and optionally a weight, separated by
// commas, semicolons, tabs or spaces. A node is any word without white space. Read
// skips a first line of titles, empty lines and lines that begin with '#' or '%'. In a
// MATLAB file row i and column i are node i, from 1.
//
// Errors name the file and, in an edge list, the line: a file that cannot be read, a
// line that is not an edge, a weight that is not a number above 0, an edge with two
// weights, no edges. They may wrap the error of a context that is done, or
// memory.ErrRoom for a graph that the memory does not hold.
func Read(ctx context.Context, path string, o ReadOptions) (g *Graph, notes []string, err error) {
	f := os.Stdin
	if path == "-" {
		path = "standard input"
	} else if f, err = os.Open(path); err != nil {
		return nil, nil, fmt.Errorf("cannot read the graph: %w", err)
	}
	defer f.Close()
	g, notes, err = read(ctx, f, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, notes, nil
}

// read is Read for an open file.
func read(ctx context.Context, file io.Reader, o ReadOptions) (*Graph, []string, error) {
	r := bufio.NewReaderSize(memory.NewReader(ctx, file), 1<<16)
	if head, _ := r.Peek(2); textfile.IsGzip(head) {
		plain, err := textfile.Gzip(r)
		if err != nil {
			return nil, nil, err
		}
		r = bufio.NewReaderSize(memory.NewReader(ctx, plain), 1<<16)
	}
	var e *edgeList
	var err error
	if head, _ := r.Peek(6); string(head) == "MATLAB" {
		e, err = readMatrix(ctx, r, o)
	} else {
		e, err = readEdges(r, o)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(e.arcs) == 0 {
		return nil, nil, errors.New("the file has no edges")
	}
	done, err := memory.Room(graphBytes(e, o.Directed))
	if err != nil {
		return nil, nil, fmt.Errorf("a graph of %d edges: %w", len(e.arcs), err)
	}
	defer done()
	g, repeated, err := newGraph(e.names, e.arcs, o.Directed, o.Weighted)
	if err != nil {
		return nil, nil, err
	}
	if repeated > 0 && !e.bothWays {
		e.notes = append(e.notes, fmt.Sprintf("%d edges occur more than once; each counts once", repeated))
	}
	if loops := g.Loops(); loops > 0 {
		e.notes = append(e.notes, fmt.Sprintf("%d edges lead from a node to itself", loops))
	}
	return g, e.notes, nil
}

// graphBytes is about the memory that newGraph takes beside the list of edges.
func graphBytes(e *edgeList, directed bool) int64 {
	arcs := int64(len(e.arcs))
	if !directed {
		arcs *= 2
	}
	return 16*int64(len(e.names)) + arcs*(int64(unsafe.Sizeof(arc{}))+12)
}

// An edgeList holds the content of a file.
type edgeList struct {
	names    []string
	arcs     []arc
	notes    []string
	bothWays bool // the file should hold each undirected edge twice
}

// readMatrix reads an adjacency matrix. Its entries are the edges.
func readMatrix(ctx context.Context, r io.Reader, o ReadOptions) (*edgeList, error) {
	name := o.Matrix
	if name == "" {
		name = "network"
	}
	m, err := matlab.Read(ctx, r, name)
	if err != nil {
		return nil, err
	}
	if m.Rows != m.Columns {
		return nil, fmt.Errorf("%s has %d rows and %d columns; an adjacency matrix must be square", name, m.Rows, m.Columns)
	}
	e := &edgeList{bothWays: !o.Directed}
	const nameBytes = 32
	done, err := memory.Room(nameBytes*int64(m.Rows) + int64(len(m.Entries))*int64(unsafe.Sizeof(arc{})))
	if err != nil {
		return nil, fmt.Errorf("%s has %d nodes and %d edges: %w", name, m.Rows, len(m.Entries), err)
	}
	defer done()
	e.names, e.arcs = make([]string, m.Rows), make([]arc, 0, len(m.Entries))
	for i := range e.names {
		e.names[i] = strconv.Itoa(i + 1)
	}
	otherValues := false // than 1
	for i, entry := range m.Entries {
		if o.Weighted {
			if err := checkWeight(entry.Value); err != nil {
				return nil, fmt.Errorf("%s(%d,%d): %w", name, entry.Row+1, entry.Column+1, err)
			}
		}
		otherValues = otherValues || entry.Value != 1
		e.arcs = append(e.arcs, arc{entry.Row, entry.Column, entry.Value, i + 1})
	}
	if otherValues && !o.Weighted {
		e.notes = append(e.notes, name+" has numbers other than 1, which are ignored; use --weighted if they are weights")
	}
	return e, nil
}

// checkWeight returns an error if w is not a possible weight.
func checkWeight(w float64) error {
	if !(w > 0) || math.IsInf(w, 1) {
		return fmt.Errorf("the weight %g is not a number above 0", w)
	}
	return nil
}

// readEdges reads an edge list.
func readEdges(r io.Reader, o ReadOptions) (*edgeList, error) {
	e := &edgeList{}
	index := make(map[string]uint32)
	node := func(name []byte) (uint32, error) { return e.node(name, index) }
	lines := textfile.NewLines(r)
	ignored := false
	var fields [][]byte
	for lines.Next() {
		line := lines.Bytes()
		if lines.Number == 1 && bytes.HasPrefix(line, []byte("%%MatrixMarket")) {
			return nil, errors.New("this is a Matrix Market file, which is not read; keep its lines of entries, and remove the line of sizes")
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' || line[0] == '%' {
			continue
		}
		fields = split(fields[:0], line)
		if len(e.arcs) == 0 && isHeader(fields, o.Weighted) {
			continue
		}
		a, err := parseArc(fields, node, o.Weighted)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", lines.Number, err)
		}
		a.line = lines.Number
		if e.arcs, err = memory.Append(e.arcs, a); err != nil {
			return nil, fmt.Errorf("line %d: %w", lines.Number, err)
		}
		ignored = ignored || len(fields) > 2 && !o.Weighted
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if ignored {
		e.notes = append(e.notes, "columns after the second are ignored; use --weighted if the third holds weights")
	}
	return e, nil
}

// node returns the number of a node's name; index has the names so far.
func (e *edgeList) node(name []byte, index map[string]uint32) (uint32, error) {
	if i, ok := index[string(name)]; ok {
		return i, nil
	}
	switch {
	case len(name) == 0:
		return 0, errors.New("a node has no name")
	case !utf8.Valid(name):
		return 0, fmt.Errorf("the node %q is not UTF-8", name)
	case len(bytes.Fields(name)) > 1:
		return 0, fmt.Errorf("the node %q has white space in its name, so it would be several words in a text", name)
	case uint64(len(e.names)) == maxNodes:
		return 0, fmt.Errorf("there are more than %d nodes", uint32(maxNodes))
	}
	i := uint32(len(e.names))
	var err error
	if e.names, err = memory.Append(e.names, string(name)); err != nil {
		return 0, err
	}
	index[e.names[i]] = i
	return i, nil
}

// split appends the columns of a line to fields. Commas separate them if the line
// has any, else semicolons, else tabs, else white space.
func split(fields [][]byte, line []byte) [][]byte {
	for _, separator := range []byte{',', ';', '\t'} {
		if bytes.IndexByte(line, separator) < 0 {
			continue
		}
		for field := range bytes.SplitSeq(line, []byte{separator}) {
			field = bytes.TrimSpace(field)
			if n := len(field); n >= 2 && field[0] == '"' && field[n-1] == '"' {
				field = field[1 : n-1]
			}
			fields = append(fields, field)
		}
		return fields
	}
	for field := range bytes.FieldsSeq(line) {
		fields = append(fields, field)
	}
	return fields
}

// parseArc parses the columns of an edge. node returns the number of a node's name.
func parseArc(fields [][]byte, node func([]byte) (uint32, error), weighted bool) (a arc, err error) {
	want := 2
	if weighted {
		want = 3
	}
	if len(fields) < want {
		return arc{}, fmt.Errorf("%d columns do not make an edge, which has two nodes and, in a weighted graph, a weight", len(fields))
	}
	if a.from, err = node(fields[0]); err != nil {
		return arc{}, err
	}
	if a.to, err = node(fields[1]); err != nil {
		return arc{}, err
	}
	a.weight = 1
	if weighted {
		if a.weight, err = strconv.ParseFloat(string(fields[2]), 64); err != nil {
			return arc{}, fmt.Errorf("%q is not a weight", fields[2])
		}
		err = checkWeight(a.weight)
	}
	return a, err
}

// isHeader reports whether a first line holds titles instead of an edge.
func isHeader(fields [][]byte, weighted bool) bool {
	if len(fields) < 2 {
		return false
	}
	if weighted && len(fields) > 2 {
		_, err := strconv.ParseFloat(string(fields[2]), 64)
		return err != nil && len(fields[2]) > 0
	}
	titles := string(bytes.ToLower(fields[0])) + " " + string(bytes.ToLower(fields[1]))
	switch titles {
	case "source target", "from to", "src dst", "node1 node2", "node_1 node_2":
		return true
	default:
		return false
	}
}
