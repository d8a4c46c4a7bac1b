// Package simd holds the vector kernels of the CPU trainers: Go assembly for
// AVX2 and AVX-512, chosen at run time, each beside a plain Go twin.
//
// Start with this file: the comment of every exported function shows its loop.
// generic.go holds these loops in Go, for all other processors and for the build
// tag noasm; amd64.s holds them in assembly. window.go has the kernels of
// sentence-ordered training, with the loss and its gradient; product.go has the
// kernels of the encoders, products.go that of windows with position weights, scaled.go
// the update of AdaGrad and RMSProp. Each of these has its loops in Go and an assembly file.
//
// # Rounding
//
// AVX2 and AVX-512 give the same bits: both add in sixteen lanes, fold them in
// the same order and fuse the same multiplications. The element-wise kernels
// (Adam, Scaled, Momentum, SGD, Exchange) and ConvolveMax fuse no multiplication, so they
// give the same bits in plain Go, too; Philox computes with whole numbers. The
// other kernels differ from plain Go in the last bits of a float32.
//
// # Safety
//
// The kernels do not check row numbers against the table: a row r must satisfy
// (r+1)*n <= len(table). Callers check their ids once, when they make them.
package simd

import (
	"fmt"
	"math"
	"slices"
)

// A Level names a set of processor instructions.
type Level string

// The levels, slowest first.
const (
	Go     Level = "go"     // plain Go
	AVX2   Level = "avx2"   // AVX2 and FMA
	AVX512 Level = "avx512" // AVX-512 F, DQ, BW, VL
)

// Current returns the level in use; at first, it is the best level of this machine.
func Current() Level { return current }

// Levels returns the levels that this build can use on this machine, slowest first.
func Levels() []Level { return append([]Level(nil), available...) }

// Use switches to another level. Only tests and benchmarks need it. Nobody may
// call it while kernels run. A level that is not in Levels is an error.
func Use(l Level) error {
	for _, a := range available {
		if a == l {
			current = l
			return nil
		}
	}
	return fmt.Errorf("this machine or build has no simd level %q, only %v", l, available)
}

// An AdamStep holds the numbers of one Adam update. They follow from the learning
// rate, the bias corrections and the decoupled weight decay, once a step:
//
//	m = Beta1*m + OneMinusBeta1*g
//	v = Beta2*v + OneMinusBeta2*g*g
//	w = Keep*w - Scale*m/(sqrt(v)+Epsilon)
type AdamStep struct {
	Beta1, OneMinusBeta1 float32
	Beta2, OneMinusBeta2 float32
	Keep                 float32 // 1 - rate*weight decay
	Scale                float32 // rate * sqrt(1-Beta2^t) / (1-Beta1^t)
	Epsilon              float32 // epsilon * sqrt(1-Beta2^t)
}

// NewAdamStep returns the numbers of step t, counted from 1, at a learning rate. The bias
// corrections of the moments (Kingma and Ba 2015, section 3) are part of Scale and Epsilon.
func NewAdamStep(beta1, beta2, epsilon, weightDecay float64, t int, rate float64) AdamStep {
	s := AdamStep{
		Beta1: float32(beta1), OneMinusBeta1: float32(1 - beta1),
		Beta2: float32(beta2), OneMinusBeta2: float32(1 - beta2),
		Keep: float32(1 - rate*weightDecay),
	}
	s.Correct(NewAdamCorrection(beta1, beta2, t), rate, epsilon)
	return s
}

// An AdamCorrection is the bias correction of the moments at one step.
type AdamCorrection struct {
	First  float64 // 1 - beta1^t
	Second float64 // sqrt(1 - beta2^t)
}

// NoAdamCorrection is the correction of late steps.
var NoAdamCorrection = AdamCorrection{1, 1}

// NewAdamCorrection returns the bias correction of step t, counted from 1.
func NewAdamCorrection(beta1, beta2 float64, t int) AdamCorrection {
	return AdamCorrection{1 - math.Pow(beta1, float64(t)), math.Sqrt(1 - math.Pow(beta2, float64(t)))}
}

// Correct sets Scale and Epsilon for a correction, a learning rate and an epsilon.
func (s *AdamStep) Correct(c AdamCorrection, rate, epsilon float64) {
	s.Scale, s.Epsilon = float32(rate*c.Second/c.First), float32(epsilon*c.Second)
}

// group is the number of rows that a kernel takes at once: one positive and the
// usual five negatives.
const group = 6

// Dots computes the scores of the row left with len(rows) rows of a table, which
// is row-major with n = len(left) values a row:
//
//	for k := range rows { out[k] = dot(left, table[rows[k]*n:][:n]) }
func Dots(out, left, table []float32, rows []uint32) {
	n := len(left)
	if current == Go || n == 0 {
		dotsGo(out, left, table, rows)
		return
	}
	_ = out[:len(rows)]
	if len(rows) == 0 || len(rows) != group && dotsMany(&out[0], &left[0], &table[0], &rows[0], len(rows), n) {
		return
	}
	for len(rows) >= group {
		dots6(&out[0], &left[0], &table[0], &rows[0], n)
		out, rows = out[group:], rows[group:]
	}
	if len(rows) > 0 {
		var r [group]uint32
		var o [group]float32
		for k := copy(r[:], rows); k < group; k++ {
			r[k] = r[0]
		}
		dots6(&o[0], &left[0], &table[0], &r[0], n)
		copy(out, o[:len(rows)])
	}
}

