package records

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

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

// TestParquetBomb: a small file whose pages become large is refused before they do, and is read with more memory. Where
// only the values become large, they are read one after the other.
func TestParquetBomb(t *testing.T) {
	const mega = 1 << 20
	long := strings.Repeat("a ", mega/2)
	different := make([]string, 24)
	for i := range different {
		different[i] = long + strconv.Itoa(i)
	}
	for i, c := range []struct {
		name     string
		texts    []string
		encoding encoding.Encoding
		codec    compress.Codec
		refused  bool
	}{
		{"plain, zstd", many(long, 24), &parquet.Plain, &parquet.Zstd, true},
		{"plain, gzip", many(long, 24), &parquet.Plain, &parquet.Gzip, true},
		{"plain, brotli", many(long, 24), &parquet.Plain, &parquet.Brotli, true},
		{"plain, snappy", many(long, 24), &parquet.Plain, &parquet.Snappy, true},
		{"dictionary", different, &parquet.RLEDictionary, &parquet.Zstd, true},
		{"lengths", many(long, 24), &parquet.DeltaLengthByteArray, &parquet.Zstd, true},
		{"prefixes", many(long, 24), &parquet.DeltaByteArray, &parquet.Zstd, false},
		{"prefixes, not compressed", many(long, 24), &parquet.DeltaByteArray, &parquet.Uncompressed, false},
	} {
		for _, version := range []int{1, 2} {
			optional := (i+version)%2 == 0 // each encoding with both, and both in each version
			file := encodedParquet(t, c.texts, c.encoding, c.codec, optional, parquet.DataPageVersion(version), parquet.PageBufferSize(32*mega))
			size := 0
			for _, text := range c.texts {
				size += len(text) + 1
			}
			if text, err := readParquet(file, "text", 2); err != nil || len(text) != size {
				t.Fatalf("%s, version %d: %d bytes, want %d, %v", c.name, version, len(text), size, err)
			}
			took, err := readWith(file, 12*mega)
			refused := errors.Is(err, memory.ErrRoom) && strings.Contains(err.Error(), "row 1: ")
			if refused != c.refused || !refused && err != nil || took > 12*mega {
				t.Errorf("%s, version %d, optional %v: %v, allocated %d bytes", c.name, version, optional, err, took)
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
	return allocates(file)
}

// allocates reads a file and returns how many bytes that allocated.
func allocates(file []byte) (took int64, err error) {
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

// TestParquetHeader: what a header holds beside what is read takes no memory.
func TestParquetHeader(t *testing.T) {
	file := encodedParquet(t, []string{strings.Repeat("a", 12<<20), "b"}, &parquet.Plain, &parquet.Zstd, false, parquet.DataPageStatistics(true), parquet.DeprecatedDataPageStatistics(true))
	if text, err := readParquet(file, "text", 1); err != nil || len(text) != 12<<20+3 {
		t.Errorf("%d bytes, %v", len(text), err)
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

// lie replaces a number of a header by another one, in as many bytes.
func lie(t *testing.T, file []byte, number, by int64) []byte {
	t.Helper()
	truth := binary.AppendVarint(nil, number)
	said := binary.AppendVarint(nil, by)
	for len(said) < len(truth) {
		said[len(said)-1] |= 0x80
		said = append(said, 0)
	}
	if bytes.Count(file, truth) == 0 || len(said) > len(truth) {
		t.Fatalf("%d cannot become %d", number, by)
	}
	return bytes.Replace(file, truth, said, 1) // that of the footer comes later
}

// TestParquetLiesAboutSize: a page that becomes longer than its header says, or shorter, is refused, and takes no more
// memory than the header says.
func TestParquetLiesAboutSize(t *testing.T) {
	const mega = 1 << 20
	text := strings.Repeat("a ", 5*mega/4) // five are more than what is allocated anyway
	for _, codec := range []compress.Codec{&parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli} {
		for _, version := range []int{1, 2} {
			file := encodedParquet(t, many(text, 5), &parquet.Plain, codec, false,
				parquet.DataPageVersion(version), parquet.DataPageStatistics(false), parquet.PageBufferSize(64*mega))
			size := int64(5 * (len(text) + 4))
			for _, by := range []int64{1, 1000, size - 1, size + 1} {
				lies := lie(t, file, size, by)
				took, err := readWith(lies, 90*mega)
				if !errors.Is(err, errPageSize) && !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "row 1: ") {
					t.Errorf("%s, version %d, %d for %d bytes: %v", codec, version, by, size, err)
				}
				if took > 2*by+2*int64(len(file))+8*mega {
					t.Errorf("%s, version %d, %d for %d bytes: allocated %d", codec, version, by, size, took)
				}
			}
		}
	}
}

// TestParquetLiesAboutValues: numbers and lengths of values that a page does not have are errors that take no memory.
func TestParquetLiesAboutValues(t *testing.T) {
	const billion = 1 << 30
	_, release := memory.NewGuard(memory.Resident() + 64<<20)
	defer release()
	texts := many(strings.Repeat("word ", 50), 1000)
	for _, c := range []struct {
		name     string
		encoding encoding.Encoding
	}{{"plain", &parquet.Plain}, {"dictionary", &parquet.RLEDictionary}, {"lengths", &parquet.DeltaLengthByteArray}, {"prefixes", &parquet.DeltaByteArray}} {
		for _, optional := range []bool{false, true} {
			file := encodedParquet(t, texts, c.encoding, &parquet.Uncompressed, optional, parquet.DataPageStatistics(false))
			rng := rand.New(rand.NewPCG(1, uint64(len(c.name))))
			footer := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
			for range 100 { // lengths, counts and runs become large, wherever they stand
				lies := bytes.Clone(file)
				at := 4 + rng.IntN(min(len(file)-footer-20, 200))
				copy(lies[at:], binary.AppendUvarint(nil, billion<<rng.IntN(8)))
				if took, err := allocates(lies); took > 32<<20 {
					t.Fatalf("%s, optional %v, byte %d: allocated %d bytes, %v", c.name, optional, at, took, err)
				}
			}
		}
	}
	run := binary.AppendUvarint([]byte{1}, billion<<1) // all the same number, of one bit
	for _, c := range []struct {
		name     string
		data     []byte
		encoding format.Encoding
	}{
		{"a long text", []byte{0xff, 0xff, 0xff, 0xff, 'a'}, format.Plain},
		{"no number of a text", append(run, 1), format.RLEDictionary},
		{"packed numbers", binary.AppendUvarint([]byte{32}, billion<<1|1), format.RLEDictionary},
		{"many lengths", binary.AppendUvarint([]byte{0x80, 1, 4}, billion), format.DeltaLengthByteArray},
		{"no miniblocks", []byte{0x80, 1, 0, 1, 0}, format.DeltaLengthByteArray},
		{"a length below zero", []byte{0x80, 1, 4, 1, 1, 'a'}, format.DeltaLengthByteArray},
		{"a prefix of nothing", []byte{0x80, 1, 4, 1, 2, 0x80, 1, 4, 1, 2, 'a'}, format.DeltaByteArray},
	} {
		next, err := newTexts(c.data, c.encoding, &dictionary{data: []byte{0, 0, 0, 0}, starts: []uint32{0}})
		if err == nil {
			_, err = next()
		}
		if !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestParquetLiesInFooter: a footer that says that it has more than it has, or is nested without end, is refused
// before memory is allocated for it.
func TestParquetLiesInFooter(t *testing.T) {
	for name, footer := range map[string][]byte{
		"columns":       binary.AppendUvarint([]byte{0x29, 0xfc}, 1<<31-1),
		"a name":        binary.AppendUvarint([]byte{0x68}, 1<<31-1),
		"nested":        bytes.Repeat([]byte{0x9c}, 4<<20),
		"nested lists":  append([]byte{0x99}, bytes.Repeat([]byte{0x19}, 4<<20)...),
		"empty columns": append(binary.AppendUvarint([]byte{0x29, 0xfc}, 1<<20), make([]byte, 1<<20+1)...),
		"columns of groups": slices.Concat(binary.AppendUvarint([]byte{0x29, 0xfc}, 1<<13), make([]byte, 1<<13),
			binary.AppendUvarint([]byte{0x29, 0xfc}, 1<<13), make([]byte, 1<<13+1)),
	} {
		file := slices.Concat([]byte(ParquetMagic), footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), []byte(ParquetMagic))
		took, err := readWith(file, 90<<20)
		if err == nil || took > 4<<20 || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s: %v, allocated %d bytes", name, err, took)
		}
	}
}

// TestParquetMissingPages: a file that has fewer rows than it says is no whole text.
func TestParquetMissingPages(t *testing.T) {
	file := encodedParquet(t, many("a text", 99), &parquet.Plain, &parquet.Uncompressed, false, parquet.DataPageStatistics(false))
	if _, err := readParquet(lie(t, file, 99, 50), "text", 1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
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
