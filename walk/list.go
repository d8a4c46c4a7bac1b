package walk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A listChunk is whole lines of a list.
type listChunk struct {
	text   []byte
	number int // of the chunk
	line   int // the number of its first line
}

// readList reads a list of edges. Goroutines parse chunks of it. Of several errors it returns the first in
// the file.
func (e *edges) readList(r io.Reader, o ReadOptions) (err error) {
	l := &listReader{edges: e, lines: textfile.LineBlocks{In: r, Longest: textfile.LongestLine}}
	var first listChunk
	for l.layout == nil || l.Count == 0 && first.text != nil { // comments may fill chunks
		first = l.next(nil)
		if l.layout, err = newLayout(bytes.Clone(first.text), first.line, o.Weighted); err != nil {
			return err
		}
	}
	l.first = first.number
	parse := func(c listChunk) {
		for ; c.text != nil; c = l.next(c.text) {
			l.parse(c)
		}
	}
	var wait sync.WaitGroup
	wait.Go(func() { parse(first) })
	for range o.threads() - 1 {
		wait.Go(func() { parse(l.next(nil)) })
	}
	wait.Wait()
	e.layout = l.layout
	l.note()
	return l.err
}

// next returns the next chunk, whose text may use the memory of buffer. After an error or the last chunk it returns none.
func (l *listReader) next(buffer []byte) (c listChunk) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.err != nil {
		return listChunk{}
	}
	var err error
	c.number = l.count
	if c.text, c.line, err = l.lines.Next(buffer); err != nil && !errors.Is(err, io.EOF) {
		l.err, l.failed = err, c.number
	}
	l.count++
	return c
}

// A listReader collects what goroutines parse.
type listReader struct {
	*layout
	edges *edges

	lock     sync.Mutex
	lines    textfile.LineBlocks
	count    int // of chunks
	first    int // chunk with lines that are no comments
	comments int // among the edges
	err      error
	failed   int // the number of the chunk of err
}

// parse parses a chunk.
func (l *listReader) parse(c listChunk) {
	p := &lineParser{listReader: l, layout: *l.layout, skip: c.number == l.first && l.titles != nil}
	line, err := p.parse(c.text)
	l.lock.Lock()
	defer l.lock.Unlock()
	l.comments += p.comments
	if err != nil {
		if l.err == nil || c.number < l.failed {
			l.err, l.failed = fmt.Errorf("line %d%w", c.line+line, err), c.number
		}
		return
	}
	for len(l.edges.chunks) <= c.number {
		l.edges.chunks = append(l.edges.chunks, edgeChunk{})
	}
	l.edges.chunks[c.number] = p.made
}

// A lineParser parses the lines of a chunk.
type lineParser struct {
	*listReader
	layout        // as that of the reader, and near
	skip     bool // the first line, which holds titles
	made     edgeChunk
	fields   []textfile.Field
	comments int
}

// parse parses lines. An error is one of the line with that number, from 0.
func (p *lineParser) parse(text []byte) (line int, err error) {
	edges := bytes.Count(text, []byte{'\n'}) + 1
	done, err := p.made.allocate(edges, p.weighted)
	if err != nil {
		return 0, fmt.Errorf(": %w", err)
	}
	defer done()
	for ; len(text) > 0; line++ {
		end := bytes.IndexByte(text, '\n')
		next := text[len(text):]
		if end >= 0 {
			next, text = text[end+1:], text[:end]
		}
		if err := p.parseLine(text); err != nil {
			return line, err
		}
		text = next
	}
	return line, nil
}

// allocate takes memory for so many edges. The caller calls done when they are there.
func (c *edgeChunk) allocate(count int, weighted bool) (done func(), err error) {
	bytes := int64(16)
	if weighted {
		bytes += 4
	}
	if done, err = memory.Room(bytes * int64(count)); err != nil {
		return nil, err
	}
	c.from, c.to = make([]uint64, 0, count), make([]uint64, 0, count)
	if weighted {
		c.weights = make([]float32, 0, count)
	}
	return done, nil
}

