package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzSets reads any file as a set of every task.
func FuzzSets(f *testing.F) {
	for _, format := range Formats() {
		f.Add([]byte(format.Example))
	}
	f.Add([]byte("1 a\n0 b\n\xff\n1 2 3\n"))
	f.Add([]byte(strings.Repeat("x", 20000)))
	f.Add([]byte("a\tb/c\nd\te//f/\ng\t/\n"))
	f.Add([]byte("a-n b-v 1\nc-j d-n 2\ne- f-n 3\n"))
	f.Add([]byte("1\t\"<e1></e1> a <e2>b</e2>\"\nOther\n2\t\"<e1>a</e1><e2>b</e2>\"\n"))
	f.Add([]byte("DESC:manner How ?\nABBR:exp\n"))
	path := filepath.Join(f.TempDir(), "set")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if sets, _, err := Find(t.Context(), path, ""); err == nil && len(sets) != 1 {
			t.Errorf("%d sets in a file", len(sets))
		}
		sets, _, _, err := FindSentences(t.Context(), path)
		if err != nil {
			return
		}
		for _, s := range sets[0].Training {
			if s.Label == "" || len(s.Words) == 0 || len(s.Ends) > 0 && (len(s.Ends) != 2 || s.Ends[0] >= s.Ends[1] || s.Ends[1] >= len(s.Words)) {
				t.Errorf("sentence %+v", s)
			}
		}
	})
}
