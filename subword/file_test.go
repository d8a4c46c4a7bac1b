package subword

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/safetensors"
	"github.com/w2vcl/w2vcl/internal/testfiles"
)

// trained returns encoders that Rows was run on, and n-grams.
func trained(t testing.TB) map[string]Trained {
	r := newRand(t)
	networks, all := encoders(t, words), map[string]Trained{}
	networks["cnn and words"] = WithWords(encoders(t, words)["cnn"])
	for name, e := range networks {
		e.Randomize(r.Uint64())
		encoderProbe(t, r, e, 1).run(t)
		all[name] = e
	}
	grams, err := NewNGrams(words, NGramOptions{Dim: 5, Buckets: 50, Scale: .7, Own: true})
	if err != nil {
		t.Fatal(err)
	}
	grams.Randomize(r.Uint64())
	all["n-grams"] = grams
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
		if err := save(path, e, offset); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, got := make([]float32, len(all)*n), make([]float32, len(all)*n)
		if err := e.Encode(all, want); err != nil {
			t.Fatal(err)
		}
		// N-grams add the offset to every one, which rounds elsewhere.
		means, isMeans := loaded.(*NGrams)
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
		for _, word := range all {
			if loaded.Parts(word) != e.Parts(word) || loaded.Source() != e.Source() {
				t.Errorf("%s: %q has %d parts %s, before %d %s", name, word, loaded.Parts(word), loaded.Source(), e.Parts(word), e.Source())
			}
		}
		if loaded.Dim() != n {
			t.Errorf("%s: loaded with %d dimensions", name, loaded.Dim())
		}
		if info, err := os.Stat(path); err != nil || info.Size() > e.FileBytes() {
			t.Errorf("%s: %v bytes, estimated %d (error %v)", name, info.Size(), e.FileBytes(), err)
		}
	}
}

