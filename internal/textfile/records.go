package textfile

import (
	"bufio"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/w2vcl/w2vcl/internal/records"
)

// openJSON takes the text out of JSON lines.
func (t *Reader) openJSON() error {
	head, err := t.peek(HeadBytes)
	if err != nil {
		return err
	}
	if len(head) > 0 && !records.IsJSON(head) {
		return fmt.Errorf("%s: --field %s asks for JSON lines or parquet, and this file begins with %q: leave --field out, or these files", t.Source.Name, t.Source.Field, head)
	}
	if len(head) == 0 { // an empty file has no text, as without --field
		return nil
	}
	t.records = records.JSONLines(t.text, t.Source.Field, t.Source.Threads)
	t.text = bufio.NewReaderSize(t.records, t.text.Size())
	return nil
}

// openParquet takes the text out of a parquet file, which is not read from its begin to
// its end.
func (t *Reader) openParquet(stored *atomic.Int64) error {
	file, ok := t.file.(io.ReaderAt)
	if !ok || t.Source.Size < 0 {
		return fmt.Errorf("%s: a parquet file is read from its end: give the file itself, not a pipe", t.Source.Name)
	}
	stored.Add(-int64(t.text.Buffered())) // what was read to know the format is read again
	t.stored.Store(0)
	t.at = &countingAt{ReaderAt: file, stored: stored, read: &t.stored}
	text, err := records.Parquet(t.at, t.Source.Size, t.Source.Field, t.Source.Threads)
	if err != nil {
		return t.Wrap(err)
	}
	t.records = text
	t.text = bufio.NewReaderSize(text, 64<<10)
	return nil
}

// A countingAt adds the bytes that it reads to stored.
type countingAt struct {
	io.ReaderAt
	stored *atomic.Int64
	read   *atomic.Int64
}

func (c *countingAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.stored.Add(int64(n))
	c.read.Add(int64(n))
	return n, err
}

// skipRest adds the columns of a file of so many bytes that were not read.
func (c *countingAt) skipRest(size int64) { c.stored.Add(size - c.read.Load()) }
