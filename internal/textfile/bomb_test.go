package textfile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// limitMemory leaves a test so many bytes.
func limitMemory(t *testing.T, left int64) {
	t.Helper()
	_, release := memory.NewGuard(memory.Resident() + left)
	t.Cleanup(release)
}

// bombError reads a hostile file to its error, with little memory.
func bombError(t *testing.T, file []byte) (n int64, err error) {
	t.Helper()
	source := Source{Name: "FILE", Size: int64(len(file)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(file)), nil
	}}
	r, err := Open(source, new(atomic.Int64))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	n, err = io.Copy(io.Discard, struct{ io.Reader }{r})
	return n, err
}

// TestZstdWindow: a window that there is no memory for is refused.
func TestZstdWindow(t *testing.T) {
	var file bytes.Buffer
	w, err := zstd.NewWriter(&file, zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 100<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := bombError(t, file.Bytes()); err != nil || n != 100<<20 {
		t.Errorf("with enough memory: %d bytes, %v", n, err)
	}
	limitMemory(t, 100<<20)
	n, err := bombError(t, file.Bytes())
	const want = "FILE: to decompress the zstd file takes more memory than there is: compress it again without --long"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestXZBomb: the dictionary of xz grows with the text.
func TestXZBomb(t *testing.T) {
	var file bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 1 << 20, CheckSum: xz.CRC32}.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 12<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// The header of the block, behind that of the file, says how large the dictionary is.
	data := file.Bytes()
	header := data[12:]
	header = header[:4*(int(header[0])+1)]
	at := bytes.IndexByte(header, 0x21) + 2
	header[at] = 34 // 512 MB
	binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
	if n, err := bombError(t, data); err != nil || n != 12<<20 {
		t.Fatalf("with enough memory: %d bytes, %v", n, err)
	}
	limitMemory(t, 6<<20)
	n, err := bombError(t, data)
	if err == nil || !strings.Contains(err.Error(), "not enough memory") || strings.Contains(err.Error(), "damaged") || n > 8<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
