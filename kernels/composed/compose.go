package composed

import "github.com/w2vcl/w2vcl/kernels/simd"

// This file is the map from parts to rows of W and the way back, in every mode. Whoever changes one changes the others:
//
//	Compose   W_w = (o_w + Σ s_g z_g) / (1+G_w)              over the parts g of w
//	Mean      a word that the vocabulary does not have is the mean of its n-grams alone
//	Gradient  of an n-gram of g = Σ gradient_w / (1+G_w)     over the words w of g that are trained, as often as w has g
//	Spread    a change Δ of W_w goes to z_g as r_g Δ, and to o_w as (1+G_w - Σ s_g r_g) Δ: so W_w changes by Δ
//	Fold      the s_g n-grams of part g have one gradient, so the part moves as one of them does
//
// Without own rows, 1+G_w is G_w. Folding is right while the n-grams of a word have one weight, and move by one rule. A part moves
// along the sum, which grows with its words. Words' own rows have the gradient of their row of W, undivided.

// weights writes the weight of each part in the mean of a word to dst, s_g/(1+G), and returns that of the own row.
func (c *Composition) weights(dst []float32, parts []uint32) (weights []float32, own float32) {
	var all float32
	if c.Own != nil {
		all = 1
	}
	dst = dst[:0]
	for _, g := range parts {
		dst = append(dst, c.Size(g))
		all += c.Size(g)
	}
	own = 1 / all
	for i := range dst {
		dst[i] *= own
	}
	return dst, own
}

// Weight is the weight of the own row, and of each single n-gram, in the mean of a word: 1/(1+G).
func (c *Composition) Weight(word uint32) float32 {
	_, own := c.weights(nil, c.Of(word))
	return own
}

// A Composer composes rows and takes gradients back. It serves one goroutine.
type Composer struct {
	*Composition
	Uses    *Uses     // for Gradient; Composers may share them
	scratch []float32 // weights of parts, or of words
	words   []uint32
}

// Compose writes the row of a word to dst, N values. next, as many as the word has parts or nil,
// are parts that it asks memory for on the way.
func (c *Composer) Compose(dst []float32, word uint32, next []uint32) {
	parts := c.Of(word)
	var own float32
	c.scratch, own = c.weights(c.scratch, parts)
	clear(dst)
	if c.Own != nil {
		simd.AddScaled(dst, c.Own[int(word)*c.Dim:][:c.Dim], own)
	}
	simd.AddCombination(dst, c.scratch, c.Parts, parts, next)
}

// Mean writes the mean of the rows of some n-grams to dst, N values; zeros if there are none.
func Mean(dst []float32, ngrams int, row func(i int) []float32) {
	clear(dst)
	for i := range ngrams {
		simd.SGD(dst, row(i), 1, -1)
	}
	weight := 1 / float32(max(ngrams, 1))
	for j := range dst {
		dst[j] *= weight
	}
}

// Spread adds a change of the row of a word, N values, to its parts at the given rates, and to its own row. next is as in Compose.
func (c *Composer) Spread(word uint32, change, rates []float32, next []uint32) {
	parts := c.Of(word)
	if c.Own != nil {
		own := float32(1)
		for k, g := range parts {
			own += c.Size(g) * (1 - rates[k])
		}
		simd.AddScaled(c.Own[int(word)*c.Dim:][:c.Dim], change, own)
	}
	simd.AddToRows(c.Parts, parts, rates, change, next)
}

// SetOwn sets a word's own row so that its composed row equals the given one, up to rounding.
func (c *Composer) SetOwn(word uint32, row []float32) {
	parts, own := c.Of(word), c.Own[int(word)*c.Dim:][:c.Dim]
	var weight float32
	c.scratch, weight = c.weights(c.scratch, parts)
	for i := range c.scratch {
		c.scratch[i] = -c.scratch[i]
	}
	copy(own, row)
	simd.AddCombination(own, c.scratch, c.Parts, parts, nil)
	for i := range own {
		own[i] /= weight
	}
}

// Gradient writes the gradient of each single n-gram of a part to dst, N values, from those of the rows of W, (V, N). If no
// word of the part is trained, it returns false and writes nothing.
func (c *Composer) Gradient(dst []float32, part int, gradients []float32) bool {
	u, words, weights := c.Uses, c.words[:0], c.scratch[:0]
	for _, w := range u.words[u.first[part]:u.first[part+1]] {
		if u.Trained[w] {
			words, weights = append(words, w), append(weights, u.weights[w])
		}
	}
	c.words, c.scratch = words, weights
	if len(words) == 0 {
		return false
	}
	simd.Combine(dst, weights, gradients, words)
	return true
}

// Uses are the words of each part.
type Uses struct {
	Trained      []bool    // (V): the words that have a gradient
	first, words []uint32  // of part g: words[first[g]:first[g+1]], each as often as it has g
	weights      []float32 // (V): 1/(1+G)
}

// NewUses returns the words of the parts of a composition. No word is trained.
func NewUses(c *Composition) *Uses {
	u := &Uses{Trained: make([]bool, c.Words())}
	u.first, u.words = c.Users()
	for w := range c.Words() {
		u.weights = append(u.weights, c.Weight(uint32(w)))
	}
	return u
}

// UsesBytes is the memory of Uses.
func UsesBytes(c *Composition) int64 { return int64(5*c.Words() + 4*(c.PartCount()+1+len(c.Symbols))) }

// Fold joins n-grams that the same words have, as often, to one part each: all get the same gradient, so they would be trained
// alike. It is a third to a half of all n-grams. Word i has the n-grams ngrams[starts[i]:starts[i+1]], below n. parts are the
// parts of n-grams, numbered by their first ones, and sizes the n-grams of a part. A word has a part once for all its n-grams.
func Fold(starts, ngrams []uint32, n int) (parts, sizes, foldedStarts, symbols []uint32) {
	// N-grams of a class have occurred in the same words so far, equally often. A word moves its n-grams on to new classes.
	classes, next, words := make([]uint32, n), make([]uint32, 1, len(ngrams)+1), make([]uint32, 1, len(ngrams)+1)
	for i, begin := range starts[:len(starts)-1] {
		for _, u := range ngrams[begin:starts[i+1]] {
			class := classes[u]
			if word := uint32(i + 1); words[class] != word { // it is the first of the class there
				words[class], next[class] = word, uint32(len(next))
				words, next = append(words, 0), append(next, 0)
			}
			classes[u] = next[class]
		}
	}
	numbers := next // 1 + the part of each class
	clear(numbers)
	for _, class := range classes {
		if class == 0 || numbers[class] == 0 {
			sizes = append(sizes, 0)
			numbers[class] = uint32(len(sizes))
		}
		parts = append(parts, numbers[class]-1)
		sizes[numbers[class]-1]++
	}
	foldedStarts, symbols = make([]uint32, 1, len(starts)), words[:0]
	seen := make([]uint32, len(sizes)) // in a word
	for i, begin := range starts[:len(starts)-1] {
		word := ngrams[begin:starts[i+1]]
		for _, u := range word {
			if seen[parts[u]]%sizes[parts[u]] == 0 {
				symbols = append(symbols, parts[u])
			}
			seen[parts[u]]++
		}
		for _, u := range word {
			seen[parts[u]] = 0
		}
		foldedStarts = append(foldedStarts, uint32(len(symbols)))
	}
	return parts, sizes, foldedStarts, symbols
}
