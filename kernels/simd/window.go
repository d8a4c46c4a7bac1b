package simd

import (
	"math"
	"slices"
)

// This file holds the kernels of the sentence-ordered trainers. A window of text
// pairs m rows of one table, its lefts, with s rows of another, its rights. One
// update of stochastic gradient descent is
//
//	Scores     S = L Rᵀ                        (m x s)
//	Gradients  G = rate (positive - sigmoid(S))
//	Update     L += G R,  R += Gᵀ L            with the old L and R
//
// Rows may repeat on either side. Matrices may have any size; a window of word2vec
// has one left.

// Scores computes the scores of all pairs of lefts and rights, rows of n values of
// the tables left and right:
//
//	for i := range lefts {
//		for k := range rights {
//			out[i*len(rights)+k] = dot(left[lefts[i]*n:][:n], right[rights[k]*n:][:n])
//		}
//	}
func Scores(out, left []float32, lefts []uint32, right []float32, rights []uint32, n int) {
	m, s := len(lefts), len(rights)
	if current == Go || m == 0 || s == 0 || n == 0 {
		scoresGo(out, left, lefts, right, rights, n)
		return
	}
	_ = out[:m*s]
	if s < group {
		scoresFew(out, left, lefts, right, rights, n)
		return
	}
	for k := 0; k < s; k += group {
		k = min(k, s-group) // the last six may overlap the group before
		scores6(&out[k], s, &left[0], &lefts[0], m, &right[0], &rights[k], n)
	}
}

// scoresFew is Scores for fewer than six rights.
func scoresFew(out, left []float32, lefts []uint32, right []float32, rights []uint32, n int) {
	const block = 16
	var padded [group]uint32
	for k := copy(padded[:], rights); k < group; k++ {
		padded[k] = rights[0]
	}
	for len(lefts) > 0 {
		var o [block * group]float32
		m := min(len(lefts), block)
		scores6(&o[0], group, &left[0], &lefts[0], m, &right[0], &padded[0], n)
		for i := range m {
			copy(out[i*len(rights):], o[i*group:][:len(rights)])
		}
		out, lefts = out[m*len(rights):], lefts[m:]
	}
}

// Negative and Positive are the kinds of pairs that Gradients knows. Each is the
// sign bit of a float32 that flips the score.
const (
	Negative uint32 = 0
	Positive uint32 = 1 << 31
)

// Gradients adds up the loss of negative sampling, and turns scores into its derivatives times scale:
//
//	Positive: coefficient = -scale sigmoid(-s)  loss = log(1+exp(-s))
//	Negative: coefficient =  scale sigmoid(s)   loss = log(1+exp(s))
//
// With a scale of -rate they are those of Update for a step down the gradient. The sigmoid is computed, not looked up, so its only error is rounding. The
// argument of exp is limited to [-87, 80], so the loss is finite; NaN stays NaN.
// All slices have one length.
func Gradients(coefficients, scores []float32, kinds []uint32, scale float32, loss *Loss) {
	n := len(scores)
	_, _ = coefficients[:n], kinds[:n]
	for first := 0; first < n; first += lossScores {
		end := min(first+lossScores, n)
		if current == Go {
			gradientsGo(coefficients[first:end], scores[first:end], kinds[first:end], scale, &loss.products)
		} else {
			gradients(&coefficients[first], &scores[first], &kinds[first], end-first, -scale, &loss.products)
		}
		loss.normalize()
	}
}

// A Loss is a sum of logarithms. It keeps products of their arguments, so that a
// score costs a multiplication and no logarithm. Start with [NewLoss].
type Loss struct {
	products [8]float64 // score j is a factor of product j%8
	exponent int        // 2^exponent is one more factor
}

// lossScores is the number of scores from one normalize to the next: a product of
// at most maxProduct stays finite with eight more factors of at most 1+exp(80).
const (
	lossScores = 64
	maxProduct = 1e30
)

