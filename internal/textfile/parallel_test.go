package textfile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"go.uber.org/goleak"

	"github.com/w2vcl/w2vcl/internal/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// blocks are three blocks of bzip2 -1: the lines "i the cat sat on the mat" for i of
// 0 ... 9999, modulo 97.
const blocks = "QlpoMTFBWSZTWT4BprkANMjZgAAQQAB/4CpDjABQA73gBQACCgaaGRkxCgaaGRkxCgaaGRkxBNVSAfqhoNNApVU0G/aqqb0phG3pKh7UlQ0klQ7iudS+xPYTyJwmE/wT8CeRPQn2J5EwmE8CYTCYTCYTCYT6EwmEwnuJhMJhMJhMJ8iYTCYTCfAmEwmEwmE+BMJhMJhMJ8iYTCYTCe4mEwmEwmEwn0JhMJhPAmEwmEwmEwmE8iao1R7Cao1RqjVGqNUaKwV2FYFYKwVgrBWEao1R38khV6+6jhOE4ThOE9CYT1UeqjhMJhMJhMJhMJqjVHBFhMJ4EwmEwmEwmqNUeQiwmEwnuJhMJhMJqjVH0EWEwmEwnwJhMJhNUao+QiwmEwmEwnyJhMJqjVHwEXtUYTCYTCYTCeRMJqjwEXCcJwnCcJwnVHkTqjx4VC4ThOE4ThOE81HVHKSuE4ThOE4ThOqOqOhD+EhV/8kobJKh9SVD9JKhtJKhwpKhukqGkkqG8CkWkkqH8xQVkmU1noBNBTABUPWYAAEEAAf+AqQ4wAUAO94AAACCgaaGRkxCgaaGRkxCgaaGRkxBNVJABoHlApVRM096qp6TQaNJKh7UqiZxVSm0kqG/yJ6E+hOwmE/AnsT5E/InoT6EwnoTCYTuJhMJhMJhMJhOhMJhMJ8CYTCYTCYTCeRMJhMJhPAmEwmEwmE8CYTCYTCYTyJhMJhNUfAmqNUao1RqjVHVRqjVGqO4mqNUao1RqjVGqPVRqjCdhMJhMJhMJhMJhOCYJhMJhMJhMJhPskKvoToToToToToT3Ue6j2J7E4JhMJhMJhNUaowmE4EWEwncTCYTCao1RhMJ6CLCYTCfAmEwmqNUYTCdBFhMJhMJ4EwmqNUYTCeQiwmEwmEwnkTVGqMJhPFULsJhMJhMJhNUehNUYTuoLgnBOCcE4Jyo5UehOCdhC8cE4JwTgnio5UcE4JwFXBOCcE4Jyo5UcE4JwUPuSA0kqGUlQ/JKhpSVD6pKhskqGaSoYklQ0BSLCkqH8xQVkmU1l9eRASAFId2YAAEEAAf+AqQ4wAUAM+8EEkUkKBpoZGTEKBpoZGTEKBpoZGTEE1VJTyn7eqpqAMClVTQe3qqAND+qKh9SioeBRUPUXmL4i6F2LgsL4F7F2L8C/Iu6mFheBYWFhYWFhYX3qYWFhfYWFhYWFhYXqphYWFheRYWFhYWF5qYWFhYWF6FlNU1TVPEWFhYWFhYXoLCwsLsLCwsLCwsLC6FhYXgLCwsLCwsLCwuC1UwsLCwsLCwuu9RUPgXVTqp1S7F2L3U91NU91OC1TCwsLC1TVNU1TkUYWF2FqmqaphYWFhdKK1TVNU8RapqmFhYWF6CjCwsLC81MLVNU1TVPUUYWFhYWF6qapqmqap5FHVTCwsLCxMLoWFhdgq5U5U5U5U4LlTlTupyp1VDguC4LguC5U5U5U4CrguC4LhOC4LguC4JO9RUP5RUO6iofiiofsoqH5KKVeBQq+RBXfQQeKKFXyUSTpFCr6F3JFOFCQVXYqUQ="

func blocksText() string {
	var b strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&b, "%d the cat sat on the mat\n", i%97)
	}
	return b.String()
}

