package sequential

import "github.com/w2vcl/w2vcl/kernels/simd"

// copies are a thread's copies of the rows of C of the most frequent words, where
// many threads train.
//
// A row that every thread changes travels from one core's cache to the next, and
// threads wait for it: with 16 threads longer than the arithmetic takes. Every
// second output in an English text is one of its 2,048 most frequent words, so
// each thread trains copies of these rows, which stay with its core. After some
// uses of a copy the thread adds its changes to the row, and takes over the row
// with the changes of the others (simd.Exchange).
//
// So a thread changes a row before it has seen the last changes of the others.
// Without copies it does, too, but misses fewer. Hogwild converges while these
// are few (Recht et al. 2011, section 4, τ). Hence the bound counts uses, whatever
// the word's frequency: with one interval for all words threads miss thousands of
// uses of the most frequent ones, and the sum of their changes diverges. A thread
// that hardly uses a word catches up at the end of the unit.
//
// The copies lie behind C in one table, so all code that trains takes them for
// rows like any others. Rows of W have no copies: a window has only one new
// input, so copies would not be faster, and the loss is higher.
type copies struct {
	table  []float32 // C, (V, N), then the copies of each thread, (count, N)
	before []float32 // (count, N): the rows of C as they were when taken over
	dim    int
	count  uint32   // words 0 ... count-1, the most frequent, have copies
	first  uint32   // row of the copy of word 0
	most   uint32   // uses of a copy until it is exchanged
	uses   []uint32 // of each copy since then
	due    []uint32 // words whose copies are exchanged after the next product
}

const (
	// usesApart is how many uses of a row all threads together have not yet
	// added to it, at most. Four times as many cost no quality on a text of
	// 100 MB either; twice as many are some 5% faster.
	usesApart = 64

	// fewestThreads that have copies. With two it is not faster.
	fewestThreads = 8

	// copiedFloats is the size of a thread's copies at most; with their values of
	// before they are twice as much, which fills a second-level cache of 2 MB.
	copiedFloats = 256 << 10

	// tokensOfCopy is how many tokens of a unit a thread must have for each
	// copy: copies are made anew in each unit.
	tokensOfCopy = 8
)

// copiedWords returns how many words each thread has copies of, in a vocabulary of
// a given size and units of so many tokens. With composed words threads miss each other's changes for the length of
// a block already. With copies as well the loss is higher, and 16 threads diverge in some modes.
func copiedWords(words, unit int, c *Options) int {
	if c.Threads < fewestThreads || c.Threads > usesApart/2 || c.Composition != nil {
		return 0
	}
	return min(words, copiedFloats/c.Dim, unit/c.Threads/tokensOfCopy)
}

// newCopies returns the copies of a thread, in a table that begins with the rows
// of so many words.
func newCopies(table []float32, words, count, thread int, c *Options) *copies {
	return &copies{
		table: table, before: make([]float32, count*c.Dim), dim: c.Dim,
		count: uint32(count), first: uint32(words + thread*count),
		most: uint32(usesApart / c.Threads), uses: make([]uint32, count),
	}
}

// rows replaces words by the rows that this thread trains for them.
func (c *copies) rows(words []uint32) {
	if c.count == 0 {
		return
	}
	for i, word := range words {
		words[i] = c.row(word)
	}
}

// row returns the row that this thread trains for a word.
func (c *copies) row(word uint32) uint32 {
	if word < c.count {
		word += c.first
	}
	return word
}

// used counts a product's outputs, after it, and exchanges the copies that were
// due at the product before: their rows have been fetched since.
func (c *copies) used(outputs []uint32) {
	if c.count == 0 {
		return
	}
	for _, word := range c.due {
		c.exchange(word)
	}
	c.due = c.due[:0]
	for _, row := range outputs {
		if row < c.first {
			continue
		}
		word := row - c.first
		if c.uses[word]++; c.uses[word] == c.most {
			c.due = append(c.due, word)
			last := c.due[len(c.due)-1:]
			simd.PrefetchForUpdate(c.table, last, c.dim)
			simd.PrefetchForUpdate(c.before, last, c.dim)
		}
	}
}

func (c *copies) exchange(word uint32) {
	simd.Exchange(c.values(c.table, word), c.values(c.table, c.first+word), c.values(c.before, word))
	c.uses[word] = 0
}

func (c *copies) values(table []float32, row uint32) []float32 {
	return table[int(row)*c.dim:][:c.dim]
}

// take makes the copies anew.
func (c *copies) take() {
	n := int(c.count) * c.dim
	copy(c.before, c.table[:n])
	copy(c.table[int(c.first)*c.dim:][:n], c.before)
	clear(c.uses)
	c.due = c.due[:0]
}

// settle adds what has changed in the copies of the words from first to end to
// their rows. Other threads may settle other words meanwhile.
func (c *copies) settle(first, end uint32) {
	for word := first; word < end; word++ {
		if c.uses[word] > 0 {
			c.exchange(word)
		}
	}
}
