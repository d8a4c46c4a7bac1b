package wordmap

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/w2vcl/w2vcl/embedding"
)

// table has words of three topics, whose vectors lie together, and one that is alone.
func table(t *testing.T, n int) *embedding.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	words := []string{"<lonely>&\x01\x1b[31m\uFFFE\uFFFF"}
	vectors := []float32{0, 0, 0, 1}
	for i := range n {
		words = append(words, fmt.Sprintf("word%d", i))
		v := []float32{0, 0, 0, 0}
		for k := range 3 {
			v[k] = float32(0.1 * random.NormFloat64())
		}
		v[i%3]++
		vectors = append(vectors, v...)
	}
	table, err := embedding.NewTable(words, 4, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func newMap(t *testing.T, n int, o Options) *Map {
	t.Helper()
	o.Iterations = 150
	m, err := New(t.Context(), table(t, n), o)
	if err != nil {
		t.Fatal(err)
	}
	m.Title = "a <map> & more"
	return m
}

// TestMap: words of a topic lie together.
func TestMap(t *testing.T) {
	m := newMap(t, 90, Options{Near: 0.5})
	if len(m.Words) != 90 || m.Words[0] != "word0" {
		t.Fatalf("%d words, the first is %s", len(m.Words), m.Words[0])
	}
	for i := range m.Words {
		for _, p := range [2]float64{m.Places[i].X, m.Places[i].Y} {
			if !(p >= 0 && p <= 1) {
				t.Errorf("word %d is at %v", i, m.Places[i])
			}
		}
		best, at := math.Inf(1), 0
		for j := range m.Words {
			if d := math.Hypot(m.Places[i].X-m.Places[j].X, m.Places[i].Y-m.Places[j].Y); i != j && d < best {
				best, at = d, j
			}
		}
		if at%3 != i%3 {
			t.Errorf("word %d is next to word %d", i, at)
		}
	}
	for _, n := range []int{1, 2, 3} {
		newMap(t, n, Options{})
	}
	if _, err := New(t.Context(), table(t, 0), Options{}); err == nil {
		t.Error("one word is a map")
	}
	if _, err := New(t.Context(), table(t, 3), Options{Near: 0.9999}); err == nil {
		t.Error("words that are not near are a map")
	}
}

// TestSVG: the picture is well-formed, every word is there as letters or a dot, and no
// two words overlap.
func TestSVG(t *testing.T) {
	m := newMap(t, 500, Options{})
	var b bytes.Buffer
	if err := m.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	count := map[string]int{}
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
	if count["text"]+count["circle"] != 501 || count["text"] < 50 {
		t.Errorf("%v of 501 words", count)
	}
	labels := m.labels(onPicture(m.Places))
	var taken []box
	for _, l := range labels {
		x := box{l.x, l.y, 0.3*l.size*float64(len(m.Words[l.word])) + 2, 0.6 * l.size}
		if x.x-x.wide < 0 || x.y-x.tall < 0 || x.x+x.wide > svgWidth || x.y+x.tall > svgHeight {
			t.Errorf("%s is outside", m.Words[l.word])
		}
		for _, other := range taken {
			if x.overlaps(other) {
				t.Errorf("%s overlaps another word", m.Words[l.word])
			}
		}
		taken = append(taken, x)
	}
}
