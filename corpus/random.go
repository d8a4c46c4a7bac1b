package corpus

// Philox is the one source of randomness in w2vcl: the counter-based generator
// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
// SC 2011). It has no state. The same seed, stream and counter give the same
// 128 bits on every device, so a value depends neither on the thread that asks
// for it nor on earlier calls.
//
// The generator's key is the seed. Its 128-bit counter has counter in the low 64
// bits and stream in the high 64 bits; the result has the low 32 bits first.
func Philox(seed uint64, stream Stream, counter uint64) [4]uint32 {
	const (
		m0, m1 = 0xD2511F53, 0xCD9E8D57 // multipliers
		w0, w1 = 0x9E3779B9, 0xBB67AE85 // Weyl increments of the key
	)
	c0, c1 := uint32(counter), uint32(counter>>32)
	c2, c3 := uint32(stream), uint32(stream>>32)
	k0, k1 := uint32(seed), uint32(seed>>32)
	for range 5 { // two rounds each, which leave every number in its place
		p0, p1 := uint64(m0)*uint64(c0), uint64(m1)*uint64(c2)
		d0, d2 := uint32(p1>>32)^c1^k0, uint32(p0>>32)^c3^k1
		k0, k1 = k0+w0, k1+w1
		q0, q1 := uint64(m0)*uint64(d0), uint64(m1)*uint64(d2)
		c0, c1 = uint32(q1>>32)^uint32(p1)^k0, uint32(q1)
		c2, c3 = uint32(q0>>32)^uint32(p0)^k1, uint32(q0)
		k0, k1 = k0+w0, k1+w1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// A Stream keeps independent uses of one seed apart. The high 32 bits number the
// use. The low 32 bits are free for the user of the stream (a pass, a step);
// Stream.Sub sets them.
type Stream uint64

// The streams of the project: this is the only list. A number, once used, never
// gets another purpose, because old runs must stay repeatable.
const (
	StreamInitWords   Stream = 1 << 32  // initial words W
	StreamSubsample   Stream = 3 << 32  // subsampling, Sub(pass)
	StreamWindow      Stream = 4 << 32  // widths of dynamic windows, Sub(pass)
	StreamDiscard     Stream = 5 << 32  // the contexts that a row of M keeps, and their order, Sub(row)
	StreamDuplicate   Stream = 6 << 32  // order of the later rounds over a row of M, Sub(round)
	StreamNegatives   Stream = 7 << 32  // negatives, Sub(step, unit or epoch)
	StreamShuffle     Stream = 8 << 32  // order of the blocks of a text in stretches, Sub(pass)
	StreamRedraws     Stream = 9 << 32  // negatives in place of those that equal the positive, Sub(epoch)
	StreamInitEncoder Stream = 10 << 32 // initial parameters of an encoder, Sub(parameter)
	StreamWalk        Stream = 11 << 32 // random walks, Sub(round); the choice of held-out edges, Sub(1<<32-1)
	StreamRounding    Stream = 12 << 32 // rounding of moments to half precision on a GPU, Sub(step)
	StreamPhase       Stream = 13 << 32 // phases of the rows of M
	StreamShared      Stream = 14 << 32 // negatives that all rows share; see Alias.DrawSpread
	StreamEstimate    Stream = 20 << 32 // contexts in a matrix M that stands in for one that is not there
	StreamEntries     Stream = 22 << 32 // order of a row's counts in GloVe, Sub(twice the epoch, and one for contexts)
)

// Sub returns the stream with its free low 32 bits set to n.
func (s Stream) Sub(n uint32) Stream { return s>>32<<32 | Stream(n) }

// Below maps 32 random bits to [0, n) by a multiplication instead of a division,
// with a bias of at most n/2^32 (Lemire, "Fast Random Integer Generation in an
// Interval", ACM TOMACS 29(1), 2019).
func Below(bits, n uint32) uint32 {
	return uint32(uint64(bits) * uint64(n) >> 32)
}
