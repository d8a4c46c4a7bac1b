package wordcontext

import (
	"math"
	"testing"
)

// checkCounts tests that the counts are draws of cells of equal probability. It
// fails if their chi-square is too large by a probability of about 1e-7 (5.2
// standard deviations by Wilson and Hilferty's approximation) or too small by
// the same probability: counts that are too even are not random either. With some
// thousand calls in the tests of M and fixed seeds, a failure is no chance.
func checkCounts(t testing.TB, name string, counts []int) {
	t.Helper()
	const limit = 5.2
	if z := deviation(counts); math.Abs(z) > limit {
		t.Errorf("%s: chi-square of %d cells is off by %.1f standard deviations", name, len(counts), z)
	}
}

func deviation(counts []int) float64 {
	if len(counts) < 2 {
		return 0
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	expected := float64(total) / float64(len(counts))
	sum := 0.0
	for _, n := range counts {
		sum += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	free := float64(len(counts) - 1)
	return (math.Cbrt(sum/free) - (1 - 2/(9*free))) / math.Sqrt(2/(9*free))
}

// pairCounts counts pairs of different numbers below n.
type pairCounts struct {
	n      int
	Counts []int // (x, y) at x·n + y
}

// newPairCounts counts pairs of numbers below n.
func newPairCounts(n int) *pairCounts { return &pairCounts{n, make([]int, n*n)} }

func (p *pairCounts) Add(x, y uint32) { p.Counts[int(x)*p.n+int(y)]++ }

// checkCounts tests that all pairs, and all differences x - y mod n and x xor y, are
// equally likely. The differences show much smaller faults.
func (p *pairCounts) Check(t testing.TB, name string) {
	t.Helper()
	var pairs []int
	differences := make([]int, p.n)
	size := 1
	for size < p.n {
		size *= 2
	}
	xors, xorPairs := make([]int, size), make([]int, size)
	for x := range p.n {
		for y := range p.n {
			c := p.Counts[x*p.n+y]
			if x == y {
				if c > 0 {
					t.Errorf("%s: %d came twice", name, x)
				}
				continue
			}
			pairs = append(pairs, c)
			differences[(x-y+p.n)%p.n] += c
			xors[x^y] += c
			xorPairs[x^y]++
		}
	}
	checkCounts(t, name+", pairs", pairs)
	checkCounts(t, name+", differences", differences[1:])
	if size == p.n { // every xor stands for the same number of pairs
		checkCounts(t, name+", xors", xors[1:])
	}
}
