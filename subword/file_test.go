package subword

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// trained returns encoders that Rows was run on.
func trained(t testing.TB) map[string]Encoder {
	r := newRand(t)
	all := encoders(t, words)
	all["cnn and words"] = WithWords(encoders(t, words)["cnn"])
	for _, e := range all {
		e.Randomize(r.Uint64())
		encoderProbe(t, r, e, 1).run(t)
	}
	return all
}

// What is loaded composes the same vectors, moved by the offset.
func TestSaveAndLoad(t *testing.T) {
	r := newRand(t)
	all := append(manyWords(r, 300), words...)
	for name, e := range trained(t) {
		n := e.Dim()
		offset := random(r, make([]float32, n))
		path := filepath.Join(t.TempDir(), "encoder")
		if err := Save(path, e, offset); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, got := make([]float32, len(all)*n), make([]float32, len(all)*n)
		if err := unseen(e).Encode(all, want); err != nil {
			t.Fatal(err)
		}
		// Means add the offset to every n-gram, which rounds elsewhere.
		means, isMeans := loaded.(*Means)
		for i := range want {
			if !isMeans || len(means.Shape().NGrams(nil, all[i/n])) > 0 {
				want[i] += offset[i%n]
			}
		}
		if err := loaded.Encode(all, got); err != nil || !slices.EqualFunc(got, want, func(a, b float32) bool {
			return a == b || isMeans && math.Abs(float64(a-b)) < 1e-5*(1+math.Abs(float64(b)))
		}) {
			t.Errorf("%s: what was loaded composes other vectors (error %v)", name, err)
		}
		if loaded.Dim() != n {
			t.Errorf("%s: loaded with %d dimensions", name, loaded.Dim())
		}
		if info, err := os.Stat(path); err != nil || info.Size() > FileBytes(e) {
			t.Errorf("%s: %v bytes, estimated %d (error %v)", name, info.Size(), FileBytes(e), err)
		}
	}
}

// The offset is the mean of what vectors have beside the composed ones.
func TestOffset(t *testing.T) {
	e := trained(t)["cnn"]
	n := e.Dim()
	many := slices.Repeat(words, 40) // several blocks
	vectors := make([]float32, len(many)*n)
	if err := e.Encode(many, vectors); err != nil {
		t.Fatal(err)
	}
	for i := range vectors {
		vectors[i] += float32(i % n)
		if i/n%2 == 0 {
			vectors[i] += 2
		}
	}
	offset, err := Offset(e, many, vectors)
	if err != nil {
		t.Fatal(err)
	}
	for k, x := range offset {
		if want := float32(k + 1); x < want-1e-4 || x > want+1e-4 {
			t.Errorf("value %d is %v, want %v", k, x, want)
		}
	}
	if _, err := Offset(e, many, vectors[1:]); err == nil {
		t.Error("no error for too few vectors")
	}
}

// A file that is cut or says what cannot be is an error that names it, and
// takes no memory beyond its size.
func TestLoadRefuses(t *testing.T) {
	for name, e := range trained(t) {
		path := filepath.Join(t.TempDir(), "encoder")
		if err := Save(path, e, make([]float32, e.Dim())); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refuse := func(what string, data []byte) {
			t.Helper()
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, %s: error %v", name, what, err)
			}
		}
		for size := 0; size < len(whole); size += 1 + len(whole)/50 {
			refuse("cut", whole[:size])
		}
		// Of the same length, so that the header stays whole.
		for _, change := range [][2]string{
			{`\"version\":1`, `\"version\":2`},
			{`\"kind\":\"cnn`, `\"kind\":\"cnx`},
			{`\"kind\":\"ngrams`, `\"kind\":\"ngramz`},
			{`"offset"`, `"offsxt"`},
		} {
			if old := []byte(change[0]); bytes.Contains(whole, old) {
				refuse(change[1], bytes.Replace(whole, old, []byte(change[1]), 1))
			}
		}
	}
	for what, change := range map[string]func(c *CNNOptions, n *NGramOptions){
		"negative": func(c *CNNOptions, n *NGramOptions) { c.Filters, n.Dim = -1, -1 },
		"huge":     func(c *CNNOptions, n *NGramOptions) { c.Filters, n.Dim = 1<<30, 1<<30 },
		"other":    func(c *CNNOptions, n *NGramOptions) { c.Filters, n.Dim = 4, 4 },
	} {
		all := trained(t)
		cnn, sums := all["cnn"].(*CNN), all["n-grams"].(*NGrams)
		change(&cnn.options, &sums.options)
		for _, e := range []Encoder{cnn, sums} {
			path := filepath.Join(t.TempDir(), "encoder")
			if err := Save(path, e, make([]float32, 6)); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s sizes of %T: error %v", what, e, err)
			}
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	if err := Save(filepath.Join(t.TempDir(), "x"), nothing{}, nil); err == nil {
		t.Error("no error for an encoder of unknown type")
	}
}
