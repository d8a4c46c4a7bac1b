package main

import (
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A copier measures the speed of memory with Go's copy. Each thread copies its
// part of one large buffer to another. Bytes read and bytes written both count.
type copier struct {
	from, to []float32
}

// copyBytes returns a size of both buffers together that makes a last-level cache
// of the given size (0: unknown) useless.
func copyBytes(cache int64) int64 { return max(4*cache, 512<<20) }

// newCopier allocates two buffers of the given size together, on large pages where
// the system has them, and writes to every page.
func newCopier(bytes int64, threads int) *copier {
	n := int(bytes / 8)
	c := &copier{memory.Floats(n), memory.Floats(n)}
	c.copy(threads, n) // the buffer to gets its pages
	c.split(threads, func(first, last int) {
		part := c.from[first:last]
		for j := range part { // otherwise from is one page of zeros again and again
			part[j] = 1
		}
	})
	return c
}

// split calls work for each thread with its part of the buffers, first up to last.
func (c *copier) split(threads int, work func(first, last int)) {
	n := len(c.from)
	var wait sync.WaitGroup
	for i := range threads {
		wait.Go(func() { work(i*n/threads, (i+1)*n/threads) })
	}
	wait.Wait()
}

// measure returns the bytes that threads read and write a second. Go copies a large
// piece around the cache and a small one through it. It depends on the processor
// which of the two is faster; the faster one counts.
func (c *copier) measure(threads int, atLeast time.Duration) float64 {
	best := 0.0
	for _, piece := range []int{len(c.from), 64 << 10} {
		var bytes float64
		start := time.Now()
		for bytes == 0 || time.Since(start) < atLeast {
			c.copy(threads, piece)
			bytes += 8 * float64(len(c.from))
		}
		best = max(best, bytes/time.Since(start).Seconds())
	}
	return best
}

// copy copies everything once. Each thread copies its part, piece values at a time.
func (c *copier) copy(threads, piece int) {
	c.split(threads, func(first, last int) {
		for at := first; at < last; at += piece {
			end := min(at+piece, last)
			copy(c.to[at:end], c.from[at:end])
		}
	})
}
