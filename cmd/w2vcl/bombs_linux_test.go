package main

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip" // several times as fast as the standard library's
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// zstdBomb returns text with a window of 64 MB, of which a decoder keeps two.
func zstdBomb(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	z, err := zstd.NewWriter(&file, zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	again(strings.Repeat("a b\n", 1<<16), 400)(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// xzBomb returns text with a dictionary of 512 MB, as its header says.
func xzBomb(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	z, err := xz.WriterConfig{DictCap: 1 << 20, CheckSum: xz.CRC32}.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	again("a b\n", 1<<10)(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	header := file.Bytes()[12:]
	header = header[:4*(int(header[0])+1)]
	header[bytes.IndexByte(header, 0x21)+2] = 34
	binary.LittleEndian.PutUint32(header[len(header)-4:], crc32.ChecksumIEEE(header[:len(header)-4]))
	return file.Bytes()
}

// TestBombOfEachFormat: under a limit of 100 MB a small file of any format that becomes large ends within seconds, with an error that
// says what is wrong with the file, and never advises to keep fewer words.
func TestBombOfEachFormat(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory for itself")
	}
	dir := t.TempDir()
	long := func(head string) func(io.Writer) {
		return func(w io.Writer) {
			_, _ = io.WriteString(w, head) // hostileFile sees the error
			again(strings.Repeat("word ", 1<<16), 250)(w)
		}
	}
	whole := func(file []byte) func(io.Writer) { return func(w io.Writer) { _, _ = w.Write(file) } }
	for _, c := range []struct {
		name, field, want string
		write             func(io.Writer)
	}{
		{"text in gzip", "", "which no text does that somebody wrote: unpack it to plain text first", func(w io.Writer) {
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // a level that there is
			again(strings.Repeat("a b\n", 1<<16), 1200)(z)
			_ = z.Close() // into the buffer of hostileFile
		}},
		{"text.zst", "", "takes more memory than there is: compress it again without --long", whole(zstdBomb(t))},
		{"text.xz", "", "not enough memory", whole(xzBomb(t))},
		{"table.csv.gz", "text", "the row behind line 1: it has more than", long("id,text\n1,\"")},
		{"lines.jsonl.gz", "text", "not enough memory", long(`{"text":"`)},
		{"texts.parquet", "text", "row 1: not enough memory", whole(parquetBomb())},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := hostileFile(t, filepath.Join(dir, c.name), c.write)
			args := []string{"train", "--mode", "word2vec", "--dim", "4", "--quiet", "--max-memory", "100MB", "--out", filepath.Join(dir, "run"), "--corpus", path}
			if c.field != "" {
				args = append(args, "--field", c.field)
			}
			var output []byte
			var peak int64
			var state *os.ProcessState
			took := time.Hour
			for try := 0; try < 3 && took > 5*time.Second; try++ { // a busy machine makes a try longer, never shorter
				cmd := w2vclCommand(t, args...)
				output, peak = peakOf(t, cmd)
				state = cmd.ProcessState
				took = state.UserTime() + state.SystemTime()
				t.Logf("%v, %d bytes were resident: %s", took, peak, output)
			}
			if state.ExitCode() != 1 || !strings.Contains(string(output), c.want) || !strings.Contains(string(output), c.name) || strings.Contains(string(output), "--min-count") {
				t.Errorf("%v, want %q:\n%.2000s", state, c.want, output)
			}
			if peak > 200_000_000 || took > 5*time.Second {
				t.Errorf("%d bytes were resident, %v of the processor", peak, took)
			}
		})
	}
}

// TestEarlySignals: the program asks for signals before most packages are initialized, which takes some milliseconds in which
// SIGUSR2 would be ignored.
func TestEarlySignals(t *testing.T) {
	cmd := w2vclCommand(t, "version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	all, place := 0, 0
	for line := range strings.Lines(string(output)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "init" {
			continue
		}
		all++
		switch {
		case strings.HasSuffix(fields[1], "/internal/terminal/early"):
			place = all
		case place == 0 && strings.HasPrefix(fields[1], "github.com/w2vcl/"):
			t.Errorf("%s is initialized before signals are caught", fields[1])
		}
	}
	if place == 0 || place > all/4 {
		t.Errorf("signals are caught by package %d of %d", place, all)
	}
}
