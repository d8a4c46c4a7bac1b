package evaluate

import "github.com/w2vcl/w2vcl/kernels/simd"

// features are what linear classifiers learn from: examples of N values each, of
// which the last is the 1 that carries the intercept. Losses and gradients are
// computed in float64. The products with the second derivative, which take
// nearly all the time and only steer the search, are computed in float32.
type features struct {
	dim   int       // N
	exact []float64 // (examples, N) row-major

	stride int       // N rounded up to whole vectors
	quick  []float32 // (examples, stride), zeros behind each example
}

func newFeatures(vectorDim int) *features {
	return &features{dim: vectorDim + 1, stride: (vectorDim + 16) / 16 * 16}
}

// add adds an example: its vector, and 1.
func (f *features) add(vector []float32) {
	for _, v := range vector {
		f.exact = append(f.exact, float64(v))
	}
	f.exact = append(f.exact, 1)
	f.quick = append(f.quick, vector...)
	f.quick = append(f.quick, 1)
	f.quick = append(f.quick, make([]float32, f.stride-f.dim)...)
}

func (f *features) len() int { return len(f.exact) / f.dim }

// of returns one example.
func (f *features) of(i uint32) []float64 {
	return f.exact[int(i)*f.dim : (int(i)+1)*f.dim]
}

// blockRows examples of a few hundred values stay in the second-level cache.
const blockRows = 128

// curvature returns Σ_i c_i·x_iᵀ over the examples, (K, N), for a loss whose
// second derivative has that form: weigh turns the products v·x_i, K of each
// example, into the coefficients c_i. It gets those of n examples at once, (K, n)
// row-major, from number first of examples on.
func (f *features) curvature(v []float64, examples []uint32, weigh func(first, n int, scores []float32)) []float64 {
	classes := len(v) / f.dim
	left, lefts := make([]float32, classes*f.stride), make([]uint32, classes)
	for k := range lefts {
		lefts[k] = uint32(k)
		for i, x := range v[k*f.dim : (k+1)*f.dim] {
			left[k*f.stride+i] = float32(x)
		}
	}
	sums := make([]float64, len(v))
	scores, sum := make([]float32, classes*blockRows), make([]float32, f.stride)
	for first := 0; first < len(examples); first += blockRows {
		block := examples[first:min(first+blockRows, len(examples))]
		n := len(block)
		simd.Scores(scores, left, lefts, f.quick, block, f.stride)
		weigh(first, n, scores[:classes*n])
		for k := range classes {
			simd.Combine(sum, scores[k*n:(k+1)*n], f.quick, block)
			for i := range f.dim {
				sums[k*f.dim+i] += float64(sum[i])
			}
		}
	}
	return sums
}
