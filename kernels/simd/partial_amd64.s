//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// Some of the 16 lanes of dot products, as dots6 has them: see PartialDots.

// func dots6Of8AVX2(out, left, table *float32, rows *uint32, n int)
// Six dot products in 8 lanes; n is a multiple of 8.
TEXT ·dots6Of8AVX2(SB), NOSPLIT, $0-40
	DOTS6
	ZERO6
	XORQ AX, AX

loop:
	VMOVUPS (SI)(AX*4), Y6
	VFMADD231PS (R8)(AX*4), Y6, Y0
	VFMADD231PS (R9)(AX*4), Y6, Y1
	VFMADD231PS (R10)(AX*4), Y6, Y2
	VFMADD231PS (R11)(AX*4), Y6, Y3
	VFMADD231PS (R12)(AX*4), Y6, Y4
	VFMADD231PS (R13)(AX*4), Y6, Y5
	ADDQ $8, AX
	CMPQ AX, DX
	JB   loop

	// Lane t and lane t+8 of the whole row first, then in pairs.
	VEXTRACTF128 $1, Y0, X7
	VEXTRACTF128 $1, Y1, X8
	VEXTRACTF128 $1, Y2, X9
	VEXTRACTF128 $1, Y3, X10
	VEXTRACTF128 $1, Y4, X11
	VEXTRACTF128 $1, Y5, X12
	VADDPS X7, X0, X0
	VADDPS X8, X1, X1
	VADDPS X9, X2, X2
	VADDPS X10, X3, X3
	VADDPS X11, X4, X4
	VADDPS X12, X5, X5
	VHADDPS X1, X0, X0
	VHADDPS X3, X2, X2
	VHADDPS X5, X4, X4
	VHADDPS X2, X0, X0
	VHADDPS X4, X4, X4
	VMOVUPS X0, (DI)
	VMOVLPS X4, 16(DI)
	VZEROUPPER
	RET

// func dots6Of4AVX2(out, left, table *float32, rows *uint32, n int)
// Six dot products in 4 lanes; n is a multiple of 4.
TEXT ·dots6Of4AVX2(SB), NOSPLIT, $0-40
	DOTS6
	ZERO6
	XORQ AX, AX

loop:
	VMOVUPS (SI)(AX*4), X6
	VFMADD231PS (R8)(AX*4), X6, X0
	VFMADD231PS (R9)(AX*4), X6, X1
	VFMADD231PS (R10)(AX*4), X6, X2
	VFMADD231PS (R11)(AX*4), X6, X3
	VFMADD231PS (R12)(AX*4), X6, X4
	VFMADD231PS (R13)(AX*4), X6, X5
	ADDQ $4, AX
	CMPQ AX, DX
	JB   loop

	VMOVHLPS X0, X0, X7
	VMOVHLPS X1, X1, X8
	VMOVHLPS X2, X2, X9
	VMOVHLPS X3, X3, X10
	VMOVHLPS X4, X4, X11
	VMOVHLPS X5, X5, X12
	VADDPS X7, X0, X0
	VADDPS X8, X1, X1
	VADDPS X9, X2, X2
	VADDPS X10, X3, X3
	VADDPS X11, X4, X4
	VADDPS X12, X5, X5
	PAIRS6
	STORE6
	VZEROUPPER
	RET

// func dots6Of2AVX2(out, left, table *float32, rows *uint32, n int)
// Six dot products in 2 lanes; n is a multiple of 2.
TEXT ·dots6Of2AVX2(SB), NOSPLIT, $0-40
	DOTS6
	ZERO6
	XORQ AX, AX

loop:
	VMOVSD (SI)(AX*4), X6
	VMOVSD (R8)(AX*4), X7
	VMOVSD (R9)(AX*4), X8
	VMOVSD (R10)(AX*4), X9
	VMOVSD (R11)(AX*4), X10
	VMOVSD (R12)(AX*4), X11
	VMOVSD (R13)(AX*4), X12
	VFMADD231PS X7, X6, X0
	VFMADD231PS X8, X6, X1
	VFMADD231PS X9, X6, X2
	VFMADD231PS X10, X6, X3
	VFMADD231PS X11, X6, X4
	VFMADD231PS X12, X6, X5
	ADDQ $2, AX
	CMPQ AX, DX
	JB   loop

	PAIRS6
	STORE6
	VZEROUPPER
	RET

// func dots6Of1AVX2(out, left, table *float32, rows *uint32, n int)
// Six dot products in 1 lane; n is a multiple of 1.
TEXT ·dots6Of1AVX2(SB), NOSPLIT, $0-40
	DOTS6
	ZERO6
	XORQ AX, AX

loop:
	VMOVSS (SI)(AX*4), X6
	VFMADD231SS (R8)(AX*4), X6, X0
	VFMADD231SS (R9)(AX*4), X6, X1
	VFMADD231SS (R10)(AX*4), X6, X2
	VFMADD231SS (R11)(AX*4), X6, X3
	VFMADD231SS (R12)(AX*4), X6, X4
	VFMADD231SS (R13)(AX*4), X6, X5
	ADDQ $1, AX
	CMPQ AX, DX
	JB   loop

	STORE6
	VZEROUPPER
	RET
