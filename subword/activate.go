package subword

import "math"

// floor is where the maximum of values begins, so that it has gone through the activation already, or may.
func (a Activation) floor() float32 {
	if a == ReLU {
		return 0
	}
	return float32(math.Inf(-1))
}

// apply puts values through the activation.
func (a Activation) apply(values []float32) {
	switch a {
	case ReLU:
		for i, x := range values {
			values[i] = max(x, 0)
		}
	case Tanh:
		for i, x := range values {
			values[i] = float32(math.Tanh(float64(x)))
		}
	}
}

// differentiate writes the gradients of values before the activation to dst: results are the values after it, gradient
// their gradients.
func (a Activation) differentiate(dst, results, gradient []float32) {
	copy(dst, gradient[:len(dst)])
	switch a {
	case ReLU:
		for i, y := range results[:len(dst)] {
			if y <= 0 {
				dst[i] = 0
			}
		}
	case Tanh:
		for i, y := range results[:len(dst)] {
			dst[i] *= 1 - y*y
		}
	}
}
