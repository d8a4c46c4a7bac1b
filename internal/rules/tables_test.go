package rules

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of pages anew from their data")

// aTable is the line above a table, which names the file with the table's cells and perhaps the file that they were chosen from,
// and the table.
var aTable = regexp.MustCompile(`(?m)^<!-- ([\w./-]+\.tsv)(?: from [\w.-]+\.tsv)? -->\n((?:\|.*\n)*)`)

// TestTables: tables with figures of runs are those of the files that they name.
func TestTables(t *testing.T) {
	tables := map[bool]int{} // in benchmarks; elsewhere
	for _, name := range files(t, ".md") {
		path := filepath.Join(root, name)
		page := read(t, path)
		made := aTable.ReplaceAllStringFunc(page, func(found string) string {
			tables[strings.HasPrefix(filepath.ToSlash(name), "benchmarks/")]++
			match := aTable.FindStringSubmatch(found)
			cells := read(t, filepath.Join(filepath.Dir(path), match[1]))
			above, _, _ := strings.Cut(found, "\n")
			want := above + "\n" + markdown(cells)
			if found != want && !*update {
				t.Errorf("%s: the table of %s is another one; go test ./internal/rules -run TestTables -update", name, match[1])
			}
			return want
		})
		if *update && made != page {
			if err := os.WriteFile(path, []byte(made), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if tables[true] < 20 || tables[false] < 2 {
		t.Errorf("%d tables found in benchmarks, %d elsewhere", tables[true], tables[false])
	}
}

// read returns the contents of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
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
