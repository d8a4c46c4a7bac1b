//go:build gpu

package cl

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file launches the kernels of step.cuh.

// stepTable is StepTable of step.cuh.
type stepTable struct {
	left, positives, negatives, leftLow, first, second, secondOfRow, alias uint64
	seed                                                                   uint64
	rows, stride, columns, ownNegatives                                    uint32
	weight, decay, epsilon                                                 float32
	cuda.Decays
	bias    float32
	sharing sharingArgs
}

// denseShape is DenseShape of dense.cuh.
type denseShape struct{ shared, kept, end, _ uint32 }

// stepArgs is StepLaunch of step.cuh.
type stepArgs struct {
	table                                    stepTable
	dense                                    denseShape
	step, samples, jobs, tiles, next, losses uint64
	shared                                   uint64
}

// A stepKernel is how a kernel of one size is made: the groups of warps of a thread block, at most, and how
// many rows of positives of a warp wait in shared memory.
type stepKernel struct{ groups, staged int }

// stepKernels are those of float32 and of half precision by their sizes.
var stepKernels = [2]map[int]stepKernel{
	{1: {1, 8}, 2: {2, 4}, 3: {2, 2}, 4: {2, 0}, 8: {1, 0}},
	{1: {1, 8}, 2: {1, 4}, 3: {1, 4}, 4: {2, 4}, 6: {1, 2}, 8: {1, 2}},
}

// shares are the shares of the rows: one sample in each iteration if there are none.
func (c Options) shares() *Shares {
	if c.Shares != nil {
		return c.Shares
	}
	s := &Shares{Contexts: 1, Lengths: make([]uint32, c.Rows), Phases: make([]uint32, c.Rows), Slots: make([]uint32, c.Rows+1)}
	for i := range s.Lengths {
		s.Lengths[i], s.Slots[i+1] = 1, uint32(i+1)
	}
	return s
}

// loadStep chooses and loads the kernel, for N up to 128 times the size.
func (k *Kernels) loadStep(size int) (err error) {
	d, c := k.device, k.options
	source := "step"
	if c.HalfPrecision {
		source = "step_half"
	}
	groups, bytes := 0, 0
	if k.dense, groups, bytes, err = c.stepShape(d.SharedOfBlock, size, c.stepKernel(size)); err != nil {
		return fmt.Errorf("%w of %s", err, d.Name)
	}
	if k.step, err = d.Function(built, source+k.sharing(), fmt.Sprintf("%s_%s_%d", source, k.optimizer.Kernels, size)); err != nil {
		return err
	}
	k.shape = shape{warps: tileRows * groups, shared: bytes}
	if err := cuda.AllowShared(k.step, bytes); err != nil {
		return err
	}
	resident, err := k.step.MaxActiveBlocksPerMultiProcessor(32*k.shape.warps, int64(bytes))
	k.shape.blocks = d.Multiprocessors * resident
	k.shape.resident = k.shape.blocks
	return err
}

func (c Options) stepKernel(size int) stepKernel {
	if c.HalfPrecision {
		return stepKernels[1][size]
	}
	return stepKernels[0][size]
}

// stepShape chooses how many groups of warps a thread block has, up to some, and how many chunks of
// the shared negatives it keeps: all, or one if that is all there is shared memory for. It returns the
// bytes that they take: see Dense of dense.cuh.
func (c Options) stepShape(shared, size int, kernel stepKernel) (s denseShape, groups, bytes int, err error) {
	planes, chunk, wide := 2, 64, 128*size
	if c.HalfPrecision {
		planes = 1
	} else if size > 4 {
		chunk = 32
	}
	parts := tileRows * 16 / chunk
	ofGroup := tileRows * (4*(wide+4) + 2*planes*(wide+8) + 2*planes*(chunk+8) + 4*parts*(chunk+4))
	ofChunk := 2 * planes * chunk * (wide + 8)
	chunks := (c.SharedNegatives + chunk - 1) / chunk
	for _, kept := range []int{chunks, min(chunks, 1)} {
		for groups = kernel.groups; groups > 0; groups-- {
			const own = 2 << 10 // that the kernels have beside it
			end := kept*ofChunk + groups*tileRows*kernel.staged*2*planes*wide
			bytes = groups*ofGroup + end + 4*c.SharedNegatives
			if bytes <= shared-own && (kept == chunks || groups == 1) {
				return denseShape{shared: uint32(c.SharedNegatives), kept: uint32(kept), end: uint32(end)}, groups, bytes, nil
			}
		}
	}
	return s, 0, 0, fmt.Errorf("%d shared negatives of %d dimensions do not fit into the shared memory", c.SharedNegatives, c.Dim)
}

// stepArgs are the arguments of step number i of a series.
func (k *Kernels) stepArgs(i int) *stepArgs {
	c, left := k.options, k.tables[i%2]
	t := stepTable{
		left: uint64(k.valuesOf(i, i%2)), leftLow: uint64(left.low),
		first: uint64(left.First), second: uint64(left.Second), secondOfRow: uint64(left.SecondOfRow), alias: uint64(k.alias), seed: c.Seed,
		rows: uint32(c.Rows), columns: uint32(c.Dim), decay: float32(c.WeightDecay), epsilon: float32(c.Epsilon), Decays: k.optimizer.Decays(),
	}
	t.positives, t.negatives = k.frozen(i)
	t.sharing = k.sharingArgs(i)
	t.stride = uint32(4 * cuda.Quads(c.Dim))
	if c.HalfPrecision {
		t.stride = uint32(halfStride(c.Dim))
	}
	if c.SharedNegatives > 0 {
		t.weight = float32(c.Negatives) / float32(c.SharedNegatives)
	} else {
		t.ownNegatives = uint32(c.Negatives)
	}
	l := k.lists
	return &stepArgs{
		table: t, dense: k.dense, step: uint64(k.stepAt(i)), samples: uint64(k.samplesAt(i)), losses: k.lossAt(i),
		jobs: uint64(l.jobs + cu.DevicePtr(cuda.Bytes[job](i/2*l.most))), tiles: uint64(l.tiles) + 4*uint64(i/2),
		next:   uint64(l.next) + 4*uint64(i),
		shared: uint64(k.shared + cu.DevicePtr(cuda.Bytes[uint32](i*c.SharedNegatives))),
	}
}
