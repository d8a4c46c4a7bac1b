//go:build gpu

package cuda

import "fmt"

// The ladder is the way from the published kernels to fullw2v.cu, a kernel for
// each step, kept to be read and measured: no run trains with them. They take the
// same arguments and give the same result, for N = 128, K = 5 and W_f = 3 or 5.
// Two more steps are not here: fullw2v.cu and fullw2v_half.cu.
var rungs = []string{"register", "block", "warp", "joint"}

// ladder returns the kernel of a rung.
func (c *FullW2VConfig) ladder(slots int) (fullKernel, error) {
	if c.Dim != 128 || c.Negatives != 5 || c.Half != 3 && c.Half != 5 || c.HalfPrecision {
		return fullKernel{}, fmt.Errorf("dimension %d, %d negatives, half window %d: the ladder has kernels for 128, 5, and 3 or 5", c.Dim, c.Negatives, c.Half)
	}
	k := fullKernel{module: "ladder_" + c.rung, name: fmt.Sprintf("ladder_%s_%d", c.rung, c.Half), threads: 32}
	switch c.rung {
	case "register", "block":
		k.threads = c.Dim
	case "warp":
		k.shared = 512 * slots
	}
	return k, nil
}
