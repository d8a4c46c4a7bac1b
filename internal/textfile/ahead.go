package textfile

import (
	"io"
	"slices"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/parallel"
)

// Files opens sources one after the other, some of them before they are asked for: a
// folder may have thousands of small ones, and to open and decompress each in turn takes
// longer than to read them.
type Files struct {
	sources []Source
	stored  *atomic.Int64
	most    int // are open at a time
	opening []chan opened
}

type opened struct {
	reader *Reader
	err    error
}

// OpenAll returns the files of the sources, of which some are read at a time: as many
// as the first one has threads. It adds the bytes that it reads from them to stored.
// The caller closes the files.
func OpenAll(sources []Source, stored *atomic.Int64) *Files {
	f := &Files{sources: sources, stored: stored, most: 1}
	if len(sources) > 1 {
		f.most = max(sources[0].Threads, 1)
	}
	return f
}

// With returns the sources with this field, and this number of threads.
func With(sources []Source, field string, threads int) []Source {
	with := slices.Clone(sources)
	for i := range with {
		with[i].Field, with[i].Threads = field, threads
	}
	return with
}

// Next opens the next file, which the caller closes; the error is io.EOF after the last
// one.
func (f *Files) Next() (*Reader, error) {
	if f.most == 1 {
		if len(f.sources) == 0 {
			return nil, io.EOF
		}
		s := f.sources[0]
		f.sources = f.sources[1:]
		return Open(s, f.stored)
	}
	for len(f.opening) < f.most && len(f.sources) > 0 {
		s, ready := f.sources[0], make(chan opened, 1)
		f.sources = f.sources[1:]
		f.opening = append(f.opening, ready)
		go func() {
			r, err := Open(s, f.stored)
			if err == nil {
				r.readAhead()
			}
			ready <- opened{r, err}
		}()
	}
	if len(f.opening) == 0 {
		return nil, io.EOF
	}
	next := <-f.opening[0]
	f.opening = f.opening[1:]
	return next.reader, next.err
}

// Close closes the files that were opened and not asked for.
func (f *Files) Close() {
	f.sources = nil
	for _, ready := range f.opening {
		if next := <-ready; next.err == nil {
			next.reader.Close()
		}
	}
	f.opening = nil
}

const (
	aheadBlock  = 256 << 10 // bytes of text that are read ahead at a time
	aheadBlocks = 4
)

// readAhead begins to read the text, but for a large file of plain text, which costs
// nothing to read when it is asked for.
func (t *Reader) readAhead() {
	if t.format == nil && t.records == nil && t.Source.Size > aheadBlock {
		return
	}
	var ended error
	t.ahead = parallel.NewBlocks(aheadBlocks, func() (func() parallel.Block, error) {
		block, n := make([]byte, aheadBlock), 0
		for n < len(block) && ended == nil {
			var more int
			more, ended = t.text.Read(block[n:])
			n += more
		}
		if n == 0 {
			return nil, ended
		}
		return func() parallel.Block { return parallel.Block{Data: block[:n]} }, nil
	})
}

// read reads text, that was read ahead or not.
func (t *Reader) read(p []byte) (int, error) {
	if t.ahead != nil {
		return t.ahead.Read(p)
	}
	return t.text.Read(p)
}
