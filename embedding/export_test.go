package embedding

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/w2vcl/w2vcl/internal/safetensors"
)

func TestParquet(t *testing.T) {
	for _, rows := range []int{1, 1023, 1024, 1025, 70_000} {
		want := randomTable(t, rows, 3)
		path := filepath.Join(t.TempDir(), "v.parquet")
		if err := Save(path, want, ""); err != nil {
			t.Fatal(err)
		}
		got, err := parquet.ReadFile[struct {
			Word   string    `parquet:"word"`
			Vector []float32 `parquet:"vector,list"`
		}](path)
		if err != nil || len(got) != rows {
			t.Fatalf("%d of %d rows: %v", len(got), rows, err)
		}
		for i, row := range got {
			if row.Word != want.Words[i] || !slices.Equal(row.Vector, want.Vector(i)) {
				t.Fatalf("row %d: %q %v, want %q %v", i, row.Word, row.Vector, want.Words[i], want.Vector(i))
			}
		}
	}
}

func TestInt8(t *testing.T) {
	want := randomTable(t, 50, 40)
	clear(want.Vector(7)) // a row of zeros stays one
	var out bytes.Buffer
	if err := Write(&out, want, Int8); err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Open(&out)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{}
	for _, tensor := range file.Tensors {
		content[tensor.Name] = make([]byte, tensor.Size)
		if _, err := file.Read(content[tensor.Name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Finish(); err != nil {
		t.Fatal(err)
	}
	if got := string(content["words"]); got != strings.Join(want.Words, "\n") {
		t.Errorf("words %q", got)
	}
	for i := range want.Words {
		var dot, a, b float64
		for k, x := range want.Vector(i) {
			y := float64(int8(content["vectors"][i*want.Dim+k]))
			dot, a, b = dot+float64(x)*y, a+float64(x)*float64(x), b+y*y
		}
		if cosine := dot / math.Sqrt(a*b); i == 7 && (a != 0 || b != 0) || i != 7 && cosine < 0.999 {
			t.Errorf("row %d: cosine %v", i, cosine)
		}
	}
}

func TestModel2Vec(t *testing.T) {
	want := randomTable(t, 5, 4)
	want.Words[2] = unknownToken
	folder := filepath.Join(t.TempDir(), "model")
	if err := SaveModel2Vec(folder, want, Model2VecModel{Words: true, Lowercase: true, Card: "# model\n"}); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(folder)
	if err != nil || len(names) != 5 {
		t.Errorf("%v, %v", names, err)
	}
	var tokenizer struct {
		Normalizer struct{ Type string }
		Model      struct {
			Vocabulary map[string]int `json:"vocab"`
			Unknown    string         `json:"unk_token"`
		}
	}
	data, err := os.ReadFile(filepath.Join(folder, "tokenizer.json"))
	if err == nil {
		err = json.Unmarshal(data, &tokenizer)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, word := range want.Words {
		if tokenizer.Model.Vocabulary[word] != i {
			t.Errorf("%q is %d, want %d", word, tokenizer.Model.Vocabulary[word], i)
		}
	}
	if u := tokenizer.Model.Unknown; u == unknownToken || tokenizer.Model.Vocabulary[u] != 5 || tokenizer.Normalizer.Type != "Lowercase" {
		t.Errorf("unknown %q is %d; normalizer %q", u, tokenizer.Model.Vocabulary[u], tokenizer.Normalizer.Type)
	}
	if err := SaveModel2Vec(folder, want, Model2VecModel{}); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a folder that exists: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(folder), ".w2vcl-*")); len(left) > 0 {
		t.Errorf("%q left behind", left)
	}
}
