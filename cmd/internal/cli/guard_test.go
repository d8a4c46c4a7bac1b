package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/terminal"
)

var strangeKind = StartKind("strange", "\x01")

// TestGuardFiles: the rules, one by one.
func TestGuardFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"text": "a b\n", "empty": "", "binary": "\x00\x01"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	const usage = true
	for _, test := range []struct {
		name  string
		files []File
		force bool
		want  string
		usage bool
	}{
		{"nothing", nil, false, "", false},
		{"not given", []File{{Name: "--out", Use: FileOutput}}, false, "", false},
		{"new", []File{{Name: "--out", Path: "new", Use: FileOutput}}, false, "", false},
		{"in no folder", []File{{Name: "--out", Path: "none/new", Use: FileOutput}}, false, "cannot write --out none/new: no such file", false},
		{"below a file", []File{{Name: "--out", Path: "text/new", Use: FileOutput}}, false, "cannot write --out text/new: not a directory", false},
		{"folder for a file", []File{{Name: "--out", Path: "folder", Use: FileOutput}}, true, "--out folder is a folder; name a file", false},
		{"file for a folder", []File{{Name: "--out", Path: "text", Use: FileFolder}}, true, "--out text is a file: name a folder", false},
		{"deep folder", []File{{Name: "--out", Path: "a/b/c", Use: FileFolder}}, false, "", false},
		{"there", []File{{Name: "--out", Path: "text", Use: FileOutput, Kind: TextKind}}, false, "exists: choose another name, or replace it with --force", false},
		{"there, with force", []File{{Name: "--out", Path: "text", Use: FileOutput, Kind: TextKind}}, true, "", false},
		{"another kind", []File{{Name: "--out", Path: "binary", Use: FileOutput, Kind: TextKind}}, true, "--out binary exists and is not a text; --force", false},
		{"empty", []File{{Name: "--out", Path: "empty", Use: FileOutput, Kind: strangeKind}}, true, "", false},
		{"own", []File{{Name: "--out", Path: "text", Use: FileOwn, Kind: TextKind}}, false, "", false},
		{"own of another kind", []File{{Name: "--out", Path: "binary", Use: FileOwn, Kind: TextKind}}, false, "is not a text: choose", false},
		{"inputs may be equal", []File{{Name: "A", Path: "text", Use: FileInput}, {Name: "B", Path: "./text", Use: FileMapped}}, false, "", false},
		{"two streams", []File{{Name: "A", Path: "-", Use: FileStream}, {Name: "B", Path: "-", Use: FileText}}, false, "serves only one of them", usage},
		{"stream in and out", []File{{Name: "A", Path: "-", Use: FileStream}, {Name: "B", Path: "-", Use: FileOutput}}, false, "", false},
		{"no stream", []File{{Name: "A", Path: "-", Use: FileInput}}, false, "cannot stand here", usage},
		{"no stream twice", []File{{Name: "A", Path: "-", Use: FileText, Again: true}}, false, "A -: standard input can be read only once", usage},
		{"no stream by another name twice", []File{{Name: "A", Path: "/dev/stdin", Use: FileText, Again: true}}, false, "A /dev/stdin: standard input", usage},
		{"one stream by two names", []File{{Name: "A", Path: "-", Use: FileText}, {Name: "B", Path: "/dev/stdin", Use: FileInput}}, false, "only one of them", usage},
		{"file twice", []File{{Name: "A", Path: "text", Use: FileText, Again: true}}, false, "", false},
		{"input in the run", []File{{Name: "A", Path: "run/text", Use: FileInput}, {Name: "B", Path: "run", Use: FileRun}}, false, "A run/text lies in the run folder of B run, which", usage},
		{"output in the run", []File{{Name: "B", Path: "run", Use: FileRun}, {Name: "A", Path: "run.replaced/x", Use: FileOutput}}, false, "A run.replaced/x lies in the run folder of B run:", usage},
	} {
		err := guardFiles(test.files, test.force)
		var isUsage *terminal.UsageError
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		case errors.As(err, &isUsage) != test.usage:
			t.Errorf("%s: a usage error: %v", test.name, errors.As(err, &isUsage))
		}
	}
	left, err := filepath.Glob("*")
	if err != nil || !slices.Equal(left, []string{"binary", "empty", "folder", "text"}) {
		t.Errorf("left %q (%v)", left, err)
	}
}
