package evaluate

import (
	"encoding/json"
	"testing"
)

func TestResultJSON(t *testing.T) {
	want := []Result{
		{Task: TaskSimilarity, Dataset: "WS-353", Metric: MetricSpearman, Score: 0.625, Found: 351, Total: 353, Composed: 2},
		{Task: TaskAnalogy, Dataset: "Google", Metric: "lrcos-macro", Score: NoScore, Found: 0, Total: 573},
		{Task: TaskNodes, Dataset: "blogs/50%", Metric: MetricMicroF1, Score: 0.5, Found: 9, Total: 10, Deviation: 0.25},
	}
	text, err := json.Marshal(want)
	const expected = `[{"task":"similarity","dataset":"WS-353","metric":"spearman","score":0.625,"found":351,"total":353,"composed":2},` +
		`{"task":"analogy","dataset":"Google","metric":"lrcos-macro","score":null,"found":0,"total":573},` +
		`{"task":"nodes","dataset":"blogs/50%","metric":"micro-f1","score":0.5,"found":9,"total":10,"deviation":0.25}]`
	if err != nil || string(text) != expected {
		t.Errorf("got %s, %v\nwant %s", text, err, expected)
	}
	var got []Result
	if err := json.Unmarshal(text, &got); err != nil || got[0] != want[0] || got[1].Score.Valid() || got[2] != want[2] {
		t.Errorf("got %v, %v", got, err)
	}
	if s := got[0].Score.String(); s != "0.625" {
		t.Errorf("String() = %q", s)
	}
}
