package textfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// openRecords takes the text out of JSON lines, CSV or TSV.
func (t *Reader) openRecords() error {
	field := t.Source.Field
	head, err := t.peek(t.text.Size())
	if err != nil {
		return err
	}
	if len(head) == 0 { // an empty file has no text, as without --field
		return nil
	}
	if isJSON(head) {
		t.records = jsonLines(t.text, field, t.Source.Threads)
	} else {
		columns, ok := tableWith(head, field)
		switch {
		case !ok && len(columns.columns) < 2:
			return fmt.Errorf("%s: --field %s asks for JSON lines, CSV, TSV or parquet, and this file begins with %q: leave --field out, or these files", t.Source.Name, field, head[:min(len(head), HeadBytes)])
		case !ok:
			return fmt.Errorf("%s: --field %s: the first line names the columns %s", t.Source.Name, field, listed(columns.columns))
		}
		if slices.Contains(columns.columns[slices.Index(columns.columns, field)+1:], field) {
			return fmt.Errorf("%s: --field %s: the first line names this column twice: give the columns different names", t.Source.Name, field)
		}
		t.records = io.NopCloser(columns.texts(t.text, field))
	}
	t.text = bufio.NewReaderSize(t.records, t.text.Size())
	return nil
}

// refuseRecords returns an error if a file that is to be read as text holds records: their
// punctuation and names would be words.
func (t *Reader) refuseRecords() error {
	head, err := t.peek(t.text.Size())
	if err != nil {
		return err
	}
	if kind := markup(head); kind != "" {
		return fmt.Errorf("%s: this is %s, not text: extract its text first", t.Source.Name, kind)
	}
	kind, fields := notice(head, len(head) < t.text.Size(), tableName().MatchString(t.Source.Name))
	switch {
	case kind == "":
		return nil
	case fields == nil:
		return fmt.Errorf("%s: this is %s, not text: write it as JSON lines, one object a line, and name the field of the text with --field", t.Source.Name, kind)
	default:
		return fmt.Errorf("%s: this is %s, not text: name the field of the text with --field; its first record has %s", t.Source.Name, kind, listed(fields))
	}
}

// markup returns the kind of a text with tags: "HTML" or "XML", such as a dump of Wikipedia; "" for others.
func markup(head []byte) string {
	start := strings.ToLower(string(bytes.TrimLeft(head[:min(len(head), 64)], " \t\r\n")))
	for prefix, kind := range map[string]string{"<!doctype html": "HTML", "<html": "HTML", "<?xml": "XML", "<mediawiki": "XML"} {
		if strings.HasPrefix(start, prefix) {
			return kind
		}
	}
	return ""
}

// tableName matches the names of files of CSV and TSV, also compressed.
var tableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\.[ct]sv(\.\w+)?$`) })

// listed writes the names of fields, of many the first ones.
func listed(names []string) string {
	const most = 12
	shown := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, fmt.Sprintf("%.40q", name))
	}
	if len(names) > most {
		shown = append(shown, "...")
	}
	return strings.Join(shown, ", ")
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
	text, err := newParquet(t.at, t.Source.Size, t.Source.Field)
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
