package records

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
)

// pageSizes reads ahead of package parquet what the pages of a chunk will take of memory: that
// package allocates whatever their headers say, and few compressed bytes may become gigabytes.
type pageSizes struct {
	section *io.SectionReader // of the chunk
	in      *bufio.Reader     // of section
	next    int64             // where the next page begins
	codec   compress.Codec
	levels  bool // a page begins with the levels of its values: some may be null
}

func newPageSizes(file io.ReaderAt, chunk *format.ColumnMetaData, levels bool) *pageSizes {
	start := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != 0 {
		start = chunk.DictionaryPageOffset
	}
	section := io.NewSectionReader(file, start, chunk.TotalCompressedSize)
	return &pageSizes{section: section, in: bufio.NewReaderSize(section, 512), codec: parquet.LookupCompressionCodec(chunk.Codec), levels: levels}
}

// mostHeader is the longest header of a page: it has the least and the largest value, which programs
// that write them cut.
const mostHeader = 16 << 20

// header reads the header of the next page, and says where its body is.
func (p *pageSizes) header() (header format.PageHeader, body int64, err error) {
	if _, err := p.section.Seek(p.next, io.SeekStart); err != nil {
		return header, 0, err
	}
	limited := &io.LimitedReader{R: p.section, N: mostHeader}
	p.in.Reset(limited)
	protocol := thrift.CompactProtocol{}
	err = thrift.NewDecoder(protocol.NewReader(p.in)).Decode(&header)
	if err != nil && limited.N == 0 {
		return header, 0, errHeader
	}
	body = p.next + mostHeader - limited.N - int64(p.in.Buffered())
	p.next = body + int64(max(header.CompressedPageSize, 0))
	return header, body, err
}

var errHeader = fmt.Errorf("the header of a page has more than %s", terminal.Bytes(mostHeader))

// room asks for the memory of the next page of data, and of a dictionary before it. About most damage
// it says nothing: package parquet will.
func (p *pageSizes) room() (done func(), err error) {
	for need := int64(0); ; {
		header, body, err := p.header()
		if errors.Is(err, errHeader) {
			return nil, err
		}
		if err != nil {
			return func() {}, nil //nolint:nilerr // package parquet tells
		}
		const perValue = 4 + 4 // an offset or index, and levels
		values := header.DataPageHeader.V.NumValues + header.DataPageHeaderV2.V.NumValues + header.DictionaryPageHeader.V.NumValues
		need += int64(header.CompressedPageSize) + 2*int64(header.UncompressedPageSize) + perValue*int64(values)
		if done, err = memory.Room(need); err != nil {
			return nil, err
		}
		more, err := p.look(&header, body)
		done()
		if err != nil {
			return nil, err
		}
		if header.Type != format.DictionaryPage {
			return memory.Room(need + more)
		}
	}
}

// look reads a page whose header does not tell all. It returns how many bytes the values have beyond
// the size of the page, and refuses a page of snappy that becomes longer than its header says.
func (p *pageSizes) look(header *format.PageHeader, body int64) (more int64, err error) {
	codec := p.codec.CompressionCodec()
	prefixes := header.DataPageHeader.V.Encoding == format.DeltaByteArray || header.DataPageHeaderV2.V.Encoding == format.DeltaByteArray
	if !prefixes && codec != format.Snappy {
		return 0, nil
	}
	data := make([]byte, max(header.CompressedPageSize, 0))
	if _, err := p.section.ReadAt(data, body); err != nil {
		return 0, nil //nolint:nilerr // package parquet tells
	}
	v1, v2 := header.DataPageHeader.Valid, header.DataPageHeaderV2
	if v2.Valid { // its levels are not compressed
		levels := int(v2.V.RepetitionLevelsByteLength) + int(v2.V.DefinitionLevelsByteLength)
		if levels < 0 || levels > len(data) {
			return 0, nil
		}
		data = data[levels:]
	}
	if codec != format.Uncompressed && (!v2.V.IsCompressed.Valid || v2.V.IsCompressed.V) {
		if size, err := snappy.DecodedLen(data); codec == format.Snappy && (err != nil || size > int(header.UncompressedPageSize)) {
			return 0, errPageSize
		}
		if !prefixes {
			return 0, nil
		}
		if data, err = p.codec.Decode(make([]byte, 0, max(header.UncompressedPageSize, 0)), data); err != nil {
			return 0, nil //nolint:nilerr // package parquet tells
		}
	}
	if v1 && p.levels && prefixes {
		if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
			return 0, nil
		}
		data = data[4+binary.LittleEndian.Uint32(data):]
	}
	if !prefixes { // the values of a page that is not compressed are those bytes
		return 0, nil
	}
	return int64(parquet.DeltaByteArray.EstimateDecodeByteArraySize(data)), nil
}

var errPageSize = errors.New("the file is damaged: a page does not have the size that its header says")

// pageText is how many bytes of the text of a page are made at once: a page has about a megabyte,
// but a few bytes of it can stand for many long texts.
const pageText = 2 << 20

// pageTexts reads the texts of a page, as lines.
type pageTexts struct {
	page   parquet.Page
	row    int64 // the first one, in errors
	reader parquet.ValueReader
	buffer [256]parquet.Value
	values []parquet.Value // of buffer, still to come
	text   []byte          // of a value, still to come
	within bool            // a value: its line feed is still to come
	err    error           // behind the values
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
		case len(t.values) > 0:
			if value := t.values[0]; !value.IsNull() {
				t.text, t.within = value.ByteArray(), true
			}
			t.values = t.values[1:]
		case t.err != nil:
			return n, t.err
		default:
			if t.err = t.more(); t.err != nil && t.err != io.EOF {
				t.err = &Error{fmt.Sprintf("row %d", t.row), t.err}
			}
		}
	}
	return n, nil
}

// more reads more values.
func (t *pageTexts) more() (err error) {
	defer explainPanic(&err)
	if t.reader == nil {
		t.reader = t.page.Values()
	}
	n, err := t.reader.ReadValues(t.buffer[:])
	if t.values = t.buffer[:n]; n == 0 && err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// Close releases the page.
func (t *pageTexts) Close() error {
	parquet.Release(t.page)
	return nil
}
