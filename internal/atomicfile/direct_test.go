//go:build linux || darwin

package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWritePipe: a pipe is written to and stays a pipe, with a link to it or without.
func TestWritePipe(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link} {
		read := make(chan string)
		go func() {
			f, err := os.Open(pipe)
			if err != nil {
				t.Error(err)
			}
			text, err := io.ReadAll(f)
			if err != nil {
				t.Error(err)
			}
			f.Close()
			read <- string(text)
		}()
		if err := Write(path, put("text")); err != nil {
			t.Fatal(err)
		}
		if got := <-read; got != "text" {
			t.Errorf("read %q", got)
		}
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone (%v)", err)
	}
}

// TestWriteRemovesStray: what a killed process left of the same file goes, what another
// process works with stays, and so does everything else.
func TestWriteRemovesStray(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{".file.tmp-123", ".file.tmp-", ".file.tmp-x1", ".other.tmp-1", "file.tmp-1", ".hidden"} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(".file.tmp-9", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write("file", func(w io.Writer) error { // a second one, meanwhile
		return Write("file", put("inner"))
	}); err != nil {
		t.Fatal(err)
	}
	if got, want := files(t, "."), []string{".file.tmp-", ".file.tmp-9", ".file.tmp-x1", ".hidden", ".other.tmp-1", "file", "file.tmp-1"}; !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
}

// TestWriteAtOnce: many that write the same file at the same time do not take each
// other's temporary files for stray ones.
func TestWriteAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for range 50 {
				if err := Write(path, put("text")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	if got := files(t, filepath.Dir(path)); !slices.Equal(got, []string{"file"}) {
		t.Errorf("left %q", got)
	}
}
