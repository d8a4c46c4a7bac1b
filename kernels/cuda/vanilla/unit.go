package vanilla

import "slices"

// SegmentEntries is how many entries of a row are summed by one warp: a frequent word has
// thousands in a large minibatch.
const SegmentEntries = 32

// A Unit is a run of minibatches in the form that the kernels take. Make it with Add. It has the
// minibatches' numbers one after the other, so that a device gets them in few copies.
type Unit struct {
	width       int
	minibatches []minibatch

	lefts    []uint32 // left words, one a positive
	contexts []uint32 // rows of C, 1+K a left word
	entries  []uint32 // of a minibatch first by row of W, then by row of C: numbers of contexts in it
	segments []segment

	// Of composed words: of a minibatch its words, whose numbers lefts then are; the number of the word of a segment of W.
	composes     bool
	words, slots []uint32

	groups [2]grouping
}

// A minibatch is where a minibatch begins in the slices of a unit, and what it has.
type minibatch struct {
	left, segment   int // first of its
	lefts, segments int // how many
	segmentsOfWords int // the first of segments; the others are of C
	word, words     int // composed: the first, and how many
}

// A segment is a part of the entries of a row: vanilla.cu has it.
type segment struct {
	row, first, count uint32 // count's upper bit: of C
	parts             uint32 // segments of the row, if this is the first of them, else 0
}

const ofContexts = 1 << 31

// NewUnit returns a unit without minibatches, for tables of so many rows and K negatives. Its words are rows of W, or composed.
func NewUnit(rows, negatives int, composes bool) *Unit {
	u := &Unit{width: 1 + negatives, composes: composes}
	for i := range u.groups {
		u.groups[i].counts = make([]uint32, rows)
	}
	return u
}

// Minibatches returns how many there are.
func (u *Unit) Minibatches() int { return len(u.minibatches) }

// Pairs returns the number of pairs, positives and negatives.
func (u *Unit) Pairs() int { return len(u.contexts) }

// Reset removes the minibatches.
func (u *Unit) Reset() {
	u.minibatches, u.lefts, u.contexts = u.minibatches[:0], u.lefts[:0], u.contexts[:0]
	u.entries, u.segments, u.words, u.slots = u.entries[:0], u.segments[:0], u.words[:0], u.slots[:0]
}

// Add adds a minibatch: entry e = b(1+K)+k brings together row words[e] of W and row contexts[e]
// of C; k = 0 is a positive. The 1+K entries of a positive name the same row of W. It groups the
// entries by the rows that they change, those of a row in their order.
func (u *Unit) Add(words, contexts []uint32) {
	m := minibatch{left: len(u.lefts), segment: len(u.segments), lefts: len(words) / u.width}
	for e := 0; e < len(words); e += u.width {
		u.lefts = append(u.lefts, words[e])
	}
	u.contexts = append(u.contexts, contexts...)
	u.group(&u.groups[0], u.lefts[m.left:], u.width, 0)
	m.segmentsOfWords = len(u.segments) - m.segment
	u.group(&u.groups[1], contexts, 1, ofContexts)
	m.segments = len(u.segments) - m.segment
	if u.composes {
		u.number(&m)
	}
	u.minibatches = append(u.minibatches, m)
}

// number numbers the words of a minibatch in the order of their segments.
func (u *Unit) number(m *minibatch) {
	g := &u.groups[0]
	m.word, m.words = len(u.words), len(g.rows)
	u.words = append(u.words, g.rows...)
	slot := -1
	for _, s := range u.segments[m.segment:] { // those of C behind the others are not read
		if s.parts > 0 {
			slot++
		}
		u.slots = append(u.slots, uint32(slot))
	}
	for i, row := range g.rows {
		g.counts[row] = uint32(i)
	}
	lefts := u.lefts[m.left:]
	for i, row := range lefts {
		lefts[i] = g.counts[row]
	}
	for _, row := range g.rows {
		g.counts[row] = 0
	}
}

// A grouping is the scratch memory of Unit.group.
type grouping struct {
	counts []uint32 // of the entries of each row, all 0 between two calls; then where the next one goes
	rows   []uint32 // that have some, in order of first occurrence
}

// group appends the entries by row, and their segments. table marks them. A row of the list has so
// many entries, one after the other.
func (u *Unit) group(g *grouping, rows []uint32, entriesOf int, table uint32) {
	g.rows = g.rows[:0]
	for _, row := range rows {
		if g.counts[row] == 0 {
			g.rows = append(g.rows, row)
		}
		g.counts[row]++
	}
	all := len(rows) * entriesOf
	start := uint32(0)
	if table == ofContexts {
		start = uint32(all) // of the minibatch's entries, those by row of W come first
	}
	at := start
	for _, row := range g.rows {
		count := g.counts[row] * uint32(entriesOf)
		parts := (count + SegmentEntries - 1) / SegmentEntries
		for p := range parts {
			s := segment{row: row, first: at + p*SegmentEntries, count: min(count-p*SegmentEntries, SegmentEntries) | table}
			if p == 0 {
				s.parts = parts
			}
			u.segments = append(u.segments, s)
		}
		g.counts[row] = at - start
		at += count
	}
	base := len(u.entries)
	u.entries = slices.Grow(u.entries, all)[:base+all]
	entries, e := u.entries[base:], uint32(0)
	for _, row := range rows {
		to := g.counts[row]
		for range entriesOf {
			entries[to] = e
			to, e = to+1, e+1
		}
		g.counts[row] = to
	}
	for _, row := range g.rows {
		g.counts[row] = 0
	}
}

// Minibatch returns the left words of minibatch number i, and the rows of C that each of them meets:
// 1+K, of which the first is the positive.
func (u *Unit) Minibatch(i int) (lefts, contexts []uint32) {
	m := u.minibatches[i]
	lefts = u.lefts[m.left:][:m.lefts]
	if u.composes {
		lefts = slices.Clone(lefts)
		for i, word := range lefts {
			lefts[i] = u.words[m.word:][word]
		}
	}
	return lefts, u.contexts[m.left*u.width:][:m.lefts*u.width]
}

// unitBytes estimates the memory of the slices of a unit of so many positives.
func (c Options) unitBytes(positives int) int64 {
	entries, minibatches := int64(positives)*int64(c.width()), int64(positives/c.Batch+1)
	segments := min(minibatches*int64(mostSegments(c)), 2*entries)
	bytes := 4*int64(positives) + 12*entries + 16*segments
	if c.Encoder != nil {
		bytes += 4*int64(positives) + 4*segments
	}
	return bytes
}

// UnitBytes estimates the host's memory of so many units, each of so many positives at most.
func (c Options) UnitBytes(units, positives int) int64 {
	const grown = 5 // quarters: what append leaves free
	return int64(units) * (c.unitBytes(positives)*grown/4 + 8*int64(c.Rows))
}
