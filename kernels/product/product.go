// Package product multiplies dense matrices. Start at [Add]: it calls the kernel of
// package simd or, in a build with cgo and the tag openblas, OpenBLAS.
//
// OpenBLAS changes the order of its sums with the shape. With it, equal rows of
// products of different shapes agree only up to rounding.
package product
