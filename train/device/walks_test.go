package device

import (
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/composed"
	"github.com/w2vcl/w2vcl/kernels/cuda/sentence"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/sequential"
	"github.com/w2vcl/w2vcl/walk"
)

// What a device gets is enough to walk as the host does. The kernel's own walks are compared on a GPU, with p, q and weights.
func TestWalksOf(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "edges.txt")
	var list strings.Builder
	for range 200 {
		list.WriteString(string(rune('a'+r.IntN(26))) + " " + string(rune('a'+r.IntN(26))) + "\n")
	}
	if err := os.WriteFile(path, []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	g, _, err := walk.Read(t.Context(), path, walk.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := g.Corpus(t.Context(), walk.Options{Walks: 3, Length: 1 + r.IntN(20), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	w := walksOf(text, sequential.Options{}, 1<<30)
	if w == nil {
		t.Fatal("no walks")
	}
	all := text.Text()
	for s := range all.Sentences() {
		want := make([]uint32, all.Start(s+1)-all.Start(s))
		all.Copy(want, all.Start(s))
		if got := firstOrderWalk(w, s, len(want)); !slices.Equal(got, want) {
			t.Fatalf("seed %d: walk %d is %v, want %v", seed, s, got, want)
		}
	}
	if walksOf(text, sequential.Options{}, 2*w.Bytes()-1) != nil || walksOf(text, sequential.Options{Composition: &composed.Composition{}}, 1<<30) != nil {
		t.Error("the device walks without room for the graph, or for pieces of sentences")
	}
}

// firstOrderWalk walks as sentence_walk of walks.cu does, without weights and with p = q = 1.
func firstOrderWalk(w *sentence.Walks, number, length int) (path []uint32) {
	nodes := len(w.Starts) - 1
	round, x := number/nodes, [1]uint32{uint32(number % nodes)}
	order := simd.Bijection{Keys: w.Orders[round].Keys, Low: uint32(w.Orders[round].Low), High: uint32(w.Orders[round].High)}
	for order.Scramble(x[:]); int(x[0]) >= nodes; {
		order.Scramble(x[:])
	}
	start := x[0]
	here := start
	path = append(path, here)
	for n := 1; n < length; n++ {
		random := corpus.Philox(w.Seed, corpus.StreamWalk.Sub(uint32(round)), uint64(start)<<32+uint64(n-1)/4)[(n-1)%4]
		first, end := w.Starts[here], w.Starts[here+1]
		k, _ := bits.Mul32(random, uint32(end-first))
		here = w.Ends[first+int(k)]
		path = append(path, here)
	}
	return path
}
