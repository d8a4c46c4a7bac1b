package rules

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of pages anew from their data")

// aTable is the line above a table, which names the file with the table's cells and perhaps the file that these are from, and the table.
var aTable = regexp.MustCompile(`(?m)^<!-- ([\w./-]+\.tsv)(?: from ([\w.-]+\.tsv))? -->\n((?:\|.*\n)*)`)

// TestTables: tables with figures of runs are those of the files that they name, and the figures of cells that were
// chosen from another file stand there.
func TestTables(t *testing.T) {
	tables := map[bool]int{} // in benchmarks; elsewhere
	for _, name := range files(t, ".md") {
		path := filepath.Join(root, name)
		page := read(t, path)
		made := aTable.ReplaceAllStringFunc(page, func(found string) string {
			tables[strings.HasPrefix(filepath.ToSlash(name), "benchmarks/")]++
			match := aTable.FindStringSubmatch(found)
			file := filepath.Join(filepath.Dir(path), match[1])
			cells := read(t, file)
			if match[2] != "" {
				for _, wrong := range notFrom(cells, read(t, filepath.Join(filepath.Dir(file), match[2]))) {
					t.Errorf("%s: %s: %s", name, match[1], wrong)
				}
			}
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

// TestTableHeads: Markdown takes lines for a table only if a line of dashes follows the first one directly, with as many cells.
func TestTableHeads(t *testing.T) {
	dashes := regexp.MustCompile(`^\|(:?-+:?\|)+$`)
	for _, name := range files(t, ".md") {
		above := ""
		lines := strings.Split(read(t, filepath.Join(root, name)), "\n")
		for i, line := range lines {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "|") && !strings.HasPrefix(above, "|") {
				next := strings.TrimSpace(lines[min(i+1, len(lines)-1)])
				if !dashes.MatchString(next) || strings.Count(next, "|") != strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") {
					t.Errorf("%s:%d: a table without a line of dashes below its head", name, i+1)
				}
			}
			above = line
		}
	}
}

// TestNotFrom: a figure that was changed, moved to another column or taken from another line is noticed.
func TestNotFrom(t *testing.T) {
	const source = "setting\tmean\tRW\tGoogle\na\t0.5994\t.522\t\nb\t0.6097\t.531\t.715\n"
	for _, c := range []struct {
		cells string
		wrong int
	}{
		{"\tRW\tmean\nthe first\t.522\t.599\nthe second\t.531\t**.610**\n", 0},
		{"\tmean\tGoogle\na\t.599\t\n", 0},
		{"\tRW\tmean\na\t.522\t.598\n", 1},
		{"\tRW\tmean\na\t.599\t.522\n", 1},
		{"\tRW\tmean\na\t.522\t.610\n", 1},
		{"\tmean\tGoogle\na\t.599\t.715\n", 1},
		{"\tmean\tMEN\na\t.599\t.715\n", 1},
		{"\tmean\nx\t.1\ny\t.2\n", 2},
	} {
		if wrong := notFrom(c.cells, source); len(wrong) != c.wrong {
			t.Errorf("%q: %q", c.cells, wrong)
		}
	}
}

// notFrom tells which lines of cells have figures that no line of the source has in columns of the same heads. Figures
// of cells may be rounded. The first column of cells, the names of their lines, is not compared.
func notFrom(cells, source string) (wrong []string) {
	rows, from := split(cells), split(source)
	var columns []int
	for _, head := range rows[0][1:] {
		column := slices.Index(from[0], head)
		if column < 0 {
			return []string{"the source has no column " + head}
		}
		columns = append(columns, column)
	}
	for _, row := range rows[1:] {
		if !slices.ContainsFunc(from[1:], func(line []string) bool {
			for i, cell := range row[1:] {
				if columns[i] >= len(line) || !rounded(cell, line[columns[i]]) {
					return false
				}
			}
			return true
		}) {
			wrong = append(wrong, "no line of the source has "+strings.Join(row, " | "))
		}
	}
	return wrong
}

// rounded reports whether a cell is the value, or the value with fewer digits.
func rounded(cell, value string) bool {
	cell, value = strings.Trim(cell, "*"), strings.Trim(value, "*")
	if cell == value {
		return true
	}
	a, errA := strconv.ParseFloat(cell, 64)
	b, errB := strconv.ParseFloat(value, 64)
	_, decimals, _ := strings.Cut(cell, ".")
	return errA == nil && errB == nil && math.Abs(a-b) <= .5001*math.Pow10(-len(decimals))
}

// split returns the cells of each line.
func split(cells string) (rows [][]string) {
	for line := range strings.SplitSeq(strings.TrimRight(cells, "\n"), "\n") {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
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
