// Package textfile finds the files of a text and reads them, compressed or not. Start at
// [Find] and [Open]; [Gzip] serves readers of other files, too.
package textfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// ByteOrderMark begins some texts, above all those of Windows, and is left out there.
const ByteOrderMark = "\ufeff"

// A Source is one file or stream of text, compressed or not.
type Source struct {
	Name string // in messages
	Size int64  // in bytes as stored, -1 if unknown
	Open func() (io.ReadCloser, error)

	// Field is the field of JSON lines, or the column of a file of parquet, CSV or TSV, that
	// holds the text; "" for a file of text.
	Field string

	// Lists says that CSV, TSV and JSON lines are read as they are.
	Lists bool

	// Threads is how many parts of the file are taken apart at the same time, at most, where the format allows. 0
	// means 1.
	Threads int
}

// StdinName stands for standard input in messages.
const StdinName = "standard input"

// ErrNone is wrapped by the error of a folder without files.
var ErrNone = errors.New("the text has no words")

// Find lists the sources of a path: a file, a folder with all below it, or - for standard
// input. Errors name the path.
func Find(path string) ([]Source, error) {
	if path == "-" {
		return []Source{stdinSource()}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []Source{fileSource(path, info)}, nil
	}
	sources, err := folderSources(nil, path)
	if err == nil && len(sources) == 0 {
		err = fmt.Errorf("%s: no files in this folder (hidden ones are left out): %w", path, ErrNone)
	}
	return sources, err
}

func stdinSource() Source {
	stdin, size := os.Stdin, int64(-1)
	if info, err := stdin.Stat(); err == nil {
		size = fileSize(info)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
	return Source{Name: StdinName, Size: size, Open: open}
}

func fileSource(path string, info fs.FileInfo) Source {
	open := func() (io.ReadCloser, error) { return os.Open(path) }
	return Source{Name: path, Size: fileSize(info), Open: open}
}

// fileSize returns the size of a regular file, -1 for a pipe or device.
func fileSize(info fs.FileInfo) int64 {
	if !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// folderSources appends the files in and below a folder, sorted by name. It follows
// symbolic links to files. A link to a folder, a pipe or a socket is an error:
// leaving it out in silence would be worse.
func folderSources(sources []Source, folder string) ([]Source, error) {
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, err
		case info.Mode().IsRegular():
			sources = append(sources, fileSource(path, info))
		case entry.IsDir():
			if sources, err = folderSources(sources, path); err != nil {
				return nil, err
			}
		case info.IsDir():
			return nil, fmt.Errorf("%s: a link to a folder is not followed: give the folder itself, or remove the link", path)
		default:
			return nil, fmt.Errorf("%s: not a regular file (%v)", path, info.Mode().Type())
		}
	}
	return sources, nil
}

// A format is a kind of file that its first bytes identify.
type format struct {
	name  string
	magic string
	anyOf string                                   // the bytes that ? stands for
	open  func(r io.Reader) (io.ReadCloser, error) // nil: refused
	hint  string                                   // advice about a refused file
}

const (
	parquetName = "parquet"
	bzip2Levels = "123456789"
)

