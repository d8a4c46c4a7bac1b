package graph

import (
	"math"
	"testing"

	"github.com/w2vcl/w2vcl/optim"
)

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
