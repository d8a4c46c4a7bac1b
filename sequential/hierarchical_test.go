package sequential

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/corpus/corpustest"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// word2vecTree is CreateBinaryTree of word2vec.c, line by line, with nodes numbered from the
// root, which is the last that it makes.
func word2vecTree(counts []uint64) (points [][]uint32, codes [][]byte) {
	size := len(counts)
	count, binary, parent := make([]uint64, 2*size+1), make([]byte, 2*size+1), make([]int, 2*size+1)
	copy(count, counts)
	for a := size; a < 2*size; a++ {
		count[a] = 1e15
	}
	pos1, pos2 := size-1, size
	for a := range size - 1 {
		var smallest [2]int
		for i := range smallest {
			if pos1 >= 0 && count[pos1] < count[pos2] {
				smallest[i] = pos1
				pos1--
			} else {
				smallest[i] = pos2
				pos2++
			}
		}
		count[size+a] = count[smallest[0]] + count[smallest[1]]
		parent[smallest[0]], parent[smallest[1]] = size+a, size+a
		binary[smallest[1]] = 1
	}
	for a := range size {
		var code []byte
		var point []uint32
		for b := a; b != 2*size-2; b = parent[b] {
			code = append(code, binary[b])
			point = append(point, uint32(2*size-2-parent[b]))
		}
		slices.Reverse(code)
		slices.Reverse(point)
		points, codes = append(points, point), append(codes, code)
	}
	return points, codes
}

// outputTable returns what inputs are trained with: C, or the nodes of the tree.
func outputTable(t *Trainer) []float32 {
	if t.nodes != nil {
		return t.nodes
	}
	return t.contexts
}

func pathOf(t *tree, word int) (nodes []uint32, code string) {
	for _, step := range t.path(uint32(word)) {
		nodes = append(nodes, step&^turn)
		code += fmt.Sprint(step >> 31)
	}
	return nodes, code
}

// TestTreeInAnyOrder: where counts do not fall, and some between them are 0, words have the paths that they have in order.
func TestTreeInAnyOrder(t *testing.T) {
	counts := []uint64{40, 35, 20, 17, 11, 9, 7, 6, 5, 3, 2}
	ids := rand.New(rand.NewPCG(1, 2)).Perm(2 * len(counts))
	mixed := make([]uint64, len(ids))
	for word, n := range counts {
		mixed[ids[word]] = n
	}
	want, got := newTree(counts), newTree(mixed)
	for k, id := range ids {
		var path []uint32
		if k < len(counts) {
			path = want.path(uint32(k))
		}
		if !slices.Equal(got.path(uint32(id)), path) {
			t.Errorf("word %d, which occurs %d times, has the path %v, want %v", id, mixed[id], got.path(uint32(id)), path)
		}
	}
}

// TestTree: the codes that word2vec.c printed (testdata/codes.c).
func TestTree(t *testing.T) {
	const golden = "10 01 110 000 1110 0011 11111 11110 00101 001001 001000"
	tree := newTree([]uint64{40, 35, 20, 17, 11, 9, 6, 6, 5, 2, 2})
	var codes []string
	for word := range 11 {
		_, code := pathOf(tree, word)
		codes = append(codes, code)
	}
	if got := strings.Join(codes, " "); got != golden {
		t.Errorf("codes %s, want %s", got, golden)
	}
}

func TestTreeEqualsWord2Vec(t *testing.T) {
	for _, words := range []int{2, 3, 4, 5, 17, 100, 1000} {
		for most := range 5 {
			counts := make([]uint64, words)
			for i := range counts {
				counts[i] = 1 + uint64(math.Pow(10, float64(most)*rand.Float64()))
			}
			slices.SortFunc(counts, func(a, b uint64) int { return int(b) - int(a) })
			points, codes := word2vecTree(counts)
			for unused := range 2 { // words that do not occur change nothing
				tree := newTree(slices.Concat(counts, make([]uint64, unused*7)))
				for word := range words + unused*7 {
					var wantPoints []uint32
					wantCode := ""
					if word < words {
						wantPoints = points[word]
						for _, bit := range codes[word] {
							wantCode += fmt.Sprint(bit)
						}
					}
					nodes, code := pathOf(tree, word)
					if !slices.Equal(nodes, wantPoints) || code != wantCode {
						t.Fatalf("counts %v: word %d is %s by %v, want %s by %v", counts, word, code, nodes, wantCode, wantPoints)
					}
				}
			}
		}
	}
	for _, counts := range [][]uint64{nil, {0, 0}, {3}, {3, 0}} {
		if tree := newTree(counts); len(tree.steps) != 0 {
			t.Errorf("counts %v: steps %v", counts, tree.steps)
		}
	}
}

// The estimate of the tree's memory is about right for words as frequent as in a text.
func TestMemoryTree(t *testing.T) {
	for _, words := range []int{1000, 70_000} {
		counts := make([]uint64, words)
		for i := range counts {
			counts[i] = uint64(5*words/(i+1)) + 4
		}
		tree := newTree(counts)
		bytes := float64(4*len(tree.steps) + 8*len(tree.starts))
		if ratio := float64(memoryTree(words)) / bytes; ratio < 0.95 || ratio > 1.4 {
			t.Errorf("%d words: estimate %d, in truth %v", words, memoryTree(words), bytes)
		}
	}
}

// C stays zero, also where training goes on from vectors that have one, and negatives need not
// be set.
func TestHierarchicalFrom(t *testing.T) {
	c := Options{Algorithm: Word2Vec, Dim: 4, Window: 2, Epochs: 1, Threads: 1, HierarchicalSoftmax: true}
	start := trainer.Tables{Vocabulary: []string{"a", "old"}, Words: make([]float32, 8), Contexts: slices.Repeat([]float32{1}, 8)}
	text, _ := corpustest.Read(t, "a b c a b c a")
	grown, err := Grow(text, start.Vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	c.Start = func(words, contexts []float32) { start.CopyTo(start.Rows(grown.Vocabulary), words, contexts) }
	tr, err := New(grown, nil, c)
	if err != nil {
		t.Fatal(err)
	}
	old, _ := grown.Vocabulary.ID("old")
	advance(t, tr, 0, tr.Units())
	words, contexts := tr.Tables()
	if slices.Max(contexts) != 0 || slices.Max(words[:4]) == 0 || slices.Max(words[int(old)*4:][:4]) != 0 {
		t.Errorf("W %v, C %v", words, contexts)
	}
	c.Algorithm = PWord2Vec
	if _, err := New(text, nil, c); err == nil || !strings.Contains(err.Error(), "no hierarchical softmax") {
		t.Errorf("pword2vec: %v", err)
	}
}
