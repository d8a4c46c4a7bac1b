package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Every level gives the numbers of the definition, of which no two are equal, and
// touches no others.
func TestScramble(t *testing.T) {
	eachLevel(t, func(t *testing.T, r *rand.Rand) {
		for bits := 1; bits <= 32; bits++ {
			mask := uint32(1<<bits - 1)
			b := Bijection{Keys: [4]uint64{r.Uint64() | 1, r.Uint64() | 1, r.Uint64() | 1, r.Uint64() | 1}, Low: 1<<((bits+1)/2) - 1}
			b.High = mask &^ b.Low
			for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 64, 100} {
				all := make([]uint32, n+16)
				for k := range all {
					all[k] = r.Uint32() & mask
				}
				want := slices.Clone(all)
				for k, v := range want[8 : 8+n] {
					want[8+k] = scrambled(&b, bits, v)
				}
				b.Scramble(all[8 : 8+n])
				if !slices.Equal(all, want) {
					t.Fatalf("%d numbers of %d bits: %v, want %v", n, bits, all, want)
				}
			}
			if bits > 12 {
				continue
			}
			x := make([]uint32, 1<<bits)
			for k := range x {
				x[k] = uint32(k)
			}
			b.Scramble(x)
			slices.Sort(x)
			for k, v := range x {
				if v != uint32(k) {
					t.Fatalf("%d bits: %d comes twice or not at all", bits, k)
				}
			}
		}
	})
}

// scrambled is the definition with remainders instead of masks.
func scrambled(b *Bijection, bits int, v uint32) uint32 {
	size, low := uint64(1)<<bits, uint64(1)<<((bits+1)/2)
	x := uint64(v)
	for s := range 4 {
		x = (x*b.Keys[s] + b.Keys[(s+2)%4]) % size
		if s < 3 {
			x ^= (x/low*low*b.Keys[s] + b.Keys[s+1]) >> 32 % low
		}
	}
	return uint32(x)
}
