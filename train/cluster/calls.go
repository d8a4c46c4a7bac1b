package cluster

import (
	"fmt"
	"slices"
)

// An exchanger is a way to bring data from rank to rank.
type exchanger interface {
	Rank() int
	Size() int
	Abort(code int)

	// exchange sends part r of send to rank r, and fills part r of recv with what rank r sends. call names the call that
	// it serves, the same on all ranks.
	exchange(call string, send, recv [][]byte) error
}

// calls make a [Comm] of an exchanger.
type calls struct{ exchanger }

func (c calls) AllGather(buffer []byte, ends []int) error {
	own := Part(buffer, ends, c.Rank())
	return c.exchange("AllGather", slices.Repeat([][]byte{own}, c.Size()), parts(buffer, ends))
}

func (c calls) AllToAll(send []byte, sendEnds []int, recv []byte, recvEnds []int) error {
	return c.exchange("AllToAll", parts(send, sendEnds), parts(recv, recvEnds))
}

func parts(buffer []byte, ends []int) [][]byte {
	all := make([][]byte, len(ends))
	for r := range all {
		all[r] = Part(buffer, ends, r)
	}
	return all
}

func copyPart(to, from []byte) error {
	if len(to) != len(from) {
		return fmt.Errorf("%d bytes were sent and %d expected", len(from), len(to))
	}
	copy(to, from)
	return nil
}
