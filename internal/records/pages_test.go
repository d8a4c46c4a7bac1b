package records

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// encodedParquet returns a file with a column text in an encoding.
func encodedParquet(t *testing.T, texts []string, e encoding.Encoding, codec compress.Codec, optional bool, options ...parquet.WriterOption) []byte {
	t.Helper()
	node := parquet.Compressed(parquet.Encoded(parquet.String(), e), codec)
	if optional {
		node = parquet.Optional(node)
	}
	schema := parquet.NewSchema("texts", parquet.Group{"text": node})
	var file bytes.Buffer
	w := parquet.NewWriter(&file, append(options, schema)...)
	for _, text := range texts {
		if err := w.Write(map[string]any{"text": text}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// many returns a text several times.
func many(text string, times int) []string {
	texts := make([]string, times)
	for i := range texts {
		texts[i] = text
	}
	return texts
}

// TestParquetBomb: a small file whose pages become large is refused before they do, in every
// encoding, and is read with more memory.
func TestParquetBomb(t *testing.T) {
	const mega = 1 << 20
	long := strings.Repeat("a ", mega/2)
	different := make([]string, 16)
	for i := range different {
		different[i] = long + strconv.Itoa(i)
	}
	for _, c := range []struct {
		name     string
		texts    []string
		encoding encoding.Encoding
		codec    compress.Codec
	}{
		{"plain, zstd", many(long, 16), &parquet.Plain, &parquet.Zstd},
		{"plain, gzip", many(long, 16), &parquet.Plain, &parquet.Gzip},
		{"plain, snappy", many(long, 16), &parquet.Plain, &parquet.Snappy},
		{"dictionary", different, &parquet.RLEDictionary, &parquet.Zstd},
		{"lengths", many(long, 16), &parquet.DeltaLengthByteArray, &parquet.Zstd},
		{"prefixes", many(long, 16), &parquet.DeltaByteArray, &parquet.Zstd},
		{"prefixes, not compressed", many(long, 16), &parquet.DeltaByteArray, &parquet.Uncompressed},
	} {
		for _, version := range []int{1, 2} {
			for _, optional := range []bool{false, true} {
				file := encodedParquet(t, c.texts, c.encoding, c.codec, optional, parquet.DataPageVersion(version), parquet.PageBufferSize(128*mega))
				size := 0
				for _, text := range c.texts {
					size += len(text) + 1
				}
				if text, err := readParquet(file, "text", 2); err != nil || len(text) != size {
					t.Fatalf("%s, version %d: %d bytes, want %d, %v", c.name, version, len(text), size, err)
				}
				took, err := readWith(file, 12*mega)
				if !errors.Is(err, memory.ErrRoom) || !strings.Contains(err.Error(), "row 1: ") || took > 12*mega {
					t.Errorf("%s, version %d, optional %v: %v, allocated %d bytes", c.name, version, optional, err, took)
				}
			}
		}
	}
}

// TestParquetRepeats: few bytes of a page that stand for many texts are read a part at a time.
func TestParquetRepeats(t *testing.T) {
	const mega = 1 << 20
	file := encodedParquet(t, many(strings.Repeat("a ", mega), 200), &parquet.RLEDictionary, &parquet.Zstd, false)
	if took, err := readWith(file, 64*mega); err != nil || took > 48*mega {
		t.Errorf("allocated %d bytes, %v", took, err)
	}
}

// readWith reads a file with so much memory and returns how many bytes it allocated.
func readWith(file []byte, left int64) (took int64, err error) {
	for range 2 {
		memory.Resident() // the pools of package parquet keep memory for two collections
	}
	_, release := memory.NewGuard(memory.Resident() + left)
	defer release()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Parquet(bytes.NewReader(file), int64(len(file)), "text", 2)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
		r.Close()
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), err
}

// TestParquetHeader: a page whose header has more than anybody writes is refused.
func TestParquetHeader(t *testing.T) {
	file := encodedParquet(t, many(strings.Repeat("a", 12<<20), 1), &parquet.Plain, &parquet.Zstd, false, parquet.DataPageStatistics(true), parquet.DeprecatedDataPageStatistics(true))
	if _, err := readParquet(file, "text", 1); !errors.Is(err, errHeader) {
		t.Errorf("%v", err)
	}
}

// TestParquetLZ4: package parquet returns zeros for pages of LZ4 that become less than three times as
// long, and asks for ever larger buffers for damaged ones.
func TestParquetLZ4(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	var texts []string
	for range 300 {
		texts = append(texts, strconv.FormatUint(rng.Uint64(), 36))
	}
	for _, optional := range []bool{false, true} {
		file := encodedParquet(t, texts, &parquet.Plain, &parquet.Lz4Raw, optional)
		if text, err := readParquet(file, "text", 1); !errors.Is(err, errLZ4) {
			t.Errorf("%.40q, %v", text, err)
		}
	}
}

// TestParquetSize: a page that becomes longer than its header says is refused before it does.
func TestParquetSize(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Snappy} {
		for _, version := range []int{1, 2} {
			texts := many(strings.Repeat("a ", 100)+strings.Repeat("b", 400), 300)
			file := encodedParquet(t, texts, &parquet.Plain, codec, false, parquet.DataPageVersion(version), parquet.DataPageStatistics(false))
			if text, err := readParquet(file, "text", 1); err != nil || len(text) != 300*601 {
				t.Fatalf("%s: %d bytes, %v", codec, len(text), err)
			}
			p, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			sizes := newPageSizes(bytes.NewReader(file), &p.Metadata().RowGroups[0].Columns[0].MetaData, false)
			header, body, err := sizes.header()
			if err != nil {
				t.Fatal(err)
			}
			if more, err := sizes.look(&header, body); more != 0 || err != nil {
				t.Errorf("%s: %d more, %v", codec, more, err)
			}
			header.UncompressedPageSize--
			if _, err := sizes.look(&header, body); !errors.Is(err, errPageSize) {
				t.Errorf("%s: a header that lies: %v", codec, err)
			}
		}
	}
}

// TestParquetPanic: a damaged file has no message of the runtime.
func TestParquetPanic(t *testing.T) {
	for _, cause := range []func(){func() { _ = make([]int, 1)[len(t.Name())] }, func() { panic("bad page") }} {
		err := func() (err error) {
			defer explainPanic(&err)
			cause()
			return nil
		}()
		if err == nil || !strings.Contains(err.Error(), "the file is damaged: ") || strings.Contains(err.Error(), "range") {
			t.Errorf("%v", err)
		}
	}
}
