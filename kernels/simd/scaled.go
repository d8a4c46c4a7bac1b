package simd

import "math"

// A ScaledStep holds the numbers of one update that divides a gradient by the root of
// what has been seen of its squares: their sum (AdaGrad: Decay and Fresh 1) or their
// decaying mean (RMSProp: Fresh 1-Decay).
//
//	v = Decay*v + Fresh*g*g
//	w = Keep*w - Rate*g/(sqrt(v)+Epsilon)
type ScaledStep struct {
	Decay, Fresh float32
	Keep         float32 // 1 - rate*weight decay
	Rate         float32
	Epsilon      float32
}

// Scaled applies one update to w and its squares v, both of the length of g;
// [ScaledStep] has the formula.
func Scaled(w, v, g []float32, s *ScaledStep) {
	n := len(w)
	_, _ = v[:n], g[:n]
	if current == Go || n == 0 {
		scaledGo(w, v, g, s)
		return
	}
	scaled(&w[0], &v[0], &g[0], n, s)
}

// scaledGo converts products to float32 as adamGo does.
func scaledGo(w, v, g []float32, s *ScaledStep) {
	v, g = v[:len(w)], g[:len(w)]
	for j := range w {
		vj := float32(s.Decay*v[j]) + float32(float32(s.Fresh*g[j])*g[j])
		v[j] = vj
		root := float32(math.Sqrt(float64(vj))) // rounds exactly as a float32 root does
		w[j] = float32(s.Keep*w[j]) - float32(s.Rate*g[j])/(root+s.Epsilon)
	}
}
