package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestModelName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpuinfo")
	if err := os.WriteFile(file, []byte("processor\t: 0\nmodel name\t: Some CPU @ 2.50GHz\nmodel name\t: other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := modelName(file); got != "Some CPU @ 2.50GHz" {
		t.Errorf("%q", got)
	}
	if got := modelName(file + "x"); got != "" {
		t.Errorf("%q", got)
	}
}