var formats = []format{
	{name: "gzip", magic: gzipMagic, open: Gzip},
	{name: "zstd", magic: "\x28\xb5\x2f\xfd", open: Zstd},
	{name: "zstd", magic: "?\x2a\x4d\x18", anyOf: "PQRSTUVWXYZ[\\]^_", open: Zstd}, // a frame to skip comes first, as pzstd writes it
	{name: "bzip2", magic: "BZh?\x31\x41\x59\x26\x53\x59", anyOf: bzip2Levels, open: openBzip2},
	{name: "bzip2", magic: "BZh?\x17\x72\x45\x38\x50\x90", anyOf: bzip2Levels, open: openBzip2}, // of an empty text
	{name: "xz", magic: "\xfd7zXZ\x00", open: openXZ},
	{name: "zip", magic: "PK\x03\x04", hint: "unpack it first (unzip)"},
	{name: "zip", magic: "PK\x05\x06", hint: "unpack it first (unzip)"}, // an empty archive
	{name: "PDF", magic: "%PDF-", hint: "extract its text first (pdftotext)"},
	{name: "7-Zip", magic: "7z\xbc\xaf\x27\x1c", hint: "unpack it first"},
	{name: "lz4", magic: "\x04\x22\x4d\x18", hint: "decompress it first (lz4 -d)"},
	{name: parquetName, magic: parquetMagic, hint: "name the column of the text with --field"},
	{name: "UTF-16 text", magic: "\xff\xfe", hint: "convert it to UTF-8 first (iconv)"},
	{name: "UTF-16 text", magic: "\xfe\xff", hint: "convert it to UTF-8 first (iconv)"},
}

func openBzip2(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }

// formatOf returns the format of a file with these first bytes; nil is plain text.
// A file that ends within a magic number and is no ASCII text has that format: it
// was cut off.
func formatOf(head []byte) *format {
	for i, f := range formats {
		n := min(len(head), len(f.magic))
		if n < len(f.magic) && (n < 2 || IsASCII(head)) {
			continue
		}
		magic := []byte(f.magic)
		if at := strings.IndexByte(f.magic, '?'); at >= 0 && at < n {
			if strings.IndexByte(f.anyOf, head[at]) < 0 {
				continue
			}
			magic[at] = head[at]
		}
		if bytes.Equal(head[:n], magic[:n]) {
			return &formats[i]
		}
	}
	return nil
}

// HeadBytes are the first bytes of a file that tell its format.
const HeadBytes = 10

// FormatOf returns the name of the format of a file with these first bytes; "" for plain text.
func FormatOf(head []byte) string {
	if f := formatOf(head); f != nil {
		return f.name
	}
	return ""
}

// IsASCII reports whether a text has ASCII letters only.
func IsASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// A Reader reads the decompressed text of a source. Its errors name the source
// and the place.
type Reader struct {
	Source       Source
	format       *format // nil: plain text
	file         io.ReadCloser
	decompressor io.ReadCloser // or nil
	at           *countingAt   // of a parquet file; or nil
	records      io.ReadCloser // takes the text out of records; or nil
	text         *bufio.Reader
	ahead        *parallel.Blocks // reads text ahead; or nil
	Bytes        int64            // of text read so far
	stored       atomic.Int64     // bytes of the file read so far
}

