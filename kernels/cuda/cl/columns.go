//go:build gpu

package cl

import (
	"fmt"
	"math"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file launches the kernels of columns.cu.

// columnsArgs is ColumnsLaunch of columns.cuh.
type columnsArgs struct {
	left                             cuda.Table
	right, alias, seed               uint64
	step, samples, loss, tag         uint64
	number, negatives, messages, hot uint32
	inbox, outbox                    [MaxDevices - 1]uint64
	lost                             [MaxDevices]uint64
	patience, told                   uint64
	byRows, _                        uint32
}

// A columnsKernel is how a kernel of one size is made: for so many thread blocks of a multiprocessor, of up to so many warps. Of
// several thread blocks the first are done earlier, and those of the next step are there when the last are.
type columnsKernel struct{ blocks, warps int }

var columnsKernels = map[int]columnsKernel{1: {2, 16}, 2: {3, 8}, 3: {2, 8}, 4: {2, 8}, 8: {2, 4}}

// The limits of columns.cu: targets of a part of a row, and bytes for barriers.
const targetsOfPart, barrierBytes = 8, 256

// fewTargets is up to how many targets of a row there are kernels without branches between them.
const fewTargets = 6

// mostHot limits the rows of right that a thread block keeps in shared memory where there is room, on several GPUs: they should be asked
// for more often than thread blocks bring them. One GPU takes 4% longer with them at N = 300.
const mostHot = 16

// choose returns the warps of a thread block, some at most. The warps of a GPU take groups of rows in rounds: fewer
// warps are better than a last round that is nearly empty. In a round each multiprocessor waits as long as it would train the
// groups of some other warps: 11 at N = 500.
func (s columnsKernel) choose(groups, multiprocessors, most, size int) int {
	best, least := most, math.MaxInt
	for warps := most; 2*warps >= most; warps-- {
		all := multiprocessors * s.blocks * warps
		if time := (groups + all - 1) / all * (44/size + s.blocks*warps); time < least {
			best, least = warps, time
		}
	}
	return best
}

// loadColumns loads the kernel, for N up to 128 times the size. GPUs of several processes have that of many targets, which finds
// their numbers by rows.
func (k *Kernels) loadColumns(size int, by *messenger) (err error) {
	d, c, kind := k.device, k.options, ""
	if 1+c.Negatives <= fewTargets && by == nil {
		kind = "few_"
	}
	if k.step, err = d.Function("cl/columns", fmt.Sprintf("columns_%s%d_%d", kind, 32/k.part.of, size)); err != nil {
		return err
	}
	kernel := columnsKernels[size]
	s := kernel.staged(d, c, k.part.of, size)
	if err := cuda.AllowShared(k.step, s.shared); err != nil {
		return err
	}
	resident, err := k.step.MaxActiveBlocksPerMultiProcessor(32*s.warps, int64(s.shared))
	groups := (c.Rows + k.part.of - 1) / k.part.of
	s.resident = d.Multiprocessors * min(resident, kernel.blocks)
	s.blocks = min(s.resident, (groups+s.warps-1)/s.warps)
	k.shape = s
	return err
}

// staged is the shape of a kernel whose rows wait in shared memory.
func (s columnsKernel) staged(d *cuda.Device, c Options, devices, size int) shape {
	const reserved = 1 << 10 // shared memory of a thread block that the driver takes
	targets := 1 + c.Negatives
	parts := (targets + targetsOfPart - 1) / targetsOfPart
	stage := ((targets+parts-1)/parts + 1) * 512 * size // of a warp
	room := (d.SharedOfBlock+reserved)/s.blocks - reserved - barrierBytes
	warps := s.choose((c.Rows+devices-1)/devices, d.Multiprocessors, min(s.warps, room/stage), size)
	row, hot := 512*size/devices, 0
	if devices > 1 {
		hot = max(min((room-warps*stage)/row, mostHot, c.Rows), 0)
	}
	return shape{warps: warps, hot: hot, shared: barrierBytes + warps*stage + hot*row}
}

// columnsArgs are the arguments of step number i of a series.
func (k *Kernels) columnsArgs(i int) *columnsArgs {
	c, e, left := k.options, k.exchange, k.tables[i%2]
	a := &columnsArgs{
		left: cuda.Table{
			Values: uint64(left.values), First: uint64(left.First), Second: uint64(left.Second), SecondOfRow: uint64(left.SecondOfRow),
			Rows: uint32(c.Rows), Quads: uint32(k.part.quads(c.Dim)), Columns: uint32(c.Dim), Decays: k.optimizer.Decays(),
		},
		alias: uint64(k.alias), seed: c.Seed, negatives: uint32(c.Negatives), step: uint64(k.stepAt(i)), samples: uint64(k.samplesAt(i)), loss: k.lossAt(i),
		tag: uint64(e.tag), number: uint32(i), messages: uint32(e.messages), patience: uint64(e.patience), hot: uint32(k.shape.hot), told: uint64(e.told),
	}
	a.right, _ = k.frozen(i)
	for n, peer := range e.peers {
		a.lost[n] = uint64(peer.exchange.lost)
		if n > 0 {
			a.inbox[n-1], a.outbox[n-1] = e.inbox(n), peer.exchange.inbox(n)
		}
	}
	return a
}
