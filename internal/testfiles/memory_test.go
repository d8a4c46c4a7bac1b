package testfiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/w2vcl/w2vcl/internal/machine"
)

func writable() bool {
	f, err := os.CreateTemp(folder, "")
	return err == nil && f.Close() == nil && os.Remove(f.Name()) == nil
}

// TestInMemory: a folder that the user chose stays; else files can be written, in memory where there is room.
func TestInMemory(t *testing.T) {
	chosen := t.TempDir()
	t.Setenv("TMPDIR", chosen)
	InMemory()
	if got := os.Getenv("TMPDIR"); got != chosen {
		t.Errorf("TMPDIR=%s became %s", chosen, got)
	}
	t.Setenv("TMPDIR", "")
	InMemory()
	want := ""
	if free, ok := machine.FreeSpace(folder); ok && free >= needed && writable() {
		want = folder
	}
	if got := os.Getenv("TMPDIR"); got != want {
		t.Errorf("TMPDIR became %q, want %q", got, want)
	}
	made, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(made)
	if err := os.WriteFile(filepath.Join(made, "file"), []byte("a"), 0o600); err != nil {
		t.Error(err)
	}
}
