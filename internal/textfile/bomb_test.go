package textfile

import (
	"bytes"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

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
