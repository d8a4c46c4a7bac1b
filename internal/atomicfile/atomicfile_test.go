package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// files lists a folder. No unfinished file may stay there.
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
		_ = put("part")(w)
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
	file := filepath.Join(dir, "file")
	if err := Write(file, put("old")); err != nil {
		t.Fatal(err)
	}
	if err := WriteAll(File{file, put("new")}, File{folder, put("new")}); err == nil {
		t.Error("a folder was replaced by one of several files")
	}
	if got, err := os.ReadFile(file); string(got) != "old" || len(files(t, dir)) != 2 {
		t.Errorf("the other file holds %q (%v) in %q", got, err, files(t, dir))
	}
}

// A bare name is written to the current folder.
func TestWriteBareName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("file", put("x")); err != nil {
		t.Fatal(err)
	}
}

func TestRemoveStray(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"file", ".hidden", ".file.tmp-123", "file.tmp-1"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".folder.tmp-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A killed Write leaves a file of such a name.
	var during []string
	if err := Write(filepath.Join(dir, "x"), func(io.Writer) error {
		if err := RemoveStray(dir); err != nil {
			return err
		}
		during = files(t, dir)
		return errors.New("stop")
	}); err == nil {
		t.Fatal("no error")
	}
	if want := []string{".folder.tmp-1", ".hidden", "file", "file.tmp-1"}; !slices.Equal(during, want) {
		t.Errorf("left %q, want %q", during, want)
	}
	if err := RemoveStray(filepath.Join(dir, "none")); err != nil {
		t.Errorf("no folder: %v", err)
	}
}

// TestWriteFollowsLinks: a link stays, and the file that it leads to is replaced,
// also one that is not there yet.
func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "sub/file", "dangling": "sub/none", "chain": "dangling"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "file"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "sub/file", "dangling": "sub/none", "chain": "sub/none"} {
		if err := Write(filepath.Join(dir, link), put(link)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, target)); string(got) != link {
			t.Errorf("%s: %s holds %q", link, target, got)
		}
		if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more (%v)", link, err)
		}
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := Write(loop, put("x")); err == nil {
		t.Error("a link to itself was written to")
	}
	if got := files(t, dir); !slices.Equal(got, []string{"chain", "dangling", "link", "loop", "sub"}) {
		t.Errorf("left %q", got)
	}
}

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	for path, want := range map[string]string{
		"link": "real", "link/new": "real/new", "link/new/deep": "real/new/deep", "./real/../x": "x",
	} {
		if got, err := Resolve(path); err != nil || got != filepath.Join(dir, want) {
			t.Errorf("Resolve(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
}
