//go:build gpu

package sentence

import (
	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

type walker struct {
	device *cuda.Device
	kernel cu.Function
	args   cu.DevicePtr
}

func newWalker(d *cuda.Device, w *Walks) (*walker, error) {
	m := &cuda.Allocator{Device: d}
	starts := cuda.PlacedParts(m, "nodes of the graph", len(w.Starts), func(to []uint64, first int) {
		for i := range to {
			to[i] = uint64(w.Starts[first+i])
		}
	})
	ends, cells := cuda.Placed(m, "edges of the graph", w.Ends), cu.DevicePtr(0)
	if w.Cells != nil {
		cells = cuda.Placed(m, "weights of the graph", w.Cells)
	}
	flag := func(set bool) uint64 {
		if set {
			return 1
		}
		return 0
	}
	args := cuda.Placed(m, "arguments of walks", []uint64{
		w.Seed, uint64(starts), uint64(ends), uint64(cells), uint64(cuda.Placed(m, "orders of walks", w.Orders)),
		uint64(w.First), uint64(w.Starters), flag(w.FirstOrder), flag(w.Directed),
		uint64(w.Back), uint64(w.Near), uint64(w.Far), uint64(w.Folded), uint64(w.FoldedAcceptance),
	})
	return &walker{device: d, kernel: m.Function("sentence/walks", "sentence_walk", 0), args: args}, m.Err
}

// walk makes the sentences first ... end-1. tokens is where token 0 of the text would be, and sentences where the first token of
// sentence 0 would be.
func (w *walker) walk(tokens, sentences cu.DevicePtr, first, end int, s cu.Stream) error {
	grid := cuda.Grid{Blocks: 16 * w.device.Multiprocessors, Threads: 128}
	return cuda.LaunchValuesOn(s, w.kernel, grid, uint64(w.args), uint64(tokens), uint64(sentences), uint64(first), uint64(end))
}
