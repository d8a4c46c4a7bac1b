package sequential

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/train/trainer"
)

func TestWindow(t *testing.T) {
	s := &sentence{inputs: []uint32{10, 11, 12, 13, 14}, widths: []uint32{2, 1, 9, 1, 2}}
	for i, want := range [][]uint32{{11, 12}, {10, 12}, {10, 11, 13, 14}, {12, 14}, {12, 13}} {
		if got := s.window(nil, i); !slices.Equal(got, want) {
			t.Errorf("window of word %d: %v, want %v", i, got, want)
		}
	}
}

// Negatives come with the probabilities of the noise, without the target.
func TestNegatives(t *testing.T) {
	noise, err := corpus.NewAlias([]float64{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	n := &negatives{noise: noise, seed: 5, perWindow: 8, epoch: 1}
	s := &sentence{first: 400, words: slices.Repeat([]uint32{2}, 20000)}
	var drawn []uint32
	for i, outputs := range slices.Collect(slices.Chunk(n.drawAll(nil, s, 6), 7)) {
		if len(outputs) != 7 || outputs[0] != s.words[i] {
			t.Fatalf("window %d: outputs %v", i, outputs)
		}
		drawn = append(drawn, outputs[1:]...)
	}
	if len(drawn) != 6*len(s.words) {
		t.Fatalf("%d negatives", len(drawn))
	}
	var counts [4]float64
	for _, x := range drawn {
		counts[x]++
	}
	for word, share := range []float64{1. / 7, 2. / 7, 0, 4. / 7} {
		if got := counts[word] / float64(len(drawn)); math.Abs(got-share) > 0.01 {
			t.Errorf("word %d: share %v, want %v", word, got, share)
		}
	}
	// One window's negatives do not depend on the others.
	for _, i := range []int{0, 1, 7, 19999} {
		one := make([]uint32, 6)
		n.draw(one, n.number(s.first, i), 2)
		if !slices.Equal(one, drawn[6*i:][:6]) {
			t.Errorf("window %d: %v, want %v", i, one, drawn[6*i:][:6])
		}
	}
}

// A target that is nearly all of the noise still has negatives.
func TestNegativesOfAlmostOnlyWord(t *testing.T) {
	noise, err := corpus.NewAlias([]float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	n := &negatives{noise: noise, perWindow: 4}
	drawn := make([]uint32, 3)
	n.draw(drawn, 0, 1)
	if !slices.Equal(drawn, []uint32{0, 0, 0}) {
		t.Error(drawn)
	}
}

// All trainers of the project start from the same tables.
func TestInitialTables(t *testing.T) {
	c := modes()["fullw2v"]
	tr := newTrainer(t, corpustest.Zipf(1, 9000, 800, 0), c)
	words, contexts := tr.Tables()
	for i, x := range words {
		bits := corpus.Philox(c.Seed, corpus.StreamInitWords, uint64(i)/4)[i%4]
		if want := (float32(bits>>8)/(1<<24) - 0.5) / float32(c.Dim); x != want {
			t.Fatalf("W[%d] is %v, want %v", i, x, want)
		}
	}
	if len(words) != len(contexts) || slices.Max(contexts) != 0 || slices.Min(contexts) != 0 {
		t.Error("C is not zero")
	}
}

// Training goes on from vectors of another text; words that text did not have
// start as always.
func TestStart(t *testing.T) {
	c := modes()["pword2vec"]
	c.Sample = 0
	old := newTrainer(t, "a b c a b c old older", c)
	advance(t, old, 0, old.Units())
	start := trainer.Tables{Vocabulary: old.text.Vocabulary.Words, Words: old.words, Contexts: old.contexts}

	text, _ := corpustest.Read(t, "c new a new c")
	grown, err := Grow(text, start.Vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(grown.Vocabulary.Words, " "); got != "c new a b old older" {
		t.Fatalf("vocabulary %q", got)
	}
	if text.Vocabulary.Len() != 3 {
		t.Error("the text itself has changed")
	}
	noise, err := corpus.NewAlias(corpus.CountPower(grown.Vocabulary.Counts, 0.75))
	if err != nil {
		t.Fatal(err)
	}
	c.Start = func(words, contexts []float32) { start.CopyTo(start.Rows(grown.Vocabulary), words, contexts) }
	tr, err := New(grown, noise, c)
	if err != nil {
		t.Fatal(err)
	}
	row := func(tr *Trainer, table []float32, word string) []float32 {
		id, ok := tr.text.Vocabulary.ID(word)
		if !ok {
			t.Fatalf("no word %q", word)
		}
		return table[int(id)*c.Dim:][:c.Dim]
	}
	check := func(words ...string) {
		t.Helper()
		for _, word := range words {
			if !slices.Equal(row(tr, tr.words, word), row(old, old.words, word)) || !slices.Equal(row(tr, tr.contexts, word), row(old, old.contexts, word)) {
				t.Errorf("word %q has other vectors", word)
			}
		}
	}
	check("a", "b", "c", "old", "older")
	fresh := slices.Clone(row(tr, tr.words, "new"))
	advance(t, tr, 0, tr.Units())
	check("b", "old", "older") // not in the text
	if slices.Equal(row(tr, tr.words, "a"), row(old, old.words, "a")) {
		t.Error("word a has not been trained")
	}
	tr.Reset()
	check("a", "b", "c", "old", "older")
	if !slices.Equal(row(tr, tr.words, "new"), fresh) {
		t.Error("Reset changes a new word")
	}
}

func TestRadius(t *testing.T) {
	for window, want := range map[int]int{1: 1, 2: 1, 3: 2, 5: 3, 6: 3, 10: 5} {
		if got := Radius(window); got != want {
			t.Errorf("W = %d: W_f = %d, want %d", window, got, want)
		}
	}
}

func TestShare(t *testing.T) {
	s := newQueue(7, 1000, 3)
	place, most := 7, 1000
	for {
		first, end := s.take()
		if first == end {
			break
		}
		if first != place || end-first > most || end-first < 3 && end != 1000 {
			t.Fatalf("%d to %d after %d", first, end, place)
		}
		place, most = end, end-first
	}
	if place != 1000 {
		t.Errorf("%d sentences of 1000", place)
	}
}

// A thread has its own share first, then those of the others, to the last
// sentence of each.
func TestShares(t *testing.T) {
	s := queues{newQueue(0, 10, 1), newQueue(10, 10, 1), newQueue(50, 70, 4)}
	var taken []int
	for {
		first, end := s.take(1)
		if first == end {
			break
		}
		for n := first; n < end; n++ {
			taken = append(taken, n)
		}
	}
	var want []int
	for n := range 20 {
		want = append(want, 50+n)
	}
	for n := range 10 {
		want = append(want, n)
	}
	if !slices.Equal(taken, want) {
		t.Errorf("taken %v", taken)
	}
}

// The units of an epoch are, with any number of threads, every sentence once;
// each thread has its stretch in the order of the text, in pieces that are even
// but for a sentence.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = corpustest.Zipf(r.Uint64(), 1+r.IntN(30), 100, 0)
	}
	short := strings.Join(lines, "\n")
	for name, text := range map[string]string{"short lines": short, "and a long one": short + "\n" + corpustest.Zipf(1, 9000, 100, 0)} {
		c := modes()["pword2vec"]
		c.Epochs = 1
		for _, c.Threads = range []int{1, 2, 3, 16} {
			tr := newTrainer(t, text, c)
			sentences := tr.text.Sentences
			longest, next := 0, 0
			for i, start := range sentences[1:] {
				longest = max(longest, start-sentences[i])
			}
			for thread := range c.Threads {
				for u := range tr.Units() {
					first, end := tr.piece(u, thread)
					if first != next || end < first {
						t.Fatalf("%s, %d threads: piece %d of thread %d is %d to %d, after %d", name, c.Threads, u, thread, first, end, next)
					}
					next = end
					got, want := sentences[end]-sentences[first], (tr.units[u+1]-tr.units[u])/c.Threads
					if got < want-longest || got > want+longest+1 {
						t.Errorf("%s, %d threads: piece %d of thread %d has %d tokens, want about %d", name, c.Threads, u, thread, got, want)
					}
				}
			}
			if next != len(sentences)-1 {
				t.Errorf("%s, %d threads: %d sentences of %d", name, c.Threads, next, len(sentences)-1)
			}
		}
	}
}

// A row that leaves the ring of FULL-W2V keeps what other threads added to it meanwhile.
func TestWriteBack(t *testing.T) {
	for threads, want := range map[int]float32{1: 0.25, 2: 1.25} { // one thread has no others
		c := modes()["fullw2v"]
		c.Threads = threads
		tr := newTrainer(t, "a b c a b a", c)
		f := tr.workers[0].algorithm.(*fullW2V)
		s := &sentence{words: []uint32{1, 0, 1}, inputs: []uint32{1, 0, 1}}
		row := tr.words[c.Dim:][:c.Dim] // of word 1
		before := slices.Clone(row)
		f.enter(s, 0)
		f.enter(s, 2)
		f.leave(0)
		for j := range row {
			row[j]++                               // by another thread
			f.ring[int(f.slot[0])*c.Dim+j] += 0.25 // by this one
		}
		f.leave(2)
		for j, value := range row {
			if math.Abs(float64(value-before[j]-want)) > 1e-6 {
				t.Fatalf("%d threads: the row has moved by %v, want %v", threads, value-before[j], want)
			}
		}
	}
}
