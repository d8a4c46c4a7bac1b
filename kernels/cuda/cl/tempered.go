//go:build gpu

package cl

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file launches the kernels of tempered.cuh.

// temperedTable is TemperedTable of tempered.cuh.
type temperedTable struct {
	left, right, leftLow, first, second, secondOfRow, alias uint64
	seed                                                    uint64
	rows, stride, columns, negatives                        uint32
	weight, decay, epsilon                                  float32
	Decays
	sharing sharingArgs
}

// denseShape is DenseShape of dense.cuh.
type denseShape struct{ shared, kept, end, _ uint32 }

// temperedArgs is TemperedLaunch of tempered.cuh.
type temperedArgs struct {
	table                                    temperedTable
	dense                                    denseShape
	step, samples, jobs, tiles, next, losses uint64
	shared                                   uint64
}

const temperedWarps = 8 // of a tile

// A temperedKernel is how a kernel of one size is made: the groups of warps of a thread block, at most, and how
// many rows of positives of a warp wait in shared memory.
type temperedKernel struct{ groups, staged int }

// temperedKernels are those of float32 and of half precision by their sizes.
var temperedKernels = [2]map[int]temperedKernel{
	{1: {1, 8}, 2: {2, 4}, 3: {2, 2}, 4: {2, 0}, 8: {1, 0}},
	{1: {1, 8}, 2: {1, 4}, 3: {1, 4}, 4: {2, 4}, 6: {1, 2}, 8: {1, 2}},
}

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

// loadTempered chooses and loads the kernel, for N up to 128 times the size.
func (k *Kernels) loadTempered(size int) (err error) {
	d, c := k.device, k.config
	source := "tempered"
	if c.HalfPrecision {
		source = "tempered_half"
	}
	groups, bytes := 0, 0
	if k.dense, groups, bytes, err = c.temperedShape(d.SharedOfBlock, size); err != nil {
		return fmt.Errorf("%w of %s", err, d.Name)
	}
	if k.step, err = d.Function(built, source+k.sharing(), fmt.Sprintf("%s_%s_%d", source, methods[c.Method], size)); err != nil {
		return err
	}
	k.shape = shape{warps: temperedWarps * groups, shared: bytes}
	if err := cuda.AllowShared(k.step, bytes); err != nil {
		return err
	}
	resident, err := k.step.MaxActiveBlocksPerMultiProcessor(32*k.shape.warps, int64(bytes))
	k.shape.blocks = d.Multiprocessors * resident
	k.shape.resident = k.shape.blocks
	return err
}

// temperedShape chooses how many groups of warps a thread block has, up to some, and how many chunks of
// the shared negatives it keeps: all, or one if that is all there is shared memory for. It returns the
// bytes that they take: see Dense of dense.cuh.
func (c Config) temperedShape(shared, size int) (s denseShape, groups, bytes int, err error) {
	planes, chunk, wide, kernel := 2, 64, 128*size, temperedKernels[0][size]
	if c.HalfPrecision {
		planes, kernel = 1, temperedKernels[1][size]
	} else if size > 4 {
		chunk = 32
	}
	parts := temperedWarps * 16 / chunk
	ofGroup := temperedWarps * (4*(wide+4) + 2*planes*(wide+8) + 2*planes*(chunk+8) + 4*parts*(chunk+4))
	ofChunk := 2 * planes * chunk * (wide + 8)
	chunks := (c.SharedNegatives + chunk - 1) / chunk
	for _, kept := range []int{chunks, min(chunks, 1)} {
		for groups = kernel.groups; groups > 0; groups-- {
			const own = 2 << 10 // that the kernels have beside it
			end := kept*ofChunk + groups*temperedWarps*kernel.staged*2*planes*wide
			bytes = groups*ofGroup + end + 4*c.SharedNegatives
			if bytes <= shared-own && (kept == chunks || groups == 1) {
				return denseShape{shared: uint32(c.SharedNegatives), kept: uint32(kept), end: uint32(end)}, groups, bytes, nil
			}
		}
	}
	return s, 0, 0, fmt.Errorf("%d shared negatives of %d dimensions do not fit into the shared memory", c.SharedNegatives, c.Dim)
}

// temperedArgs are the arguments of step number i of a series.
func (k *Kernels) temperedArgs(i int) *temperedArgs {
	c, tables := k.config, k.tables
	if k.first != nil {
		tables[0].values = k.rowsOf(i / 2)
	}
	left, right := tables[i%2], tables[1-i%2]
	t := temperedTable{
		left: uint64(left.values), leftLow: uint64(left.low), right: uint64(right.values),
		first: uint64(left.first), second: uint64(left.second), secondOfRow: uint64(left.secondOfRow), alias: uint64(k.alias), seed: c.Seed,
		rows: uint32(c.Rows), columns: uint32(c.Dim), decay: float32(c.WeightDecay), epsilon: float32(c.Epsilon), Decays: c.Decays(),
	}
	t.sharing = k.sharingArgs(i)
	t.stride = uint32(4 * cuda.Quads(c.Dim))
	if c.HalfPrecision {
		t.stride = uint32(halfStride(c.Dim))
	}
	if c.SharedNegatives > 0 {
		t.weight = float32(c.Negatives) / float32(c.SharedNegatives)
	} else {
		t.negatives = uint32(c.Negatives)
	}
	l := k.lists
	return &temperedArgs{
		table: t, dense: k.dense, step: uint64(k.stepAt(i)), samples: uint64(k.samplesAt(i)),
		jobs: uint64(l.jobs + cu.DevicePtr(cuda.Bytes[job](i/2*l.most))), tiles: uint64(l.tiles) + 4*uint64(i/2),
		next: uint64(l.next) + 4*uint64(i), losses: uint64(l.losses + cu.DevicePtr(cuda.Bytes[lossUnits](i))),
		shared: uint64(k.shared + cu.DevicePtr(cuda.Bytes[uint32](i*c.SharedNegatives))),
	}
}
