package tempered

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A worker is one goroutine's scratch memory. The rows of a block that have a share
// are its members; a strip is some members that are trained together.
type worker struct {
	// Of a block.
	members   []member
	positives []uint32 // of all members
	own       []uint32 // negatives of all rows, unless all share them
	loss      blockLoss

	// Of a strip.
	left, gradient       []float32 // (stripRows, N)
	scores, coefficients []float32 // of positives
	positive, negative   []uint32  // kinds
	against              []float32 // (stripRows, width), scores of negatives
	weighed              []float32 // likewise, their coefficients
	ahead                []uint32  // positives of the next strip, not yet asked for
}

// A member is a row of a block with its share.
type member struct {
	row, samples int
	from, to     int // its positives; none if its word has no contexts
}

const (
	// stripRows is the most rows of a strip, so few that they stay in the caches.
	stripRows = 4 * tileRows

	// stripBytes bounds the positives of a strip of several rows.
	stripBytes = 192 << 10

	// tileRows is the height of simd.AddProduct's tiles.
	tileRows = 6
)

func newWorker(s *Sampler, n int) *worker {
	width := s.Width()
	return &worker{
		left: make([]float32, stripRows*n), gradient: make([]float32, stripRows*n),
		against: make([]float32, stripRows*width), weighed: make([]float32, stripRows*width),
		negative: kinds(width, simd.Negative),
	}
}

// kinds returns n equal kinds of pairs.
func kinds(n int, kind uint32) []uint32 {
	kinds := make([]uint32, n)
	for i := range kinds {
		kinds[i] = kind
	}
	return kinds
}

// block trains the rows from first up to last and returns their loss.
func (l *Loss) block(w *worker, left, right []float32, first, last int) float64 {
	w.collect(l, first, last)
	if l.Sampler.Shared == 0 {
		w.own = l.Sampler.DrawOwn(first, last, w.own)
	}
	w.loss.reset()
	rows := stripOf(w.members, l.Dim)
	simd.Prefetch(right, w.positivesOf(w.members[:rows]), l.Dim)
	for members := w.members; len(members) > 0; {
		strip := members[:rows]
		members = members[rows:]
		rows = stripOf(members, l.Dim)
		w.ahead = w.positivesOf(members[:rows])
		l.strip(w, left, right, first, strip)
	}
	return w.loss.total(l.Sampler.Weight())
}

// collect lists the members of a block, with their positives. Other rows have a
// gradient of zero.
func (w *worker) collect(l *Loss, first, last int) {
	w.members, w.positives = w.members[:0], w.positives[:0]
	for i := first; i < last; i++ {
		share := l.Sampler.Share(i)
		if len(share) == 0 {
			if l.Kept != nil {
				clear(l.Kept[i*l.Dim:][:l.Dim])
			}
			continue
		}
		from := len(w.positives)
		if share[0] != wordcontext.NoContext {
			w.positives = append(w.positives, share...)
		}
		w.members = append(w.members, member{row: i, samples: len(share), from: from, to: len(w.positives)})
	}
}

// stripOf returns how many of the members, the first ones, form a strip.
func stripOf(members []member, n int) int {
	rows := min(1, len(members))
	for rows < min(stripRows, len(members)) && (members[rows].to-members[0].from)*n*4 <= stripBytes {
		rows++
	}
	return rows
}

func (w *worker) positivesOf(members []member) []uint32 {
	if len(members) == 0 {
		return nil
	}
	return w.positives[members[0].from:members[len(members)-1].to]
}

