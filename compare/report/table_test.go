package report

import (
	"encoding/csv"
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
		"md": `| set | cl | 50% \_x\_ |
| --- | ---: | ---: |
| a & b (r\|s) | **−0.512** (± 0.003) | 0.5 |
| window | 3 |  |

Bold: best.
`,
		"csv": `set,set detail,cl,cl detail,50% _x_
a & b,r|s,-0.512,± 0.003,0.5
window,,3,,3
`,
	}
	for _, f := range smallTable.Files() {
		got, err := f.Text()
		if err != nil {
			t.Fatal(err)
		}
		if got != want[f.Ending] {
			t.Errorf("%s:\n%swant\n%s", f.Format, got, want[f.Ending])
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
