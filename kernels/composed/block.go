package composed

import (
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A Block holds the rows of the words of a stretch of text while a thread trains it. The rows
// are few and lie together, so that they stay in the processor's cache. Several threads may
// have blocks of one composition at a time; what they add to its rows then meets without locks.
type Block struct {
	composer Composer
	words    []uint32  // of the block, in the order of their first use
	parts    []uint32  // of these words
	rows     []float32 // (words, N): W
	before   []float32 // (words, N): as they were composed
	row      []uint32  // (V): 1 + row of a word; 0: none
	users    []uint32  // (U): n_g; 0 between blocks
	threads  int
	undamped float32   // m
	rates    []float32 // scratch: r_g of a word
}

// NewBlock returns an empty block of a thread of several.
func NewBlock(c *Composition, threads int) *Block {
	return &Block{
		composer: Composer{Composition: c}, threads: threads,
		row: make([]uint32, c.Words()), users: make([]uint32, c.PartCount()),
	}
}

// BlockBytes estimates the memory of a block of so many tokens, of which fewer than a third are
// different words in usual texts.
func BlockBytes(c *Composition, tokens int) int64 {
	rows := int64(min(tokens/3, c.Words()))
	parts := int64(len(c.Symbols)) * rows / int64(c.Words())
	return 4 * (int64(c.Words()) + rows*(2*int64(c.Dim)+1) + parts + int64(c.PartCount()))
}

// Begin composes the rows of all words of a text, and writes the row of each of its tokens to
// dst, which is as long. It returns the table of the rows, live until Begin is called again.
func (b *Block) Begin(dst, tokens []uint32) (rows []float32) {
	for i, word := range tokens {
		if b.row[word] == 0 {
			b.words = append(b.words, word)
			b.row[word] = uint32(len(b.words))
		}
		dst[i] = b.row[word] - 1
	}
	n := b.composer.Dim
	b.rows, b.before = resize(b.rows, len(b.words)*n), resize(b.before, len(b.words)*n)
	b.listParts()
	at := 0 // in b.parts
	for i, word := range b.words {
		parts := len(b.composer.Of(word))
		b.fetchOwn(i + ownAhead)
		b.composer.Compose(b.rows[i*n:][:n], word, b.next(at, parts))
		at += parts
	}
	copy(b.before, b.rows)
	return b.rows
}

// resize is memory.Resize, for tables.
func resize(x []float32, n int) []float32 {
	if n > cap(x) {
		return memory.Floats(n + n/4)[:n]
	}
	return x[:n]
}

// listParts lists the parts of all words of the block, one word's after another's.
func (b *Block) listParts() {
	b.parts = b.parts[:0]
	for _, word := range b.words {
		b.parts = append(b.parts, b.composer.Of(word)...)
	}
}

// Memory takes as long as so many rows of parts, or rows of words.
const (
	partsAhead = 24
	ownAhead   = 2
)

// next returns count parts that come soon behind number at of the list; none near its end.
func (b *Block) next(at, count int) []uint32 {
	if at += partsAhead; at+count <= len(b.parts) {
		return b.parts[at : at+count]
	}
	return nil
}

// fetchOwn asks memory for the own row of word number i of the block, if there is one.
func (b *Block) fetchOwn(i int) {
	if c := b.composer.Composition; c.Own != nil && i < len(b.words) {
		simd.PrefetchForUpdate(c.Own, b.words[i:i+1], c.Dim)
	}
}

// End adds what has changed in the rows, at a learning rate, to their parts and own rows, and
// empties the block.
func (b *Block) End(rate float32) {
	c, n := b.composer.Composition, b.composer.Dim
	b.undamped = c.Undamped(rate, b.threads)
	simd.AddScaled(b.rows, b.before, -1) // Δ
	b.keepChanged()
	b.listParts()
	for _, g := range b.parts {
		b.users[g]++
	}
	at := 0 // in b.parts
	for i, word := range b.words {
		parts := c.Of(word)
		b.setRates(parts)
		b.fetchOwn(i + ownAhead)
		b.composer.Spread(word, b.rows[i*n:][:n], b.rates, b.next(at, len(parts)))
		at += len(parts)
	}
	for _, g := range b.parts {
		b.users[g] = 0
	}
	b.words = b.words[:0]
}

// keepChanged forgets the rows of all words, and keeps words and changes of those that changed.
func (b *Block) keepChanged() {
	n, kept := b.composer.Dim, 0
	for i, word := range b.words {
		b.row[word] = 0
		change := b.rows[i*n:][:n]
		if !slices.ContainsFunc(change, func(x float32) bool { return x != 0 }) {
			continue
		}
		if kept < i {
			copy(b.rows[kept*n:][:n], change)
		}
		b.words[kept] = word
		kept++
	}
	b.words = b.words[:kept]
}

// setRates sets b.rates to r_g of the parts of a word.
func (b *Block) setRates(parts []uint32) {
	b.rates = memory.Resize(b.rates, len(parts))
	for k, g := range parts {
		b.rates[k] = b.composer.Rate
		if n := float32(b.users[g]); n > b.undamped {
			b.rates[k] *= b.undamped / n
		}
	}
}
