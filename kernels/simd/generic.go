package simd

import "math"

// dotGo adds up in eight lanes, and the lanes in pairs.
func dotGo(x, y []float32) float32 {
	y = y[:len(x)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	j := 0
	for ; j+8 <= len(x); j += 8 {
		s0 += x[j] * y[j]
		s1 += x[j+1] * y[j+1]
		s2 += x[j+2] * y[j+2]
		s3 += x[j+3] * y[j+3]
		s4 += x[j+4] * y[j+4]
		s5 += x[j+5] * y[j+5]
		s6 += x[j+6] * y[j+6]
		s7 += x[j+7] * y[j+7]
	}
	s := [8]float32{s0, s1, s2, s3, s4, s5, s6, s7}
	for lane := 0; j < len(x); j++ {
		s[lane] += x[j] * y[j]
		lane++
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

func dotsGo(out, left, table []float32, rows []uint32) {
	n := len(left)
	for k, r := range rows {
		out[k] = dotGo(left, table[int(r)*n:][:n])
	}
}

func addCombinationGo(out, coefficients, table []float32, rows []uint32) {
	n := len(out)
	for k, r := range rows {
		c := coefficients[k]
		row := table[int(r)*n:][:n]
		for j := range out {
			out[j] += c * row[j]
		}
	}
}

// The limits of exp's argument in Gradients: its value stays a finite, normal
// float32.
const (
	minArgument = -87
	maxArgument = 80
)

// The loops below convert each product to float32. Otherwise a Go compiler may
// fuse it with the addition (on arm64 it does), and these kernels promise the
// same bits everywhere.

func adamGo(w, m, v, g []float32, s *AdamStep) {
	m, v, g = m[:len(w)], v[:len(w)], g[:len(w)]
	for j := range w {
		mj := float32(s.Beta1*m[j]) + float32(s.OneMinusBeta1*g[j])
		vj := float32(s.Beta2*v[j]) + float32(float32(s.OneMinusBeta2*g[j])*g[j])
		m[j], v[j] = mj, vj
		root := float32(math.Sqrt(float64(vj))) // rounds exactly as a float32 root does
		w[j] = float32(s.Keep*w[j]) - float32(s.Scale*mj)/(root+s.Epsilon)
	}
}

func momentumGo(w, m, g []float32, beta1, keep, scale float32) {
	m, g = m[:len(w)], g[:len(w)]
	rest := 1 - beta1
	for j := range w {
		mj := float32(beta1*m[j]) + float32(rest*g[j])
		m[j] = mj
		w[j] = float32(keep*w[j]) - float32(scale*mj)
	}
}

func sgdGo(w, g []float32, keep, rate float32) {
	g = g[:len(w)]
	for j := range w {
		w[j] = float32(keep*w[j]) - float32(rate*g[j])
	}
}

func exchangeGo(shared, own, before []float32) {
	for i := range shared {
		shared[i] += own[i] - before[i]
		own[i], before[i] = shared[i], shared[i]
	}
}

// philoxGo is Philox for a multiple of four numbers.
func philoxGo(dst []uint32, seed, stream, counter uint64) {
	const (
		m0, m1 = 0xD2511F53, 0xCD9E8D57 // multipliers
		w0, w1 = 0x9E3779B9, 0xBB67AE85 // Weyl increments of the key
	)
	for ; len(dst) >= 4; dst = dst[4:] {
		c0, c1 := uint32(counter), uint32(counter>>32)
		c2, c3 := uint32(stream), uint32(stream>>32)
		k0, k1 := uint32(seed), uint32(seed>>32)
		for range 10 {
			p0, p1 := uint64(m0)*uint64(c0), uint64(m1)*uint64(c2)
			c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
			k0, k1 = k0+w0, k1+w1
		}
		dst[0], dst[1], dst[2], dst[3] = c0, c1, c2, c3
		counter++
	}
}
