package wordcontext

import (
	"fmt"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
)

// fillAll returns the whole order, by fills of the given length.
func fillAll(o *roundOrder, length int) []uint32 {
	all := make([]uint32, o.n)
	for first := 0; first < len(all); first += length {
		o.Fill(all[first:min(first+length, len(all))], uint32(first))
	}
	return all
}

func TestOrderIsPermutation(t *testing.T) {
	sizes := []uint32{1000, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537, 1<<18 + 1}
	for n := uint32(1); n <= 300; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for round := uint32(1); round <= 3; round++ {
			var o roundOrder
			o.Set(42, corpus.StreamDuplicate.Sub(round), n+7, n)
			all := fillAll(&o, positionsPerFill)
			seen := make([]bool, n)
			for p, x := range all {
				if x >= n || seen[x] {
					t.Fatalf("n %d: position %d is %d, out of range or again", n, p, x)
				}
				seen[x] = true
			}
			for _, length := range []int{1, 17, 63} {
				if n < 2000 && !slices.Equal(fillAll(&o, length), all) {
					t.Fatalf("n %d: fills of %d give another order", n, length)
				}
			}
		}
	}
}

// Above smallOrder the order follows the definition in its comment.
func TestOrderDefinition(t *testing.T) {
	for _, n := range []uint32{65, 100, 128, 1000, 65537, 1<<30 - 1} {
		var o roundOrder
		o.Set(9, corpus.StreamDuplicate.Sub(2), 5, n)
		b := 0
		for 1<<b < n {
			b++
		}
		lowBits := (b + 1) / 2
		var key [4]uint64
		for k := range key {
			r := corpus.Philox(9, corpus.StreamDuplicate.Sub(2), 5<<32+uint64(k/2))
			key[k] = uint64(r[k%2*2+1])<<32 | uint64(r[k%2*2]) | 1
		}
		for p := range uint32(64) {
			x := uint64(p)
			for again := true; again; again = x >= uint64(n) {
				for step := range 4 {
					x = (x*key[step] + key[(step+2)%4]) % (1 << b)
					if step < 3 {
						hash := (x>>lowBits<<lowBits*key[step] + key[step+1]) >> 32
						x ^= hash % (1 << lowBits)
					}
				}
			}
			if got := o.At(p); got != uint32(x) {
				t.Fatalf("n %d: position %d is %d, want %d", n, p, got, x)
			}
		}
	}
}

func TestOrderIsUniform(t *testing.T) {
	t.Parallel() // go test ./... ends with this package, when processors are idle
	keys := 60000
	if testing.Short() {
		keys = 20000
	}
	sizes := append(slices.Clone(smallSizes), 63, 64, 65, 66, 96, 100, 127, 128, 129, 200, 255, 256, 257)
	for _, n := range sizes {
		if n < 2 {
			continue
		}
		// Neighbours at both ends and in the middle, and pairs far apart.
		pairs := [][2]int{{0, 1}, {n - 2, n - 1}, {n / 2, (n/2 + 1) % n}, {0, n / 2}, {n / 3, n - 1}}
		counts := make([]*pairCounts, len(pairs))
		var positions []int
		for k, pair := range pairs {
			counts[k] = newPairCounts(n)
			positions = append(positions, pair[:]...)
		}
		slices.Sort(positions)
		positions = slices.Compact(positions)
		entries := make([]uint32, n)
		for key := range keys {
			var o roundOrder
			// Seeds, rounds and rows must all give random orders.
			o.Set(uint64(key%100), corpus.StreamDuplicate.Sub(uint32(1+key/100%100)), uint32(key/10000), uint32(n))
			for _, position := range positions {
				entries[position] = o.At(uint32(position))
			}
			for k, pair := range pairs {
				if pair[0] != pair[1] {
					counts[k].Add(entries[pair[0]], entries[pair[1]])
				}
			}
		}
		for k, pair := range pairs {
			if pair[0] == pair[1] {
				continue
			}
			name := fmt.Sprintf("n %d, positions %v", n, pair)
			first := make([]int, n)
			for x := range n {
				for _, c := range counts[k].Counts[x*n : (x+1)*n] {
					first[x] += c
				}
			}
			checkCounts(t, name, first)
			counts[k].Check(t, name)
		}
	}
}