// Open opens a source and recognizes its format. It adds the bytes that it
// reads from the source to stored.
func Open(s Source, stored *atomic.Int64) (*Reader, error) {
	file, err := s.Open()
	if err != nil {
		return nil, err // package os names the file
	}
	t := &Reader{Source: s, file: file}
	if err := t.detect(stored); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// smallBuffer has room for the titles of a table, also of a small file that is compressed.
const smallBuffer = 4 << 10

// detect sets t.format and t.text, and skips a byte order mark.
func (t *Reader) detect(stored *atomic.Int64) error {
	// Reads of more than the buffer's size bypass it. A small file gets a small
	// buffer, because there may be many small files.
	bufferSize := 64 << 10
	if t.Source.Size >= 0 {
		bufferSize = int(min(int64(bufferSize), t.Source.Size+1))
	}
	t.text = bufio.NewReaderSize(&countingReader{t.file, stored, &t.stored}, bufferSize)
	head, err := t.peek(HeadBytes)
	if err != nil {
		return err
	}
	if t.format = formatOf(head); t.format != nil {
		if t.format.name == parquetName && t.Source.Field != "" {
			return t.openParquet(stored)
		}
		if t.format.open == nil {
			return fmt.Errorf("%s: byte 0: this is %s, which cannot be read as text: %s", t.Source.Name, t.format.name, t.format.hint)
		}
		if t.decompressor, err = t.format.open(t.text); err != nil {
			return t.Wrap(err)
		}
		// What decompressors keep grows with the text: the dictionary of xz up to 4 GB.
		t.text = bufio.NewReaderSize(memory.NewReader(context.Background(), t.decompressor), max(bufferSize, smallBuffer))
	}
	head, err = t.peek(len(ByteOrderMark))
	if string(head) == ByteOrderMark {
		t.text.Discard(len(ByteOrderMark))
		t.Bytes = int64(len(ByteOrderMark))
	}
	switch {
	case err != nil:
		return err
	case t.Source.Field != "":
		return t.openRecords()
	case t.Source.Lists:
		return nil
	default:
		return t.refuseRecords()
	}
}

// peek returns the next n bytes, fewer at the end of the text.
func (t *Reader) peek(n int) ([]byte, error) {
	head, err := t.text.Peek(n)
	if err != nil && err != io.EOF {
		t.Bytes += int64(len(head))
		return nil, t.Wrap(err)
	}
	return head, nil
}

// Read implements io.Reader on the text.
func (t *Reader) Read(p []byte) (int, error) {
	n, err := t.read(p)
	if t.Bytes += int64(n); err == nil && t.format != nil && t.Bytes > mostText(t.stored.Load()) {
		return n, fmt.Errorf("%s: %s of the %s file became %s of text, which no text does that somebody wrote: unpack it to plain text first if that is right",
			t.Source.Name, terminal.Bytes(t.stored.Load()), t.format.name, terminal.Bytes(t.Bytes))
	}
	if err != nil && err != io.EOF {
		err = t.Wrap(err)
	}
	return n, err
}

// Wrap adds source, place and meaning to an error.
func (t *Reader) Wrap(err error) error {
	var record *recordError
	switch {
	case errors.Is(err, memory.ErrRoom): // that is not wrapped: fewer words would not help
		return fmt.Errorf("%s: %s; it is the file that takes so much to be read, whatever its words: give it more memory, or split it",
			t.Source.Name, err.Error())
	case errors.As(err, &record) || errors.Is(err, errNoField):
		return fmt.Errorf("%s: %w", t.Source.Name, err)
	case t.format == nil:
		return fmt.Errorf("%s: byte %d: %w", t.Source.Name, t.Bytes, err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: to decompress the %s file takes more memory than there is: compress it again without --long, or give it more",
			t.Source.Name, t.format.name)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the %s file is cut off: it ends after %d bytes of text, within its data: %w",
			t.Source.Name, t.format.name, t.Bytes, io.ErrUnexpectedEOF)
	default:
		return fmt.Errorf("%s: the %s file is damaged after %d bytes of text: %w", t.Source.Name, t.format.name, t.Bytes, err)
	}
}

// Close closes the decompressor and the file. Their errors do not matter: nothing
// was written.
func (t *Reader) Close() {
	if t.Source.Size < 0 { // goroutines may wait for a pipe
		go t.close()
		return
	}
	t.close()
}

// close closes what reads first, for one reads the next.
func (t *Reader) close() {
	if t.ahead != nil {
		_ = t.ahead.Close()
	}
	if t.records != nil {
		t.records.Close()
	}
	if t.at != nil {
		t.at.skipRest(t.Source.Size)
	}
	if t.decompressor != nil {
		t.decompressor.Close()
	}
	t.file.Close()
}

// A text becomes a third to a thirtieth as long when it is compressed. A hostile file says a
// word again and again: a megabyte of it could become more than anybody has time for.
const (
	largestRatio = 100
	anyRatio     = 256 << 20 // bytes of text that may have any ratio
)

// mostText is how much text so many stored bytes may become.
func mostText(stored int64) int64 { return anyRatio + largestRatio*stored }

// A countingReader adds the bytes that it reads to two numbers.
type countingReader struct {
	io.Reader
	all, own *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.all.Add(int64(n))
	c.own.Add(int64(n))
	return n, err
}
