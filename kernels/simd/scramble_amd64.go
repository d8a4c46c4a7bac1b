//go:build amd64 && !noasm

package simd

// The numbers soon wait for memory: one version serves both levels.
func scramble(x *uint32, eights int, b *Bijection) { scrambleAVX2(x, eights, b) }

//go:noescape
func scrambleAVX2(x *uint32, eights int, b *Bijection)
