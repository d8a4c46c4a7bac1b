//go:build linux || darwin

package atomicfile

import (
	"io"
	"os"
	"path/filepath"
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