func randomText(rng *rand.Rand, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = "etaoin shrdlu\n"[rng.IntN(14)]
	}
	return text
}

func gzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// frames returns a text in frames of zstd, which tell their size or not.
func frames(t testing.TB, rng *rand.Rand, text []byte, sized bool) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var file []byte
	for first := true; first || len(text) > 0; first = false {
		n := min(len(text), 1+rng.IntN(300000))
		if sized {
			file = w.EncodeAll(text[:n], file)
		} else {
			var frame bytes.Buffer
			w.Reset(&frame)
			_, err := w.Write(text[:n])
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			file = append(file, frame.Bytes()...)
		}
		if text = text[n:]; rng.IntN(3) == 0 {
			file = append(file, "\x5e\x2a\x4d\x18\x05\x00\x00\x00skip!"...)
		}
	}
	return file
}

func readFile(file []byte, threads int) ([]byte, error) {
	var stored atomic.Int64
	source := Source{Name: "FILE", Size: int64(len(file)), Threads: threads, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(file)), nil
	}}
	r, err := Open(source, &stored)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err == nil && stored.Load() != int64(len(file)) {
		err = fmt.Errorf("counted %d of %d bytes", stored.Load(), len(file))
	}
	return text, err
}

// TestParallel: files that are decompressed side by side give the same text, whole,
// damaged and cut off.
func TestParallel(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 11))
	text := randomText(rng, 1_300_000)
	small := text[:3000]
	zeros := make([]byte, 700)
	many, err := base64.StdEncoding.DecodeString(blocks)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		file []byte
		want []byte
	}{
		"gzip, padded":       {append(gzipped(t, text), zeros...), text},
		"gzip, two members":  {append(gzipped(t, small), gzipped(t, text)...), append(bytes.Clone(small), text...)},
		"zstd, sized":        {frames(t, rng, text, true), text},
		"zstd, not sized":    {frames(t, rng, text, false), text},
		"zstd, mixed":        {append(frames(t, rng, small, true), frames(t, rng, text, false)...), append(bytes.Clone(small), text...)},
		"zstd of pzstd":      {append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00\x01\x02\x03\x00"), frames(t, rng, text, true)...), text},
		"zstd, empty":        {frames(t, rng, nil, true), nil},
		"bzip2":              {many, []byte(blocksText())},
		"bzip2, two streams": {append(bytes.Clone(many), many...), []byte(blocksText() + blocksText())},
	} {
		t.Run(name, func(t *testing.T) {
			for _, threads := range []int{0, 1, 2, 5} {
				if got, err := readFile(tc.file, threads); err != nil || !bytes.Equal(got, tc.want) {
					t.Fatalf("%d threads: %d bytes, %v, want %d", threads, len(got), err, len(tc.want))
				}
			}
			for range 12 {
				damaged := bytes.Clone(tc.file)
				if rng.IntN(3) == 0 {
					damaged = damaged[:rng.IntN(len(damaged))]
				} else {
					damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
				}
				want, wantErr := readFile(damaged, 1)
				got, err := readFile(damaged, 3)
				if wantErr != nil && err == nil || err == nil && !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %v; with one thread %d, %v", len(got), err, len(want), wantErr)
				}
				if err != nil && !strings.Contains(err.Error(), "FILE") {
					t.Errorf("the error does not name the file: %v", err)
				}
			}
		})
	}
}

