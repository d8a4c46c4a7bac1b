//go:build gpu

package cl

import (
	"math/bits"

	"gorgonia.org/cu"
)

// This file has what kernels take that share the rows with other devices: see meet.cuh.

// whole is the part of a single device.
var whole = part{0, 1}

// partsOf returns what each of some devices has.
func (c Options) partsOf(number, of int) (dims, rows part) {
	if c.SplitsRows() {
		return whole, part{number, of}
	}
	return part{number, of}, whole
}

// sharingArgs is Sharing of meet.cuh.
type sharingArgs struct {
	copies                            [MaxDevices - 1]uint64
	tag, blocks, done                 uint64
	told                              [MaxDevices - 1]uint64
	lost                              [MaxDevices]uint64
	patience                          uint64
	number, others, shift, first, own uint32
	_                                 uint32
}

// A device has in exchange.inboxes the steps that the others are done with, and behind them how many of its own thread
// blocks are done.
const sharingBytes = 4 * MaxDevices

// sharing names the sources of kernels that share the rows.
func (k *Kernels) sharing() string {
	if k.rows.of > 1 {
		return "_rows"
	}
	return ""
}

// sharingArgs are those of step number i of a series.
func (k *Kernels) sharingArgs(i int) (a sharingArgs) {
	e := k.exchange
	if k.rows.of == 1 {
		return a
	}
	a = sharingArgs{
		tag: uint64(e.tag), done: uint64(e.inboxes), blocks: uint64(e.inboxes + 4*(MaxDevices-1)), patience: uint64(e.patience), number: uint32(i),
		others: uint32(len(e.peers) - 1), shift: uint32(bits.TrailingZeros(uint(k.rows.of))), first: uint32(k.rows.number), own: uint32(k.rows.count(k.options.Rows)),
	}
	for n, peer := range e.peers {
		a.lost[n] = uint64(peer.exchange.lost)
		if n > 0 { // to that one, this device is number n, too
			a.copies[n-1], a.told[n-1] = uint64(peer.tables[i%2].values), uint64(peer.exchange.inboxes+cu.DevicePtr(4*(n-1)))
		}
	}
	return a
}
