//go:build !(armbe || arm64be || mips || mips64 || ppc || ppc64 || s390 || s390x || sparc || sparc64)

package memory

import "unsafe"

// A Number is one that files hold as it lies in memory: little-endian. w2vcl is built for processors of that order only.
type Number interface {
	uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// BytesOf returns the memory of s as bytes.
func BytesOf[T Number](s []T) []byte {
	var x T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(x)))
}

// NumbersOf returns the memory of b as numbers. b must be aligned for T.
func NumbersOf[T Number](b []byte) []T {
	var x T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(x)))
}
