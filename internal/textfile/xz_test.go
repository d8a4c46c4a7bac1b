package textfile

import (
	"bufio"
	"encoding/hex"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/memory"
)

// TestXZWindow: the windows of xz -0 and xz -9, and of what is damaged. A window that does not fit the memory is refused.
func TestXZWindow(t *testing.T) {
	const begin, end = "fd377a585a000004e6d6b44602002101", "01000b612066657720776f7264730a003a15f85fad46f4c30001240ca618d8d81fb6f37d010000000004595a"
	for _, c := range []struct {
		file string
		want int64
	}{
		{begin + "0c0000008f98419c" + end, 256 << 10},
		{begin + "1c00000010cf58cc" + end, 64 << 20},
		{begin[:26] + "c0" + "8001" + "05" + "21011d", 96 << 20}, // with both sizes
		{begin + "29", 0}, {begin[:30], 0}, {begin[:20], 0}, {"", 0},
	} {
		file, err := hex.DecodeString(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if got := xzWindow(bufio.NewReader(strings.NewReader(string(file)))); got != c.want {
			t.Errorf("%s: %d, want %d", c.file, got, c.want)
		}
	}
	debug.FreeOSMemory() // of tests before this one
	_, release := memory.NewGuard(machine.Resident() + 40<<20)
	defer release()
	for _, c := range []struct {
		window string
		want   error
	}{{"0c0000008f98419c", nil}, {"1c00000010cf58cc", memory.ErrRoom}} {
		file, _ := hex.DecodeString(begin + c.window + end)
		in, err := openXZ(bufio.NewReader(strings.NewReader(string(file))))
		if !errors.Is(err, c.want) {
			t.Fatalf("%s: %v", c.window, err)
		}
		if err == nil {
			if text, err := io.ReadAll(in); err != nil || string(text) != "a few words\n" || in.Close() != nil {
				t.Errorf("%q, %v", text, err)
			}
		}
	}
}
