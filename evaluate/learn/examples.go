package learn

import (
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/kernels/simd"
)

// Examples are vectors that linear classifiers learn from: N values each, the last
// of which is the 1 that carries the intercept. Losses and gradients are computed
// in float64. The products with the second derivative, which take nearly all the
// time and only steer the search, are computed in float32.
type Examples struct {
	dim   int       // N
	exact []float64 // (examples, N) row-major

	stride int       // N rounded up to whole vectors
	quick  []float32 // (examples, stride), zeros behind each example
}

// NewExamples returns no examples yet, of vectors of so many dimensions.
func NewExamples(vectorDim int) *Examples {
	return &Examples{dim: vectorDim + 1, stride: (vectorDim + 16) / 16 * 16}
}

// Add adds an example: its vector, and 1.
func (x *Examples) Add(vector []float32) {
	for _, v := range vector {
		x.exact = append(x.exact, float64(v))
	}
	x.exact = append(x.exact, 1)
	x.quick = append(x.quick, vector...)
	x.quick = append(x.quick, 1)
	x.quick = append(x.quick, make([]float32, x.stride-x.dim)...)
}

// Len returns the number of examples.
func (x *Examples) Len() int { return len(x.exact) / x.dim }

// Dim returns N, one more than the dimensions of the vectors.
func (x *Examples) Dim() int { return x.dim }

// Of returns example i, (N).
func (x *Examples) Of(i uint32) []float64 {
	return x.exact[int(i)*x.dim : (int(i)+1)*x.dim]
}

// blockRows examples of a few hundred values stay in the second-level cache.
const blockRows = 128

// curvature returns Σ_i c_i·x_iᵀ over the examples, (K, N), for a loss whose
// second derivative has that form: weigh turns the products v·x_i, K of each
// example, into the coefficients c_i. It gets the products of n examples at once,
// (K, n) row-major, from number first of examples on.
func (x *Examples) curvature(v []float64, examples []uint32, weigh func(first, n int, scores []float32)) []float64 {
	classes := len(v) / x.dim
	left, lefts := make([]float32, classes*x.stride), memory.Sequence[uint32](classes)
	for k := range lefts {
		for i, value := range v[k*x.dim : (k+1)*x.dim] {
			left[k*x.stride+i] = float32(value)
		}
	}
	sums := make([]float64, len(v))
	scores, sum := make([]float32, classes*blockRows), make([]float32, x.stride)
	for first := 0; first < len(examples); first += blockRows {
		block := examples[first:min(first+blockRows, len(examples))]
		n := len(block)
		simd.Scores(scores, left, lefts, x.quick, block, x.stride)
		weigh(first, n, scores[:classes*n])
		for k := range classes {
			simd.Combine(sum, scores[k*n:(k+1)*n], x.quick, block)
			for i := range x.dim {
				sums[k*x.dim+i] += float64(sum[i])
			}
		}
	}
	return sums
}
