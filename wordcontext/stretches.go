package wordcontext

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A Stretch is some text that one iteration of large-batch CBOW trains on, and its
// word–context matrix: a row for each word that occurs, with the word's places, which are the
// centres of the windows that the word is predicted from.
//
// A place is a number below P. Words that have no neighbour after subsampling are not in a stretch.
type Stretch struct {
	Words []uint32 // (P): the word at each place
	// (P): the window of place p is the places From[p] ... To[p]-1 without p. It is not empty, and neighbours are in each
	// other's, so that each place is in a window, too.
	From, To []uint32

	Rows   []uint32 // (A): the words that occur, in ascending order
	Slots  []uint32 // (A+1): the places of word Rows[a] are Places[Slots[a]:Slots[a+1]]
	Places []uint32 // (P): ascending within a word

	// Shared negatives: (H) places whose windows are negatives for words, and (H) words that are
	// negatives for windows. Both are drawn from the stretch, spread evenly over its places; none
	// if the stretch is empty.
	NegativePlaces, NegativeWords []uint32

	Window int // the widest: places in a window are at most so far from its centre
	Tokens int // of the text, before subsampling
}

// StretchOptions are the choices that, with a corpus, define its stretches.
type StretchOptions struct {
	// Words is T, about how many words a stretch has, after subsampling. At least 1.
	Words int

	Window  int     // words on either side of a place, after subsampling. At least 1
	Dynamic bool    // draw the width of each window from 1 ... Window, as word2vec does
	Sample  float64 // see Options.Sample
	Shared  int     // H, shared negatives of either step
	Seed    uint64
}

// Stretches cuts a text into stretches, one for each iteration, without end. The text comes pass
// after pass, each subsampled anew, with the blocks of the text in a new pseudo-random order. A
// stretch is some blocks, so it may be a small part of a pass or several passes. Nothing
// is stored: any stretch can be read at any time, and follows from its number alone. The cost of an
// iteration thus depends on T, not on the length of the text.
//
// A block is some consecutive tokens, of which subsampling leaves about 50. Windows cross neither the end
// of a sentence nor that of a block. Blocks are short because stretches are then alike, and all of them
// like the text: with stretches of one piece, on a few subjects each, semantic analogies score 0.1 less.
type Stretches struct {
	corpus  *corpus.Corpus
	text    *corpus.Text
	options StretchOptions

	blockTokens, blocks int // tokens of a block; blocks of a pass
	blocksEach          int // blocks of a stretch
	capacity            int
}

// blockWords is about how many words subsampling leaves of a block. Blocks of 20 score as those of 50 do, of 1,000 less.
const blockWords = 50

// NewStretches prepares to read the stretches of a text.
func NewStretches(c *corpus.Corpus, o StretchOptions) (*Stretches, error) {
	switch {
	case o.Words < 1:
		return nil, fmt.Errorf("a stretch has %d words; it must have at least 1", o.Words)
	case o.Window < 1 || o.Window > maxWindow:
		return nil, fmt.Errorf("window is %d; it must be from 1 to %d", o.Window, maxWindow)
	case o.Shared < 1:
		return nil, fmt.Errorf("%d shared negatives; stretches need at least 1", o.Shared)
	}
	if err := CheckSample(c.Vocabulary, o.Sample); err != nil {
		return nil, err
	}
	s := &Stretches{corpus: c, text: c.Text(), options: o}
	s.cut(s.text.Tokens(), KeptFraction(c.Vocabulary, o.Sample))
	// The rest of a stretch that is longer by chance is left out: more than four standard deviations.
	s.capacity = o.Words + o.Words/16 + 4*blockWords
	return s, nil
}

// cut sets the blocks of a text of so many tokens, of which subsampling keeps a fraction.
func (s *Stretches) cut(tokens int, kept float64) {
	s.blockTokens = min(int(blockWords/kept), tokens)
	s.blocks = (tokens + s.blockTokens - 1) / s.blockTokens
	s.blocksEach = max(int(float64(s.options.Words)/kept/float64(s.blockTokens)+.5), 1)
}

