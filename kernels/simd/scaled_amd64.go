//go:build amd64 && !noasm

package simd

func scaled(w, v, g *float32, n int, s *ScaledStep) {
	if current == AVX512 {
		scaledAVX512(w, v, g, n, s)
	} else {
		scaledAVX2(w, v, g, n, s)
	}
}

//go:noescape
func scaledAVX512(w, v, grad *float32, n int, s *ScaledStep)

//go:noescape
func scaledAVX2(w, v, grad *float32, n int, s *ScaledStep)
