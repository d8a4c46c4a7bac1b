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
	c               Options
	noise           *corpus.Alias
	iteration, step int
}

// negative returns negative k of the step, of the rows' own ones.
func (p plainStep) negative(k int) int {
	stream := corpus.StreamNegatives.Sub(uint32(2*p.iteration + p.step))
	return int(p.noise.Draw(corpus.Philox(p.c.Seed, stream, uint64(k/4))[k%4]))
}

// rounding is how much float32 may lose of a sum, relative to the sum of the absolute
// values of its terms. The sum itself is no scale: terms of both signs may cancel.
const rounding = 1e-5

// bounded are the values of a tensor as the definition has them, and how far float32 may
// be from each.
type bounded struct{ want, slack []float64 }

func boundedOf(x []float32) bounded { return bounded{float64s(x), make([]float64, len(x))} }

func (b bounded) set(at int, want, slack float64) { b.want[at], b.slack[at] = want, slack }

// row returns the mean gradient of row i of left, and its loss. samples is 0 if the row
// is left alone.
func (p plainStep) row(i int, left []float64, right bounded) (gradient bounded, loss float64, samples int) {
	n := p.c.Dim
	gradient = bounded{make([]float64, n), make([]float64, n)}
	column := p.step
	if p.c.SameColumn {
		column = 0
	}
	first, samples := p.m.Share(i, p.iteration, column)
	pair := func(context int, sign, weight, lossWeight float64) { // sign: 1 for a negative
		score, scoreSlack := 0.0, 0.0
		for j := range n {
			l, r := left[i*n+j], right.want[context*n+j]
			score += l * r
			scoreSlack += rounding*math.Abs(l*r) + math.Abs(l)*right.slack[context*n+j]
		}
		loss += lossWeight * math.Log1p(math.Exp(sign*score))
		coefficient := weight * sign / (1 + math.Exp(-sign*score))
		slack := math.Abs(coefficient) * (rounding + scoreSlack) // a sigmoid changes by no more than its argument, times itself
		for j := range n {
			r := right.want[context*n+j]
			gradient.want[j] += coefficient * r
			gradient.slack[j] += slack*math.Abs(r) + math.Abs(coefficient)*right.slack[context*n+j]
		}
	}
	for q := range samples {
		context := p.m.At(i, int((first+uint64(q))%uint64(p.m.RowLength(i))))
		if context == wordcontext.NoContext {
			return gradient, 0, samples
		}
		pair(int(context), -1, 1/float64(samples), 1)
	}
	if samples == 0 {
		return gradient, 0, 0
	}
	if h := p.c.SharedNegatives; h > 0 {
		shared := make([]uint32, h)
		p.noise.DrawSpread(shared, p.c.Seed, p.iteration, p.step)
		for _, context := range shared {
			weight := float64(p.c.Negatives) / float64(h)
			pair(int(context), 1, weight, weight*float64(samples))
		}
		return gradient, loss, samples
	}
	for k := range p.c.Negatives {
		pair(p.negative(i*p.c.Negatives+k), 1, 1, float64(samples))
	}
	return gradient, loss, samples
}

// update applies the gradient of a share of the given samples to row i of a table and
// its moments.
func (p plainStep) update(i, samples int, gradient bounded, rate float64, w, first, second bounded) {
	o, n := p.c.Optimizer.WithDefaults(), p.c.Dim
	updates := float64(p.iteration + 1)
	if p.m.RowLength(i) < p.m.Contexts() {
		updates = float64(p.m.Updates(i, p.iteration))
	}
	// decayed updates a moment by the fraction fresh of a value.
	decayed := func(x bounded, at int, decay, fresh, value, slack float64) {
		old, added := decay*x.want[at], fresh*value
		x.set(at, old+added, decay*x.slack[at]+fresh*slack+rounding*(math.Abs(old)+math.Abs(added)))
	}
	square, squareSlack := 0.0, 0.0
	for j, g := range gradient.want {
		square += g * g / float64(n)
		squareSlack += (2*math.Abs(g) + gradient.slack[j]) * gradient.slack[j] / float64(n)
	}
	for j, g := range gradient.want {
		at, slack := i*n+j, gradient.slack[j]
		if o.Method != optim.AdamRow {
			square, squareSlack = g*g, (2*math.Abs(g)+slack)*slack
		}
		moved, movedSlack, decay := g, slack, o.WeightDecay*w.want[at]
		// divide divides what is moved by the root of a second moment.
		divide := func(of int, correction float64) {
			root := math.Sqrt(second.want[of]/correction) + o.Epsilon
			moved, movedSlack = moved/root, movedSlack/root+math.Abs(moved)/root*second.slack[of]/second.want[of]
		}
		switch o.Method {
		case optim.SGD:
			root := math.Sqrt(float64(samples))
			moved, movedSlack, decay = root*moved, root*movedSlack, root*decay
		case optim.AdaGrad:
			decayed(second, at, 1, 1, square, squareSlack)
			divide(at, 1)
		case optim.RMSProp:
			decayed(second, at, o.Beta2, 1-o.Beta2, square, squareSlack)
			divide(at, 1)
		default:
			decayed(first, at, o.Beta1, 1-o.Beta1, g, slack)
			of := at
			if o.Method == optim.AdamRow {
				of = i
			}
			if of == at || j == 0 {
				decayed(second, of, o.Beta2, 1-o.Beta2, square, squareSlack)
			}
			correction := 1 - math.Pow(o.Beta1, updates)
			moved, movedSlack = first.want[at]/correction, first.slack[at]/correction
			divide(of, 1-math.Pow(o.Beta2, updates))
		}
		old := w.want[at]
		w.set(at, old-rate*(decay+moved), w.slack[at]+rate*movedSlack+rounding*(math.Abs(old)+rate*math.Abs(decay)+rate*math.Abs(moved)))
	}
}

func float64s(x []float32) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = float64(x[i])
	}
	return y
}
