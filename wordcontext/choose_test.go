package wordcontext

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
)

// At these sizes the tests count every occurrence, position and pair.
var smallSizes = []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 50}

func TestChooseIsUniform(t *testing.T) {
	const keys = 30000
	for _, n := range smallSizes {
		for _, size := range slices.Compact([]int{1, max(n/3, 1), max(n-1, 1)}) {
			kept := make([]int, n)
			pairs := make([]int, n*n)
			chosen := make([]uint64, 1)
			for key := range uint64(keys) {
				chosen[0] = 0
				choose(chosen, uint64(n), size, key, uint32(n))
				if bits.OnesCount64(chosen[0]) != size || chosen[0]>>n != 0 {
					t.Fatalf("%d of %d: bits %b", size, n, chosen[0])
				}
				for x := range n {
					if chosen[0]>>x&1 == 0 {
						continue
					}
					kept[x]++
					for y := range x {
						pairs[x*n+y] += int(chosen[0] >> y & 1)
					}
				}
			}
			name := fmt.Sprintf("%d of %d", size, n)
			checkBinomial(t, name+", kept", kept, keys, float64(size)/float64(n))
			var both []int
			for x := range n {
				both = append(both, pairs[x*n:x*n+x]...)
			}
			checkBinomial(t, name+", both kept", both, keys, float64(size)*float64(size-1)/float64(n*max(n-1, 1)))
		}
	}
}

// checkBinomial tests that each count is one of keys trials that succeed with
// probability p: none is more than 5.5 standard deviations off (4e-8 each).
func checkBinomial(t *testing.T, name string, counts []int, keys int, p float64) {
	t.Helper()
	mean, variance := float64(keys)*p, float64(keys)*p*(1-p)
	for x, count := range counts {
		off := float64(count) - mean
		if off*off > 5.5*5.5*variance+1e-6 {
			t.Errorf("%s: number %d came %d times in %d, want about %.0f", name, x, count, keys, mean)
		}
	}
}

// Each of 64 parts of a long row keeps about as many contexts as the others.
func TestChooseInLongRow(t *testing.T) {
	const n, size, keys = 1<<20 + 13, 1 << 14, 20
	counts := make([]int, 64)
	for key := range uint64(keys) {
		chosen := make([]uint64, n/64+1)
		choose(chosen, n, size, key, 5)
		total := 0
		for k, set := range chosen {
			ones := bits.OnesCount64(set)
			total += ones
			if k < len(chosen)-1 {
				counts[k*64/(len(chosen)-1)] += ones
			}
		}
		if total != size {
			t.Fatalf("kept %d, want %d", total, size)
		}
	}
	checkCounts(t, "parts of a long row", counts)
}

func TestShuffleIsUniform(t *testing.T) {
	const keys = 30000
	for _, n := range smallSizes {
		positions := make([]int, n*n) // (number, position)
		neighbours := newPairCounts(n)
		orders := map[string]int{}
		for key := range uint64(keys) {
			row := make([]uint16, n)
			for k := range row {
				row[k] = uint16(k)
			}
			shuffle(row, key, 3)
			for k, x := range row {
				positions[int(x)*n+k]++
			}
			if n > 1 {
				k := int(key) % (n - 1)
				neighbours.Add(uint32(row[k]), uint32(row[k+1]))
			}
			if n <= 5 {
				orders[fmt.Sprint(row)]++
			}
		}
		name := fmt.Sprintf("shuffle of %d", n)
		checkBinomial(t, name+", number at position", positions, keys, 1/float64(n))
		neighbours.Check(t, name+", neighbours")
		if n <= 5 {
			counts := []int{}
			for _, c := range orders {
				counts = append(counts, c)
			}
			if want := []int{1, 1, 2, 6, 24, 120}[n]; len(counts) != want {
				t.Errorf("%s: %d orders, want %d", name, len(counts), want)
			}
			checkCounts(t, name+", orders", counts)
		}
	}
}
