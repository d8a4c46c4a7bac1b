package graph

import (
	"math"
	"strings"
	"testing"

	"github.com/w2vcl/w2vcl/internal/team"
	"github.com/w2vcl/w2vcl/optim"
	"gorgonia.org/gorgonia"
)

// keptGradient makes the graph of the first step of a trainer with the gradient of a multiple of its
// loss for the table of words.
func keptGradient(t *testing.T, s *CL, times float32) (op *skipGram, gradient *gorgonia.Node, g *iteration) {
	t.Helper()
	op, err := newSkipGram(s.steps[0].core.Sampler, s.steps[0].core.Blocks, team.New(2), nil, s.options)
	if err != nil {
		t.Fatal(err)
	}
	g = newIteration()
	left := g.input("left", s.words.dense)
	loss := op.apply(g, "loss", left, g.input("frozen", s.contexts.dense))
	if times != 1 {
		loss = gorgonia.Must(gorgonia.Mul(loss, gorgonia.NewConstant(times)))
	}
	gradients := g.gradients(loss, gorgonia.Nodes{left})
	if err := g.compile(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return op, gradients[0], g
}

// The kept gradient, which trains encoders, is the mean of a share, or root s times
// that for a method that is not adaptive. Rows without a share get zeros, whatever
// was there. The gradient of a multiple of the loss is that multiple, in every run.
func TestStepKeptGradient(t *testing.T) {
	r := freshRandom(t)
	for _, method := range []optim.Method{optim.Adam, optim.SGD} {
		for i, x := range kindsOfSteps(129, 10, 21, 16) {
			x.method = method
			s := newCL(t, x.matrix(t, r), 5, x.options(2))
			randomState(s, 3)
			times := float64(1 + 2*(i%2))
			op, gradient, vm := keptGradient(t, s, float32(times))
			for iteration := range 3 {
				var err error
				sampler := s.steps[0].core.Sampler
				sampler.Iteration = iteration
				if sampler.Samples, _, err = s.steps[0].reader.Iteration(iteration); err != nil {
					t.Fatal(err)
				}
				if err := vm.run(iteration+1, 0); err != nil {
					t.Fatal(err)
				}
				got := gradient.Value().Data().([]float32)
				p := plainStep{s.matrix, s.options, s.steps[0].core.Sampler.Noise, iteration, 0}
				wantLoss := 0.0
				for i := range x.v {
					want, loss, samples := p.row(i, float64s(s.words.data), boundedOf(s.contexts.data))
					wantLoss += loss
					root := times
					if method == optim.SGD {
						root *= math.Sqrt(float64(samples))
					}
					for j, y := range want.want {
						if d := math.Abs(float64(got[i*x.dim+j]) - root*y); d > root*want.slack[j] {
							t.Fatalf("%s: gradient (%d, %d) is %v, want %v within %v", x, i, j, got[i*x.dim+j], root*y, root*want.slack[j])
						}
					}
				}
				if math.Abs(op.loss-wantLoss) > 1e-5*wantLoss {
					t.Errorf("%s: loss %v, want %v", x, op.loss, wantLoss)
				}
			}
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
