package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

const (
	pairs = "# pairs\nking queen 8.5\nking apple 1\nqueen unknown 2\nsea ocean 9\n"

	questions = ": royal\nking queen man woman\nman woman king queen\n: fruit\napple apples sea seas\n: none\nx1 x2 x3 x4\n"
)

// writeSets writes two sets, two files that are no sets and a hidden one.
func writeSets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pairs.txt": pairs, "questions.txt": questions, "README.md": "Nothing to score here, only words.\n",
		".hidden": "word word word word\n", "image": "\xff\xfe\x00",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMeasureEval(t *testing.T) {
	dir := writeSets(t)
	table, err := RandomTable(t.Context(), filepath.Join(dir, "pairs.txt"), 0, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 6 { // king queen apple unknown sea ocean
		t.Errorf("%d words: %v", table.Len(), table.Words)
	}
	if table, err = RandomTable(t.Context(), dir, 100, 8, 1); err != nil {
		t.Fatal(err)
	}
	if table.Len() != 100 {
		t.Errorf("%d words, want 100", table.Len())
	}
	if _, ok := table.Index("w2vcl-bench-0"); !ok {
		t.Error("the vocabulary was not filled up")
	}
	calls := 0
	results, err := MeasureEval(context.Background(), table, dir, tiny, func(EvalResult) { calls++ })
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]EvalResult{}
	for _, r := range results {
		got[r.Task+" "+r.Method] = r
		if r.Seconds.Runs != 2 || r.Seconds.Min <= 0 || r.ItemsPerSecond <= 0 {
			t.Errorf("%+v", r)
		}
	}
	const row = 4 * 8
	for name, want := range map[string]struct {
		items int
		bytes int64
	}{
		"similarity ":     {4, 2 * 4 * row},
		"analogy 3cosadd": {4, 3 * 100 * row}, // three sections, each one pass over 100 rows
		"analogy 3cosmul": {4, 3 * 100 * row},
	} {
		if r := got[name]; r.Items != want.items || r.Bytes != want.bytes {
			t.Errorf("%s: %+v, want %+v", name, r, want)
		}
	}
	if calls != len(results) {
		t.Errorf("%d calls for %d results", calls, len(results))
	}
}

func TestMeasureEvalErrors(t *testing.T) {
	ctx := context.Background()
	dir := writeSets(t)
	table, err := RandomTable(t.Context(), filepath.Join(dir, "pairs.txt"), 0, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := MeasureEval(ctx, table, filepath.Join(dir, "README.md"), tiny, nil); err == nil {
		t.Error("a file that is no set was measured")
	}
	if _, err := MeasureEval(ctx, table, filepath.Join(dir, "absent"), tiny, nil); err == nil {
		t.Error("a file that is not there was measured")
	}
	if _, err := RandomTable(t.Context(), filepath.Join(dir, "absent"), 10, 8, 1); err == nil {
		t.Error("words of a file that is not there")
	}
	if _, err := RandomTable(t.Context(), dir, 10, 0, 1); err == nil {
		t.Error("vectors without dimensions")
	}
	unknown := filepath.Join(dir, "unknown.txt")
	if err := os.WriteFile(unknown, []byte("aa bb 1\ncc dd 2\nee ff 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if results, err := MeasureEval(ctx, table, unknown, tiny, nil); err == nil {
		t.Errorf("no word is known: %+v", results)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := MeasureEval(ctx, table, dir, tiny, nil); err == nil {
		t.Error("cancelled, and no error")
	}
}
