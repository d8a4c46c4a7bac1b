package devicetest

import (
	"cmp"
	"fmt"
	"math"

	kernels "github.com/w2vcl/w2vcl/kernels/cuda/subword"
	"github.com/w2vcl/w2vcl/optim"
	"github.com/w2vcl/w2vcl/trainer"
)

// An encoder composes rows and learns, value by value; see package subword.
type encoder struct {
	kernels.Config
	dim, vocabulary int // N, V
	parameters      []*parameter

	// of the rows composed last, (V, D)
	features, y []float64
	where       []int
	scale       []float64 // (D)
}

// A parameter is a matrix with its optimizer and the gradient of a step.
type parameter struct {
	name         string
	columns      int
	value        []float32
	gradient     []float64
	optimizer    optimizer
	relativeRate float64
}

func newEncoder(c kernels.Config, vocabulary, dim int, o optim.Config) (*encoder, error) {
	e := &encoder{Config: c, vocabulary: vocabulary, dim: dim}
	var failed error
	add := func(name string, rows, columns int, rate float64) {
		p := &parameter{name: name, columns: columns, value: make([]float32, rows*columns), gradient: make([]float64, rows*columns), relativeRate: rate}
		var err error
		if p.optimizer, err = optim.New(o, rows, columns); err != nil {
			failed = err
		}
		e.parameters = append(e.parameters, p)
	}
	if len(c.Widths) == 0 {
		add(cmp.Or(c.Table, "ngrams"), c.Alphabet, dim, c.Rate)
	} else {
		add("symbols", c.Alphabet, c.CharDim, c.Rate)
		for i, w := range c.Widths {
			add(fmt.Sprintf("filters%d.width%d", i, w), w*c.CharDim+1, c.Filters[i], c.Rate)
		}
		add("weights", e.d()+1, dim, c.Rate)
	}
	if c.Words {
		add("words", vocabulary, dim, 1)
	}
	return e, failed
}

// d is the number of features.
func (e *encoder) d() int { return e.Features() }

func (e *encoder) word(v int) []uint32 { return e.Symbols[e.Starts[v]:e.Starts[v+1]] }

func (e *encoder) state() (all []trainer.Tensor) {
	for _, p := range e.parameters {
		all = append(all, trainer.Tensor{Name: p.name, Data: p.value})
		for _, t := range p.optimizer.State() {
			all = append(all, trainer.Tensor{Name: p.name + "." + t.Name, Data: t.Data})
		}
	}
	return all
}

// compose writes the rows of all words.
func (e *encoder) compose(rows []float32) {
	clear(rows)
	if len(e.Widths) == 0 {
		for v := range e.vocabulary {
			for _, u := range e.word(v) {
				for n := range e.dim {
					rows[v*e.dim+n] += e.parameters[0].value[int(u)*e.dim+n]
				}
			}
		}
	} else {
		e.convolve()
		e.standardize()
		weights := e.parameters[1+len(e.Widths)].value
		for i := range rows {
			v, n, sum := i/e.dim, i%e.dim, 0.0
			for d := range e.d() {
				sum += e.y[v*e.d()+d] * float64(weights[d*e.dim+n])
			}
			rows[i] = float32(sum) + weights[e.d()*e.dim+n]
		}
	}
	if e.Words {
		for i, x := range e.parameters[len(e.parameters)-1].value {
			rows[i] += x
		}
	}
}

// A feature is a filter of a width, of all positions or, flattened, of one.
type feature struct {
	p             *parameter // of the filters
	f, F, width   int
	position, all int // the first, and how many
}

func (e *encoder) feature(d, symbols int) feature {
	for i, filters := range e.Filters {
		if n := filters * e.Positions(i); d >= n {
			d -= n
			continue
		}
		x := feature{p: e.parameters[1+i], f: d % filters, F: filters, width: e.Widths[i], all: symbols - e.Widths[i] + 1}
		if e.Flatten {
			x.position, x.all = d/filters, 1
		}
		return x
	}
	panic("no such feature")
}

func (e *encoder) convolve() {
	e.features, e.where = make([]float64, e.vocabulary*e.d()), make([]int, e.vocabulary*e.d())
	symbols := e.parameters[0].value
	for i := range e.features {
		word := e.word(i / e.d())
		q := e.feature(i%e.d(), len(word))
		best := math.Inf(-1)
		for t := q.position; t < q.position+q.all; t++ {
			x := float64(q.p.value[q.width*e.CharDim*q.F+q.f])
			for o, s := range word[t : t+q.width] {
				for c := range e.CharDim {
					x += float64(symbols[int(s)*e.CharDim+c]) * float64(q.p.value[(o*e.CharDim+c)*q.F+q.f])
				}
			}
			if x > best {
				best, e.where[i] = x, t
			}
		}
		switch e.Activation {
		case "tanh":
			e.features[i] = math.Tanh(best)
		case "none":
			e.features[i] = best
		default:
			e.features[i] = max(best, 0)
		}
	}
}

