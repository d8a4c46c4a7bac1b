//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// The constants here and the macros of amd64.h serve the other files as well.
//
// In all kernels AX counts floats. R14 and R15 belong to the Go runtime and stay
// as they are. A mask covers the tail of a row, so nothing outside a row is
// touched.

// 16 ones, then 16 zeros: the mask of the first r of 16 lanes starts at (16-r)*4;
// its part for lanes 8 to 15 starts 32 bytes further.
DATA ·lanes+0x00(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x08(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x10(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x18(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x20(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x28(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x30(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x38(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x40(SB)/8, $0
DATA ·lanes+0x48(SB)/8, $0
DATA ·lanes+0x50(SB)/8, $0
DATA ·lanes+0x58(SB)/8, $0
DATA ·lanes+0x60(SB)/8, $0
DATA ·lanes+0x68(SB)/8, $0
DATA ·lanes+0x70(SB)/8, $0
DATA ·lanes+0x78(SB)/8, $0
GLOBL ·lanes(SB), RODATA|NOPTR, $128

// Constants of exp (Cephes expf): limits, log2(e), ln 2 in two parts, the
// polynomial of (exp(r)-1-r)/r^2, highest power first, then 1, the bias and the
// sign bit.
DATA ·expc+0x00(SB)/4, $0xc2ae0000 // -87
DATA ·expc+0x04(SB)/4, $0x42a00000 // 80
DATA ·expc+0x08(SB)/4, $0x3fb8aa3b // 1.44269504
DATA ·expc+0x0c(SB)/4, $0x3f318000 // 0.693359375
DATA ·expc+0x10(SB)/4, $0xb95e8083 // -2.12194440e-4
DATA ·expc+0x14(SB)/4, $0x39506967 // 1.9875691500e-4
DATA ·expc+0x18(SB)/4, $0x3ab743ce // 1.3981999507e-3
DATA ·expc+0x1c(SB)/4, $0x3c088908 // 8.3334519073e-3
DATA ·expc+0x20(SB)/4, $0x3d2aa9c1 // 4.1665795894e-2
DATA ·expc+0x24(SB)/4, $0x3e2aaaaa // 1.6666665459e-1
DATA ·expc+0x28(SB)/4, $0x3f000000 // 0.5
DATA ·expc+0x2c(SB)/4, $0x3f800000 // 1
DATA ·expc+0x30(SB)/4, $127
DATA ·expc+0x34(SB)/4, $0x80000000
GLOBL ·expc(SB), RODATA|NOPTR, $56

// func dots6AVX512(out, left, table *float32, rows *uint32, n int)
//
//	for k := 0; k < 6; k++ {
//		var lane [16]float32
//		for j := 0; j < n; j++ { lane[j%16] += left[j] * table[rows[k]*n+j] }
//		for j := 0; j < 8; j++ { lane[j] += lane[j+8] }
//		out[k] = ((lane[0]+lane[1]) + (lane[2]+lane[3])) + ((lane[4]+lane[5]) + (lane[6]+lane[7]))
//	}
TEXT ·dots6AVX512(SB), NOSPLIT, $0-40
	DOTS6
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-16, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Z6
	VFMADD231PS (R8)(AX*4), Z6, Z0
	VFMADD231PS (R9)(AX*4), Z6, Z1
	VFMADD231PS (R10)(AX*4), Z6, Z2
	VFMADD231PS (R11)(AX*4), Z6, Z3
	VFMADD231PS (R12)(AX*4), Z6, Z4
	VFMADD231PS (R13)(AX*4), Z6, Z5
	ADDQ $16, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   fold
	TAILMASK
	VMOVUPS.Z (SI)(AX*4), K1, Z6
	VMOVUPS.Z (R8)(AX*4), K1, Z7
	VMOVUPS.Z (R9)(AX*4), K1, Z8
	VMOVUPS.Z (R10)(AX*4), K1, Z9
	VMOVUPS.Z (R11)(AX*4), K1, Z10
	VMOVUPS.Z (R12)(AX*4), K1, Z11
	VMOVUPS.Z (R13)(AX*4), K1, Z12
	VFMADD231PS Z7, Z6, Z0
	VFMADD231PS Z8, Z6, Z1
	VFMADD231PS Z9, Z6, Z2
	VFMADD231PS Z10, Z6, Z3
	VFMADD231PS Z11, Z6, Z4
	VFMADD231PS Z12, Z6, Z5

fold:
	VEXTRACTF64X4 $1, Z0, Y6
	VEXTRACTF64X4 $1, Z1, Y7
	VEXTRACTF64X4 $1, Z2, Y8
	VEXTRACTF64X4 $1, Z3, Y9
	VEXTRACTF64X4 $1, Z4, Y10
	VEXTRACTF64X4 $1, Z5, Y11
	VADDPS Y6, Y0, Y0
	VADDPS Y7, Y1, Y1
	VADDPS Y8, Y2, Y2
	VADDPS Y9, Y3, Y3
	VADDPS Y10, Y4, Y4
	VADDPS Y11, Y5, Y5
	FOLD6
	VZEROUPPER
	RET

// ROWAT turns the row number AT into its address R in the table BX with rows of DX
// floats.
#define ROWAT(AT, R) MOVL AT, R; IMULQ DX, R; LEAQ (BX)(R*4), R

// func dotsAVX512(out, left, table *float32, rows *uint32, count, n int)
//
// dots6AVX512 for any number of rows from 1 up, four at a time: the last one to three
// go with rows that are there already.
TEXT ·dotsAVX512(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ left+8(FP), SI
	MOVQ table+16(FP), BX
	MOVQ rows+24(FP), R12
	MOVQ count+32(FP), R13
	MOVQ n+40(FP), DX
	MOVQ DX, CX
	ANDQ $15, CX
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1
	MOVQ DX, CX
	ANDQ $-16, CX
	ROWAT(0(R12), R8)
	MOVQ R8, R9
	MOVQ R8, R10
	MOVQ R8, R11
	CMPQ R13, $2
	JLT  dot
	ROWAT(4(R12), R9)
	CMPQ R13, $3
	JLT  dot
	ROWAT(8(R12), R10)
	CMPQ R13, $4
	JLT  dot

four:
	ROWAT(12(R12), R11)

dot:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	XORQ AX, AX
	TESTQ CX, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Z4
	VFMADD231PS (R8)(AX*4), Z4, Z0
	VFMADD231PS (R9)(AX*4), Z4, Z1
	VFMADD231PS (R10)(AX*4), Z4, Z2
	VFMADD231PS (R11)(AX*4), Z4, Z3
	ADDQ $16, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   fold
	VMOVUPS.Z (SI)(AX*4), K1, Z4
	VFMADD231PS (R8)(AX*4), Z4, K1, Z0
	VFMADD231PS (R9)(AX*4), Z4, K1, Z1
	VFMADD231PS (R10)(AX*4), Z4, K1, Z2
	VFMADD231PS (R11)(AX*4), Z4, K1, Z3

fold:
	VEXTRACTF64X4 $1, Z0, Y4
	VEXTRACTF64X4 $1, Z1, Y5
	VEXTRACTF64X4 $1, Z2, Y6
	VEXTRACTF64X4 $1, Z3, Y7
	VADDPS Y4, Y0, Y0
	VADDPS Y5, Y1, Y1
	VADDPS Y6, Y2, Y2
	VADDPS Y7, Y3, Y3
	VHADDPS Y1, Y0, Y0
	VHADDPS Y3, Y2, Y2
	VHADDPS Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	SUBQ $4, R13
	JLT  few
	VMOVUPS X0, (DI)
	JEQ  done
	ADDQ $16, DI
	ADDQ $16, R12
	ROWAT(0(R12), R8)
	CMPQ R13, $2
	JLT  dot
	ROWAT(4(R12), R9)
	CMPQ R13, $3
	JLT  dot
	ROWAT(8(R12), R10)
	CMPQ R13, $4
	JLT  dot
	JMP  four

few:
	VMOVSS X0, (DI)
	CMPQ R13, $-3
	JEQ  done
	VEXTRACTPS $1, X0, 4(DI)
	CMPQ R13, $-2
	JEQ  done
	VEXTRACTPS $2, X0, 8(DI)

done:
	VZEROUPPER
	RET

// func dots6AVX2(out, left, table *float32, rows *uint32, n int)
//
// dots6AVX512 with lanes 0..7 in Y0..Y5 and lanes 8..15 in Y6..Y11.
TEXT ·dots6AVX2(SB), NOSPLIT, $0-40
	DOTS6
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-16, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Y12
	VMOVUPS 32(SI)(AX*4), Y13
	VFMADD231PS (R8)(AX*4), Y12, Y0
	VFMADD231PS (R9)(AX*4), Y12, Y1
	VFMADD231PS (R10)(AX*4), Y12, Y2
	VFMADD231PS (R11)(AX*4), Y12, Y3
	VFMADD231PS (R12)(AX*4), Y12, Y4
	VFMADD231PS (R13)(AX*4), Y12, Y5
	VFMADD231PS 32(R8)(AX*4), Y13, Y6
	VFMADD231PS 32(R9)(AX*4), Y13, Y7
	VFMADD231PS 32(R10)(AX*4), Y13, Y8
	VFMADD231PS 32(R11)(AX*4), Y13, Y9
	VFMADD231PS 32(R12)(AX*4), Y13, Y10
	VFMADD231PS 32(R13)(AX*4), Y13, Y11
	ADDQ $16, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   fold
	TAILLANES
	VMASKMOVPS (SI)(AX*4), Y15, Y12
	VMASKMOVPS (R8)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y0
	VMASKMOVPS (R9)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y1
	VMASKMOVPS (R10)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y2
	VMASKMOVPS (R11)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y3
	VMASKMOVPS (R12)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y4
	VMASKMOVPS (R13)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y5
	VMOVUPS (BX), Y15
	VMASKMOVPS 32(SI)(AX*4), Y15, Y13
	VMASKMOVPS 32(R8)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y6
	VMASKMOVPS 32(R9)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y7
	VMASKMOVPS 32(R10)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y8
	VMASKMOVPS 32(R11)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y9
	VMASKMOVPS 32(R12)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y10
	VMASKMOVPS 32(R13)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y11

fold:
	VADDPS Y6, Y0, Y0
	VADDPS Y7, Y1, Y1
	VADDPS Y8, Y2, Y2
	VADDPS Y9, Y3, Y3
	VADDPS Y10, Y4, Y4
	VADDPS Y11, Y5, Y5
	FOLD6
	VZEROUPPER
	RET

// func dotAVX2(x, y *float32, n int) float32
//
// Four accumulators of eight lanes, so that additions overlap.
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DI
	MOVQ n+16(FP), DX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-32, CX
	JZ   rest

loop:
	VMOVUPS (SI)(AX*4), Y4
	VMOVUPS 32(SI)(AX*4), Y5
	VMOVUPS 64(SI)(AX*4), Y6
	VMOVUPS 96(SI)(AX*4), Y7
	VFMADD231PS (DI)(AX*4), Y4, Y0
	VFMADD231PS 32(DI)(AX*4), Y5, Y1
	VFMADD231PS 64(DI)(AX*4), Y6, Y2
	VFMADD231PS 96(DI)(AX*4), Y7, Y3
	ADDQ $32, AX
	CMPQ AX, CX
	JB   loop

rest:
	MOVQ DX, CX
	ANDQ $-8, CX

eight:
	CMPQ AX, CX
	JAE  tail
	VMOVUPS (SI)(AX*4), Y4
	VFMADD231PS (DI)(AX*4), Y4, Y0
	ADDQ $8, AX
	JMP  eight

tail:
	CMPQ AX, DX
	JE   fold
	TAILLANES
	VMASKMOVPS (SI)(AX*4), Y15, Y4
	VMASKMOVPS (DI)(AX*4), Y15, Y5
	VFMADD231PS Y5, Y4, Y1

fold:
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	VADDPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// func prefetch(table *float32, rows *uint32, count, n int)
//
// Asks for every cache line of rows[0..count) of the table.
TEXT ·prefetch(SB), NOSPLIT, $0-32
	MOVQ table+0(FP), BX
	MOVQ rows+8(FP), SI
	MOVQ count+16(FP), CX
	MOVQ n+24(FP), DX

row:
	MOVL (SI), R8
	IMULQ DX, R8
	LEAQ (BX)(R8*4), R8
	LEAQ (R8)(DX*4), R9

line:
	PREFETCHT0 (R8)
	ADDQ $64, R8
	CMPQ R8, R9
	JB   line
	ADDQ $4, SI
	DECQ CX
	JNZ  row
	RET
