// Package product multiplies dense matrices: by the kernel of package simd, or,
// built with the tag openblas and cgo, by OpenBLAS. Both are named Add.
//
// OpenBLAS sums in another order for other shapes, so with it equal rows of
// products of different shapes agree to rounding only.
package product
