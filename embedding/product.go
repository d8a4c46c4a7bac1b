package embedding

// products computes the dot products of all queries with all rows:
//
//	for q := range Q {
//		for r := range R {
//			dst[q*R+r] = dot(queries[q*dim:][:dim], rows[r*dim:][:dim])
//		}
//	}
//
// queries: (Q, N), rows: (R, N), dst: (Q, R), all row-major. Searches have no other
// arithmetic: a faster kernel goes here. One sum adds up each product in the order
// of the dimensions, so the value depends on no other query or row.
func products(dst, queries, rows []float32, dim int) {
	count, width := len(queries)/dim, len(rows)/dim
	vector := func(m []float32, i int) []float32 { return m[i*dim : (i+1)*dim : (i+1)*dim] }
	for q := 0; q < count; q += 2 {
		next := min(q+1, count-1) // a last single query is computed twice
		a, b := vector(queries, q), vector(queries, next)
		dstA, dstB := dst[q*width:(q+1)*width], dst[next*width:(next+1)*width]
		r := 0
		for ; r+1 < width; r += 2 {
			dstA[r], dstA[r+1], dstB[r], dstB[r+1] = tile(a, b, vector(rows, r), vector(rows, r+1))
		}
		if r < width {
			dstA[r], dstB[r] = dot(a, vector(rows, r)), dot(b, vector(rows, r))
		}
	}
}

// tile returns a·c, a·d, b·c and b·d. Four loads feed four products. The four sums
// stay in registers and do not wait for each other. Larger tiles were slower in Go.
func tile(a, b, c, d []float32) (ac, ad, bc, bd float32) {
	n := len(a)
	b, c, d = b[:n], c[:n], d[:n] // removes bounds checks from the loop
	for k, x := range a {
		y, v, w := b[k], c[k], d[k]
		ac += x * v
		ad += x * w
		bc += y * v
		bd += y * w
	}
	return ac, ad, bc, bd
}

// dot returns a·b.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var sum float32
	for k, x := range a {
		sum += x * b[k]
	}
	return sum
}
