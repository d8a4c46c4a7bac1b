package records

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// A file of vectors is told from other parquet, which nobody wants replaced.
func TestHoldsVectors(t *testing.T) {
	var vectors, texts bytes.Buffer
	if err := WriteVectors(&vectors, []string{"a", "b"}, 2, []float32{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	if err := parquet.Write(&texts, []struct{ Word, Text string }{{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"vectors": {vectors.Bytes(), true},
		"texts":   {texts.Bytes(), false},
		"cut":     {vectors.Bytes()[:vectors.Len()-9], false},
		"empty":   {nil, false},
		"text":    {[]byte("word 1 2\n"), false},
	} {
		if got := HoldsVectors(bytes.NewReader(c.data), int64(len(c.data))); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
