package report

import (
	"encoding/csv"
	"io"
	"strings"
	"testing"
)

var smallTable = Table{
	Name: "scores", Title: "Scores", Head: []string{"set", "cl", "50% _x_"}, Note: "Bold: best.",
	Rows: [][]Cell{
		{{Text: "a & b", Small: "r|s"}, {Text: "−0.512", Small: "± 0.003", Best: true}, {Text: "0.5"}},
		{{Text: "window"}, {Text: "3", Span: 2}},
	},
}

func TestTableFiles(t *testing.T) {
	want := map[string]string{
		"tex": `% Scores
% Bold: best.
% Needs \usepackage{booktabs}.
\begin{tabular}{lrr}
\toprule
set & cl & 50\% \_x\_ \\
\midrule
a \& b {\footnotesize r$|$s} & \textbf{$-$0.512} {\footnotesize $\pm$ 0.003} & 0.5 \\
window & \multicolumn{2}{l}{3} \\
\bottomrule
\end{tabular}
`,
		"csv": `set,set detail,cl,cl detail,50% _x_
a & b,r|s,-0.512,± 0.003,0.5
window,,3,,3
`,
	}
	for ending, write := range map[string]func(io.Writer) error{"tex": smallTable.WriteTeX, "csv": smallTable.WriteCSV} {
		var got strings.Builder
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		if got.String() != want[ending] {
			t.Errorf("%s:\n%swant\n%s", ending, &got, want[ending])
		}
	}
}

// TestTableCSV: every row has as many cells as the head.
func TestTableCSV(t *testing.T) {
	var b strings.Builder
	if err := smallTable.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := csv.NewReader(strings.NewReader(b.String())).ReadAll(); err != nil {
		t.Error(err)
	}
}

// TestTableNames: names of files, which are somebody else's, neither break a row nor are a formula.
func TestTableNames(t *testing.T) {
	table := Table{Title: "a\nb", Note: "c\nd", Head: []string{"set", "x\ny"}}
	names := []string{"line\nbreak", "=1+1", "+cmd", "-cmd|x", "@sum", "bell\x07"}
	for _, name := range names {
		table.Rows = append(table.Rows, []Cell{{Text: name}, {Text: "−0.5 ± 0.1"}})
	}
	for _, write := range []func(io.Writer) error{table.WriteTeX, table.WriteCSV} {
		var written strings.Builder
		if err := write(&written); err != nil {
			t.Fatal(err)
		}
		text := written.String()
		for _, want := range []string{"line break", "x y"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.Contains(text, "\x07") {
			t.Error("a control character")
		}
	}
	var b strings.Builder
	if err := table.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 1+len(names) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, want := range []string{"line break", "'=1+1", "'+cmd", "'-cmd|x", "'@sum", `bell\u0007`} {
		if rows[i+1][0] != want || rows[i+1][1] != "-0.5 ± 0.1" {
			t.Errorf("%q, want %q and a number", rows[i+1], want)
		}
	}
}

func TestTransposed(t *testing.T) {
	table := Table{Head: []string{"variant", "a", "b"}, Rule: 1, Rows: [][]Cell{{{Text: "score"}, {Text: "0.5*"}, {Text: "−0.2"}}, {{Text: "seconds"}, {Text: "1"}, {Text: "2"}}}}
	var b strings.Builder
	if err := table.Transposed().WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	if want := "variant,score,seconds\na,0.5,1\nb,-0.2,2\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
