package corpus

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/w2vcl/w2vcl/internal/textfile"
)

func gzipped(t testing.TB, texts ...string) string {
	t.Helper()
	var file bytes.Buffer
	for _, text := range texts { // one member each
		w := gzip.NewWriter(&file)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return file.String()
}

func zstded(t testing.TB, texts ...string) string {
	t.Helper()
	var file []byte
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts { // one frame each
		file = w.EncodeAll([]byte(text), file)
	}
	return string(file)
}

// bzip2ed is testText, and an empty text, as the bzip2 command compresses them.
const (
	bzip2ed      = "QlpoOTFBWSZTWT48qaMAAArRgAAQQAAqQ4wAIAAhqbUwZCAaaaGKEa1uIWC0X4nhdyRThQkD48qaMA=="
	bzip2Nothing = "QlpoORdyRThQkAAAAAA="
)

// xzed compresses texts, one stream each.
func xzed(t testing.TB, texts ...string) string {
	t.Helper()
	var file bytes.Buffer
	for _, text := range texts {
		w, err := xz.NewWriter(&file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return file.String()
}

// xzCommand is testText as the xz command compresses it.
const xzCommand = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jMAQAWdGhlIGNhdCBzYXQKb24gdGhlIG1hdAoAAOrJhRQj5Bz1AAEvF4EISbEftvN9AQAAAAAEWVo="

const testText = "the cat sat\non the mat\n"

func decodeBase64(t testing.TB, text string) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFile(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The content of a file decides its format; the names lie.
func TestFormats(t *testing.T) {
	for _, test := range []struct{ name, file string }{
		{"plain.gz", testText},
		{"gzip.txt", gzipped(t, testText)},
		{"gzip-members.zst", gzipped(t, "the cat", " sat\non ", "", "the mat\n")},
		{"zstd.txt", zstded(t, testText)},
		{"zstd-frames.gz", zstded(t, "the cat", " sat\non ", "the mat\n")},
		{"zstd-skippable", zstded(t, "the cat") + "\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstded(t, " sat\non the mat\n")},
		{"bzip2.txt", decodeBase64(t, bzip2ed)},
		{"bzip2-streams", decodeBase64(t, bzip2ed) + decodeBase64(t, bzip2Nothing)},
		{"xz.txt", xzed(t, testText)},
		{"xz-streams.gz", xzed(t, "the cat", " sat\non ", "the mat\n")},
		{"xz-command", decodeBase64(t, xzCommand)},
		{"mark.gz", gzipped(t, "\ufeff"+testText)},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, filepath.Join(t.TempDir(), test.name), test.file)
			var done, total int64
			c, err := Open(context.Background(), path, Options{Progress: func(d, t int64) { done, total = d, t }}, Storage{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sentencesOf(c), []string{"the cat sat", "on the mat"}; !slices.Equal(got, want) {
				t.Errorf("sentences %q, want %q", got, want)
			}
			if int(done) != len(test.file) || done != total {
				t.Errorf("progress ended at %d of %d, the file has %d bytes", done, total, len(test.file))
			}
		})
	}
}

// Text that begins like a magic number is text.
func TestTextLikeMagic(t *testing.T) {
	for _, text := range []string{"PK", "BZ", "BZh9 is a plate", "PKZIP was a program", "7z", "(", "B",
		"\x80*", "\x80*000", "?\x2a\x4d\x18", "O\x2a\x4d\x18", "`\x2a\x4d\x18", "BZh01AY&SY", "BZh?1AY&SY"} {
		if name := textfile.FormatOf([]byte(text)[:min(len(text), textfile.HeadBytes)]); name != "" {
			t.Errorf("%q taken for %s", text, name)
		}
	}
}

// A compressed file that is cut off anywhere, or damaged, is an error that says so.
func TestDamagedFiles(t *testing.T) {
	for name, file := range map[string]string{
		"gzip":  gzipped(t, testText),
		"zstd":  zstded(t, testText),
		"bzip2": decodeBase64(t, bzip2ed),
		"xz":    xzed(t, testText),
	} {
		for length := 2; length < len(file); length++ {
			if name == "bzip2" && length < textfile.HeadBytes {
				continue // "BZh9" and some bytes may be text
			}
			_, err := OpenFrom(context.Background(), strings.NewReader(file[:length]), "FILE", Options{}, Storage{})
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "FILE: the "+name+" file is cut off") {
				t.Errorf("%s, %d of %d bytes: error %v", name, length, len(file), err)
			}
		}
		damaged := []byte(file)
		damaged[len(damaged)-3] ^= 0x10 // in the checksum
		_, err := OpenFrom(context.Background(), bytes.NewReader(damaged), "FILE", Options{}, Storage{})
		if err == nil || !strings.Contains(err.Error(), "FILE: the "+name+" file is damaged after ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	_, err := OpenFrom(context.Background(), strings.NewReader(gzipped(t, testText)+"rubbish"), "FILE", Options{}, Storage{})
	if err == nil || !strings.Contains(err.Error(), "FILE: the gzip file is ") {
		t.Errorf("rubbish after gzip data: error %v", err)
	}
	_, err = OpenFrom(context.Background(), strings.NewReader(gzipped(t, "ab\x00c")), "FILE", Options{}, Storage{})
	if err == nil || !strings.Contains(err.Error(), "FILE: byte 2 of the text is NUL") {
		t.Errorf("compressed binary file: error %v", err)
	}
}

func TestFolder(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "b.txt"), "five six") // no line feed: the file's end is one
	writeFile(t, filepath.Join(folder, "a", "z.gz"), gzipped(t, "three\n"))
	writeFile(t, filepath.Join(folder, "a", "b", "c"), "one two\n")
	writeFile(t, filepath.Join(folder, "c"), "\ufeffseven\n")
	writeFile(t, filepath.Join(folder, "d"), "")
	writeFile(t, filepath.Join(folder, ".hidden"), "hidden\x00")
	writeFile(t, filepath.Join(folder, ".git", "config"), "hidden\x00")
	want := []string{"one two", "three", "five six", "seven"}
	for _, threads := range []int{1, 4} {
		c, err := Open(context.Background(), folder, Options{Threads: threads}, Storage{})
		if err != nil {
			t.Fatal(err)
		}
		if got := sentencesOf(c); !slices.Equal(got, want) {
			t.Errorf("sentences %q, want %q", got, want)
		}
		if c.Stats.Files != 5 || c.Stats.Lines != 4 {
			t.Errorf("statistics %+v", c.Stats)
		}
	}
	bad := writeFile(t, filepath.Join(folder, "a", "binary"), "ab\x00")
	if _, err := Open(context.Background(), folder, Options{}, Storage{}); err == nil || !strings.Contains(err.Error(), bad+": byte 2 of the text is NUL") {
		t.Errorf("binary file in a folder: error %v", err)
	}
}

func TestFolderErrors(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, ".hidden"), "a b c")
	if _, err := Open(context.Background(), folder, Options{}, Storage{}); !errors.Is(err, ErrEmpty) || !strings.Contains(err.Error(), folder+": no files in this folder") {
		t.Errorf("empty folder: error %v", err)
	}
	missing := filepath.Join(folder, "missing")
	if _, err := Open(context.Background(), missing, Options{}, Storage{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing file: error %v", err)
	}
}

func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	outside := t.TempDir()
	target := writeFile(t, filepath.Join(outside, "text"), testText)
	folder := t.TempDir()
	link := func(to, name string) string {
		path := filepath.Join(folder, name)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link(target, "file")
	c, err := Open(context.Background(), folder, Options{}, Storage{})
	if err != nil || c.Stats.Tokens != 6 {
		t.Fatalf("link to a file: error %v", err)
	}
	path := link(outside, "folder")
	if _, err := Open(context.Background(), path, Options{}, Storage{}); err != nil {
		t.Errorf("link to a folder as the path: error %v", err)
	}
	if _, err := Open(context.Background(), folder, Options{}, Storage{}); err == nil || !strings.Contains(err.Error(), path+": a link to a folder is not followed") {
		t.Errorf("link to a folder: error %v", err)
	}
}

func TestStdin(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "text.gz"), gzipped(t, testText))
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	replaceStdin(t, file)
	var total int64
	c, err := Open(context.Background(), "-", Options{Progress: func(_, n int64) { total = n }}, Storage{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sentencesOf(c), []string{"the cat sat", "on the mat"}; !slices.Equal(got, want) {
		t.Errorf("sentences %q, want %q", got, want)
	}
	if info, _ := file.Stat(); total != info.Size() {
		t.Errorf("total %d, want the file's %d bytes", total, info.Size())
	}

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	replaceStdin(t, r)
	if _, err := Open(context.Background(), "-", Options{}, Storage{}); !errors.Is(err, ErrEmpty) || !strings.Contains(err.Error(), "corpus standard input: ") {
		t.Errorf("nothing on standard input: error %v", err)
	}
}

func TestSize(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 10, "b/c": 100, "b/.hidden": 1000, ".d/e": 10000} {
		writeFile(t, filepath.Join(dir, name), strings.Repeat("a", size))
	}
	for path, want := range map[string]int64{dir: 110, filepath.Join(dir, "a"): 10, filepath.Join(dir, "b", ".hidden"): 1000, "-": 0, filepath.Join(dir, "none"): 0} {
		if got := Size(path); got != want {
			t.Errorf("%s: %d bytes, want %d", path, got, want)
		}
	}
}