// NewLoss returns a loss of zero.
func NewLoss() Loss { return Loss{products: [8]float64{1, 1, 1, 1, 1, 1, 1, 1}} }

// normalize keeps the products far from overflow.
func (l *Loss) normalize() {
	p := &l.products
	if (p[0]+p[1])+(p[2]+p[3])+(p[4]+p[5])+(p[6]+p[7]) < maxProduct {
		return
	}
	for i := range p {
		var exponent int
		p[i], exponent = math.Frexp(p[i])
		l.exponent += exponent
	}
}

// Total returns the loss, a sum of natural logarithms. It is NaN if a score was.
func (l *Loss) Total() float64 {
	sum := float64(l.exponent) * math.Ln2
	for _, p := range l.products {
		sum += math.Log(p)
	}
	return sum
}

// A Workspace is the memory of Update from one call to the next. Two goroutines
// must not use it at the same time. The zero value is ready.
type Workspace struct {
	floats []float32
	rows   []uint32
}

// buffer returns n values of scratch memory.
func (w *Workspace) buffer(n int) []float32 {
	if n > len(w.floats) {
		w.floats = make([]float32, n)
	}
	return w.floats[:n]
}

// consecutive returns the rows 0 ... m-1.
func (w *Workspace) consecutive(m int) []uint32 {
	for len(w.rows) < m {
		w.rows = append(w.rows, uint32(len(w.rows)))
	}
	return w.rows[:m]
}

// Update adds to each left the rights times their coefficients, and to each right
// the lefts times their coefficients. Both sums use the values from before the
// call. The coefficients are (len(lefts), len(rights)) in row-major order, and
// Update may change them; rows have n values. next, which may be nil, names rights
// of a later call. Update asks the memory system for them during the arithmetic, a
// few cache lines at a time: the memory system takes no more requests at once.
//
//	for i := range lefts {
//		for k := range rights {
//			left[lefts[i]]   += coefficients[i*len(rights)+k] * old right[rights[k]]
//			right[rights[k]] += coefficients[i*len(rights)+k] * old left[lefts[i]]
//		}
//	}
//
// The tables must not overlap.
func (w *Workspace) Update(left []float32, lefts []uint32, right []float32, rights []uint32, coefficients []float32, n int, next []uint32) {
	m, s := len(lefts), len(rights)
	coefficients = coefficients[:m*s]
	switch {
	case current == Go || m == 0 || s == 0 || n == 0:
		w.updateGo(left, lefts, right, rights, coefficients, n)
	case s == group:
		update6(&left[0], &lefts[0], &left[0], &lefts[0], m, &right[0], &rights[0], n, &coefficients[0], s, sixOf(next, right, n))
	case s < group:
		w.updatePart(left, lefts, left, lefts, right, rights, coefficients, s, n)
		PrefetchForUpdate(right, next, n)
	default:
		w.updateMany(left, lefts, right, rights, coefficients, n, next)
	}
}

// sixOf returns the first six of next, for which update6 asks the memory system;
// nil if there are fewer. sixOf itself asks for the rest.
func sixOf(next []uint32, right []float32, n int) *uint32 {
	if len(next) < group {
		PrefetchForUpdate(right, next, n)
		return nil
	}
	PrefetchForUpdate(right, next[group:], n)
	return &next[0]
}

// updateMany is Update for more than six rights; it takes them in groups of six.
// The lefts must keep their values until the last group has read them, so their
// changes are summed apart and added at the end.
func (w *Workspace) updateMany(left []float32, lefts []uint32, right []float32, rights []uint32, coefficients []float32, n int, next []uint32) {
	mergeRepeated(rights, coefficients)
	m, s := len(lefts), len(rights)
	all := w.buffer(m*n + m*group)
	sums, rows := all[:m*n], w.consecutive(m)
	clear(sums)
	k := 0
	for ; k+group <= s; k += group {
		ahead := next[:min(group, len(next))]
		next = next[len(ahead):]
		update6(&sums[0], &rows[0], &left[0], &lefts[0], m, &right[0], &rights[k], n, &coefficients[k], s, sixOf(ahead, right, n))
	}
	if k < s {
		part := Workspace{floats: all[m*n:]}
		part.updatePart(sums, rows, left, lefts, right, rights[k:], coefficients[k:], s, n)
	}
	PrefetchForUpdate(right, next, n)
	for i, row := range lefts {
		AddScaled(left[int(row)*n:][:n], sums[i*n:][:n], 1)
	}
}

