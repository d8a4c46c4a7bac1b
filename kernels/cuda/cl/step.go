//go:build gpu

package cl

import (
	"gorgonia.org/cu"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file launches the kernels of step.cuh.

// stepTable is StepTable of step.cuh.
type stepTable struct {
	left, positives, negatives, leftLow, first, second, secondOfRow, alias uint64
	seed                                                                   uint64
	rows, stride, columns, ownNegatives                                    uint32
	weight, bias                                                           float32
	rule                                                                   cuda.Rule
	decays                                                                 cuda.Decays
	sharing                                                                sharingArgs
}

// stepArgs is StepLaunch of step.cuh.
type stepArgs struct {
	table                                  stepTable
	dense                                  denseShape
	step, samples, jobs, tiles, next, loss uint64
	shared                                 uint64
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
	c, name, sources := k.options, "step", stepSources
	if c.HalfPrecision {
		name, sources = "step_half", halfSources
	}
	if c.SharedNegatives == 0 || c.composed || k.rows.of > 1 { // of own negatives, composed rows and parts of the rows there are no small kernels
		sources = sources[:1]
	}
	var x tilesLaunch
	k.step, x, err = loadDense(k.device, c.SharedNegatives, sources, k.sharing(), k.optimizer.Sized(name, size))
	k.shape, k.dense = x.shape, x.dense
	k.shape.resident = k.shape.blocks
	return err
}

// stepArgs are the arguments of step number i of a series.
func (k *Kernels) stepArgs(i int) *stepArgs {
	c, left := k.options, k.tables[i%2]
	t := stepTable{
		left: uint64(k.valuesOf(i, i%2)), leftLow: uint64(left.low),
		first: uint64(left.First), second: uint64(left.Second), secondOfRow: uint64(left.SecondOfRow), alias: uint64(k.alias), seed: c.Seed,
		rows: uint32(c.Rows), columns: uint32(c.Dim), rule: k.optimizer.Rule(), decays: k.optimizer.Decays(),
	}
	t.positives, t.negatives = k.frozen(i)
	t.sharing = k.sharingArgs(i, 0)
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
		table: t, dense: k.dense, step: uint64(k.stepAt(i)), samples: uint64(k.samplesAt(i)), loss: k.lossAt(i),
		jobs: uint64(l.jobs + cu.DevicePtr(cuda.Bytes[job](i/2*l.most))), tiles: uint64(l.tiles) + 4*uint64(i/2),
		next:   uint64(l.next) + 4*uint64(i),
		shared: uint64(k.shared + cu.DevicePtr(cuda.Bytes[uint32](i*c.SharedNegatives))),
	}
}
