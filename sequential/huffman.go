package sequential

import (
	"cmp"
	"math/bits"
	"slices"
)

// A tree is the binary tree of hierarchical softmax (Morin and Bengio 2005; Mikolov et
// al. 2013, "Distributed Representations of Words and Phrases", section 2.1): its leaves
// are words, and its inner nodes have vectors in place of the words. The probability of
// a word is that of the path from the root to it, on which each node v decides with
// probability σ(h·v) for its child of code 0.
//
// It is the Huffman tree of the words' counts with the codes of word2vec.c. Words that do
// not occur are no leaves. Nodes are numbered from the root, by falling count, so that the
// most frequent ones come first, as among words.
type tree struct {
	starts []int    // word w has steps starts[w] to starts[w+1]-1
	steps  []uint32 // from the root down: the node, and turn if the path takes its child of code 1
}

// turn marks a step to the child of code 1. A vocabulary has fewer than 2^31 words.
const turn uint32 = 1 << 31

// newTree makes the tree of words with counts in any order.
//
// word2vec.c joins the two least frequent trees until one is left, and takes the last word
// for less frequent than the first joined tree only if it is. Words fall in count and
// joined trees rise, so the least are always at the ends of two queues.
func newTree(counts []uint64) *tree {
	t := &tree{starts: make([]int, len(counts)+1)}
	order := make([]uint32, 0, len(counts)) // of the words that occur, by falling count
	for w, n := range counts {
		if n > 0 {
			order = append(order, uint32(w))
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(counts[b], counts[a]) })
	leaves, places := len(order), make([]uint32, len(counts))
	// Trees 0 ... leaves-1 are words; tree leaves+i is the i-th that is joined.
	all := make([]uint64, leaves, 2*leaves)
	for place, w := range order {
		all[place], places[w] = counts[w], uint32(place)
	}
	parents := make([]uint32, 2*leaves)
	word, joined := leaves-1, leaves // the ends of both queues
	least := func() (at int) {
		if word >= 0 && (joined >= len(all) || all[word] < all[joined]) {
			word--
			return word + 1
		}
		joined++
		return joined - 1
	}
	for len(all) < 2*leaves-1 {
		first, second := least(), least()
		parents[first] = uint32(len(all))
		parents[second] = uint32(len(all)) | turn
		all = append(all, all[first]+all[second])
	}
	root := len(all) - 1
	for w, n := range counts {
		begin := len(t.steps)
		for at := int(places[w]); n > 0 && at != root; at = int(parents[at] &^ turn) {
			t.steps = append(t.steps, uint32(root)-parents[at]&^turn|parents[at]&turn)
		}
		slices.Reverse(t.steps[begin:])
		t.starts[w+1] = len(t.steps)
	}
	return t
}

// path returns the steps to a word.
func (t *tree) path(word uint32) []uint32 { return t.steps[t.starts[word]:t.starts[word+1]] }

// memoryTree estimates the bytes of the tree of so many words. A rare word of usual texts
// lies some six steps deeper than it would if all words were as frequent.
func memoryTree(words int) int64 {
	return int64(words) * int64(8+4*(bits.Len(uint(words))+6))
}