// mergeRepeated adds the coefficients of a repeated right to its first place and
// leaves zeros in the others: a group must not read values that another group has
// changed.
func mergeRepeated(rights []uint32, coefficients []float32) {
	s := len(rights)
	for k := 1; k < s; k++ {
		first := slices.Index(rights[:k], rights[k])
		if first < 0 {
			continue
		}
		for row := coefficients; len(row) >= s; row = row[s:] {
			row[first], row[k] = row[first]+row[k], 0
		}
	}
}

// updatePart is update6 for fewer than six rights; rows of coefficients are stride
// values apart.
func (w *Workspace) updatePart(sums []float32, rows []uint32, left []float32, lefts []uint32, right []float32, rights []uint32, coefficients []float32, stride, n int) {
	m := len(lefts)
	var padded [group]uint32
	for k := copy(padded[:], rights); k < group; k++ {
		padded[k] = rights[0]
	}
	c := w.buffer(m * group)
	for i := range m {
		row := c[i*group:][:group]
		clear(row[copy(row, coefficients[i*stride:][:len(rights)]):])
	}
	update6(&sums[0], &rows[0], &left[0], &lefts[0], m, &right[0], &padded[0], n, &c[0], group, nil)
}

// PrefetchForUpdate is Prefetch for rows that the caller will change: the caches of
// other processors give them up now and not at the first write.
func PrefetchForUpdate(table []float32, rows []uint32, n int) {
	if current == Go || len(rows) == 0 || n == 0 {
		return
	}
	prefetchForUpdate(&table[0], &rows[0], len(rows), n)
}

func scoresGo(out, left []float32, lefts []uint32, right []float32, rights []uint32, n int) {
	for i, l := range lefts {
		row := left[int(l)*n:][:n]
		for k, r := range rights {
			out[i*len(rights)+k] = dotGo(row, right[int(r)*n:][:n])
		}
	}
}

func gradientsGo(coefficients, scores []float32, kinds []uint32, scale float32, products *[8]float64) {
	for j, s := range scores {
		s = flip(s, kinds[j])
		e := float32(math.Exp(float64(min(max(s, minArgument), maxArgument))))
		q := 1 + e
		products[j%8] *= float64(q)
		coefficients[j] = flip(scale*(e/q), kinds[j])
	}
}

// flip changes the sign of x if kind is Positive.
func flip(x float32, kind uint32) float32 { return math.Float32frombits(math.Float32bits(x) ^ kind) }

func (w *Workspace) updateGo(left []float32, lefts []uint32, right []float32, rights []uint32, coefficients []float32, n int) {
	s := len(rights)
	sums := w.buffer(s * n) // the changes of the rights
	clear(sums)
	for i, l := range lefts {
		for k := range rights {
			addGo(sums[k*n:][:n], coefficients[i*s+k], left[int(l)*n:][:n])
		}
	}
	for i, l := range lefts {
		for k, r := range rights {
			addGo(left[int(l)*n:][:n], coefficients[i*s+k], right[int(r)*n:][:n])
		}
	}
	for k, r := range rights {
		addGo(right[int(r)*n:][:n], 1, sums[k*n:][:n])
	}
}

// addGo adds c x to y.
func addGo(y []float32, c float32, x []float32) {
	x = x[:len(y)]
	for j := range y {
		y[j] += c * x[j]
	}
}