// TestOpenAll: files come in order with their errors, whatever is read ahead.
func TestOpenAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 12))
	folder := t.TempDir()
	var want []string
	for i := range 60 {
		text := randomText(rng, rng.IntN(3*aheadBlock)*rng.IntN(2))
		want = append(want, string(text))
		if i%3 == 1 {
			text = gzipped(t, text)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d", i)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := Find(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{0, 1, 2, 7} {
		var stored atomic.Int64
		files := OpenAll(With(sources, "", threads), &stored)
		for i, text := range want {
			r, err := files.Next()
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || string(got) != text || r.Bytes != int64(len(text)) {
				t.Fatalf("%d threads, file %d: %d bytes, %v, want %d", threads, i, len(got), err, len(text))
			}
			r.Close()
			if i == 40 && threads == 7 {
				break
			}
		}
		if threads < 7 {
			if _, err := files.Next(); err != io.EOF {
				t.Errorf("after the last file: %v", err)
			}
		}
		files.Close()
	}
	if err := os.WriteFile(filepath.Join(folder, "002"), []byte("\x1f\x8bbad"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stored atomic.Int64
	files := OpenAll(With(sources, "", 4), &stored)
	defer files.Close()
	for i := range 3 {
		r, err := files.Next()
		if (err != nil) != (i == 2) || err != nil && !strings.Contains(err.Error(), "002: the gzip file is cut off") {
			t.Errorf("file %d: %v", i, err)
		}
		if err == nil {
			r.Close()
		}
	}
}

// TestFields: records are read from files of all kinds.
func TestFields(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lines := []byte("{\"text\": \"the cat\\nsat\", \"id\": 1}\n{\"id\": 2}\n{\"text\": \"on the mat\"}\n")
	var table bytes.Buffer
	type row struct {
		Text string `parquet:"text"`
		N    int64  `parquet:"n"`
	}
	if err := parquet.Write(&table, []row{{"the cat\nsat", 1}, {"on the mat", 2}}); err != nil {
		t.Fatal(err)
	}
	read := func(path, field string) (string, int64, error) {
		sources, err := Find(path)
		if err != nil {
			t.Fatal(err)
		}
		var stored atomic.Int64
		r, err := Open(With(sources, field, 2)[0], &stored)
		if err != nil {
			return "", 0, err
		}
		text, err := io.ReadAll(r)
		r.Close()
		return string(text), stored.Load(), err
	}
	for name, data := range map[string][]byte{
		"plain": lines, "gzip": gzipped(t, lines), "mark": append([]byte("\ufeff"), lines...), "parquet": table.Bytes(),
	} {
		text, stored, err := read(write(name, data), "text")
		if err != nil || text != "the cat\nsat\non the mat\n" || stored != int64(len(data)) {
			t.Errorf("%s: %q, %v; %d of %d bytes", name, text, err, stored, len(data))
		}
	}
	for _, tc := range []struct {
		name, data, field, want string
	}{
		{"text", "the cat", "text", "asks for JSON lines, CSV, TSV or parquet, and this file begins with \"the cat\""},
		{"line", "{}\n{bad", "text", "line: line 2: this is no JSON object"},
		{"field", "{}\n", "text", "field: no record has this field: --field text"},
		{"column", table.String(), "body", "column: no record has this field: --field body: its columns are text, n"},
		{"numbers", table.String(), "n", "numbers: column n: it holds row.n: required int64 (INT(64,true)), not a text for each row"},
		{"twice", "text,a,text\nb,c,d\n", "text", "twice: --field text: the first line names this column twice"},
		{"none", table.String(), "", "none: byte 0: this is parquet, which cannot be read as text: name the column of the text with --field"},
		{"cut", table.String()[:table.Len()-3], "text", "the parquet file is cut off"},
	} {
		if _, _, err := read(write(tc.name, []byte(tc.data)), tc.field); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
	if text, _, err := read(write("empty", nil), "text"); text != "" || err != nil {
		t.Errorf("an empty file: %q, %v", text, err)
	}
	pipe := Source{Name: "PIPE", Size: -1, Field: "text", Open: func() (io.ReadCloser, error) { return io.NopCloser(&table), nil }}
	if _, err := Open(pipe, new(atomic.Int64)); err == nil || !strings.Contains(err.Error(), "PIPE: a parquet file is read from its end") {
		t.Errorf("a pipe: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	rng := rand.New(rand.NewPCG(2, 2))
	f.Add(frames(f, rng, []byte("some words\nof text"), true))
	many, err := base64.StdEncoding.DecodeString(blocks)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(many)
	// A frame of 48 bytes may ask for a window of a quarter of it: one of 1 GB takes so long on a busy machine
	// that Go ends the worker.
	_, release := memory.NewGuard(512 << 20)
	f.Cleanup(release)
	f.Fuzz(func(t *testing.T, file []byte) {
		want, wantErr := readFile(file, 1)
		got, err := readFile(file, 3)
		if wantErr != nil && err == nil || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v; with one thread %d, %v", len(got), err, len(want), wantErr)
		}
	})
}
