// Package composed has rows of W that are composed of shared parts, the character n-grams of fastText. It is all that the
// program knows of such rows, in every mode and on every device.
//
// Start with [Composition], which says what a row of W is. A [Composer] composes rows. What a row learns goes to its parts in
// one of two ways: the modes of W2V-CL sum up gradients, part by part ([Composer.Gradient]); sentence-ordered modes add up
// changes, word by word ([Block]): the rows of a stretch of the text are composed once, trained like any others, and what
// changed in them goes to their parts at the end.
//
// # Why blocks train as fastText does
//
// In fastText (Bojanowski et al. 2017, and its program) the vector of word w is the mean of its
// own row and of the rows of its n-grams, G of them:
//
//	W_w = (o_w + Σ z_g) / (1+G)
//
// and a step adds a to o_w and to every z_g, not a/(1+G). So W_w itself moves by a: as much as
// at word level. A word may thus be trained at word level for a while, and the sum of its steps,
// Δ_w, may be added to its rows later: W_w is then what it was trained to be. Only what other
// words with the same n-grams learn of it is late, by the length of a block.
package composed

import (
	"fmt"
	"math"
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Composition says how the rows of W are composed of the rows of parts, z, and of words' own
// rows, o. Word w has the parts Symbols[Starts[w]:Starts[w+1]]; part g stands for s_g n-grams that the
// same words have, and that training therefore keeps the same. G is the number of a word's n-grams, Σ s_g.
//
//	W_w = (o_w + Σ s_g z_g) / (1+G)  g: parts of w; without own rows Σ s_g z_g / G
//
// In a [Block], a change Δ_w of W_w goes to part g at the rate
//
//	r_g = Rate min(1, m/n_g)
//
// and the rest to the own row ([Composer.Spread]), so that W_w is what it was trained to be. n_g counts the words with part g
// that changed in the block, each as often as it has it. With Rate 1 and few words this is fastText; at 0 training is that of
// word level. m keeps the sum of the changes of many words, which know nothing of each other, from going too far; see Undamped.
type Composition struct {
	Dim     int       // N
	Starts  []uint32  // (V+1)
	Symbols []uint32  // below U
	Sizes   []uint32  // s, (U), at least 1; nil: each part stands for itself alone
	Parts   []float32 // z, (U, N); live
	Own     []float32 // o, (V, N); live; nil: words have no rows of their own
	Rate    float32   // of parts, above 0; in cl a factor of their learning rate
	Most    float32   // m of one or two threads at soundRate; 0: any number

	Randomize func(seed uint64) // starts Parts and Own
}

// Most is a good value of Composition.Most. On 17 million words 8 are sound on 16 threads in blocks of 4,096 tokens, and 64
// diverge. On a GPU, which counts as one thread, so are 32 in blocks of 32,768 tokens; in blocks of 131,072 they diverge.
func Most(onGPU bool) float32 {
	if onGPU {
		return 32
	}
	return 16
}

// soundRate is the learning rate for which Most holds.
const soundRate = 0.025

// Undamped returns m: how many words of a block change a part undamped. It is the lower, the more
// threads have blocks at the same time and the higher the learning rate: what is too far is m times the rate. So it grows
// while the rate falls, without which words' own rows learn most of a long run, and syntactic questions lose.
func (c *Composition) Undamped(rate float32, threads int) float32 {
	if c.Most == 0 {
		return math.MaxFloat32
	}
	return max(1, c.Most*soundRate/rate/max(1, float32(threads)/2))
}

// Words is V.
func (c *Composition) Words() int { return len(c.Starts) - 1 }

// PartCount is U.
func (c *Composition) PartCount() int { return len(c.Parts) / c.Dim }

// Empty returns the composition with tables of its own, which are zeros.
func (c *Composition) Empty() *Composition {
	x := *c
	x.Parts, x.Randomize = memory.Floats(len(c.Parts)), func(uint64) {}
	if c.Own != nil {
		x.Own = memory.Floats(len(c.Own))
	}
	return &x
}

// TableBytes is the memory of the parts' and the words' own rows.
func (c *Composition) TableBytes() int64 { return 4 * int64(len(c.Parts)+len(c.Own)) }

// Check returns why a composition cannot be trained: kernels do not look.
func (c *Composition) Check() error {
	v, n := c.Words(), c.Dim
	switch {
	case n < 1 || v < 1 || c.Randomize == nil:
		return fmt.Errorf("a composition of %d words of dimension %d is not whole", v, n)
	case c.Own != nil && len(c.Own) != v*n:
		return fmt.Errorf("%d values of %d words' own rows of dimension %d", len(c.Own), v, n)
	case len(c.Parts)%n != 0 || c.Starts[0] != 0 || int(c.Starts[v]) != len(c.Symbols):
		return fmt.Errorf("%d values of parts, or %d symbols, are not those of %d words", len(c.Parts), len(c.Symbols), v)
	case !(c.Rate > 0) || !(c.Most >= 0):
		return fmt.Errorf("parts have the rate %v and sums of up to %v words", c.Rate, c.Most)
	}
	for w := range v {
		if c.Starts[w] > c.Starts[w+1] {
			return fmt.Errorf("word %d begins behind its end", w)
		}
		if c.Own == nil && c.Starts[w] == c.Starts[w+1] {
			return fmt.Errorf("word %d has no parts and no row of its own", w)
		}
	}
	if c.Sizes != nil && (len(c.Sizes) != len(c.Parts)/n || slices.Contains(c.Sizes, 0)) {
		return fmt.Errorf("%d sizes of %d parts, or a part that stands for nothing", len(c.Sizes), len(c.Parts)/n)
	}
	for _, s := range c.Symbols {
		if uint64(s) >= uint64(len(c.Parts)/n) {
			return fmt.Errorf("part %d of %d", s, len(c.Parts)/n)
		}
	}
	return nil
}

// Of returns the parts of a word.
func (c *Composition) Of(word uint32) []uint32 { return c.Symbols[c.Starts[word]:c.Starts[word+1]] }

// Size is how many n-grams a part stands for.
func (c *Composition) Size(part uint32) float32 {
	if c.Sizes == nil {
		return 1
	}
	return float32(c.Sizes[part])
}
