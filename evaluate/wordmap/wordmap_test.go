package wordmap

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
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

// TestMap: words of a topic lie together, and have each other as neighbours.
func TestMap(t *testing.T) {
	m := newMap(t, 90, Options{Near: 0.5, Neighbors: 5})
	if len(m.Words) != 90 || m.Words[0] != "word0" {
		t.Fatalf("%d words, the first is %s", len(m.Words), m.Words[0])
	}
	for i := range m.Words {
		if len(m.Neighbors[i]) != 5 || m.Neighbors[i][0].Row%3 != i%3 || m.Words[m.Neighbors[i][0].Row] != m.Neighbors[i][0].Word {
			t.Errorf("word %d has the neighbours %v", i, m.Neighbors[i])
		}
		for _, p := range [2]float64{m.TSNE[i].X, m.TSNE[i].Y} {
			if !(p >= 0 && p <= 1) {
				t.Errorf("word %d is at %v", i, m.TSNE[i])
			}
		}
		best, at := math.Inf(1), 0
		for j := range m.Words {
			if d := math.Hypot(m.TSNE[i].X-m.TSNE[j].X, m.TSNE[i].Y-m.TSNE[j].Y); i != j && d < best {
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
	labels := m.labels(onPicture(m.TSNE))
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

// TestHTML: the page loads nothing, and its data are not mistaken for markup.
func TestHTML(t *testing.T) {
	m := newMap(t, 20, Options{})
	var b bytes.Buffer
	if err := m.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if foreign := regexp.MustCompile(`(?i)https?:|<script s|<link|url\(|src=|@import|fetch\(`).FindString(page); foreign != "" {
		t.Errorf("the page has %s in it", foreign)
	}
	for _, want := range []string{"<title>a &lt;map&gt; &amp; more</title>", `"words":["\u003clonely\u003e\u0026\u0001\u001b[31m` + "\uFFFE\uFFFF" + `","word0"`, `"neighbors":[[`, "prefers-color-scheme: dark"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "ZgotmplZ") {
		t.Error("the template refused a value")
	}
}
