//go:build amd64 && !noasm

package simd

func partialDots6(out, left, table *float32, rows *uint32, n, parts int) {
	switch parts {
	case 2:
		dots6Of8AVX2(out, left, table, rows, n)
	case 4:
		dots6Of4AVX2(out, left, table, rows, n)
	case 8:
		dots6Of2AVX2(out, left, table, rows, n)
	default:
		dots6Of1AVX2(out, left, table, rows, n)
	}
}

//go:noescape
func dots6Of8AVX2(out, left, table *float32, rows *uint32, n int)

//go:noescape
func dots6Of4AVX2(out, left, table *float32, rows *uint32, n int)

//go:noescape
func dots6Of2AVX2(out, left, table *float32, rows *uint32, n int)

//go:noescape
func dots6Of1AVX2(out, left, table *float32, rows *uint32, n int)