// parseLine parses a line.
func (p *lineParser) parseLine(line []byte) error {
	from, to, weight, ok := p.plain(line)
	if !ok {
		if len(line) == 0 || line[0] <= '%' && isComment(line) {
			if len(p.made.from) > 0 && len(bytes.TrimSpace(line)) > 0 {
				p.comments++
			}
			return nil
		}
		if p.skip {
			p.skip = false
			return nil
		}
		var err error
		if p.fields, err = p.Split(p.fields[:0], line); err != nil {
			return fmt.Errorf(", %w", err)
		}
		if from, to, weight, err = p.edge(p.fields); err != nil {
			return err
		}
	}
	p.made.from, p.made.to = append(p.made.from, from), append(p.made.to, to)
	if p.weighted {
		p.made.weights = append(p.made.weights, weight)
	}
	return nil
}

// plain parses a line of numbers, as most are: two nodes and perhaps a weight. It leaves all others to
// edge.
func (p *lineParser) plain(line []byte) (from, to uint64, weight float32, ok bool) {
	from, at := digits(line, 0)
	if at == 0 || at == len(line) || from >= largestNumber {
		return 0, 0, 0, false
	}
	separator := line[at]
	if separator != p.Separator && (separator != '\t' || p.Separator != ' ') {
		return 0, 0, 0, false
	}
	start := at + 1
	if to, at = digits(line, start); at == start || to >= largestNumber {
		return 0, 0, 0, false
	}
	if at < len(line) && line[at] == '\r' {
		at++
	}
	if at < len(line) {
		if !p.weighted || line[at] != separator || p.Count > 3 {
			return 0, 0, 0, false
		}
		rest := bytes.TrimSuffix(line[at+1:], []byte{'\r'})
		w, err := strconv.ParseFloat(string(rest), 32)
		return from, to, float32(w), err == nil && checkWeight(w) == nil
	}
	return from, to, 1, p.Count == 2
}

// digits parses a number without leading zeros, and returns where it ends; at itself if there is none.
func digits(line []byte, at int) (n uint64, end int) {
	const most = 18
	for end = at; end < len(line) && line[end]-'0' <= 9; end++ {
		if end-at >= most || end > at && n == 0 {
			return 0, at
		}
		n = 10*n + uint64(line[end]-'0')
	}
	return n, end
}

// edge parses the columns of an edge. An error begins with the column's place in the line.
func (p *lineParser) edge(fields []textfile.Field) (from, to uint64, weight float32, err error) {
	at := func(k int, err error) error { return fmt.Errorf(", column %d: %w", fields[k].At, err) }
	if from, err = p.node(fields[0].Text); err != nil {
		return 0, 0, 0, at(0, err)
	}
	if to, err = p.node(fields[1].Text); err != nil {
		return 0, 0, 0, at(1, err)
	}
	if !p.weighted {
		return from, to, 1, nil
	}
	text := fields[2].Text
	w, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, 0, 0, at(2, fmt.Errorf("%q is not a weight: a weight is a number with a point before its decimals", text))
	}
	if err := checkWeight(w); err != nil {
		return 0, 0, 0, at(2, err)
	}
	return from, to, float32(w), nil
}

// checkWeight returns an error if w is not a possible weight.
func checkWeight(w float64) error {
	if !(float32(w) > 0) || math.IsInf(float64(float32(w)), 1) {
		return fmt.Errorf("the weight %g is not a positive float32 number", w)
	}
	return nil
}

// node returns the key of a node's name.
func (p *lineParser) node(name []byte) (uint64, error) {
	if n, end := digits(name, 0); end == len(name) && end > 0 && n < largestNumber {
		return n, nil
	}
	if err := p.checkName(name); err != nil {
		return 0, err
	}
	return p.edges.words.key(name)
}

// note notes what the user may not know about the lines.
func (l *listReader) note() {
	switch {
	case l.weighted && l.Count > 3:
		l.edges.notef("columns after the third are ignored")
	case !l.weighted && l.Count > 2:
		l.edges.notef("columns after the second are ignored; use --weighted if the third holds weights")
	}
	if l.comments > 0 {
		l.edges.notef("%d lines among the edges are comments, because they begin with # or %%: write a node of such a name within quotation marks", l.comments)
	}
	if l.twoSets {
		l.edges.notef("a number that stands below both %q and %q is one node: if these are two sets of nodes, give them different names, such as u1 and i1",
			l.titles[0].Text, l.titles[1].Text)
	}
}
