package graph

import (
	"math"

	"github.com/w2vcl/w2vcl/corpus"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/wordcontext"
)

// A plainStep is a step of tempered W2V-CL in float64, as the documents define it.
type plainStep struct {
	m               *wordcontext.Matrix
	c               Config
	noise           *corpus.Alias
	iteration, step int
}

// negative returns negative k of the step, of the rows' own ones.
func (p plainStep) negative(k int) int {
	stream := corpus.StreamNegatives.Sub(uint32(2*p.iteration + p.step))
	return int(p.noise.Draw(corpus.Philox(p.c.Seed, stream, uint64(k/4))[k%4]))
}

// row returns the mean gradient of row i of left, the size of its terms, and its
// loss. samples is 0 if the row is left alone.
func (p plainStep) row(i int, left, right []float64) (gradient []float64, size, loss float64, samples int) {
	n := p.c.Dim
	gradient = make([]float64, n)
	column := p.step
	if p.c.SameColumn {
		column = 0
	}
	first, samples := p.m.Share(i, p.iteration, column)
	pair := func(context int, sign, weight, lossWeight float64) { // sign: 1 for a negative
		score := 0.0
		for j := range n {
			score += left[i*n+j] * right[context*n+j]
		}
		loss += lossWeight * math.Log1p(math.Exp(sign*score))
		coefficient := weight * sign / (1 + math.Exp(-sign*score))
		for j := range n {
			gradient[j] += coefficient * right[context*n+j]
			size = max(size, math.Abs(right[context*n+j]))
		}
	}
	for q := range samples {
		context := p.m.At(i, int((first+uint64(q))%uint64(p.m.RowLength(i))))
		if context == wordcontext.NoContext {
			return gradient, 0, 0, samples
		}
		pair(int(context), -1, 1/float64(samples), 1)
	}
	if samples == 0 {
		return gradient, 0, 0, 0
	}
	if h := p.c.SharedNegatives; h > 0 {
		shared := make([]uint32, h)
		p.noise.DrawSpread(shared, p.c.Seed, p.iteration, p.step)
		for _, context := range shared {
			weight := float64(p.c.Negatives) / float64(h)
			pair(int(context), 1, weight, weight*float64(samples))
		}
		return gradient, size, loss, samples
	}
	for k := range p.c.Negatives {
		pair(p.negative(i*p.c.Negatives+k), 1, 1, float64(samples))
	}
	return gradient, size, loss, samples
}

// update applies the gradient of a share of the given samples to row i of a table and
// its moments. It returns how far rounding of the gradient may lead w astray.
func (p plainStep) update(i, samples int, gradient []float64, size, rate float64, w, first, second []float64) (slack float64) {
	o, n := p.c.Optimizer.WithDefaults(), p.c.Dim
	updates := float64(p.iteration + 1)
	if p.m.RowLength(i) < p.m.Contexts() {
		updates = float64(p.m.Updates(i, p.iteration))
	}
	square := 0.0
	for _, g := range gradient {
		square += g * g / float64(n)
	}
	rounding := 1e-5 * size
	for j, g := range gradient {
		at := i*n + j
		if o.Method == optim.SGD {
			root := math.Sqrt(float64(samples))
			w[at] -= rate*o.WeightDecay*root*w[at] + rate*root*g
			slack = max(slack, rate*root*rounding)
			continue
		}
		if o.Method == optim.AdaGrad || o.Method == optim.RMSProp {
			decay, share := 1.0, 1.0
			if o.Method == optim.RMSProp {
				decay, share = o.Beta2, 1-o.Beta2
			}
			second[at] = decay*second[at] + share*g*g
			root := math.Sqrt(second[at])
			w[at] -= rate*o.WeightDecay*w[at] + rate*g/(root+o.Epsilon)
			slack = max(slack, rate*(rounding+1e-5*math.Abs(g))/root)
			continue
		}
		first[at] = o.Beta1*first[at] + (1-o.Beta1)*g
		v := &second[i]
		if o.Method == optim.Adam {
			v, square = &second[at], g*g
		}
		if o.Method == optim.Adam || j == 0 {
			*v = o.Beta2*(*v) + (1-o.Beta2)*square
		}
		mean, root := first[at]/(1-math.Pow(o.Beta1, updates)), math.Sqrt(*v/(1-math.Pow(o.Beta2, updates)))
		w[at] -= rate*o.WeightDecay*w[at] + rate*mean/(root+o.Epsilon)
		slack = max(slack, rate*(rounding+1e-5*math.Abs(mean))/root)
	}
	return slack
}

func float64s(x []float32) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = float64(x[i])
	}
	return y
}
