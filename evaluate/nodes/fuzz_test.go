package nodes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/evaluate/dataset"
)

// FuzzLabels reads labels from any lines.
func FuzzLabels(f *testing.F) {
	f.Add("1,a\n2 b\n# c\n1\ta\n")
	f.Add("a,,b\n")
	f.Fuzz(func(t *testing.T, content string) {
		l := &Labels{}
		if lines, err := dataset.ScanLines(strings.NewReader(content)); err != nil || l.read(lines) != nil {
			return
		}
		if len(l.Of) != len(l.Nodes) {
			t.Fatalf("labels of %d of %d nodes", len(l.Of), len(l.Nodes))
		}
		for node, labels := range l.Of {
			if len(labels) == 0 {
				t.Errorf("node %d has no label", node)
			}
			for _, label := range labels {
				if label < 0 || label >= len(l.Classes) {
					t.Errorf("node %d has label %d of %d", node, label, len(l.Classes))
				}
			}
		}
	})
}

// FuzzLinks reads pairs of nodes from any lines.
func FuzzLinks(f *testing.F) {
	f.Add("# node node edge\na b 1\nb c 0\n")
	f.Add("a b 2\n")
	path := filepath.Join(f.TempDir(), "links")
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		links, err := ReadLinks(t.Context(), path)
		for _, l := range links {
			if err == nil && (l.From == "" || l.To == "") {
				t.Errorf("%+v", l)
			}
		}
	})
}
