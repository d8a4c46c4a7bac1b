package rules

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of benchmarks anew from their data")

// aTable is the line above a table in a page of benchmarks, which names the file with the table's cells, and the table.
var aTable = regexp.MustCompile(`(?m)^<!-- ([\w.-]+\.tsv) -->\n((?:\|.*\n)*)`)

// TestTables: tables of benchmarks are those of the files that they name.
func TestTables(t *testing.T) {
	tables := 0
	for _, name := range files(t, ".md") {
		if !strings.HasPrefix(filepath.ToSlash(name), "benchmarks/") {
			continue
		}
		path := filepath.Join(root, name)
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		made := aTable.ReplaceAllStringFunc(string(page), func(found string) string {
			tables++
			file := aTable.FindStringSubmatch(found)[1]
			cells, err := os.ReadFile(filepath.Join(filepath.Dir(path), file))
			if err != nil {
				t.Fatal(err)
			}
			want := "<!-- " + file + " -->\n" + markdown(string(cells))
			if found != want && !*update {
				t.Errorf("%s: the table of %s is another one; go test ./internal/rules -run TestTables -update", name, file)
			}
			return want
		})
		if *update && made != string(page) {
			if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if tables < 20 {
		t.Errorf("%d tables found", tables)
	}
}

// markdown returns lines of cells that tabs separate, the first of them the heads of columns, as a table.
func markdown(cells string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(cells, "\n"), "\n") {
		b.WriteString("|")
		for cell := range strings.SplitSeq(line, "\t") {
			if cell != "" {
				b.WriteString(" " + cell)
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", 1+strings.Count(line, "\t")) + "\n")
		}
	}
	return b.String()
}