// slope is the derivative of the activation where its result is y.
func (e *encoder) slope(y float64) float64 {
	switch {
	case e.Activation == "tanh":
		return 1 - y*y
	case e.Activation != "none" && y <= 0:
		return 0
	}
	return 1
}

func (e *encoder) standardize() {
	e.y, e.scale = make([]float64, len(e.features)), make([]float64, e.d())
	for d := range e.scale {
		sum, squares := 0.0, 0.0
		for i := d; i < len(e.features); i += e.d() {
			sum += e.features[i]
			squares += e.features[i] * e.features[i]
		}
		mean := sum / float64(e.vocabulary)
		if e.scale[d] = 1 / math.Sqrt(squares/float64(e.vocabulary)-mean*mean+1e-3); e.Raw {
			mean, e.scale[d] = 0, 1
		}
		for i := d; i < len(e.features); i += e.d() {
			e.y[i] = (e.features[i] - mean) * e.scale[d]
		}
	}
}

// train updates the parameters by the gradient of the rows. share returns how many samples a word has and how often
// it has been trained; -1 if all words have one in every step.
func (e *encoder) train(gradient []float32, step int, rate float64, share func(word int) (samples, updates int)) {
	for _, p := range e.parameters {
		clear(p.gradient)
	}
	for i, g := range gradient {
		if e.Words {
			e.parameters[len(e.parameters)-1].gradient[i] = float64(g)
		}
		if len(e.Widths) == 0 {
			for _, u := range e.word(i / e.dim) {
				e.parameters[0].gradient[int(u)*e.dim+i%e.dim] += float64(g)
			}
		}
	}
	if len(e.Widths) > 0 {
		e.backward(gradient)
	}
	for _, p := range e.parameters {
		p.optimizer.Begin(step, rate*p.relativeRate)
		row := make([]float32, p.columns)
		for i := range len(p.value) / p.columns {
			for c := range row {
				row[c] = float32(p.gradient[i*p.columns+c])
			}
			w := p.value[i*p.columns:][:p.columns]
			samples, updates := share(min(i, e.vocabulary-1))
			tempered := samples >= 0
			switch {
			case tempered && p.name == "words":
				if samples > 0 {
					p.optimizer.UpdateMean(i, updates, 1, w, row)
				}
			case tempered && len(e.Widths) == 0 && dot(row, row) == 0: // in no word that was trained
			default:
				p.optimizer.UpdateRow(i, w, row)
			}
		}
	}
}

// backward goes back through the layer, the standardization, the maximum and the
// filters.
func (e *encoder) backward(gradient []float32) {
	weights := e.parameters[1+len(e.Widths)]
	for d := range e.d() + 1 {
		ofY, meanGradient, meanProduct := make([]float64, e.vocabulary), 0.0, 0.0
		for i, g := range gradient {
			v, n := i/e.dim, i%e.dim
			y := 1.0 // of the bias
			if d < e.d() {
				y = e.y[v*e.d()+d]
			}
			weights.gradient[d*e.dim+n] += y * float64(g)
			ofY[v] += float64(g) * float64(weights.value[d*e.dim+n])
		}
		if d == e.d() {
			break
		}
		for v, g := range ofY {
			meanGradient += g / float64(e.vocabulary)
			meanProduct += g * e.y[v*e.d()+d] / float64(e.vocabulary)
		}
		if e.Raw {
			meanGradient, meanProduct = 0, 0
		}
		for v, g := range ofY {
			e.toFilter(v, d, e.scale[d]*(g-meanGradient-e.y[v*e.d()+d]*meanProduct))
		}
	}
}

// toFilter brings the gradient of a word's feature to where its maximum was.
func (e *encoder) toFilter(v, d int, g float64) {
	if g *= e.slope(e.features[v*e.d()+d]); g == 0 {
		return
	}
	t, word, symbols := e.where[v*e.d()+d], e.word(v), e.parameters[0]
	q := e.feature(d, len(word))
	q.p.gradient[q.width*e.CharDim*q.F+q.f] += g
	for o, s := range word[t : t+q.width] {
		for c := range e.CharDim {
			at, symbol := (o*e.CharDim+c)*q.F+q.f, int(s)*e.CharDim+c
			q.p.gradient[at] += g * float64(symbols.value[symbol])
			symbols.gradient[symbol] += g * float64(q.p.value[at])
		}
	}
}
