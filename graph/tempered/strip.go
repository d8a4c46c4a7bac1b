package tempered

import (
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
	left, gradient   []float32 // (stripRows, N)
	against, weighed []float32 // (stripRows, width), scores and coefficients of negatives

	// Of a chunk of positives.
	scores, coefficients []float32
	positive, negative   []uint32 // kinds
}

// A member is a row of a block with its share.
type member struct {
	row, samples int
	from, to     int // its positives; none if its word has no contexts
}

const (
	// stripRows is the most rows of a strip, so few that they stay in the caches.
	stripRows = 4 * tileRows

	// tileRows is the height of simd.AddProduct's tiles.
	tileRows = 6

	// chunkBytes bounds a chunk of positives, so that they are still in the first-level
	// cache when they are read again for the gradient, beside those of the next chunk,
	// which come meanwhile.
	chunkBytes = 12 << 10
)

// chunkRows is how many rows of n values form a chunk.
func chunkRows(n int) int { return max(chunkBytes/(4*n), 4) }

// newWorker returns the memory for rows of n columns, of whole ones.
func newWorker(s *Sampler, n, whole int) *worker {
	width, chunk := s.Width(), chunkRows(whole)
	return &worker{
		left: make([]float32, stripRows*n), gradient: make([]float32, stripRows*n),
		against: make([]float32, stripRows*width), weighed: make([]float32, stripRows*width),
		scores: make([]float32, chunk), coefficients: make([]float32, chunk),
		positive: kinds(chunk, simd.Positive), negative: kinds(width, simd.Negative),
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
	for members := w.members; len(members) > 0; {
		rows := min(stripRows, len(members))
		l.strip(w, left, right, first, members[:rows])
		members = members[rows:]
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

// strip trains members of a block whose first row is first.
func (l *Loss) strip(w *worker, left, right []float32, first int, members []member) {
	n := l.Dim
	clear(w.gradient[:len(members)*n])
	if l.Sampler.Shared > 0 {
		l.meetShared(w, left, members)
	} else {
		l.meetOwn(w, left, right, first, members)
	}
	l.meetPositives(w, left, right, members)
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

// meetPositives adds the part of the positives to the members' gradients, in chunks: of
// several members, or of a part of one.
func (l *Loss) meetPositives(w *worker, left, right []float32, members []member) {
	most, end := len(w.scores), members[len(members)-1].to
	for r, from := 0, members[0].from; from < end; {
		to, last := min(from+most, members[r].to), r+1
		for last < len(members) && members[last].to-from <= most {
			to = members[last].to
			last++
		}
		l.meetChunk(w, left, right, members[r:last], w.gradient[r*l.Dim:], from, to)
		if r = last - 1; to == members[r].to {
			r++
		}
		from = to
	}
}

// meetChunk adds the part of the positives from ... to-1 to the gradients of the
// members that have them.
func (l *Loss) meetChunk(w *worker, left, right []float32, members []member, gradients []float32, from, to int) {
	n, size := l.Dim, to-from
	scores, c := w.scores[:size], w.coefficients[:size]
	for _, m := range members {
		first, last := max(m.from, from), min(m.to, to)
		if l.Scores != nil {
			copy(scores[first-from:last-from], l.Scores(m.row)[l.Sampler.Negatives+first-m.from:])
			continue
		}
		simd.Dots(scores[first-from:], left[m.row*n:][:n], right, w.positives[first:last])
	}
	simd.Gradients(c, scores, w.positive[:size], descent, &w.loss.positives)
	for r, m := range members {
		first, last := max(m.from, from), min(m.to, to)
		c, mean := c[first-from:last-from], 1/float32(m.samples)
		for k := range c {
			c[k] *= mean
		}
		next := w.positives[min(first+size, len(w.positives)):] // of the next chunk
		simd.AddCombination(gradients[r*n:][:n], c, right, w.positives[first:last], next)
	}
}

// meetShared computes the part of the shared negatives in the members' gradients.
func (l *Loss) meetShared(w *worker, left []float32, members []member) {
	n, h := l.Dim, l.Sampler.Shared
	// Products are of whole tiles. What stands behind the members, nobody reads.
	rows := (len(members) + tileRows - 1) / tileRows * tileRows
	for r, m := range members {
		copy(w.left[r*n:][:n], left[m.row*n:])
	}
	clear(w.against[:rows*h])
	simd.AddProduct(w.against, h, simd.RowMajor(w.left, n), l.shared.transposed, h, rows, h, n)
	l.weigh(w, members)
	simd.AddProduct(w.gradient, n, simd.RowMajor(w.weighed, h), l.shared.rows, n, rows, n, h)
}

// meetOwn computes the part of the members' own negatives in their gradients.
func (l *Loss) meetOwn(w *worker, left, right []float32, first int, members []member) {
	n, k := l.Dim, l.Sampler.Negatives
	for r, m := range members {
		if l.Scores != nil {
			copy(w.against[r*k:][:k], l.Scores(m.row))
			continue
		}
		simd.Dots(w.against[r*k:][:k], left[m.row*n:][:n], right, w.own[(m.row-first)*k:][:k])
	}
	l.weigh(w, members)
	for r, m := range members {
		simd.AddCombination(w.gradient[r*n:][:n], w.weighed[r*k:][:k], right, w.own[(m.row-first)*k:][:k], nil)
	}
}

// weigh computes the coefficients of the members' negatives from their scores. A word
// without contexts trains on nothing.
func (l *Loss) weigh(w *worker, members []member) {
	width, weight := l.Sampler.Width(), l.Sampler.Weight()
	for r, m := range members {
		scores, out := w.against[r*width:][:width], w.weighed[r*width:][:width]
		if m.from == m.to {
			clear(out)
			continue
		}
		simd.Gradients(out, scores, w.negative, descent*float32(weight), w.loss.ofNegatives(m.samples))
	}
}
