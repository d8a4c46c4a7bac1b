package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// files lists a folder: nothing half-written may stay.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "", "second"} {
		if err := Write(path, put(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Fatalf("read %q, %v; want %q", got, err, text)
		}
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		_ = put("half")(w)
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("error %v, want the writer's", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "second" {
		t.Errorf("after a failed write the file holds %q", got)
	}
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "none", "file"), put("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(folder, put("x")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
}

// A bare name is written to the current folder.
func TestWriteBareName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("file", put("x")); err != nil {
		t.Fatal(err)
	}
}
