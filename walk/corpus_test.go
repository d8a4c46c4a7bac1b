package walk

import (
	"math"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// TestCorpus compares the corpus of a graph with the text of its walks, read in several ways.
func TestCorpus(t *testing.T) {
	for _, directed := range []bool{false, true} {
		for _, pq := range [][2]float64{{1, 1}, {0.5, 2}} {
			g := randomGraph(t, 6*together+7, 0.008, directed, false, 4)
			o := Options{Walks: 13, Length: 9, P: pq[0], Q: pq[1], Seed: 3, Threads: 2}
			c, err := g.Corpus(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(text(t, g, o), "\n"), "\n")
			all := c.Text()
			if all.Sentences() != len(lines) || all.Tokens() != len(strings.Fields(strings.Join(lines, " "))) || uint64(all.Tokens()) != c.Vocabulary.Total() {
				t.Fatalf("%d sentences, %d tokens, %d counted, of %d walks", all.Sentences(), all.Tokens(), c.Vocabulary.Total(), len(lines))
			}
			line := func(words []uint32) string {
				var names []string
				for _, w := range words {
					names = append(names, c.Vocabulary.Words[w])
				}
				return strings.Join(names, " ")
			}
			r := corpus.NewSentenceReader(c, corpus.SentenceOptions{Seed: 1, Window: 2})
			for i := range lines {
				words, _ := r.Sentence(0, i)
				if got := line(words); got != lines[i] {
					t.Fatalf("sentence %d is %s, want %s", i, got, lines[i])
				}
				k := (i * 7919) % len(lines)
				var buffer []uint32
				if got := line(all.View(all.Start(k), all.Start(k+1), &buffer)); got != lines[k] {
					t.Fatalf("view of sentence %d is %s, want %s", k, got, lines[k])
				}
			}
			whole := make([]uint32, all.Tokens())
			all.Copy(whole, 0)
			if line(whole) != strings.Join(lines, " ") {
				t.Error("the copy of all tokens differs")
			}
			var buffer []uint32
			for first := 0; first+23 < len(whole); first += 17 {
				var in [1]uint32
				all.Containing([]uint32{uint32(first)}, 1, in[:])
				if s := int(in[0]); all.Start(s) > first || all.Start(s+1) <= first {
					t.Fatalf("token %d is not in sentence %d", first, s)
				}
				if got := line(all.View(first, first+23, &buffer)); got != line(whole[first:first+23]) {
					t.Fatalf("tokens from %d are %s", first, got)
				}
			}
		}
	}
}

// TestCounts compares the counts of the vocabulary with those of long walks.
func TestCounts(t *testing.T) {
	g := randomGraph(t, 300, 0.03, false, true, 4)
	c, err := g.Corpus(t.Context(), Options{Walks: 200})
	if err != nil {
		t.Fatal(err)
	}
	found := make([]float64, len(g.Names))
	c.Text().Blocks(0, c.Text().Tokens(), func(_ int, ids []uint32) bool {
		for _, id := range ids {
			found[id]++
		}
		return true
	})
	wrong, last := 0.0, c.Vocabulary.Counts[0]
	for i, n := range c.Vocabulary.Counts {
		if n > last {
			t.Errorf("node %d comes more often than the one before", i)
		}
		last = n
		wrong += math.Abs(found[i]-float64(n)) / 2
	}
	if fraction := wrong / float64(c.Text().Tokens()); fraction > 0.02 {
		t.Errorf("%.3f of the tokens are counted at another node", fraction)
	}
}

// TestFingerprint: graphs and walks that differ have different fingerprints; the order of the lines does not matter.
func TestFingerprint(t *testing.T) {
	sum := func(content string, r ReadOptions, o Options) uint64 {
		g, _, err := read(t.Context(), source(content), r)
		if err != nil {
			t.Fatal(err)
		}
		c, err := g.Corpus(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return c.Fingerprint()
	}
	const edges = "a b 1\nb c 1\nc d 2\nd a 2\n"
	want := sum(edges, ReadOptions{}, Options{})
	if sum("c d 2\nd a 2\nb a 1\nb c 1\n", ReadOptions{Threads: 1}, Options{Threads: 1}) != want {
		t.Error("another order of the lines changes the fingerprint")
	}
	seen := map[uint64]string{want: "the graph"}
	for name, got := range map[string]uint64{
		"an edge more": sum(edges+"a c 1\n", ReadOptions{}, Options{}),
		"directed":     sum(edges, ReadOptions{Directed: true}, Options{}),
		"weighted":     sum(edges, ReadOptions{Weighted: true}, Options{}),
		"names":        sum(strings.ReplaceAll(edges, "d", "e"), ReadOptions{}, Options{}),
		"seed":         sum(edges, ReadOptions{}, Options{Seed: 1}),
		"walks":        sum(edges, ReadOptions{}, Options{Walks: 9}),
		"length":       sum(edges, ReadOptions{}, Options{Length: 79}),
		"p":            sum(edges, ReadOptions{}, Options{P: 2}),
		"q":            sum(edges, ReadOptions{}, Options{Q: 2}),
	} {
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[got] = name
	}
}
