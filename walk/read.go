package walk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// ReadOptions say how to read a file of edges.
type ReadOptions struct {
	Directed bool   // an edge leads only from its first node to its second
	Weighted bool   // the third column, or the numbers of the matrix, are weights
	Matrix   string // name of the adjacency matrix in a MATLAB file; empty: "network"
	Types    string // file with a node and its type a line, for Options.MetaPath; empty: none
	Threads  int    // default: one for each processor; the graph does not depend on it

	// Folder is where the edges go, in files without names, if memory is too small for them. Close the Graph then. Empty: then they are refused.
	Folder string

	always   bool // tests set it: use files though there is memory
	together int  // tests set it: in files, arcs of several ranges of nodes that are filled together; 0: as many as there is memory for
}

func (o *ReadOptions) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// Read reads a graph. It recognizes the format by the first bytes: an edge list, a matrix of
// Matrix Market, a MATLAB file of version 5, all plain or compressed (gzip, zstd, bzip2, xz), or an
// archive of NumPy (.npz) with a sparse matrix as PecanPy and SciPy write it. The path "-" is
// standard input. notes tell the user what Read ignored and what the graph has that is unusual.
//
// An edge list has one edge a line: two nodes and optionally a weight, separated by
// commas, semicolons, tabs or spaces. A node is any word without white space. Read
// skips a first line of titles, empty lines and lines that begin with '#' or '%'. In a
// matrix row i and column i are node i, from 1; from 0 in one of NumPy that names no nodes.
//
// Errors name the file and, in lists, line and column: a file that cannot be read, a
// line that is not an edge, a weight that is not a number above 0, an edge with two
// weights, no edges. They may wrap the error of a context that is done, or
// memory.ErrRoom for a graph that the memory does not hold.
func Read(ctx context.Context, path string, o ReadOptions) (g *Graph, notes []string, err error) {
	source, err := sourceOf(path)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the graph: %w", err)
	}
	g, notes, err = read(ctx, source, o)
	if err != nil && !strings.Contains(err.Error(), source.Name) { // as errors of the file itself do
		err = fmt.Errorf("%s: %w", source.Name, err)
	}
	if err != nil || o.Types == "" {
		return g, notes, err
	}
	others, err := g.readTypes(ctx, o.Types)
	if err != nil {
		return nil, nil, errors.Join(err, g.Close())
	}
	if others > 0 {
		notes = append(notes, fmt.Sprintf("left out %s of %s with a node that is not in the graph", terminal.Quantity(terminal.Number(others), "line"), o.Types))
	}
	return g, notes, nil
}

// sourceOf returns the source of a file.
func sourceOf(path string) (textfile.Source, error) {
	sources, err := textfile.Find(path)
	if err != nil {
		return textfile.Source{}, err
	}
	if len(sources) != 1 || path != "-" && sources[0].Name != path {
		return textfile.Source{}, fmt.Errorf("%s is a folder, not a file", path)
	}
	return sources[0], nil
}

// read is Read of a source.
func read(ctx context.Context, source textfile.Source, o ReadOptions) (*Graph, []string, error) {
	e, err := readSource(ctx, source, o)
	if e != nil { // also with an error
		defer func() { _ = e.store.close() }() // nothing in it is needed any more
	}
	if err != nil {
		return nil, nil, err
	}
	if e.count() == 0 {
		return nil, nil, errors.New("the file has no edges")
	}
	notes, silent := e.notes, e.bothWays
	g, repeated, err := newGraph(ctx, e, o)
	if err != nil {
		return nil, nil, err
	}
	if repeated > 0 && !silent {
		notes = append(notes, fmt.Sprintf("%d edges occur more than once; each counts once", repeated))
	}
	if loops := g.Loops(); loops > 0 {
		notes = append(notes, fmt.Sprintf("%d edges lead from a node to itself", loops))
	}
	return g, notes, nil
}

// readSource reads the edges of a file in any format. With an error there may be edges, too: their store is to be closed.
func readSource(ctx context.Context, source textfile.Source, o ReadOptions) (*edges, error) {
	if f, size, err := archive(source); f != nil || err != nil {
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readArchive(ctx, f, size, o)
	}
	source.Threads, source.Lists = o.threads(), true
	var stored atomic.Int64
	text, err := textfile.Open(source, &stored)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	r := bufio.NewReaderSize(memory.NewReader(ctx, text), 1<<16)
	switch head, _ := r.Peek(len(marketBanner)); {
	case len(head) >= 6 && string(head[:6]) == "MATLAB":
		return readMatlab(ctx, r, o)
	case string(head) == marketBanner:
		return readMarket(ctx, r, o)
	default:
		e := &edges{words: &wordTable{}, store: store{folder: o.Folder, always: o.always}}
		return e, e.readList(ctx, r, listFormat{weighted: o.Weighted, threads: o.threads()})
	}
}

// archive opens a file that begins as an archive of NumPy; nil for others.
func archive(source textfile.Source) (*os.File, int64, error) {
	if source.Size < int64(len(archiveMagic)) {
		return nil, 0, nil
	}
	opened, err := source.Open()
	if err != nil {
		return nil, 0, err
	}
	f, ok := opened.(*os.File)
	if !ok { // standard input, or a test's
		return nil, 0, nil
	}
	head := make([]byte, len(archiveMagic))
	if _, err := io.ReadFull(f, head); err == nil && string(head) == archiveMagic {
		return f, source.Size, nil
	}
	return nil, 0, f.Close()
}
