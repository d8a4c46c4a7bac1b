package graph

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// temperedWorker is one goroutine's scratch memory. The rows of a block that have a
// share are its members; a strip is some members that are trained together.
type temperedWorker struct {
	// Of a block.
	members   []member
	positives []uint32 // of all members
	bits      []uint32 // for the negatives of all rows
	loss      temperedSum

	// Of a strip.
	left, gradient       []float32 // (temperedStrip, N)
	scores, coefficients []float32 // of positives
	positive, negative   []uint32  // kinds
	negatives            []uint32  // (temperedStrip, K), own ones
	against              []float32 // (temperedStrip, width) scores of negatives
	weighed              []float32 // likewise, their coefficients
}

// A member is a row of a block with its share.
type member struct {
	row, samples int
	from, to     int // its positives; none if its word has no contexts
}

// A temperedSum is the loss of a block. A logarithm costs much, so negatives of
// rows with equally many samples, which have one weight, share a sum of them.
type temperedSum struct {
	positives simd.Loss
	negatives [16]simd.Loss // by the number of samples
	used      [16]bool
	long      float64 // of negatives of rows with more samples, weighed
}

func (s *temperedSum) reset() {
	s.positives, s.used, s.long = simd.NewLoss(), [16]bool{}, 0
}

// total returns the loss; negatives have the given weight for each sample.
func (s *temperedSum) total(weight float64) float64 {
	sum := s.positives.Total() + s.long
	for samples, used := range s.used {
		if used {
			sum += float64(samples) * weight * s.negatives[samples].Total()
		}
	}
	return sum
}

// ofNegatives returns the sum for the negatives of a row with the given samples; nil
// if there is none.
func (s *temperedSum) ofNegatives(samples int) *simd.Loss {
	if samples >= len(s.negatives) {
		return nil
	}
	if !s.used[samples] {
		s.used[samples], s.negatives[samples] = true, simd.NewLoss()
	}
	return &s.negatives[samples]
}

// temperedStrip is the most rows of a strip: a multiple of the height of
// simd.AddProduct's tiles, so short that its rows stay in the caches.
const (
	temperedStrip      = 24
	temperedStripBytes = 192 << 10 // of positives
)

func newTemperedWorker(s *sampler, n int) *temperedWorker {
	width := temperedStrip * s.negativesOfRow()
	return &temperedWorker{
		left: make([]float32, temperedStrip*n), gradient: make([]float32, temperedStrip*n),
		negatives: make([]uint32, temperedStrip*s.negatives), negative: kindsOfAll(s.negativesOfRow(), simd.Negative),
		against: make([]float32, width), weighed: make([]float32, width),
	}
}

// block trains the left rows from first up to last and returns their loss.
// left, right: (V, n)  kept: (V, n) or nil
func (t *temperedLoss) block(w *temperedWorker, left, right, kept []float32, n, first, last int) float64 {
	w.loss.reset()
	w.members, w.positives = w.members[:0], w.positives[:0]
	for i := first; i < last; i++ {
		share := t.sampler.share(i)
		if len(share) == 0 {
			if kept != nil {
				clear(kept[i*n:][:n])
			}
			continue
		}
		m := member{row: i, samples: len(share), from: len(w.positives)}
		if share[0] != wordcontext.NoContext {
			w.positives = append(w.positives, share...)
		}
		m.to = len(w.positives)
		w.members = append(w.members, m)
	}
	if t.sampler.shared == 0 {
		w.bits = t.sampler.ownNegatives(first, last, w.bits)
	}
	for members := w.members; len(members) > 0; {
		rows := 1
		for rows < min(temperedStrip, len(members)) && (members[rows].to-members[0].from)*n*4 <= temperedStripBytes {
			rows++
		}
		t.strip(w, left, right, kept, n, first, members[:rows])
		members = members[rows:]
	}
	return w.loss.total(t.sampler.weight())
}

// strip trains members of a block whose first row is first.
func (t *temperedLoss) strip(w *temperedWorker, left, right, kept []float32, n, first int, members []member) {
	from, to := members[0].from, members[len(members)-1].to
	w.scores, w.coefficients = memory.Resize(w.scores, to-from), memory.Resize(w.coefficients, to-from)
	if len(w.positive) < to-from {
		w.positive = kindsOfAll(to-from, simd.Positive)
	}
	for r, m := range members {
		copy(w.left[r*n:][:n], left[m.row*n:])
		simd.Dots(w.scores[m.from-from:m.to-from], left[m.row*n:][:n], right, w.positives[m.from:m.to])
	}
	simd.Gradients(w.coefficients, w.scores, w.positive[:to-from], descent, &w.loss.positives)
	t.againstNegatives(w, right, n, first, members)

	width := t.sampler.negativesOfRow()
	for r, m := range members {
		c, g := w.coefficients[m.from-from:m.to-from], w.gradient[r*n:][:n]
		mean := 1 / float32(m.samples)
		for k := range c {
			c[k] *= mean
		}
		simd.Combine(g, c, right, w.positives[m.from:m.to])
		if t.sampler.shared == 0 {
			simd.AddCombination(g, w.weighed[r*width:][:width], right, w.negatives[r*width:][:width])
		}
	}
	if t.sampler.shared > 0 {
		simd.AddProduct(w.gradient, n, simd.RowMajor(w.weighed, width), t.shared.rows, n, wholeTiles(len(members)), n, width)
	}
	for r, m := range members {
		g := w.gradient[r*n:][:n]
		if kept != nil {
			if t.root {
				scaled(g, m.samples)
			}
			copy(kept[m.row*n:], g)
		}
		if t.update != nil {
			t.update.UpdateMean(m.row, t.sampler.updates(m.row), m.samples, left[m.row*n:][:n], g)
		}
	}
}

// againstNegatives computes the coefficients of the members' negatives.
func (t *temperedLoss) againstNegatives(w *temperedWorker, right []float32, n, first int, members []member) {
	width, weight := t.sampler.negativesOfRow(), t.sampler.weight()
	if t.sampler.shared > 0 {
		rows := wholeTiles(len(members))
		clear(w.against[:rows*width])
		simd.AddProduct(w.against, width, simd.RowMajor(w.left, n), t.shared.transposed, width, rows, width, n)
	} else {
		for r, m := range members {
			own := w.negatives[r*width:][:width]
			copy(own, w.bits[(m.row-first)*width:])
			simd.Dots(w.against[r*width:][:width], w.left[r*n:][:n], right, own)
		}
	}
	for r, m := range members {
		scores, out := w.against[r*width:][:width], w.weighed[r*width:][:width]
		if m.from == m.to { // no contexts
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

// wholeTiles rounds a number of rows up to whole tiles of simd.AddProduct. What the
// rows beyond hold, nobody reads.
func wholeTiles(rows int) int { return (rows + 5) / 6 * 6 }
