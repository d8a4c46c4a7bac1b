package simd

// A Bijection maps the numbers of b bits to each other, in an order that looks random.
// Low has the lower (b+1)/2 bits set, High the others. The keys are odd.
type Bijection struct {
	Keys      [4]uint64
	Low, High uint32
}

// Scramble replaces every number of x by the one that the bijection maps it to:
//
//	for k, v := range x {
//		for s := range 4 {
//			v = v*uint32(Keys[s]) + uint32(Keys[(s+2)%4])
//			if s < 3 {
//				v ^= uint32((uint64(v&High)*Keys[s] + Keys[s+1]) >> 32) & Low
//			}
//		}
//		x[k] = v & (Low | High)
//	}
//
// Bits above the b lowest have no effect in any step.
func (b *Bijection) Scramble(x []uint32) {
	if eights := len(x) / 8; current != Go && eights > 0 {
		scramble(&x[0], eights, b)
		x = x[8*eights:]
	}
	b.scrambleGo(x)
}

func (b *Bijection) scrambleGo(x []uint32) {
	k0, k1, k2, k3 := b.Keys[0], b.Keys[1], b.Keys[2], b.Keys[3]
	low, high := b.Low, b.High
	for k, v := range x {
		v = v*uint32(k0) + uint32(k2)
		v ^= uint32((uint64(v&high)*k0+k1)>>32) & low
		v = v*uint32(k1) + uint32(k3)
		v ^= uint32((uint64(v&high)*k1+k2)>>32) & low
		v = v*uint32(k2) + uint32(k0)
		v ^= uint32((uint64(v&high)*k2+k3)>>32) & low
		v = v*uint32(k3) + uint32(k1)
		x[k] = v & (low | high)
	}
}
