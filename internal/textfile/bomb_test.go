package textfile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/testfiles"
)

// limitMemory leaves a test so many bytes.
func limitMemory(t *testing.T, left int64) {
	t.Helper()
	_, release := memory.NewGuard(memory.Resident() + left)
	t.Cleanup(release)
}

// allocated returns how many bytes something allocates, given back or not.
func allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// bombError reads a hostile file to its error, with little memory.
func bombError(t *testing.T, file []byte, threads int) (n int64, err error) {
	t.Helper()
	source := Source{Name: "FILE", Size: int64(len(file)), Threads: threads, Open: func() (io.ReadCloser, error) {
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

// TestBzip2Bomb: a block of bzip2 has 46 MB of text at most, which are not made at once.
func TestBzip2Bomb(t *testing.T) {
	file := testfiles.Bzip2Bomb()
	for _, threads := range []int{1, 4} {
		took := allocated(func() {
			n, err := bombError(t, file, threads)
			if err == nil || !strings.Contains(err.Error(), "FILE: ") || !strings.Contains(err.Error(), "unpack it to plain text first") || n < anyRatio {
				t.Errorf("%d threads: %v after %d bytes", threads, err, n)
			}
		})
		if took > 100<<20 {
			t.Errorf("%d threads allocated %d bytes", threads, took)
		}
	}
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
	for _, threads := range []int{1, 2} {
		if n, err := bombError(t, file.Bytes(), threads); err != nil || n != 100<<20 {
			t.Errorf("with enough memory: %d bytes, %v", n, err)
		}
	}
	limitMemory(t, 100<<20)
	for _, threads := range []int{1, 2} {
		n, err := bombError(t, file.Bytes(), threads)
		const want = "FILE: to decompress the zstd file takes more memory than there is: compress it again without --long"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d threads: %d bytes, %v", threads, n, err)
		}
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
	if n, err := bombError(t, data, 1); err != nil || n != 12<<20 {
		t.Fatalf("with enough memory: %d bytes, %v", n, err)
	}
	limitMemory(t, 6<<20)
	n, err := bombError(t, data, 1)
	if err == nil || !strings.Contains(err.Error(), "not enough memory") || strings.Contains(err.Error(), "damaged") || n > 8<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