// Combine computes a linear combination of len(rows) rows of a table (rows of
// n = len(out) values):
//
//	for j := range out { out[j] = sum over k of coefficients[k]*table[rows[k]*n+j] }
//
// Unlike the functions of the training steps it panics if the table lacks one of the
// rows: encoders of files go through it.
func Combine(out, coefficients, table []float32, rows []uint32) {
	if current == Go || len(rows) == 0 || len(out) == 0 {
		clear(out)
		addCombinationGo(out, coefficients, table, rows)
		return
	}
	_ = table[int(slices.Max(rows))*len(out):][:len(out)]
	addCombination(out, coefficients, table, rows, 0, nil)
}

// AddCombination adds a linear combination of rows of a table to out:
//
//	for j := range out { out[j] += sum over k of coefficients[k]*table[rows[k]*n+j] }
//
// next names rows of the table for a later call. If there are as many as rows,
// AddCombination asks the memory system for one after each row. A processor forgets
// requests while it has some twenty cache lines under way, so asking for all at once,
// as Prefetch does, would bring only the first few.
func AddCombination(out, coefficients, table []float32, rows, next []uint32) {
	if current == Go || len(rows) == 0 || len(out) == 0 {
		addCombinationGo(out, coefficients, table, rows)
		return
	}
	if len(next) < len(rows) {
		next = nil
	}
	addCombination(out, coefficients, table, rows, 1, next)
}

// addCombination is Combine if add is 0, AddCombination if it is 1, for the vector
// levels. next is as long as rows, or longer, or nil.
func addCombination(out, coefficients, table []float32, rows []uint32, add int, next []uint32) {
	n := len(out)
	_ = coefficients[:len(rows)]
	ahead := &rows[0] // is there
	if next != nil {
		ahead = &next[0]
	}
	if combineMany(&out[0], &coefficients[0], &table[0], &rows[0], len(rows), n, add, ahead) {
		return
	}
	for len(rows) >= group {
		if next != nil {
			prefetch(&table[0], &next[0], group, n)
			next = next[group:]
		}
		combine6(&out[0], &coefficients[0], &table[0], &rows[0], n, add)
		coefficients, rows, add = coefficients[group:], rows[group:], 1
	}
	if len(rows) > 0 {
		var r [group]uint32
		var c [group]float32
		copy(c[:], coefficients[:len(rows)])
		for k := copy(r[:], rows); k < group; k++ {
			r[k] = r[0]
		}
		combine6(&out[0], &c[0], &table[0], &r[0], n, add)
	}
}

// Adam applies one update to w and its moments m and v, all of one length;
// [AdamStep] has the formula.
func Adam(w, m, v, g []float32, s *AdamStep) {
	n := len(w)
	_, _, _ = m[:n], v[:n], g[:n]
	if current == Go || n == 0 {
		adamGo(w, m, v, g, s)
		return
	}
	adam(&w[0], &m[0], &v[0], &g[0], n, s)
}

// Momentum is Adam's update with one denominator for the whole row. The caller has
// divided scale by it:
//
//	m = beta1*m + (1-beta1)*g;  w = keep*w - scale*m
func Momentum(w, m, g []float32, beta1, keep, scale float32) {
	n := len(w)
	_, _ = m[:n], g[:n]
	if current == Go || n == 0 {
		momentumGo(w, m, g, beta1, keep, scale)
		return
	}
	momentum(&w[0], &m[0], &g[0], n, beta1, 1-beta1, keep, scale)
}

// SGD takes a step of gradient descent:
//
//	w = keep*w - rate*g
func SGD(w, g []float32, keep, rate float32) {
	n := len(w)
	_ = g[:n]
	if current == Go || n == 0 {
		sgdGo(w, g, keep, rate)
		return
	}
	sgd(&w[0], &g[0], n, keep, rate)
}

// AddScaled adds scaled values to a row:
//
//	y += a*x
func AddScaled(y, x []float32, a float32) { SGD(y, x, 1, -a) }

// Exchange adds to shared the changes of own since before, and copies the sum to
// own and before. The slices have one length.
//
//	shared += own - before;  own = shared;  before = shared
func Exchange(shared, own, before []float32) {
	n := len(shared)
	_, _ = own[:n], before[:n]
	if current == Go || n == 0 {
		exchangeGo(shared, own, before)
		return
	}
	exchange(&shared[0], &own[0], &before[0], n)
}

// Dot returns the dot product of two slices of one length.
func Dot(x, y []float32) float32 {
	if current == Go || len(x) == 0 {
		return dotGo(x, y)
	}
	_ = y[:len(x)]
	return dot(&x[0], &y[0], len(x))
}

// PhiloxNumbers is how many numbers Philox makes at a time: those of eight counters. It is fastest for a multiple.
const PhiloxNumbers = 32

// Philox fills dst with random bits of the generator Philox4x32-10; package corpus
// explains the generator, its streams and its counter. Each counter gives four
// numbers of 32 bits; the last four are cut to the length of dst.
//
//	for i := range dst { dst[i] = corpus.Philox(seed, stream, counter+i/4)[i%4] }
func Philox(dst []uint32, seed, stream, counter uint64) {
	const numbers = PhiloxNumbers
	eights := len(dst) / numbers
	// The vector kernel counts in the low 32 bits of the counter.
	if current != Go && counter>>32 == (counter+8*uint64(eights+1))>>32 {
		if eights > 0 {
			philox(&dst[0], eights, seed, stream, counter)
			dst, counter = dst[eights*numbers:], counter+8*uint64(eights)
		}
		if len(dst) > 8 { // eight counters take as long as two or three in Go
			var rest [numbers]uint32
			philox(&rest[0], 1, seed, stream, counter)
			copy(dst, rest[:])
			return
		}
	}
	whole := len(dst) &^ 3
	philoxGo(dst[:whole], seed, stream, counter)
	if whole < len(dst) {
		var last [4]uint32
		philoxGo(last[:], seed, stream, counter+uint64(whole/4))
		copy(dst[whole:], last[:])
	}
}
