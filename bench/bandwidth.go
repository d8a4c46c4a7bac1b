package bench

import (
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Copier measures the speed of memory with Go's copy. Each thread copies its
// own part of one large buffer to another; the speed counts the bytes read and
// the bytes written.
type Copier struct {
	from, to []float32
}

// minCopyBytes is what both buffers have together at least.
const minCopyBytes = 512 << 20

// CopyBytes returns the size of both buffers together that leaves no room for
// a last-level cache of the given size (0: unknown) to help: four times as
// large, and at least 512 MiB.
func CopyBytes(cache int64) int64 { return max(4*cache, minCopyBytes) }

// NewCopier allocates buffers of the given size together, at least one value
// each, on large pages where the system has them, and touches all of them.
func NewCopier(bytes int64, threads int) *Copier {
	n := int(max(bytes/8, 1))
	c := &Copier{memory.Floats(n), memory.Floats(n)}
	c.copy(threads, n) // so that to has its pages
	c.share(threads, func(first, last int) {
		part := c.from[first:last]
		for j := range part { // else from is one page of zeros for all of it
			part[j] = 1
		}
	})
	return c
}

// share gives each thread its own part of the buffers, first up to last.
func (c *Copier) share(threads int, work func(first, last int)) {
	n := len(c.from)
	var wait sync.WaitGroup
	for i := range threads {
		wait.Go(func() { work(i*n/threads, (i+1)*n/threads) })
	}
	wait.Wait()
}

// Bytes is the size of both buffers together.
func (c *Copier) Bytes() int64 { return 8 * int64(len(c.from)) }

// copyPieces are how many values one call of copy takes. Go's copy of a large
// piece goes around the cache, of a small one through it; which is faster
// depends on the processor.
func (c *Copier) copyPieces() []int { return []int{len(c.from), 64 << 10} }

// Measure returns the bytes copied a second (read and written) by that many
// threads, the better of the two ways of copying. Each way copies everything
// at least once and for at least atLeast.
func (c *Copier) Measure(threads int, atLeast time.Duration) float64 {
	best := 0.0
	for _, piece := range c.copyPieces() {
		var bytes float64
		start := time.Now()
		for bytes == 0 || time.Since(start) < atLeast {
			c.copy(threads, piece)
			bytes += float64(c.Bytes())
		}
		best = max(best, rate(bytes, time.Since(start).Seconds()))
	}
	return best
}

// copy copies all once, each thread its own part, so many values at a time.
func (c *Copier) copy(threads, piece int) {
	c.share(threads, func(first, last int) {
		for at := first; at < last; at += piece {
			end := min(at+piece, last)
			copy(c.to[at:end], c.from[at:end])
		}
	})
}
