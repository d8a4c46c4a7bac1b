//go:build gpu

package cl

import (
	"fmt"
	"testing"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

// share gives all rows the same negatives.
func share(c *Options, noise *corpus.Alias, negatives int) {
	c.SharedNegatives = negatives
	c.DrawShared = func(dst []uint32, iteration, step int) { noise.DrawSpread(dst, c.Seed, iteration, step) }
}

// Groups that share the rows train the tables that one device trains, to the bit: with tempered samples, shared
// negatives and half precision.
func TestGroupRows(t *testing.T) {
	testGroupRows(t, false)
}

// So they do on GPUs that run PTX.
func TestGroupRowsPortable(t *testing.T) {
	testGroupRows(t, true)
}

func testGroupRows(t *testing.T, portable bool) {
	devices := map[int][]*cuda.Device{}
	for _, count := range []int{1, 2, 4, 8} {
		devices[count] = cudatest.OpenGroup(t, count, portable)
	}
	type test struct {
		groupCase
		shared               int
		tempering, positives float64 // 0: no shares
		half                 bool
	}
	var cases []test
	for _, half := range []bool{false, true} {
		for _, dim := range []int{1, 30, 100, 128, 129, 300, 500, 700, 1024} {
			cases = append(cases, test{groupCase{1003, dim, 5, "adam"}, 64, 1, 4, half})
		}
		for _, m := range cuda.Methods() {
			method := m.Name
			cases = append(cases, test{groupCase{1003, 300, 5, method}, 64, .75, 4, half}, test{groupCase{77, 500, 9, method}, 0, 1, 2, half}, test{groupCase{301, 100, 9, method}, 100, 0, 0, half})
			if half {
				cases = append(cases, test{groupCase{1003, 500, 5, method}, 0, 0, 0, half}, test{groupCase{77, 100, 20, method}, 0, 0, 0, half})
			}
		}
		cases = append(cases, test{groupCase{5, 8, 2, "adam"}, 3, 1, 2, half}, test{groupCase{20_000, 20, 5, "adam"}, 64, 1, .5, half}, test{groupCase{501, 1000, 5, "adam"}, 300, 1, 8, half})
	}
	cases = append(cases, test{groupCase{1, 8, 2, "adam"}, 0, 0, 0, true})
	if portable {
		cases = []test{{groupCase{501, 300, 5, "adam"}, 64, 1, 4, false}, {groupCase{501, 100, 9, "adam-row"}, 64, 1, 4, true}, {groupCase{501, 100, 5, "sgd"}, 0, 0, 0, true}}
	}
	for _, x := range cases {
		t.Run(fmt.Sprintf("V=%d/N=%d/K=%d/%s/H=%d/tempering=%v/m=%v/half=%v", x.rows, x.dim, x.negatives, x.method, x.shared, x.tempering, x.positives, x.half), func(t *testing.T) {
			c, noise := randomCase(x.rows, x.dim, x.negatives, x.method)
			c.HalfPrecision = x.half
			if x.shared > 0 {
				share(&c, noise, x.shared)
			}
			if x.positives > 0 {
				c.Shares = zipfShares(x.rows, x.tempering, x.positives, 256)
			}
			testGroup(t, devices, c, noise)
		})
	}
}
