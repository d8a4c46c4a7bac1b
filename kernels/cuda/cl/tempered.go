//go:build gpu

package cl

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/kernels/cuda"
	"gorgonia.org/cu"
)

// This file launches the kernels of tempered.cuh.

// temperedTable is TemperedTable of tempered.cuh.
type temperedTable struct {
	left, leftLow, right, first, second, secondOfRow, alias uint64
	seed                                                    uint64
	rows, stride, columns, negatives, shared, chunk         uint32
	weight, decay, epsilon, logBeta1, logBeta2              float32
	Decays
}

// temperedArgs is TemperedLaunch of tempered.cuh.
type temperedArgs struct {
	table                                                 temperedTable
	step, samples, several, single, singles, next, losses uint64
	rowsOf                                                [classes]uint32
}

// temperedWarps are the warps of a thread block, by the size of the kernels.
var (
	temperedWarps     = map[int]int{1: 8, 2: 8, 3: 16, 4: 16, 8: 8}
	temperedHalfWarps = map[int]int{1: 8, 2: 8, 4: 8, 6: 16, 8: 8}
)

// shares are the shares of the rows: one sample in each iteration if there are none.
func (c Config) shares() *Shares {
	if c.Shares != nil {
		return c.Shares
	}
	s := &Shares{Contexts: 1, Lengths: make([]uint32, c.Rows), Phases: make([]uint32, c.Rows), Slots: make([]uint32, c.Rows+1)}
	for i := range s.Lengths {
		s.Lengths[i], s.Slots[i+1] = 1, uint32(i+1)
	}
	return s
}

// temperedStride is the length of a row of a table in the device's memory, in values.
func (c Config) temperedStride() int {
	if c.HalfPrecision {
		return halfStride(c.Dim)
	}
	return 4 * cuda.Quads(c.Dim)
}

// temperedShared returns the bytes of shared memory of a thread block that keeps chunk shared negatives:
// see Dense of dense.cuh.
func (c Config) temperedShared(warps, chunk int) int {
	planes := 2
	if c.HalfPrecision {
		planes = 1
	}
	tile, wide := (warps+7)/8*8, (c.temperedStride()+15)/16*16
	gradients := 4 * tile * (wide + 4)
	if c.SharedNegatives == 0 {
		return gradients
	}
	parts := min(max(16*warps/chunk, 1), wide/16)
	return gradients + 2*planes*((chunk+tile)*(wide+8)+tile*(chunk+8)) + 4*parts*tile*(chunk+4) + 4*c.SharedNegatives
}

// temperedChunk is how many shared negatives a thread block keeps at a time: all, if there is
// shared memory for them.
func (c Config) temperedChunk(d *cuda.Device, warps int) (int, error) {
	const own = 2 << 10 // that the kernels have beside it
	for chunk := (c.SharedNegatives + 15) / 16 * 16; chunk > 0; chunk -= 16 {
		if c.temperedShared(warps, chunk) <= d.SharedOfBlock-own {
			return chunk, nil
		}
	}
	if c.SharedNegatives == 0 {
		return 0, nil
	}
	return 0, fmt.Errorf("%d shared negatives of %d dimensions do not fit into the shared memory of %s", c.SharedNegatives, c.Dim, d.Name)
}

// loadTempered chooses and loads the kernel, for N up to 128 times the size.
func (k *Kernels) loadTempered(size int) (err error) {
	d, c := k.device, k.config
	source, warps := "tempered", temperedWarps[size]
	if c.HalfPrecision {
		source, warps = "tempered_half", temperedHalfWarps[size]
	}
	if k.chunk, err = c.temperedChunk(d, warps); err != nil {
		return err
	}
	if k.step, err = d.Function(built, source, fmt.Sprintf("%s_%s_%d", source, methods[c.Method], size)); err != nil {
		return err
	}
	k.shape = shape{warps: warps, shared: c.temperedShared(warps, k.chunk)}
	if err := cuda.AllowShared(k.step, k.shape.shared); err != nil {
		return err
	}
	resident, err := k.step.MaxActiveBlocksPerMultiProcessor(32*warps, int64(k.shape.shared))
	k.shape.blocks = d.Multiprocessors * resident
	return err
}

// temperedArgs are the arguments of step number i of a series.
func (k *Kernels) temperedArgs(i int) *temperedArgs {
	c, left, right := k.config, k.tables[i%2], k.tables[1-i%2]
	t := temperedTable{
		left: uint64(left.values), leftLow: uint64(left.low), right: uint64(right.values),
		first: uint64(left.first), second: uint64(left.second), secondOfRow: uint64(left.secondOfRow), alias: uint64(k.alias), seed: c.Seed,
		rows: uint32(c.Rows), stride: uint32(c.temperedStride()), columns: uint32(c.Dim),
		shared: uint32(c.SharedNegatives), chunk: uint32(k.chunk), decay: float32(c.WeightDecay), epsilon: float32(c.Epsilon),
		logBeta1: float32(math.Log(c.Beta1)), logBeta2: float32(math.Log(c.Beta2)), Decays: c.Decays(),
	}
	if c.SharedNegatives > 0 {
		t.weight = float32(c.Negatives) / float32(c.SharedNegatives)
	} else {
		t.negatives = uint32(c.Negatives)
	}
	l := k.lists
	return &temperedArgs{
		table: t, step: uint64(k.stepAt(i)), samples: uint64(k.samplesAt(i)),
		several: uint64(l.several), single: uint64(l.single + cu.DevicePtr(cuda.Bytes[share](i/2*l.ones))),
		singles: uint64(l.singles) + 4*uint64(i/2), next: uint64(l.next) + 4*uint64(i), losses: uint64(k.lossesAt(i)),
		rowsOf: l.rowsOf,
	}
}
