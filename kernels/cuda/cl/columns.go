//go:build gpu

package cl

import (
	"fmt"

	"github.com/w2vcl/w2vcl/kernels/cuda"
)

// This file launches the kernels of columns.cu.

// columnsArgs is ColumnsLaunch of columns.cuh.
type columnsArgs struct {
	left                             cuda.Table
	right, alias, seed               uint64
	step, samples, loss, before      uint64
	number, negatives, messages, hot uint32
	inbox, outbox                    [MaxDevices - 1]uint64
	lost                             [MaxDevices]uint64
	patience, told                   uint64
	byRows, _                        uint32
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

// columnsArgs are the arguments of step number i of a series.
func (k *Kernels) columnsArgs(i int) *columnsArgs {
	c, e, left := k.options, k.exchange, k.tables[i%2]
	a := &columnsArgs{
		left: cuda.Table{
			Values: uint64(left.values), First: uint64(left.First), Second: uint64(left.Second), SecondOfRow: uint64(left.SecondOfRow),
			Rows: uint32(c.Rows), Quads: uint32(k.part.quads(c.Dim)), Columns: uint32(c.Dim), Decays: k.optimizer.Decays(),
		},
		alias: uint64(k.alias), seed: c.Seed, negatives: uint32(c.Negatives), step: uint64(k.stepAt(i)), samples: uint64(k.samplesAt(i)), loss: k.lossAt(i),
		before: uint64(e.tag), number: uint32(i), messages: uint32(e.messages), patience: uint64(e.patience), hot: uint32(k.shape.hot), told: uint64(e.told),
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
