//go:build !amd64 || noasm

package simd

// AddToRows never calls it: the level is always Go.
func addToRows(_ *float32, _ *uint32, _ *float32, _ int, _ *float32, _ int, _ *uint32) {
	panic("unreachable")
}
