package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A pageHeader describes a page, as far as we need it.
type pageHeader struct {
	kind             format.PageType
	size, compressed int64 // in bytes, of what follows the header
	checksum         uint32
	values           int64
	encoding         format.Encoding
	levels           int64 // bytes of a page of version 2 that its levels take, which are never compressed
	repetitions      int64 // of them: those of repetitions, which a text for each row does not have
	plain            bool  // version 2: the values are not compressed
}

// read reads the header that begins in c.
func (h *pageHeader) read(c *compact) error {
	numbers := func(to map[int64]func(x int64)) func(id int64, kind byte) error {
		return func(id int64, kind byte) error {
			set := to[id]
			switch {
			case set == nil:
				return c.skip(kind, 0)
			case kind == thriftTrue || kind == thriftFalse:
				set(int64(thriftFalse - kind))
				return nil
			case kind != thriftI32:
				return errDamaged
			}
			x, err := c.integer()
			if err == nil && x != int64(int32(x)) {
				err = errDamaged
			}
			set(x)
			return err
		}
	}
	values := func(x int64) { h.values = x }
	encoding := func(x int64) { h.encoding = format.Encoding(x) }
	parts := map[int64]map[int64]func(x int64){
		5: {1: values, 2: encoding}, // a page of version 1
		7: {1: values, 2: encoding}, // a dictionary
		8: { // a page of version 2
			1: values, 4: encoding,
			5: func(x int64) { h.levels += x },
			6: func(x int64) { h.levels, h.repetitions = h.levels+x, x },
			7: func(x int64) { h.plain = x == 0 },
		},
	}
	whole := numbers(map[int64]func(x int64){
		1: func(x int64) { h.kind = format.PageType(x) },
		2: func(x int64) { h.size = x },
		3: func(x int64) { h.compressed = x },
		4: func(x int64) { h.checksum = uint32(x) },
	})
	err := c.fields(func(id int64, kind byte) error {
		if part := parts[id]; part != nil && kind == thriftStruct {
			return c.fields(numbers(part))
		}
		return whole(id, kind)
	})
	if err == nil && (min(h.size, h.compressed, h.values, h.repetitions, h.levels-h.repetitions) < 0 || h.levels > h.compressed) {
		err = errDamaged
	}
	return err
}

// A chunk is the part of a column that a row group has: pages, one after the other.
type chunk struct {
	section *io.SectionReader
	in      *bufio.Reader // of section
	next    int64         // where the next page begins
	codec   format.CompressionCodec
}

// errLZ4: we have no reader of this codec.
var errLZ4 = errors.New("the column is compressed with LZ4, which is not read: write the file with zstd or snappy")

func newChunk(file io.ReaderAt, described *format.ColumnMetaData) (*chunk, error) {
	start := described.DataPageOffset
	if at := described.DictionaryPageOffset; at > 0 {
		start = min(start, at)
	}
	switch {
	case described.Codec == format.Lz4Raw || described.Codec == format.Lz4:
		return nil, errLZ4
	case start < 0 || described.TotalCompressedSize < 0:
		return nil, errDamaged
	}
	section := io.NewSectionReader(file, start, described.TotalCompressedSize)
	return &chunk{section: section, in: bufio.NewReaderSize(section, 512), codec: described.Codec}, nil
}

// page reads the next page as it is stored. Behind the last one the error is io.EOF.
func (c *chunk) page() (h pageHeader, body []byte, err error) {
	if c.next >= c.section.Size() {
		return h, nil, io.EOF
	}
	if _, err := c.section.Seek(c.next, io.SeekStart); err != nil {
		return h, nil, err
	}
	c.in.Reset(c.section)
	left := c.section.Size() - c.next
	header := &compact{in: c.in, left: left}
	if err := h.read(header); err != nil {
		return h, nil, whole(err)
	}
	start := c.next + left - header.left
	if c.next = start + h.compressed; c.next > c.section.Size() {
		return h, nil, io.ErrUnexpectedEOF
	}
	done, err := memory.Room(h.compressed)
	if err != nil {
		return h, nil, err
	}
	defer done()
	body = make([]byte, h.compressed)
	if n, err := c.section.ReadAt(body, start); n < len(body) {
		return h, nil, whole(err)
	}
	if h.checksum != 0 && crc32.ChecksumIEEE(body) != h.checksum {
		return h, nil, errors.New("the file is damaged: a page does not have its checksum")
	}
	return h, body, nil
}

// whole makes the end of the file, where there should be more, an unexpected one.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errPageSize = errors.New("the file is damaged: a page does not have the size that its header says")

