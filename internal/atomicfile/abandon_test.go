package atomicfile

import (
	"errors"
	"io"
	"path/filepath"
	"testing"
)

func TestAbandon(t *testing.T) {
	defer func() { unfinished.abandoned, unfinished.names = false, nil }()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	err := Write(path, func(io.Writer) error {
		if n := len(files(t, dir)); n != 1 {
			t.Errorf("%d files while writing", n)
		}
		Abandon()
		return nil
	})
	if !errors.Is(err, errAbandoned) {
		t.Errorf("a write that was abandoned: %v", err)
	}
	if err := Write(path, put("x")); !errors.Is(err, errAbandoned) {
		t.Errorf("a write after that: %v", err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