// The parts of a word are what the vocabulary has of it, without the marks that every word has.
func TestParts(t *testing.T) {
	vocabulary := []string{"aba", "ab", "aab"}
	cnn := func(gram ...int) Trained {
		e, err := NewNetwork("cnn", vocabulary, NetworkOptions{Dim: 2, Spelling: SpellingOptions{Gram: gram, Limit: 4}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	grams, err := NewNGrams(vocabulary, NGramOptions{Dim: 2, Shortest: 2, Longest: 3})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := NewFit(vocabulary, 2, grams)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		Trained
		text string
		want map[string]int
	}{
		{cnn(1), "from the CNN", map[string]int{"": 0, "xy": 0, "ax": 1, "ab": 2, "xyab": 0}}, // ab is behind the limit
		{cnn(1, 2), "from the CNN", map[string]int{"": 0, "xy": 0, "ax": 2, "ab": 5}},
		{WithWords(cnn(2).(Encoder)), "from the CNN", map[string]int{"": 0, "a": 1, "xa": 0}},
		{grams, "from n-grams", map[string]int{"": 0, "xy": 0, "ax": 1, "ab": 5}},
		{fit, "from a fit to spelling", map[string]int{"": 0, "xy": 0, "ax": 1, "ab": 5}},
	} {
		for word, want := range e.want {
			if got := e.Parts(word); got != want {
				t.Errorf("%s: %q has %d known parts, want %d", e.text, word, got, want)
			}
		}
		if got := (Origin{Source: e.Source()}).String(); got != e.text {
			t.Errorf("%q, want %q", got, e.text)
		}
	}
	if got := (Origin{FromNGrams, 1}).String(); got != "from 1 n-gram" {
		t.Error(got)
	}
}

// once returns what a straight line of the logarithm of counts says of a word that occurs once, as frequencies describe it.
func once(counts []uint64, value func(v int) float64) float64 {
	var words, x, y, xx, xy float64
	for v, count := range counts {
		if count == 0 {
			continue
		}
		log := math.Log(float64(count))
		words++
		x, y, xx, xy = x+log, y+value(v), xx+log*log, xy+log*value(v)
	}
	slope := (xy - x*y/words) / (xx - x*x/words + slopeRidge*words)
	return y/words - slope*x/words
}

// The offset is what vectors have beside the composed ones, of words that occur once. If all words occur equally often, it is the
// mean. Words that do not occur say nothing.
func TestOffset(t *testing.T) {
	e := trained(t)["cnn"]
	n := e.Dim()
	many := slices.Repeat(words, 40) // several blocks
	composed, counts := make([]float32, len(many)*n), make([]uint64, len(many))
	if err := e.Encode(many, composed); err != nil {
		t.Fatal(err)
	}
	for _, slope := range []float32{0, .5, -3} {
		vectors := slices.Clone(composed)
		for v := range many {
			counts[v] = 8
			if slope != 0 {
				counts[v] = 1 << (v / 2 % 9) / 2 // 0, too
			}
			for k := range n {
				vectors[v*n+k] += float32(k) + 2*float32(v%2) + slope*float32(math.Log(float64(max(counts[v], 1))))
			}
		}
		offset, err := Offset(e, many, counts, vectors)
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range offset {
			want := once(counts, func(v int) float64 { return float64(vectors[v*n+k]) - float64(composed[v*n+k]) })
			if slope == 0 {
				want = float64(k + 1)
			}
			if math.Abs(float64(x)-want) > 1e-4 {
				t.Errorf("slope %v: value %d is %v, want %v", slope, k, x, want)
			}
		}
		if _, err := Offset(e, many, counts, vectors[1:]); err == nil {
			t.Error("no error for too few vectors")
		}
		if _, err := Offset(e, many, counts[1:], vectors); err == nil {
			t.Error("no error for too few counts")
		}
	}
}

// A file that is cut or says what cannot be is an error that names it, and
// takes no memory beyond its size.
func TestLoadRefuses(t *testing.T) {
	for name, e := range trained(t) {
		path, whole := saved(t, e)
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
		refuse("more", append(bytes.Clone(whole), 0))
		for what, change := range map[string]func(f *hostileFile){
			"version": func(f *hostileFile) { f.about.Version = fileVersion + 1 },
			"kind":    func(f *hostileFile) { f.about.Kind = "cnx" },
			"nothing": func(f *hostileFile) { f.about.Network, f.about.NGrams = nil, nil },
			"tensor":  func(f *hostileFile) { f.rename("offset", "offsxt") },
			"NaN":     func(f *hostileFile) { f.set("offset", 0, 0xff, 0xc0, 0x7f) },
			"infinity": func(f *hostileFile) {
				f.set("weights", 0, 0, 0x80, 0x7f)
				f.set("ngrams", 0, 0, 0x80, 0xff)
			},
			"twice": func(f *hostileFile) {
				f.set("alphabet", 'a', '\n', 'a', '\n')
				f.copyBucket()
			},
			"few buckets": func(f *hostileFile) { f.buckets(1); f.width(0) },
			"2^32":        func(f *hostileFile) { f.buckets(1 << 32); f.width(1 << 40) },
			"3 * 2^32":    func(f *hostileFile) { f.buckets(3 << 32); f.width(1 << 62) },
			"scale": func(f *hostileFile) {
				f.set("moments.scale", 0, 0, 0xc0, 0x7f)
				f.set("symbols", 0, 0, 0xc0, 0x7f)
				f.buckets(-1)
			},
		} {
			f := openHostile(t, whole)
			change(f)
			refuse(what, f.bytes(t))
		}
		if _, err := read(bytes.NewReader(openHostile(t, whole).bytes(t)), int64(len(whole))); err != nil {
			t.Errorf("%s: what is changed above is refused as it is: %v", name, err)
		}
	}
	for what, change := range map[string]func(c *NetworkOptions, n *NGramOptions){
		"negative": func(c *NetworkOptions, n *NGramOptions) { c.Filters, n.Dim = []int{-1}, -1 },
		"huge":     func(c *NetworkOptions, n *NGramOptions) { c.Filters, n.Dim = []int{1 << 30}, 1<<30 },
		"other":    func(c *NetworkOptions, n *NGramOptions) { c.Filters, n.Dim = []int{4}, 4 },
	} {
		all := trained(t)
		cnn, sums := all["cnn"].(*network), all["n-grams"].(*NGrams)
		change(&cnn.options, &sums.options)
		for _, e := range []Trained{cnn, sums} {
			path := filepath.Join(t.TempDir(), "encoder")
			if err := save(path, six{e}, make([]float32, 6)); err != nil {
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
}

// TestEncoderDamaged: an encoder with flipped bits is refused, or the bits say
// nothing.
func TestEncoderDamaged(t *testing.T) {
	for name, e := range trained(t) {
		_, whole := saved(t, e)
		t.Run(name, func(t *testing.T) {
			testfiles.Copies(t, whole, composedBy)
		})
	}
}

// composedBy returns the vectors that the encoder in a file composes for some words.
func composedBy(file []byte) ([]float32, error) {
	e, err := read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	some := []string{"", "a", "the", "unheard-of", "\xff", strings.Repeat("long", 20)}
	vectors := make([]float32, len(some)*e.Dim())
	return vectors, e.Encode(some, vectors)
}

// Buckets that the same words have share a row of a file, and rows come in their order.
func TestSharedRows(t *testing.T) {
	e, err := NewNGrams(words, NGramOptions{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, whole := saved(t, e)
	if rows := len(e.words.Sizes); rows >= len(e.rows) {
		t.Errorf("%d rows of %d buckets", rows, len(e.rows))
	}
	for _, change := range []func(f *hostileFile){
		func(f *hostileFile) { f.set("rows", 1) },
		func(f *hostileFile) { f.data["rows"][len(f.data["rows"])-3] = 1 },
		func(f *hostileFile) { f.rename("rows", "lines") },
	} {
		f := openHostile(t, whole)
		change(f)
		if _, err := read(bytes.NewReader(f.bytes(t)), int64(len(whole))); err == nil {
			t.Error("rows in another order are no error")
		}
	}
}

// A hostileFile is the content of an encoder's file, to be changed and written with
// right checksums.
type hostileFile struct {
	about   description
	tensors []safetensors.Tensor
	data    map[string][]byte // by the tensors' names
}

func openHostile(t testing.TB, file []byte) *hostileFile {
	t.Helper()
	content, err := safetensors.Open(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	f := &hostileFile{tensors: content.Tensors, data: map[string][]byte{}}
	if err := json.Unmarshal([]byte(content.Metadata[metadataKey]), &f.about); err != nil {
		t.Fatal(err)
	}
	for _, tensor := range f.tensors {
		f.data[tensor.Name] = make([]byte, tensor.Size)
		if _, err := io.ReadFull(content, f.data[tensor.Name]); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f *hostileFile) bytes(t testing.TB) []byte {
	t.Helper()
	about, err := json.Marshal(f.about)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = safetensors.WriteSealed(&out, map[string]string{metadataKey: string(about)}, f.tensors, func(w io.Writer) error {
		for _, tensor := range f.tensors {
			if _, err := w.Write(f.data[tensor.Name]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// set changes the first bytes of a tensor, if there is such a one.
func (f *hostileFile) set(name string, data ...byte) { copy(f.data[name], data) }

func (f *hostileFile) rename(old, name string) {
	for i := range f.tensors {
		if f.tensors[i].Name == old {
			f.tensors[i].Name, f.data[name] = name, f.data[old]
		}
	}
}

// copyBucket makes the first two buckets the same.
func (f *hostileFile) copyBucket() {
	if b := f.data["buckets"]; b != nil {
		copy(b[4:8], b[:4])
	}
}

// buckets changes the number of buckets of n-grams.
func (f *hostileFile) buckets(n int) {
	if f.about.NGrams != nil {
		f.about.NGrams.Buckets = n
	}
}

// width changes the width of the first filters.
func (f *hostileFile) width(n int) {
	if f.about.Kind == FromCNN {
		f.about.Network.Widths[0] = n
	} else if f.about.Network != nil {
		f.about.Network.CharDim += n + 1
	}
}

// save writes the file of an encoder that was not centred.
func save(path string, e Trained, offset []float32) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return Write(w, e, func() ([]float32, error) { return offset, nil }, nil)
	})
}

// saved saves an encoder that was not centred, with an offset of zero.
func saved(t testing.TB, e Trained) (path string, file []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "encoder")
	if err := save(path, e, make([]float32, e.Dim())); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, file
}

// six has an offset of six values whatever its options say.
type six struct{ Trained }

func (six) Dim() int { return 6 }

// TestWriteNotFinite: who writes an encoder that diverged learns so.
func TestWriteNotFinite(t *testing.T) {
	e, err := NewNGrams([]string{"word"}, NGramOptions{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	offset := []float32{0, 0}
	write := func() error { return Write(io.Discard, e, func() ([]float32, error) { return offset, nil }, nil) }
	if err := write(); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float32{offset, e.words.Parts} {
		x[1] = float32(math.Inf(1))
		if err := write(); !errors.Is(err, embedding.ErrNotFinite) {
			t.Errorf("got %v", err)
		}
		x[1] = 0
	}
	if offset = offset[:1]; write() == nil {
		t.Error("an offset of one value is written")
	}
}
