package walk

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/w2vcl/w2vcl/internal/matlab"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// readMatlab reads an adjacency matrix of a MATLAB file. Its entries are the edges.
func readMatlab(ctx context.Context, r io.Reader, o ReadOptions) (*edges, error) {
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
	const bytesPerEdge = 20
	done, err := memory.Room(int64(len(m.Entries)) * bytesPerEdge)
	if err != nil {
		return nil, fmt.Errorf("%s has %d nodes and %d edges: %w", name, m.Rows, len(m.Entries), err)
	}
	defer done()
	e := &edges{bothWays: !o.Directed, first: 1, given: uint64(m.Rows), chunks: []edgeChunk{newChunk(len(m.Entries), o.Weighted)}}
	c, otherValues := &e.chunks[0], false // than 1
	for i, entry := range m.Entries {
		if o.Weighted {
			if err := checkWeight(entry.Value); err != nil {
				return nil, fmt.Errorf("%s(%d,%d): %w", name, entry.Row+1, entry.Column+1, err)
			}
			c.weights[i] = float32(entry.Value)
		}
		otherValues = otherValues || entry.Value != 1
		c.from[i], c.to[i] = uint64(entry.Row)+1, uint64(entry.Column)+1
	}
	e.noteValues(name, otherValues && !o.Weighted)
	return e, nil
}

// newChunk returns a chunk of so many edges.
func newChunk(count int, weighted bool) edgeChunk {
	c := edgeChunk{from: make([]uint64, count), to: make([]uint64, count)}
	if weighted {
		c.weights = make([]float32, count)
	}
	return c
}

// noteValues tells that the numbers of a matrix are ignored.
func (e *edges) noteValues(name string, ignored bool) {
	if ignored {
		e.notes = append(e.notes, name+" has numbers other than 1, which are ignored; use --weighted if they are weights")
	}
}

// marketBanner begins files of Matrix Market (math.nist.gov/MatrixMarket/formats.html).
const marketBanner = "%%MatrixMarket"

// readMarket reads a sparse matrix of Matrix Market.
func readMarket(ctx context.Context, r *bufio.Reader, o ReadOptions) (*edges, error) {
	lines := 0
	line := func() (string, error) {
		text, err := r.ReadSlice('\n')
		if lines++; err != nil && (err != io.EOF || len(text) == 0) {
			return "", fmt.Errorf("line %d: the file ends before the sizes of the matrix, or the line is too long: %w", lines, err)
		}
		return string(bytes.TrimSpace(text)), nil
	}
	banner, err := line()
	if err != nil {
		return nil, err
	}
	f := listFormat{weighted: o.Weighted, threads: o.threads()}
	symmetric, err := f.market(strings.Fields(strings.ToLower(banner)))
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	f.bothWays = symmetric && o.Directed
	sizes := ""
	for sizes == "" || sizes[0] == '%' {
		if sizes, err = line(); err != nil {
			return nil, err
		}
	}
	var entries int
	if n, err := fmt.Sscan(sizes, &f.rows, &f.columns, &entries); n != 3 || err != nil || len(strings.Fields(sizes)) != 3 {
		return nil, fmt.Errorf("line %d: %q does not give the rows, columns and entries of a matrix", lines, sizes)
	}
	switch {
	case f.rows != f.columns:
		return nil, fmt.Errorf("line %d: the matrix has %d rows and %d columns; an adjacency matrix must be square", lines, f.rows, f.columns)
	case f.rows < 1 || f.rows > maxNodes:
		return nil, fmt.Errorf("line %d: a graph has from 1 to %d nodes, not %d", lines, maxNodes, f.rows)
	}
	f.lines = lines
	e := &edges{words: &wordTable{}, store: store{folder: o.Folder, always: o.always}, first: 1, given: f.rows, bothWays: !o.Directed && !symmetric}
	if err := e.readList(ctx, r, f); err != nil {
		return e, err
	}
	found := e.count()
	if f.bothWays {
		found = e.pairs()
	}
	if found != entries {
		return e, fmt.Errorf("line %d announces %d entries, but there are %d: the file was not copied or written completely", lines, entries, found)
	}
	return e, nil
}

// market takes the words of a banner.
func (f *listFormat) market(words []string) (symmetric bool, err error) {
	if len(words) != 5 || words[1] != "matrix" || words[2] != "coordinate" {
		return false, errors.New("only sparse matrices (matrix coordinate) of Matrix Market are graphs")
	}
	switch words[3] {
	case "pattern":
		f.pattern = true
	case "real", "integer":
	default:
		return false, fmt.Errorf("the numbers of the matrix are %s, not real, integer or pattern", words[3])
	}
	switch words[4] {
	case "general":
		return false, nil
	case "symmetric":
		return true, nil
	default:
		return false, fmt.Errorf("the matrix is %s, not general or symmetric", words[4])
	}
}

// pairs counts the edges of a list in which each but a loop is followed by the same one back.
func (e *edges) pairs() (n int) {
	for _, c := range e.chunks {
		loops := 0
		for i, from := range c.from {
			if from == c.to[i] {
				loops++
			}
		}
		n += (len(c.from) + loops) / 2
	}
	return n
}