// mostWindow is what a decompressor keeps of the text at most, in bytes; that of zstd keeps nothing beside it.
const mostWindow = 16 << 20

// zstdDecoder decompresses whole pages, and never more than there is room for.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
})

// decompress returns the text of compressed data, which must have the size that a header says.
func decompress(data []byte, codec format.CompressionCodec, size int64) (text []byte, err error) {
	if codec == format.Uncompressed {
		return data, nil
	}
	window := int64(0)
	if codec == format.Brotli {
		window = min(mostWindow, 2*size)
	}
	done, err := memory.Room(size + window)
	if err != nil {
		return nil, err
	}
	defer done()
	text = make([]byte, size)
	switch codec {
	case format.Snappy:
		if n, err := snappy.DecodedLen(data); err != nil || int64(n) != size {
			return nil, errPageSize
		}
		return snappy.Decode(text, data)
	case format.Zstd:
		decoder, err := zstdDecoder()
		if err != nil {
			return nil, err
		}
		text, err = decoder.DecodeAll(data, text[:0])
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) || err == nil && int64(len(text)) != size {
			err = errPageSize
		}
		return text, err
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return text, readWhole(z, text)
	case format.Brotli:
		return text, readWhole(brotli.NewReader(bytes.NewReader(data)), text)
	}
	return nil, fmt.Errorf("the column is compressed with %s, which is not read: write the file with zstd or snappy", codec)
}

// readWhole fills text with all that r has.
func readWhole(r io.Reader, text []byte) error {
	_, err := io.ReadFull(r, text)
	if err == nil {
		var more [1]byte
		_, err = io.ReadFull(r, more[:])
		switch err {
		case nil:
			return errPageSize
		case io.EOF:
			return nil
		}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errPageSize
	}
	return err
}

// rows returns the texts of the rows of a page; ok is false for a row without one. nested is how deep
// the column lies in what may be null.
func (h *pageHeader) rows(body []byte, codec format.CompressionCodec, dictionary *dictionary, nested int) (
	next func() (text []byte, ok bool, err error), err error,
) {
	levels, data := body[h.repetitions:h.levels], body[h.levels:]
	if !h.plain && (len(data) > 0 || h.kind == format.DataPage) {
		if data, err = decompress(data, codec, h.size-h.levels); err != nil {
			return nil, err
		}
	}
	if nested > 0 && h.kind == format.DataPage {
		if levels, data, err = plainText(data); err != nil { // behind their length, too
			return nil, err
		}
	}
	var texts texts // of a page without any, nothing is there
	defined := hybrid{data: levels, width: uint(bits.Len(uint(nested)))}
	left := h.values
	return func() ([]byte, bool, error) {
		if left == 0 {
			return nil, false, io.EOF
		}
		left--
		if nested > 0 {
			level, err := defined.next()
			if err != nil || level < uint32(min(nested, math.MaxUint8)) {
				return nil, false, err
			}
		}
		if texts == nil {
			if texts, err = newTexts(data, h.encoding, dictionary); err != nil {
				return nil, false, err
			}
		}
		text, err := texts()
		return text, err == nil, err
	}, nil
}

// dictionary returns the dictionary that a page holds.
func (h *pageHeader) dictionary(body []byte, codec format.CompressionCodec) (*dictionary, error) {
	data, err := decompress(body, codec, h.size)
	if err != nil {
		return nil, err
	}
	done, err := memory.Room(4 * h.values)
	if err != nil {
		return nil, err
	}
	defer done()
	return newDictionary(data, int(h.values))
}

// pageText is how many bytes of the text of a page are made at once: a page has about a megabyte,
// but a few bytes of it can stand for many long texts.
const pageText = 2 << 20

// pageTexts reads the texts of a page, as lines.
type pageTexts struct {
	next   func() (text []byte, ok bool, err error)
	row    int64  // the first one, in errors
	text   []byte // of a value, still to come
	within bool   // a value: its line feed is still to come
	err    error  // behind the values
}

// Read implements io.Reader.
func (t *pageTexts) Read(p []byte) (n int, err error) {
	for n < len(p) {
		switch {
		case len(t.text) > 0:
			copied := copy(p[n:], t.text)
			removeNUL(p[n : n+copied])
			n, t.text = n+copied, t.text[copied:]
		case t.within:
			p[n] = '\n'
			n, t.within = n+1, false
		case t.err != nil:
			return n, t.err
		default:
			if t.text, t.within, t.err = t.next(); t.err != nil && t.err != io.EOF {
				t.err = &Error{fmt.Sprintf("row %d", t.row), t.err}
			}
		}
	}
	return n, nil
}
