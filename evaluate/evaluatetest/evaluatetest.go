// Package evaluatetest has what the tests of the evaluations share: folders of data
// sets, a small table, golden numbers. The golden files of all evaluations are in
// evaluate/testdata, as one script writes the numbers of several.
package evaluatetest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/evaluate"
)

// Folder writes files and returns where.
func Folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Animals returns a table with cos(cat,dog) = 0.8, cos(cat,car) = 0 and
// cos(dog,car) = 0.6.
func Animals(t testing.TB) *embedding.Table {
	t.Helper()
	table, err := embedding.NewTable([]string{"cat", "dog", "car"}, 2, []float32{1, 0, 4, 3, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Golden reads a file of golden numbers into golden, a pointer.
func Golden(t testing.TB, path string, golden any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, golden); err != nil {
		t.Fatal(err)
	}
}

// Near checks that a number is as wanted, or that both are NaN.
func Near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Find returns the result of that data set and metric.
func Find(t testing.TB, results []evaluate.Result, dataset, metric string) evaluate.Result {
	t.Helper()
	for _, r := range results {
		if r.Dataset == dataset && r.Metric == metric {
			return r
		}
	}
	t.Fatalf("no result %s %s in %v", dataset, metric, results)
	return evaluate.Result{}
}