// strip trains members of a block whose first row is first.
func (l *Loss) strip(w *worker, left, right []float32, first int, members []member) {
	n, from, to := l.Dim, members[0].from, members[len(members)-1].to
	w.scores, w.coefficients = memory.Resize(w.scores, to-from), memory.Resize(w.coefficients, to-from)
	if len(w.positive) < to-from {
		w.positive = kinds(to-from, simd.Positive)
	}
	for r, m := range members {
		copy(w.left[r*n:][:n], left[m.row*n:])
		simd.Dots(w.scores[m.from-from:m.to-from], left[m.row*n:][:n], right, w.positives[m.from:m.to])
	}
	simd.Gradients(w.coefficients, w.scores, w.positive[:to-from], descent, &w.loss.positives)
	l.scoreNegatives(w, right, first, members)
	l.weighNegatives(w, members)
	for r, m := range members {
		c, mean := w.coefficients[m.from-from:m.to-from], 1/float32(m.samples)
		for k := range c {
			c[k] *= mean
		}
		simd.Combine(w.gradient[r*n:][:n], c, right, w.positives[m.from:m.to])
	}
	l.addNegatives(w, right, first, members)
	for r, m := range members {
		g := w.gradient[r*n:][:n]
		if l.Update != nil {
			l.Update.UpdateMean(m.row, l.Sampler.Updates(m.row), m.samples, left[m.row*n:][:n], g)
		}
		if l.Kept != nil {
			if l.Root {
				scale(g, m.samples)
			}
			copy(l.Kept[m.row*n:], g)
		}
	}
}

// descent is the rate at which simd.Gradients gives the gradient of the loss itself.
const descent = -1

// scoreNegatives computes the scores of the members' negatives.
func (l *Loss) scoreNegatives(w *worker, right []float32, first int, members []member) {
	width := l.Sampler.Width()
	if l.Sampler.Shared > 0 {
		clear(w.against)
		l.addProduct(w, w.against, w.left, l.shared.transposed, right, len(members), width, l.Dim)
		return
	}
	for r, m := range members {
		simd.Dots(w.against[r*width:][:width], w.left[r*l.Dim:][:l.Dim], right, w.ownOf(m.row-first, width))
	}
}

// weighNegatives computes the coefficients of the members' negatives. A word without
// contexts trains on nothing.
func (l *Loss) weighNegatives(w *worker, members []member) {
	width, weight := l.Sampler.Width(), l.Sampler.Weight()
	for r, m := range members {
		scores, out := w.against[r*width:][:width], w.weighed[r*width:][:width]
		if m.from == m.to {
			clear(out)
			continue
		}
		if loss := w.loss.ofNegatives(m.samples); loss != nil {
			simd.Gradients(out, scores, w.negative, descent*float32(weight), loss)
			continue
		}
		loss := simd.NewLoss()
		simd.Gradients(out, scores, w.negative, descent*float32(weight), &loss)
		w.loss.long += float64(m.samples) * weight * loss.Total()
	}
}

// addNegatives adds the part of the negatives to the members' gradients.
func (l *Loss) addNegatives(w *worker, right []float32, first int, members []member) {
	width := l.Sampler.Width()
	if l.Sampler.Shared > 0 {
		l.addProduct(w, w.gradient, w.weighed, l.shared.rows, right, len(members), l.Dim, width)
		return
	}
	for r, m := range members {
		simd.AddCombination(w.gradient[r*l.Dim:][:l.Dim], w.weighed[r*width:][:width], right, w.ownOf(m.row-first, width))
	}
}

// ownOf returns the negatives of a row of the block.
func (w *worker) ownOf(row, width int) []uint32 { return w.own[row*width:][:width] }

// addProduct adds to c (rows, n) the product of a (rows, k) and b (k, n), in whole
// tiles: what stands in c behind the rows, nobody reads. Before each tile it asks the
// memory system for some positives of the next strip; in both products of a strip, for
// all. The memory system takes no more requests at once, and answers during the
// arithmetic.
func (l *Loss) addProduct(w *worker, c, a, b, right []float32, rows, n, k int) {
	tiles := (rows + tileRows - 1) / tileRows
	each := (len(w.ahead) + 2*tiles - 1) / (2 * tiles)
	for t := range tiles {
		now := min(each, len(w.ahead))
		simd.Prefetch(right, w.ahead[:now], l.Dim)
		w.ahead = w.ahead[now:]
		simd.AddProduct(c[t*tileRows*n:], n, simd.RowMajor(a[t*tileRows*k:], k), b, n, tileRows, n, k)
	}
}
