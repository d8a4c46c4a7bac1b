//go:build gpu

package cl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"github.com/w2vcl/w2vcl/kernels/cuda/cudatest"
)

// newParts returns Ranks, which exchange by copies or by NCCL, as a Group: it calls all at the same time.
func newParts(t *testing.T, devices []*cuda.Device, c Options, byNCCL bool) *Group {
	t.Helper()
	g := &Group{}
	for _, p := range cudatest.Join(t, devices, byNCCL, func(rank int, join func() (cudatest.Comm, error)) (*Rank, error) {
		p, err := NewRank(devices[rank], c, rank, len(devices))
		if err != nil {
			return nil, err
		}
		return p, p.Join(func() (Gather, error) { return join() })
	}) {
		g.parts = append(g.parts, p.Kernels)
	}
	t.Cleanup(func() {
		for i := range g.parts[0].buffers {
			for _, k := range g.parts[1:] {
				k.buffers[i].samples = nil // part 0 has allocated it
			}
		}
	})
	return g
}

// Ranks train the tables that one device trains, to the bit.
func TestPartsOfProcesses(t *testing.T) {
	for _, count := range []int{2, 4, 8} {
		testParts(t, cudatest.OpenGroup(t, count, count == 4), false)
	}
}

func TestPartsOfProcessesByNCCL(t *testing.T) { testParts(t, cudatest.OpenRanks(t, 2), true) }

func testParts(t *testing.T, devices []*cuda.Device, byNCCL bool) {
	t.Helper()
	for i, x := range []groupCase{
		{1003, 300, 5, "adam"}, {501, 100, 20, "adam"}, {501, 500, 9, "adam"}, {77, 128, 1, "adam"}, {1, 8, 2, "adam"}, {2003, 1000, 5, "adam"}, {20_000, 20, 5, "adam"},
	} {
		t.Run(fmt.Sprintf("%d/V=%d/N=%d/K=%d/%s", len(devices), x.rows, x.dim, x.negatives, x.method), func(t *testing.T) {
			c, noise := randomCase(x.rows, x.dim, x.negatives, x.method)
			state, rates := randomState(c), slices.Repeat([]float64{1e-2}, SeriesLength+3)
			onDevice := i%2 == 0
			want, _ := trainState(t, newTrained(t, devices[:1], c), c, noise, state, rates, onDevice)
			got, _ := trainState(t, newParts(t, devices, c, byNCCL), c, noise, state, rates, onDevice)
			for name, values := range want {
				if !slices.Equal(got[name], values) {
					t.Errorf("%s differs: %s", name, difference(got[name], values))
				}
				if slices.Equal(state[name], values) {
					t.Errorf("%s did not change", name)
				}
			}
		})
	}
}

// What devices of several processes cannot share is refused.
func TestPartsOfProcessesRefuse(t *testing.T) {
	d := cudatest.Open(t)
	for _, x := range []struct {
		ranks  int
		method string
		half   bool
	}{{3, "adam", false}, {2, "adam-row", false}, {2, "adam", true}} {
		c, _ := randomCase(10, 10, 2, x.method)
		c.HalfPrecision = x.half
		if _, err := NewRank(d, c, 0, x.ranks); err == nil {
			t.Errorf("%+v is not refused", x)
		}
	}
}
