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

// A stepKernel is how a kernel of one size is made: how many negatives a chunk has, the groups of warps of a thread block, at most, and
// how many rows of positives of a warp wait in shared memory.
type stepKernel struct{ chunk, groups, staged int }

// A stepSource is a source of kernels whose thread blocks keep shared negatives, with its kernels by their sizes.
type stepSource struct {
	name    string
	kernels map[int]stepKernel
}

var (
	// stepSources are those of float32. The second has small chunks, for GPUs with too little shared memory for the first.
	stepSources = []stepSource{
		{"step", map[int]stepKernel{1: {64, 1, 8}, 2: {64, 2, 4}, 3: {64, 2, 2}, 4: {64, 2, 0}, 8: {32, 1, 0}}},
		{"step_small", map[int]stepKernel{2: {32, 2, 1}, 3: {32, 1, 1}}},
	}
	halfSources = []stepSource{
		{"step_half", map[int]stepKernel{1: {64, 1, 8}, 2: {64, 1, 4}, 3: {64, 1, 4}, 4: {64, 2, 4}, 6: {64, 1, 2}, 8: {64, 1, 2}}},
	}
)

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
	c, name, sources := k.options, "step", stepSources
	if c.HalfPrecision {
		name, sources = "step_half", halfSources
	}
	if c.SharedNegatives == 0 || c.composed || k.rows.of > 1 { // of own negatives, composed rows and parts of the rows there are no small kernels
		sources = sources[:1]
	}
	var x tilesLaunch
	k.step, x, err = c.loadDense(k.device, size, sources, k.sharing(), name+"_"+k.optimizer.Kernels)
	k.shape, k.dense = x.shape, x.dense
	k.shape.resident = k.shape.blocks
	return err
}

// loadDense loads a kernel of a size, and returns the shape of its launch: as many thread blocks as the multiprocessors have at a time.
// suffix ends the name of the source.
func (c Options) loadDense(d *cuda.Device, size int, sources []stepSource, suffix, name string) (f cu.Function, x tilesLaunch, err error) {
	if d.MachineCode() { // all others are PTX alone
		sources = sources[:1]
	}
	source, x, err := c.stepShape(d.SharedOfBlock, size, sources)
	if err != nil {
		return f, x, fmt.Errorf("%w of %s", err, d.Name)
	}
	if f, err = d.Function("cl/"+source+suffix, fmt.Sprintf("%s_%d", name, size)); err != nil {
		return f, x, err
	}
	if err := cuda.AllowShared(f, x.shared); err != nil {
		return f, x, err
	}
	resident, err := f.MaxActiveBlocksPerMultiProcessor(32*x.warps, int64(x.shared))
	x.blocks = d.Multiprocessors * resident
	return f, x, err
}

// stepShape chooses the first of the sources whose thread blocks have room for the shared negatives.
func (c Options) stepShape(shared, size int, sources []stepSource) (source string, x tilesLaunch, err error) {
	for _, s := range sources {
		if kernel, ok := s.kernels[size]; ok {
			if x, ok = c.fit(shared, size, kernel); ok {
				return s.name, x, nil
			}
		}
	}
	return "", x, fmt.Errorf("%d shared negatives of %d dimensions do not fit into the shared memory", c.SharedNegatives, c.Dim)
}

// fit chooses how many groups of warps a thread block has, up to some, and how many chunks of
// the shared negatives it keeps: all, or one if that is all there is shared memory for. See Dense of dense.cuh for the
// bytes that they take.
func (c Options) fit(shared, size int, kernel stepKernel) (x tilesLaunch, ok bool) {
	planes, chunk, wide := 2, kernel.chunk, 128*size
	if c.HalfPrecision {
		planes = 1
	}
	parts := tileRows * 16 / chunk
	ofGroup := tileRows * (4*(wide+4) + 2*planes*(wide+8) + 2*planes*(chunk+8) + 4*parts*(chunk+4))
	ofChunk := 2 * planes * chunk * (wide + 8)
	chunks := (c.SharedNegatives + chunk - 1) / chunk
	for _, kept := range []int{chunks, min(chunks, 1)} {
		for groups := kernel.groups; groups > 0; groups-- {
			const own = 2 << 10 // that the kernels have beside it
			end := kept*ofChunk + groups*tileRows*kernel.staged*2*planes*wide
			bytes := groups*ofGroup + end + 4*c.SharedNegatives
			if bytes <= shared-own && (kept == chunks || groups == 1) {
				d := denseShape{shared: uint32(c.SharedNegatives), kept: uint32(kept), end: uint32(end)}
				return tilesLaunch{shape{warps: tileRows * groups, shared: bytes}, d}, true
			}
		}
	}
	return x, false
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
