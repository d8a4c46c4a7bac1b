package graph

import "math"

// lossSum adds up logarithms of factors. It multiplies as long as the product
// is far from overflow and takes one logarithm then, instead of one a factor.
// The zero value is not ready: start with newLossSum.
type lossSum struct{ sum, product float64 }

func newLossSum() lossSum { return lossSum{product: 1} }

// add adds log(f) for every factor f >= 1; a factor is at most 1+exp(80).
func (l *lossSum) add(factors []float32) {
	for _, f := range factors {
		l.product *= float64(f)
		if l.product > 1e250 {
			l.sum += math.Log(l.product)
			l.product = 1
		}
	}
}

// total returns the sum so far; NaN if a factor was.
func (l *lossSum) total() float64 { return l.sum + math.Log(l.product) }