// EstimateStretch returns how many tokens of a text with a vocabulary a stretch takes on average, and how many of
// them subsampling keeps.
func EstimateStretch(v *corpus.Vocabulary, o StretchOptions) (tokens, kept float64) {
	s, fraction, all := &Stretches{options: o}, KeptFraction(v, o.Sample), int(v.Total())
	s.cut(all, fraction)
	tokens = float64(s.blocksEach) * float64(all) / float64(s.blocks)
	return tokens, tokens * fraction
}

// KeptFraction is the expected fraction of a text's tokens that subsampling keeps; v is its vocabulary.
func KeptFraction(v *corpus.Vocabulary, sample float64) float64 {
	var kept, all float64
	thresholds := corpus.KeepThresholds(v.Counts, sample)
	for i, n := range v.Counts {
		kept += float64(n) * (float64(thresholds[i]) + 1) / (1 << 32)
		all += float64(n)
	}
	return kept / all
}

// leastKept is the smallest fraction of a text that subsampling may keep. Reading a stretch takes time for what it discards, too.
const leastKept = 1e-3

// CheckSample refuses subsampling that keeps nearly nothing of a text: a unit would take for ever.
func CheckSample(v *corpus.Vocabulary, sample float64) error {
	kept := KeptFraction(v, sample)
	if kept >= leastKept {
		return nil
	}
	return fmt.Errorf("--sample %g keeps about %.2g of the %s words of the text, fewer than one in %g: raise it, or keep all words with 0",
		sample, kept*float64(v.Total()), terminal.Number(v.Total()), 1/leastKept)
}

// Capacity is the most places of a stretch.
func (s *Stretches) Capacity() int { return s.capacity }

// Rows is V, the words of the vocabulary.
func (s *Stretches) Rows() int { return s.corpus.Vocabulary.Len() }

// Tokens returns how many tokens of the text a stretch takes on average, before subsampling.
func (s *Stretches) Tokens() float64 {
	return float64(s.blocksEach) * float64(s.text.Tokens()) / float64(s.blocks)
}

// HasContexts reports whether a stretch has a word with a context, of the first hundred.
func (s *Stretches) HasContexts() bool {
	r, x := s.Reader(), &Stretch{}
	for i := range 100 {
		if r.Read(i, x); len(x.Words) > 0 {
			return true
		}
	}
	return false
}

// Options returns the options.
func (s *Stretches) Options() StretchOptions { return s.options }

// Bytes returns the memory of a Stretch and of a reader.
func (s *Stretches) Bytes() (stretch, reader int64) {
	v, t := int64(s.Rows()), int64(s.capacity)
	return 4 * (4*t + 2*min(v, t) + 2*int64(s.options.Shared)), 4*v + v/8
}

// A StretchReader reads stretches. It serves one goroutine.
type StretchReader struct {
	*Stretches
	sentences *corpus.SentenceReader
	order     roundOrder // of the blocks of a pass
	pass      int        // that has this order; -1: none yet
	ahead     [blocksAhead]uint32
	starts    [blocksAhead]uint32 // the sentences that these begin in
	touched   uint32              // by all that was read; without meaning

	counts []uint32 // (V): places of each word, then where its next place goes; 0 between stretches
	occur  []uint64 // (V) bits: which words occur; 0 between stretches
	bits   []uint32 // scratch
}

// Reader returns a reader. Different goroutines need different ones.
func (s *Stretches) Reader() *StretchReader {
	o := s.options
	return &StretchReader{
		Stretches: s, pass: -1, counts: make([]uint32, s.Rows()), occur: make([]uint64, (s.Rows()+63)/64),
		sentences: corpus.NewSentenceReader(s.corpus, corpus.SentenceOptions{Seed: o.Seed, Sample: o.Sample, Window: o.Window, Dynamic: o.Dynamic}),
	}
}

// Read reads the stretch of an iteration into dst, whose memory it uses.
func (r *StretchReader) Read(iteration int, dst *Stretch) {
	dst.Words, dst.From, dst.To, dst.Tokens = dst.Words[:0], dst.From[:0], dst.To[:0], 0
	dst.Window = r.options.Window
	first := iteration * r.blocksEach
	for b, end := first, first+r.blocksEach; b < end; {
		pass, number := b/r.blocks, b%r.blocks
		n := min(blocksAhead, end-b, r.blocks-number)
		r.readBlocks(pass, number, n, dst)
		b += n
	}
	r.text.GiveBack() // where sentences start: words of a file are not mapped
	r.sortPlaces(dst)
	dst.NegativePlaces = r.drawPlaces(dst.NegativePlaces, iteration, 0, len(dst.Words))
	dst.NegativeWords = r.drawPlaces(dst.NegativeWords, iteration, 1, len(dst.Words))
	for k, place := range dst.NegativeWords {
		dst.NegativeWords[k] = dst.Words[place]
	}
}

