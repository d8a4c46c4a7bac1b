package textfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"sync"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquet "github.com/parquet-go/parquet-go/format"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A parquetPage has the values of some rows.
type parquetPage struct {
	texts   parquetTexts // of the page, or the dictionary
	indices []int32      // in the dictionary, of the rows with a text; nil: the texts are those of these rows
	levels  []uint8      // of each row: a text has the column's; nil: each row has a text
	row     int          // the next
	text    int          // of the next row that has one
	left    int          // rows
	whole   uint8        // the column's level
}

// next returns the text of the next row, if it has one.
func (p *parquetPage) next() (text []byte, ok bool) {
	row := p.row
	p.row++
	p.left--
	if p.levels != nil && p.levels[row] < p.whole {
		return nil, false
	}
	i := p.text
	p.text++
	if p.indices != nil {
		i = int(p.indices[i])
	}
	return p.texts.data[p.texts.offsets[i]:p.texts.offsets[i+1]], true
}

// parquetTexts are texts, one after the other.
type parquetTexts struct {
	data    []byte
	offsets []uint32 // of each text, and of the end
}

// nextPage reads a page. Behind the last one the error is io.EOF.
func (r *parquetReader) nextPage() error {
	var h parquet.PageHeader
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r.pages)).Decode(&h); err != nil {
		return err
	}
	v1, v2 := h.DataPageHeader.V, h.DataPageHeaderV2.V
	rows := v1.NumValues + v2.NumValues // one of them is 0
	const ofRow = 13                    // bytes of memory: level, index, offset
	done, err := memory.Room(int64(h.CompressedPageSize) + 2*int64(h.UncompressedPageSize) + ofRow*int64(rows))
	if err != nil {
		return err
	}
	defer done()
	body := make([]byte, h.CompressedPageSize)
	if _, err := io.ReadFull(r.pages, body); err != nil {
		return io.ErrUnexpectedEOF
	}
	if h.CRC != 0 && crc32.ChecksumIEEE(body) != uint32(h.CRC) {
		return errors.New("the file is damaged: a page does not have its checksum")
	}
	if h.Type != parquet.DataPageV2 { // its levels are never compressed
		if body, err = decompress(r.codec, body, int(h.UncompressedPageSize)); err != nil {
			return err
		}
	}
	switch h.Type {
	case parquet.DictionaryPage:
		r.dictionary, err = decodeTexts(parquet.Plain, body)
	case parquet.DataPage:
		levels := []byte(nil)
		if r.column.levels > 0 {
			size := binary.LittleEndian.Uint32(body)
			levels, body = body[4:][:size], body[4+size:]
		}
		err = r.setPage(rows, levels, v1.Encoding, body)
	case parquet.DataPageV2:
		repetitions, size := v2.RepetitionLevelsByteLength, v2.DefinitionLevelsByteLength
		levels, data := body[repetitions:][:size], body[repetitions+size:]
		if (!v2.IsCompressed.Valid || v2.IsCompressed.V) && len(data) > 0 {
			if data, err = decompress(r.codec, data, int(h.UncompressedPageSize-repetitions-size)); err != nil {
				return err
			}
		}
		err = r.setPage(rows, levels, v2.Encoding, data)
	}
	return err
}

// setPage makes the page of some rows, from their levels and what is known of the encoding of their texts.
func (r *parquetReader) setPage(rows int32, levels []byte, of parquet.Encoding, data []byte) (err error) {
	p := &parquetPage{left: int(rows), whole: uint8(r.column.levels)}
	if int64(rows) > r.left {
		return errDamaged
	}
	if r.column.levels > 0 {
		code := rle.Encoding{BitWidth: bits.Len(uint(r.column.levels))}
		if p.levels, err = code.DecodeLevels(nil, levels); err != nil {
			return err
		}
	}
	const plainDictionary = 2 // what older programs call RLEDictionary
	if of == parquet.RLEDictionary || of == plainDictionary {
		p.texts = r.dictionary
		p.indices, err = new(rle.DictionaryEncoding).DecodeInt32([]int32{}, data)
	} else {
		p.texts, err = decodeTexts(of, data)
	}
	r.page = p
	return err
}

// The encodings of texts.
var parquetEncodings = map[parquet.Encoding]encoding.Encoding{
	parquet.Plain:                &plain.Encoding{},
	parquet.DeltaLengthByteArray: &delta.LengthByteArrayEncoding{},
	parquet.DeltaByteArray:       &delta.ByteArrayEncoding{},
}

func decodeTexts(of parquet.Encoding, data []byte) (t parquetTexts, err error) {
	code := parquetEncodings[of]
	if code == nil {
		return t, fmt.Errorf("its texts are encoded as %s, which is not read: write the file with another program", of)
	}
	t.data, t.offsets, err = code.DecodeByteArray(nil, data, nil)
	return t, err
}

// zstdPages decompresses whole pages, and never more than there is room for.
var zstdPages = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
})

// decompress returns the text of a page, which has so many bytes.
func decompress(codec parquet.CompressionCodec, data []byte, size int) (text []byte, err error) {
	var from io.Reader
	switch codec {
	case parquet.Uncompressed:
		return data, nil
	case parquet.Snappy:
		if n, err := snappy.DecodedLen(data); err != nil || n != size {
			return nil, errDamaged
		}
		return snappy.Decode(nil, data)
	case parquet.Zstd:
		pages, err := zstdPages()
		if err != nil {
			return nil, err
		}
		return pages.DecodeAll(data, make([]byte, 0, size))
	case parquet.Gzip:
		from, err = gzip.NewReader(bytes.NewReader(data))
	case parquet.Brotli:
		from, err = brotli.NewReader(bytes.NewReader(data), nil)
	default: // package parquet returns zeros for some pages of LZ4
		err = fmt.Errorf("the column is compressed with %s, which is not read: write the file with zstd or snappy", codec)
	}
	if err != nil {
		return nil, err
	}
	text = make([]byte, size)
	_, err = io.ReadFull(from, text)
	return text, err
}
