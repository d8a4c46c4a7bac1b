package graph

import (
	"math"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
)

// The gradient of a multiple of the loss is that multiple, in every run.
func TestMultipleOfLoss(t *testing.T) {
	x := kindsOfSteps(30, 10, 7)[0]
	x.method = optim.Adam
	s := newCL(t, x.matrix(t, freshRandom(t)), 3, x.options(2))
	randomState(s, 3)
	gradient := func(times float32) []float32 {
		op, err := newSkipGram(s.steps[0].core.Sampler, s.steps[0].core.Blocks, s.team, nil, s.options)
		if err != nil {
			t.Fatal(err)
		}
		s.iteration = newIteration()
		left := s.input("left", s.words.dense)
		loss := op.apply(s.iteration, "loss", left, s.input("frozen", s.contexts.dense), s.samples(0))
		loss = gorgonia.Must(gorgonia.Mul(loss, gorgonia.NewConstant(times)))
		gradients := s.gradients(loss, gorgonia.Nodes{left})
		if err := s.compile(); err != nil {
			t.Fatal(err)
		}
		for number := range 2 {
			if err := s.run(1+number, 0); err != nil {
				t.Fatal(err)
			}
		}
		return gradients[0].Value().Data().([]float32)
	}
	once, twice := gradient(1), gradient(2)
	for i := range once {
		if twice[i] != 2*once[i] {
			t.Fatalf("value %d is %v, and %v of twice the loss", i, once[i], twice[i])
		}
	}
}

// Finite differences of the loss confirm the gradient of the definition. Rows with several
// samples are trained on the mean of their samples, but reported with the sum.
func TestDefinition(t *testing.T) {
	for _, x := range kindsOfSteps(6, 4, 5, 7) {
		x.method = optim.SGD
		s := newCL(t, x.matrix(t, freshRandom(t)), 3, x.options(1))
		randomState(s, 4)
		p := plainStep{s.matrix, s.options, s.steps[0].core.Sampler.Noise, 2, 1}
		left, right := float64s(s.contexts.data), boundedOf(s.words.data)
		for i := range x.v {
			gradient, _, samples := p.row(i, left, right)
			for j, got := range gradient.want {
				const h = 1e-5
				at := i*x.dim + j
				old := left[at]
				left[at] = old + h
				_, up, _ := p.row(i, left, right)
				left[at] = old - h
				_, down, _ := p.row(i, left, right)
				left[at] = old
				if want := (up - down) / (2 * h) / float64(max(samples, 1)); math.Abs(got-want) > 1e-7 {
					t.Fatalf("%s: gradient (%d, %d) is %v, by finite differences %v", x, i, j, got, want)
				}
			}
		}
	}
}

// Matrices of the wrong size are errors.
func TestStepBadInput(t *testing.T) {
	r := freshRandom(t)
	x := kindsOfSteps(3, 4, 5)[0]
	x.method = optim.SGD
	s := newCL(t, x.matrix(t, r), 3, x.options(1))
	op, err := newSkipGram(s.steps[0].core.Sampler, s.steps[0].core.Blocks, team.New(1), nil, s.options)
	if err != nil {
		t.Fatal(err)
	}
	for says, shapes := range map[string][4]int{"left is": {2, 5, 3, 5}, "columns": {3, 5, 3, 4}} {
		_, err := op.Do(randomMatrix(r, shapes[0], shapes[1]), randomMatrix(r, shapes[2], shapes[3]))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error is %v, want one with %q", err, says)
		}
	}
}
