package memorydisk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestUse: a folder that the user chose stays; else files can be written, in memory where there is room.
func TestUse(t *testing.T) {
	chosen := t.TempDir()
	t.Setenv("TMPDIR", chosen)
	Use()
	if got := os.Getenv("TMPDIR"); got != chosen {
		t.Errorf("TMPDIR=%s became %s", chosen, got)
	}
	t.Setenv("TMPDIR", "")
	Use()
	if got := os.Getenv("TMPDIR"); got != folder && got != "" {
		t.Errorf("TMPDIR became %s", got)
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
