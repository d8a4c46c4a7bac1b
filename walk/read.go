package walk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// ReadOptions say how to read a file of edges.
type ReadOptions struct {
	Directed bool // an edge leads only from its first node to its second
	Weighted bool // the third column is the weight of the edge
	Threads  int  // default: one for each processor; the graph does not depend on it
}

func (o *ReadOptions) threads() int { return cmp.Or(o.Threads, runtime.GOMAXPROCS(0)) }

// Read reads a graph from a list of edges, plain or compressed (gzip, zstd, bzip2, xz). The path "-" is
// standard input. notes tell the user what Read ignored and what the graph has that is unusual.
//
// The list has one edge a line: two nodes and optionally a weight, separated by
// commas, semicolons, tabs or spaces. A node is any word without white space. Read
// skips a first line of titles, empty lines and lines that begin with '#' or '%'.
//
// Errors name the file and the line and column: a file that cannot be read, a
// line that is not an edge, a weight that is not a number above 0, an edge with two
// weights, no edges. They may wrap the error of a context that is done, or
// memory.ErrRoom for a graph that the memory does not hold.
func Read(ctx context.Context, path string, o ReadOptions) (g *Graph, notes []string, err error) {
	sources, err := textfile.Find(path)
	if err == nil && len(sources) != 1 {
		err = fmt.Errorf("%s is a folder, not a file", path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the graph: %w", err)
	}
	source := sources[0]
	g, notes, err = read(ctx, source, o)
	if err != nil && !strings.Contains(err.Error(), source.Name) { // as errors of the file itself do
		err = fmt.Errorf("%s: %w", source.Name, err)
	}
	return g, notes, err
}

// read is Read of a source.
func read(ctx context.Context, source textfile.Source, o ReadOptions) (*Graph, []string, error) {
	e, err := readEdges(ctx, source, o)
	if err != nil {
		return nil, nil, err
	}
	if e.count() == 0 {
		return nil, nil, errors.New("the file has no edges")
	}
	if e.loneFirst() {
		e.notef("the nodes of the first edge are in no other: remove the line if they are titles")
	}
	header, lines := e.header(), e.count()
	g, repeated, err := newGraph(ctx, e, o)
	if err != nil {
		return nil, nil, err
	}
	g.Layout = e.layout.describe()
	if header != 0 && header+2 >= uint64(len(g.Names)) {
		e.notef("the first edge, %d %d, may be the numbers of nodes and edges, which the file has: remove the line then", header, lines-1)
	}
	if repeated > 0 {
		e.notef("%d edges occur more than once; each counts once", repeated)
	}
	if loops := g.Loops(); loops > 0 {
		e.notef("%d edges lead from a node to itself", loops)
	}
	return g, e.notes, nil
}

// readEdges reads the edges of a file.
func readEdges(ctx context.Context, source textfile.Source, o ReadOptions) (*edges, error) {
	source.Threads, source.Lists = o.threads(), true
	var stored atomic.Int64
	text, err := textfile.Open(source, &stored)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	e := &edges{words: &wordTable{}}
	return e, e.readList(memory.NewReader(ctx, text), o)
}
