package cluster_test

import (
	"fmt"
	"slices"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/train/cluster"
)

// check makes every call of a Comm, with parts of different and of no length: ranks keep to what Comm says. All ranks
// call it.
func check(c cluster.Comm) error {
	for _, call := range []func(cluster.Comm) error{gather, toAll, reduce, bcast, anyLength} {
		if err := call(c); err != nil {
			return fmt.Errorf("rank %d of %d: %w", c.Rank(), c.Size(), err)
		}
	}
	_, err := cluster.Each(c, 0)
	return err
}

// length is how much rank from sends to rank to.
func length(from, to int) int { return (from*7 + to*3) % 5 * 1000 }

func value(from, to, i int) uint32 { return uint32(from<<24 | to<<16 | i) }

func gather(c cluster.Comm) error {
	counts := make([]int, c.Size())
	total := 0
	for r := range counts {
		counts[r] = length(r, 0)
		total += counts[r]
	}
	all, at := make([]uint32, total), 0
	for r, n := range counts {
		for i := range n {
			if r == c.Rank() {
				all[at+i] = value(r, 0, i)
			}
		}
		at += n
	}
	if err := c.AllGather(memory.BytesOf(all), cluster.Ends[uint32](counts)); err != nil {
		return err
	}
	for r, n := range counts {
		if err := expect(all[:n], r, 0); err != nil {
			return fmt.Errorf("AllGather: %w", err)
		}
		all = all[n:]
	}
	return nil
}

func expect(part []uint32, from, to int) error {
	for i, x := range part {
		if x != value(from, to, i) {
			return fmt.Errorf("value %d from rank %d is %#x, not %#x", i, from, x, value(from, to, i))
		}
	}
	return nil
}

func toAll(c cluster.Comm) error {
	parts := make([][]uint32, c.Size())
	for r := range parts {
		for i := range length(c.Rank(), r) {
			parts[r] = append(parts[r], value(c.Rank(), r, i))
		}
	}
	got, err := cluster.Exchange(c, parts)
	if err != nil {
		return err
	}
	for r, part := range got {
		if len(part) != length(r, c.Rank()) {
			return fmt.Errorf("AllToAll: %d values from rank %d, not %d", len(part), r, length(r, c.Rank()))
		}
		if err := expect(part, r, c.Rank()); err != nil {
			return fmt.Errorf("AllToAll: %w", err)
		}
	}
	return nil
}

func reduce(c cluster.Comm) error {
	rank, size := uint64(c.Rank()), uint64(c.Size())
	x := []uint64{rank, 1 << 60 / size, 1}
	if err := cluster.Sum(c, x); err != nil {
		return err
	}
	if want := []uint64{size * (size - 1) / 2, 1 << 60 / size * size, size}; !slices.Equal(x, want) {
		return fmt.Errorf("the sum is %v, not %v", x, want)
	}
	each, err := cluster.Each(c, rank+3)
	for r, x := range each {
		if x != uint64(r)+3 {
			return fmt.Errorf("the number of rank %d is %d", r, x)
		}
	}
	return err
}

func bcast(c cluster.Comm) error {
	for root := range c.Size() {
		data := make([]byte, 100_000)
		for i := range data {
			if c.Rank() == root {
				data[i] = byte(i * (root + 3))
			}
		}
		if err := cluster.Bcast(c, data, root); err != nil {
			return err
		}
		for i, x := range data {
			if x != byte(i*(root+3)) {
				return fmt.Errorf("byte %d from rank %d is %d", i, root, x)
			}
		}
	}
	return nil
}

// anyLength: lengths that only their ranks know.
func anyLength(c cluster.Comm) error {
	own := slices.Repeat([]float64{float64(c.Rank())}, c.Rank())
	all, err := cluster.Collect(c, own)
	if err != nil {
		return err
	}
	for r, part := range all {
		if len(part) != r || r > 0 && part[r-1] != float64(r) {
			return fmt.Errorf("from Collect: %v from rank %d", part, r)
		}
	}
	return nil
}
