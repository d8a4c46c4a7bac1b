package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// chunkBytes are about as much text as a goroutine parses at a time.
const chunkBytes = 256 << 10

// A listChunk is whole lines of a list.
type listChunk struct {
	text   []byte
	number int // of the chunk
	line   int // the number of its first line
}

// readList reads a list of edges. Goroutines parse chunks of it. Of several errors it returns the first in
// the file.
func (e *edges) readList(ctx context.Context, r io.Reader, o ReadOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks := make(chan listChunk)
	free := make(chan []byte, o.threads()+2)
	l := &listReader{edges: e, weighted: o.Weighted}
	var wait sync.WaitGroup
	for range o.threads() {
		wait.Go(func() {
			for c := range chunks {
				if l.parse(c) {
					cancel()
				}
				select {
				case free <- c.text[:0]:
				default:
				}
			}
		})
	}
	end, err := cutList(ctx, r, chunks, free)
	close(chunks)
	wait.Wait()
	if l.err != nil {
		return l.err
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", end, err)
	}
	if l.ignored.Load() {
		e.notes = append(e.notes, "columns after the second are ignored; use --weighted if the third holds weights")
	}
	return context.Cause(ctx)
}

// cutList cuts a list into chunks of whole lines. end is the number of the line that it came to.
func cutList(ctx context.Context, r io.Reader, chunks chan<- listChunk, free <-chan []byte) (end int, err error) {
	var rest []byte // of a line
	line := 1
	for number := 0; ; number++ {
		var text []byte
		select {
		case text = <-free:
		default:
			text = make([]byte, 0, chunkBytes+1024)
		}
		text, err := readMore(r, append(text, rest...))
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return line + bytes.Count(text, []byte{'\n'}), err
		}
		cut := len(text)
		if !last {
			cut = bytes.LastIndexByte(text, '\n') + 1
		}
		if rest = append(rest[:0], text[cut:]...); len(rest) > textfile.LongestLine {
			return line + bytes.Count(text[:cut], []byte{'\n'}), fmt.Errorf("it has more than %d bytes, too many for a line of a list", textfile.LongestLine)
		}
		select {
		case chunks <- listChunk{text[:cut], number, line}:
		case <-ctx.Done():
			return line, context.Cause(ctx)
		}
		if line += bytes.Count(text[:cut], []byte{'\n'}); last {
			return line, nil
		}
	}
}

// readMore appends chunkBytes of r to text, or all that is left and io.EOF.
func readMore(r io.Reader, text []byte) ([]byte, error) {
	text = slices.Grow(text, chunkBytes)
	for end := len(text) + chunkBytes; len(text) < end; {
		n, err := r.Read(text[len(text):end])
		if text = text[:len(text)+n]; err != nil {
			return text, err
		}
	}
	return text, nil
}

// A listReader collects what goroutines parse.
type listReader struct {
	edges    *edges
	weighted bool
	ignored  atomic.Bool // some line has a column that has no meaning

	lock   sync.Mutex
	err    error
	failed int // the number of the chunk of err
}

// parse parses a chunk, and reports an error.
func (l *listReader) parse(c listChunk) (failed bool) {
	p := &lineParser{listReader: l, first: c.number == 0}
	line, err := p.parse(c.text)
	l.lock.Lock()
	defer l.lock.Unlock()
	if err != nil {
		if l.err == nil || c.number < l.failed {
			l.err, l.failed = fmt.Errorf("line %d%w", c.line+line, err), c.number
		}
		return true
	}
	for len(l.edges.chunks) <= c.number {
		l.edges.chunks = append(l.edges.chunks, edgeChunk{})
	}
	l.edges.chunks[c.number] = p.made
	return false
}

// A lineParser parses the lines of a chunk.
type lineParser struct {
	*listReader
	first  bool // no line was parsed
	made   edgeChunk
	fields []field
}

// parse parses lines. An error is one of the line with that number, from 0.
func (p *lineParser) parse(text []byte) (line int, err error) {
	edges := bytes.Count(text, []byte{'\n'}) + 1
	done, err := p.made.allocate(edges, p.weighted)
	if err != nil {
		return 0, fmt.Errorf(": %w", err)
	}
	defer done()
	if p.first {
		text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	}
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
	if len(line) > textfile.LongestLine {
		return fmt.Errorf(": it has more than %d bytes, too many for a line of a list", textfile.LongestLine)
	}
	from, to, weight, ok := p.plain(line)
	if !ok {
		if p.fields = split(p.fields[:0], line); len(p.fields) == 0 {
			return nil
		}
		if p.first && isHeader(p.fields, line, p.weighted) {
			p.first = false
			return nil
		}
		var err error
		if from, to, weight, err = p.columns(line); err != nil {
			return err
		}
	}
	p.first = false
	p.made.from, p.made.to = append(p.made.from, from), append(p.made.to, to)
	if p.weighted {
		p.made.weights = append(p.made.weights, weight)
	}
	return nil
}

// plain parses a line of numbers, as most are: two nodes and perhaps a weight. It leaves all others to
// columns.
func (p *lineParser) plain(line []byte) (from, to uint64, weight float32, ok bool) {
	from, at := digits(line, 0)
	if at == 0 || at == len(line) || from >= largestNumber {
		return 0, 0, 0, false
	}
	separator := line[at]
	if separator != ' ' && separator != '\t' && separator != ',' {
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
		if !p.weighted || line[at] != separator {
			return 0, 0, 0, false
		}
		rest := bytes.TrimSuffix(line[at+1:], []byte{'\r'})
		w, err := strconv.ParseFloat(string(rest), 32)
		return from, to, float32(w), err == nil && checkWeight(w) == nil
	}
	return from, to, 1, !p.weighted
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

// columns parses the columns of an edge. An error begins with the column's place in the line.
func (p *lineParser) columns(line []byte) (from, to uint64, weight float32, err error) {
	want := 2
	if p.weighted {
		want = 3
	}
	if len(p.fields) < want {
		return 0, 0, 0, fmt.Errorf(", column %d: %d columns do not make an edge, which has two nodes and, in a weighted graph, a weight",
			p.fields[len(p.fields)-1].to+1, len(p.fields))
	}
	at := func(k int, err error) error { return fmt.Errorf(", column %d: %w", p.fields[k].from+1, err) }
	if from, err = p.node(p.fields[0].of(line)); err != nil {
		return 0, 0, 0, at(0, err)
	}
	if to, err = p.node(p.fields[1].of(line)); err != nil {
		return 0, 0, 0, at(1, err)
	}
	if want == 2 {
		if len(p.fields) > 2 {
			p.ignored.Store(true)
		}
		return from, to, 1, nil
	}
	text := p.fields[2].of(line)
	w, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, 0, 0, at(2, fmt.Errorf("%q is not a weight", text))
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
	switch {
	case len(name) == 0:
		return 0, errors.New("a node has no name")
	case !utf8.Valid(name):
		return 0, fmt.Errorf("the node %q is not UTF-8", name)
	case len(bytes.Fields(name)) > 1:
		return 0, fmt.Errorf("the node %q has white space in its name, so it would be several words in a text", name)
	}
	return p.edges.words.key(name)
}