// blocksAhead is how many blocks are looked for at a time. Each is elsewhere in the text, and of a text that is larger than the caches its
// tokens take long to come: so those of many come together.
const blocksAhead = 32

// readBlocks appends n blocks, those from a number on in the order of a pass.
func (r *StretchReader) readBlocks(pass, number, n int, dst *Stretch) {
	if r.pass != pass {
		r.order.Set(r.options.Seed, corpus.StreamShuffle.Sub(uint32(pass)), 0, uint32(r.blocks))
		r.pass = pass
	}
	blocks := r.ahead[:n]
	r.order.Fill(blocks, uint32(number))
	r.touched += r.text.Touch(blocks, r.blockTokens)
	r.text.Containing(blocks, r.blockTokens, r.starts[:])
	for i, block := range blocks {
		r.readBlock(pass, int(block)*r.blockTokens, int(r.starts[i]), dst)
	}
}

// readBlock appends the block that starts at a token of a sentence.
func (r *StretchReader) readBlock(pass, first, sentence int, dst *Stretch) {
	end := min(first+r.blockTokens, r.text.Tokens())
	dst.Tokens += end - first
	for ; first < end; sentence++ {
		last := min(r.text.Start(sentence+1), end)
		words, widths := r.sentences.Tokens(uint32(pass), first, last)
		if words = words[:min(len(words), r.capacity-len(dst.Words))]; len(words) > 1 {
			r.append(words, widths, dst)
		}
		first = last
	}
}

// append appends the words of a sentence in a block, two or more.
func (r *StretchReader) append(words, widths []uint32, dst *Stretch) {
	base, end, size := len(dst.Words), len(dst.Words)+len(words), r.options.Window
	dst.Words = append(dst.Words, words...)
	dst.From, dst.To = slices.Grow(dst.From, len(words))[:end], slices.Grow(dst.To, len(words))[:end]
	from, to := dst.From[base:end], dst.To[base:end]
	for t := range words {
		if widths != nil {
			size = int(widths[t])
		}
		first, last := window(t, len(words), size)
		from[t], to[t] = uint32(base+first), uint32(base+last+1)
	}
	counts, occur := r.counts, r.occur
	for _, word := range words {
		counts[word]++
		occur[word/64] |= 1 << (word % 64)
	}
}

func (r *StretchReader) sortPlaces(dst *Stretch) {
	dst.Rows, dst.Slots = dst.Rows[:0], append(dst.Slots[:0], 0)
	for i, set := range r.occur {
		for ; set != 0; set &= set - 1 {
			word := uint32(64*i + bits.TrailingZeros64(set))
			start := dst.Slots[len(dst.Rows)]
			dst.Rows, dst.Slots = append(dst.Rows, word), append(dst.Slots, start+r.counts[word])
			r.counts[word] = start
		}
		r.occur[i] = 0
	}
	dst.Places = memory.Resize(dst.Places, len(dst.Words))
	places, next := dst.Places, r.counts
	for place, word := range dst.Words {
		places[next[word]] = uint32(place)
		next[word]++
	}
	for _, word := range dst.Rows {
		r.counts[word] = 0
	}
}

// drawPlaces draws H of so many places, one from each of H parts of equal length, for a step, 0 or 1.
func (r *StretchReader) drawPlaces(dst []uint32, iteration, step, places int) []uint32 {
	if places == 0 {
		return dst[:0]
	}
	h := r.options.Shared
	if cap(r.bits) < h {
		r.bits = make([]uint32, h)
	}
	random := r.bits[:h]
	simd.Philox(random, r.options.Seed, uint64(corpus.StreamNegatives.Sub(uint32(2*iteration+step))), 0)
	dst = dst[:0]
	for k, x := range random {
		// (k + x/2^32) · places / H, rounded down
		dst = append(dst, uint32((uint64(k)<<32|uint64(x))/uint64(h)*uint64(places)>>32))
	}
	return dst
}
