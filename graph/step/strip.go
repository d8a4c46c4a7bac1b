package step

import (
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// A worker is one goroutine's scratch memory. The rows of a block that have a share
// are its members; a strip is some members that are trained together.
type worker struct {
	// Of a block.
	members []member
	targets []uint32 // of all members
	own     []uint32 // negatives of all rows, unless all share them
	loss    blockLoss

	// Of a strip.
	left, gradient   []float32 // (stripRows, N)
	against, weighed []float32 // (stripRows, H), scores and coefficients of shared negatives
	negative         []uint32  // (H), kinds

	// Of a chunk of targets.
	scores, coefficients []float32
	kinds                []uint32 // all positive, if the negatives are shared
}

// A member is a row of a block with its share.
type member struct {
	row, samples int
	from, to     int // its targets: samples, then own negatives; none if its word has no contexts
}

const (
	// stripRows is the most rows of a strip, so few that they stay in the caches.
	stripRows = 4 * tileRows

	// tileRows is the height of simd.AddProduct's tiles.
	tileRows = 6

	// chunkBytes bounds a chunk of targets, so that they are still in the first-level
	// cache when they are read again for the gradient, beside those of the next chunk,
	// which come meanwhile.
	chunkBytes = 12 << 10
)

// chunkRows is how many rows of n values form a chunk.
func chunkRows(n int) int { return max(chunkBytes/(4*n), 4) }

// newWorker returns the memory for rows of n values.
func newWorker(s *Sampler, n int) *worker {
	chunk := chunkRows(n)
	return &worker{
		left: make([]float32, stripRows*n), gradient: make([]float32, stripRows*n),
		against: make([]float32, stripRows*s.Shared), weighed: make([]float32, stripRows*s.Shared),
		negative: kindsOf(s.Shared, 0),
		scores:   make([]float32, chunk), coefficients: make([]float32, chunk), kinds: kindsOf(chunk, chunk),
	}
}

// kindsOf returns n kinds of pairs, those of the given number of positives first.
func kindsOf(n, positives int) []uint32 {
	kinds := make([]uint32, n)
	setKinds(kinds, positives)
	return kinds
}

func setKinds(kinds []uint32, positives int) {
	for k := range kinds {
		if kinds[k] = simd.Negative; k < positives {
			kinds[k] = simd.Positive
		}
	}
}

// block trains the rows from first up to last and returns their loss.
func (s *Step) block(w *worker, left, frozen []float32, first, last int) float64 {
	w.collect(s, first, last)
	w.loss.reset()
	for members := w.members; len(members) > 0; {
		rows := min(stripRows, len(members))
		s.strip(w, left, frozen, members[:rows])
		members = members[rows:]
	}
	return w.loss.total(s.Sampler.Weight())
}

// collect lists the members of a block, with their targets.
func (w *worker) collect(s *Step, first, last int) {
	w.members, w.targets, w.kinds = w.members[:0], w.targets[:0], w.kinds[:0]
	w.own = s.Sampler.DrawOwn(first, last, w.own)
	for i := first; i < last; i++ {
		m := member{row: s.Sampler.Row(i), from: len(w.targets)}
		w.targets, m.samples = s.Sampler.AppendTargets(w.targets, i, first, w.own)
		m.to = len(w.targets)
		if m.samples > 0 {
			w.members = append(w.members, m)
		} else {
			s.Give(m.row, 0, nil)
		}
	}
}

// strip trains members of a block.
func (s *Step) strip(w *worker, left, frozen []float32, members []member) {
	n := s.Dim
	clear(w.gradient[:len(members)*n])
	if s.Sampler.Shared > 0 {
		s.meetShared(w, left, members)
	}
	s.meetTargets(w, left, frozen, members)
	for r, m := range members {
		s.Give(m.row, m.samples, w.gradient[r*n:][:n])
	}
}

// meetTargets adds the part of the targets to the members' gradients, in chunks: of
// several members, or of a part of one.
func (s *Step) meetTargets(w *worker, left, frozen []float32, members []member) {
	most, end := len(w.scores), members[len(members)-1].to
	for r, from := 0, members[0].from; from < end; {
		to, last := min(from+most, members[r].to), r+1
		for last < len(members) && members[last].to-from <= most {
			to = members[last].to
			last++
		}
		s.meetChunk(w, left, frozen, members[r:last], w.gradient[r*s.Dim:], from, to)
		if r = last - 1; to == members[r].to {
			r++
		}
		from = to
	}
}

// meetChunk adds the part of the targets from ... to-1 to the gradients of the
// members that have them.
func (s *Step) meetChunk(w *worker, left, frozen []float32, members []member, gradients []float32, from, to int) {
	n, size := s.Dim, to-from
	for _, m := range members {
		first, last := max(m.from, from), min(m.to, to)
		scores := w.scores[first-from : last-from]
		if s.Sampler.Shared == 0 {
			setKinds(w.kinds[first-from:last-from], m.from+m.samples-first)
		}
		simd.Dots(scores, left[m.row*n:][:n], frozen, w.targets[first:last])
	}
	for k := range w.scores[:size] {
		w.scores[k] += s.Sampler.Bias
	}
	w.differentiate(members, from, to)
	for r, m := range members {
		first, last := max(m.from, from), min(m.to, to)
		c := w.coefficients[first-from : last-from]
		if m.samples > 1 {
			mean := 1 / float32(m.samples)
			for k := range min(m.from+m.samples, last) - first { // none if all are negatives
				c[k] *= mean
			}
		}
		next := w.targets[min(first+size, len(w.targets)):] // of the next chunk
		simd.AddCombination(gradients[r*n:][:n], c, frozen, w.targets[first:last], next)
	}
}

// differentiate computes the coefficients of the targets from ... to-1, which are those of
// some members, from their scores. Targets whose losses have the same weight are done in one go.
func (w *worker) differentiate(members []member, from, to int) {
	done := from
	gradients := func(end int, loss *simd.Loss) {
		simd.Gradients(w.coefficients[done-from:end-from], w.scores[done-from:end-from], w.kinds[done-from:end-from], 1, loss)
		done = end
	}
	for _, m := range members {
		positives, end := max(m.from+m.samples, from), min(m.to, to)
		if m.samples > 1 && positives < end { // negatives of a weight other than 1
			gradients(positives, &w.loss.single)
			gradients(end, w.loss.ofNegatives(m.samples))
		}
	}
	gradients(to, &w.loss.single)
}

// meetShared computes the part of the shared negatives in the members' gradients.
func (s *Step) meetShared(w *worker, left []float32, members []member) {
	n, h := s.Dim, s.Sampler.Shared
	// Products are of whole tiles. What stands behind the members, nobody reads.
	rows := (len(members) + tileRows - 1) / tileRows * tileRows
	for r, m := range members {
		copy(w.left[r*n:][:n], left[m.row*n:])
	}
	against := w.against[:rows*h]
	for k := range against {
		against[k] = s.Sampler.Bias
	}
	simd.AddProduct(against, h, simd.RowMajor(w.left, n), s.shared.transposed, h, rows, h, n)
	weight := float32(s.Sampler.Weight())
	for r, m := range members {
		scores, out := against[r*h:][:h], w.weighed[r*h:][:h]
		if m.from == m.to { // a word without contexts trains on nothing
			clear(out)
			continue
		}
		simd.Gradients(out, scores, w.negative, weight, w.loss.ofNegatives(m.samples))
	}
	simd.AddProduct(w.gradient, n, simd.RowMajor(w.weighed, h), s.shared.rows, n, rows, n, h)
}
