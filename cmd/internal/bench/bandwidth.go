package bench

import (
	"sync"
	"time"

	"github.com/w2vcl/w2vcl/internal/memory"
)

// A Copier measures the speed of memory with Go's copy. Each thread copies its
// part of one large buffer to another. Bytes read and bytes written both count.
type Copier struct {
	from, to []float32
}

// minCopyBytes is the least size of both buffers together.
const minCopyBytes = 512 << 20

// CopyBytes returns a size of both buffers together that makes a last-level cache
// of the given size (0: unknown) useless: four times as large, and at least 512
// MiB.
func CopyBytes(cache int64) int64 { return max(4*cache, minCopyBytes) }

// NewCopier allocates two buffers of the given size together, of at least one value
// each, on large pages where the system has them. It touches all of them.
func NewCopier(bytes int64, threads int) *Copier {
	n := int(max(bytes/8, 1))
	c := &Copier{memory.Floats(n), memory.Floats(n)}
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
func (c *Copier) split(threads int, work func(first, last int)) {
	n := len(c.from)
	var wait sync.WaitGroup
	for i := range threads {
		wait.Go(func() { work(i*n/threads, (i+1)*n/threads) })
	}
	wait.Wait()
}

// Bytes is the size of both buffers together.
func (c *Copier) Bytes() int64 { return 8 * int64(len(c.from)) }

// copyPieces are the numbers of values that one call of copy takes. Go copies a
// large piece around the cache and a small one through it. It depends on the
// processor which of the two is faster.
func (c *Copier) copyPieces() []int { return []int{len(c.from), 64 << 10} }

// Measure returns the bytes that threads read and write a second, by the faster of
// the two ways of copying. Each way copies everything at least once, and for at
// least the given time.
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

// copy copies everything once. Each thread copies its part, piece values at a time.
func (c *Copier) copy(threads, piece int) {
	c.split(threads, func(first, last int) {
		for at := first; at < last; at += piece {
			end := min(at+piece, last)
			copy(c.to[at:end], c.from[at:end])
		}
	})
}
