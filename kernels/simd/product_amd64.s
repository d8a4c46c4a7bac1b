//go:build amd64 && !noasm

#include "textflag.h"

// The kernels of product.go. As in amd64.s, R14 and R15 stay as they are, and a
// mask covers columns beyond the last, so nothing outside a row is touched.

// 16 ones, then 16 zeros: the mask of the first r of 16 lanes starts at (16-r)*4;
// its part for lanes 8 to 15 starts 32 bytes further.
DATA productLanes<>+0x00(SB)/8, $0xffffffffffffffff
DATA productLanes<>+0x08(SB)/8, $0xffffffffffffffff
DATA productLanes<>+0x10(SB)/8, $0xffffffffffffffff
DATA productLanes<>+0x18(SB)/8, $0xffffffffffffffff
DATA productLanes<>+0x20(SB)/8, $0xffffffffffffffff
DATA productLanes<>+0x28(SB)/8, $0xffffffffffffffff
DATA productLanes<>+0x30(SB)/8, $0xffffffffffffffff
DATA productLanes<>+0x38(SB)/8, $0xffffffffffffffff
DATA productLanes<>+0x40(SB)/8, $0
DATA productLanes<>+0x48(SB)/8, $0
DATA productLanes<>+0x50(SB)/8, $0
DATA productLanes<>+0x58(SB)/8, $0
DATA productLanes<>+0x60(SB)/8, $0
DATA productLanes<>+0x68(SB)/8, $0
DATA productLanes<>+0x70(SB)/8, $0
DATA productLanes<>+0x78(SB)/8, $0
GLOBL productLanes<>(SB), RODATA|NOPTR, $128

// Loads the arguments of product6: c DI, a SI and its fourth row DX, b BX,
// rows of c R8, of a R9, columns of a R10, rows of b R11, k CX, columns AX.
#define PRODUCT \
	MOVQ c+0(FP), DI; \
	MOVQ strideC+8(FP), R8; SHLQ $2, R8; \
	MOVQ a+16(FP), SI; \
	MOVQ row+24(FP), R9; SHLQ $2, R9; \
	MOVQ column+32(FP), R10; SHLQ $2, R10; \
	MOVQ b+40(FP), BX; \
	MOVQ strideB+48(FP), R11; SHLQ $2, R11; \
	MOVQ k+56(FP), CX; \
	MOVQ columns+64(FP), AX; \
	LEAQ (SI)(R9*2), DX; ADDQ R9, DX; \
	LEAQ (DI)(R8*2), R13; ADDQ R8, R13

// Loads the arguments of convolveMax: out DI, where SI, tables BX, symbols R8,
// bytes of a symbol's row R11 and of an offset's table R12, groups of 16 R13.
#define CONVOLVE \
	MOVQ out+0(FP), DI; \
	MOVQ where+8(FP), SI; \
	MOVQ filters+16(FP), R13; \
	MOVQ tables+24(FP), BX; \
	MOVQ size+32(FP), R12; SHLQ $2, R12; \
	MOVQ symbols+40(FP), R8; \
	MOVQ R13, R11; SHLQ $2, R11; \
	SHRQ $4, R13

// PROW adds the products of one element of a, A, and the vectors Z24... of a row of
// b to the accumulators of a row of c; PROW3 leaves the last vector out, and so on.
#define PROW1(A, C0) VBROADCASTSS A, Z28; VFMADD231PS Z24, Z28, C0
#define PROW2(A, C0, C1) PROW1(A, C0); VFMADD231PS Z25, Z28, C1
#define PROW3(A, C0, C1, C2) PROW2(A, C0, C1); VFMADD231PS Z26, Z28, C2
#define PROW4(A, C0, C1, C2, C3) PROW3(A, C0, C1, C2); VFMADD231PS Z27, Z28, C3

// PNEXT goes to the next column of a and the next row of b.
#define PNEXT \
	ADDQ R10, SI; \
	ADDQ R10, DX; \
	ADDQ R11, BX; \
	DECQ CX

// func product6AVX512(c *float32, strideC int, a *float32, row, column int, b *float32, strideB, k, columns int)
//
//	for i := 0; i < 6; i++ {
//		for j := 0; j < columns; j++ { // at most 64
//			x := c[i*strideC+j]
//			for l := 0; l < k; l++ { x = fma(a[i*row+l*column], b[l*strideB+j], x) }
//			c[i*strideC+j] = x
//		}
//	}
//
// One to four vectors hold the columns. All of c is read before any of it is written.
TEXT ·product6AVX512(SB), NOSPLIT, $0-72
	PRODUCT
	MOVQ CX, R12
	LEAQ -1(AX), CX
	ANDQ $15, CX
	MOVL $2, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1
	MOVQ columns+64(FP), AX
	MOVQ R12, CX
	CMPQ AX, $48
	JA   four
	CMPQ AX, $32
	JA   three
	CMPQ AX, $16
	JA   two

	VMOVUPS.Z (DI), K1, Z0
	VMOVUPS.Z (DI)(R8*1), K1, Z4
	VMOVUPS.Z (DI)(R8*2), K1, Z8
	VMOVUPS.Z (R13), K1, Z12
	VMOVUPS.Z (R13)(R8*1), K1, Z16
	VMOVUPS.Z (R13)(R8*2), K1, Z20

loop1:
	VMOVUPS.Z (BX), K1, Z24
	PROW1((SI), Z0)
	PROW1((SI)(R9*1), Z4)
	PROW1((SI)(R9*2), Z8)
	PROW1((DX), Z12)
	PROW1((DX)(R9*1), Z16)
	PROW1((DX)(R9*2), Z20)
	PNEXT
	JNZ  loop1

	VMOVUPS Z0, K1, (DI)
	VMOVUPS Z4, K1, (DI)(R8*1)
	VMOVUPS Z8, K1, (DI)(R8*2)
	VMOVUPS Z12, K1, (R13)
	VMOVUPS Z16, K1, (R13)(R8*1)
	VMOVUPS Z20, K1, (R13)(R8*2)
	VZEROUPPER
	RET

two:
	VMOVUPS (DI), Z0
	VMOVUPS.Z 64(DI), K1, Z1
	VMOVUPS (DI)(R8*1), Z4
	VMOVUPS.Z 64(DI)(R8*1), K1, Z5
	VMOVUPS (DI)(R8*2), Z8
	VMOVUPS.Z 64(DI)(R8*2), K1, Z9
	VMOVUPS (R13), Z12
	VMOVUPS.Z 64(R13), K1, Z13
	VMOVUPS (R13)(R8*1), Z16
	VMOVUPS.Z 64(R13)(R8*1), K1, Z17
	VMOVUPS (R13)(R8*2), Z20
	VMOVUPS.Z 64(R13)(R8*2), K1, Z21

loop2:
	VMOVUPS (BX), Z24
	VMOVUPS.Z 64(BX), K1, Z25
	PROW2((SI), Z0, Z1)
	PROW2((SI)(R9*1), Z4, Z5)
	PROW2((SI)(R9*2), Z8, Z9)
	PROW2((DX), Z12, Z13)
	PROW2((DX)(R9*1), Z16, Z17)
	PROW2((DX)(R9*2), Z20, Z21)
	PNEXT
	JNZ  loop2

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, K1, 64(DI)
	VMOVUPS Z4, (DI)(R8*1)
	VMOVUPS Z5, K1, 64(DI)(R8*1)
	VMOVUPS Z8, (DI)(R8*2)
	VMOVUPS Z9, K1, 64(DI)(R8*2)
	VMOVUPS Z12, (R13)
	VMOVUPS Z13, K1, 64(R13)
	VMOVUPS Z16, (R13)(R8*1)
	VMOVUPS Z17, K1, 64(R13)(R8*1)
	VMOVUPS Z20, (R13)(R8*2)
	VMOVUPS Z21, K1, 64(R13)(R8*2)
	VZEROUPPER
	RET

three:
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS.Z 128(DI), K1, Z2
	VMOVUPS (DI)(R8*1), Z4
	VMOVUPS 64(DI)(R8*1), Z5
	VMOVUPS.Z 128(DI)(R8*1), K1, Z6
	VMOVUPS (DI)(R8*2), Z8
	VMOVUPS 64(DI)(R8*2), Z9
	VMOVUPS.Z 128(DI)(R8*2), K1, Z10
	VMOVUPS (R13), Z12
	VMOVUPS 64(R13), Z13
	VMOVUPS.Z 128(R13), K1, Z14
	VMOVUPS (R13)(R8*1), Z16
	VMOVUPS 64(R13)(R8*1), Z17
	VMOVUPS.Z 128(R13)(R8*1), K1, Z18
	VMOVUPS (R13)(R8*2), Z20
	VMOVUPS 64(R13)(R8*2), Z21
	VMOVUPS.Z 128(R13)(R8*2), K1, Z22

loop3:
	VMOVUPS (BX), Z24
	VMOVUPS 64(BX), Z25
	VMOVUPS.Z 128(BX), K1, Z26
	PROW3((SI), Z0, Z1, Z2)
	PROW3((SI)(R9*1), Z4, Z5, Z6)
	PROW3((SI)(R9*2), Z8, Z9, Z10)
	PROW3((DX), Z12, Z13, Z14)
	PROW3((DX)(R9*1), Z16, Z17, Z18)
	PROW3((DX)(R9*2), Z20, Z21, Z22)
	PNEXT
	JNZ  loop3

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, K1, 128(DI)
	VMOVUPS Z4, (DI)(R8*1)
	VMOVUPS Z5, 64(DI)(R8*1)
	VMOVUPS Z6, K1, 128(DI)(R8*1)
	VMOVUPS Z8, (DI)(R8*2)
	VMOVUPS Z9, 64(DI)(R8*2)
	VMOVUPS Z10, K1, 128(DI)(R8*2)
	VMOVUPS Z12, (R13)
	VMOVUPS Z13, 64(R13)
	VMOVUPS Z14, K1, 128(R13)
	VMOVUPS Z16, (R13)(R8*1)
	VMOVUPS Z17, 64(R13)(R8*1)
	VMOVUPS Z18, K1, 128(R13)(R8*1)
	VMOVUPS Z20, (R13)(R8*2)
	VMOVUPS Z21, 64(R13)(R8*2)
	VMOVUPS Z22, K1, 128(R13)(R8*2)
	VZEROUPPER
	RET

four:
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS.Z 192(DI), K1, Z3
	VMOVUPS (DI)(R8*1), Z4
	VMOVUPS 64(DI)(R8*1), Z5
	VMOVUPS 128(DI)(R8*1), Z6
	VMOVUPS.Z 192(DI)(R8*1), K1, Z7
	VMOVUPS (DI)(R8*2), Z8
	VMOVUPS 64(DI)(R8*2), Z9
	VMOVUPS 128(DI)(R8*2), Z10
	VMOVUPS.Z 192(DI)(R8*2), K1, Z11
	VMOVUPS (R13), Z12
	VMOVUPS 64(R13), Z13
	VMOVUPS 128(R13), Z14
	VMOVUPS.Z 192(R13), K1, Z15
	VMOVUPS (R13)(R8*1), Z16
	VMOVUPS 64(R13)(R8*1), Z17
	VMOVUPS 128(R13)(R8*1), Z18
	VMOVUPS.Z 192(R13)(R8*1), K1, Z19
	VMOVUPS (R13)(R8*2), Z20
	VMOVUPS 64(R13)(R8*2), Z21
	VMOVUPS 128(R13)(R8*2), Z22
	VMOVUPS.Z 192(R13)(R8*2), K1, Z23

loop4:
	VMOVUPS (BX), Z24
	VMOVUPS 64(BX), Z25
	VMOVUPS 128(BX), Z26
	VMOVUPS.Z 192(BX), K1, Z27
	PROW4((SI), Z0, Z1, Z2, Z3)
	PROW4((SI)(R9*1), Z4, Z5, Z6, Z7)
	PROW4((SI)(R9*2), Z8, Z9, Z10, Z11)
	PROW4((DX), Z12, Z13, Z14, Z15)
	PROW4((DX)(R9*1), Z16, Z17, Z18, Z19)
	PROW4((DX)(R9*2), Z20, Z21, Z22, Z23)
	PNEXT
	JNZ  loop4

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, K1, 192(DI)
	VMOVUPS Z4, (DI)(R8*1)
	VMOVUPS Z5, 64(DI)(R8*1)
	VMOVUPS Z6, 128(DI)(R8*1)
	VMOVUPS Z7, K1, 192(DI)(R8*1)
	VMOVUPS Z8, (DI)(R8*2)
	VMOVUPS Z9, 64(DI)(R8*2)
	VMOVUPS Z10, 128(DI)(R8*2)
	VMOVUPS Z11, K1, 192(DI)(R8*2)
	VMOVUPS Z12, (R13)
	VMOVUPS Z13, 64(R13)
	VMOVUPS Z14, 128(R13)
	VMOVUPS Z15, K1, 192(R13)
	VMOVUPS Z16, (R13)(R8*1)
	VMOVUPS Z17, 64(R13)(R8*1)
	VMOVUPS Z18, 128(R13)(R8*1)
	VMOVUPS Z19, K1, 192(R13)(R8*1)
	VMOVUPS Z20, (R13)(R8*2)
	VMOVUPS Z21, 64(R13)(R8*2)
	VMOVUPS Z22, 128(R13)(R8*2)
	VMOVUPS Z23, K1, 192(R13)(R8*2)
	VZEROUPPER
	RET

// func product6AVX2(c *float32, strideC int, a *float32, row, column int, b *float32, strideB, k, columns int)
//
// As product6AVX512, for at most 16 columns.
TEXT ·product6AVX2(SB), NOSPLIT, $0-72
	PRODUCT
	LEAQ productLanes<>+64(SB), R12
	SHLQ $2, AX
	SUBQ AX, R12
	VMOVUPS (R12), Y14
	VMOVUPS 32(R12), Y15
	VMASKMOVPS (DI), Y14, Y0
	VMASKMOVPS 32(DI), Y15, Y1
	VMASKMOVPS (DI)(R8*1), Y14, Y2
	VMASKMOVPS 32(DI)(R8*1), Y15, Y3
	VMASKMOVPS (DI)(R8*2), Y14, Y4
	VMASKMOVPS 32(DI)(R8*2), Y15, Y5
	VMASKMOVPS (R13), Y14, Y6
	VMASKMOVPS 32(R13), Y15, Y7
	VMASKMOVPS (R13)(R8*1), Y14, Y8
	VMASKMOVPS 32(R13)(R8*1), Y15, Y9
	VMASKMOVPS (R13)(R8*2), Y14, Y10
	VMASKMOVPS 32(R13)(R8*2), Y15, Y11

loop: // too few registers to keep the masks, so they are read again
	VMOVUPS (R12), Y14
	VMOVUPS 32(R12), Y15
	VMASKMOVPS (BX), Y14, Y12
	VMASKMOVPS 32(BX), Y15, Y13
	VBROADCASTSS (SI), Y14
	VBROADCASTSS (SI)(R9*1), Y15
	VFMADD231PS Y12, Y14, Y0
	VFMADD231PS Y13, Y14, Y1
	VFMADD231PS Y12, Y15, Y2
	VFMADD231PS Y13, Y15, Y3
	VBROADCASTSS (SI)(R9*2), Y14
	VBROADCASTSS (DX), Y15
	VFMADD231PS Y12, Y14, Y4
	VFMADD231PS Y13, Y14, Y5
	VFMADD231PS Y12, Y15, Y6
	VFMADD231PS Y13, Y15, Y7
	VBROADCASTSS (DX)(R9*1), Y14
	VBROADCASTSS (DX)(R9*2), Y15
	VFMADD231PS Y12, Y14, Y8
	VFMADD231PS Y13, Y14, Y9
	VFMADD231PS Y12, Y15, Y10
	VFMADD231PS Y13, Y15, Y11
	ADDQ R10, SI
	ADDQ R10, DX
	ADDQ R11, BX
	DECQ CX
	JNZ  loop

	VMOVUPS (R12), Y14
	VMOVUPS 32(R12), Y15
	VMASKMOVPS Y0, Y14, (DI)
	VMASKMOVPS Y1, Y15, 32(DI)
	VMASKMOVPS Y2, Y14, (DI)(R8*1)
	VMASKMOVPS Y3, Y15, 32(DI)(R8*1)
	VMASKMOVPS Y4, Y14, (DI)(R8*2)
	VMASKMOVPS Y5, Y15, 32(DI)(R8*2)
	VMASKMOVPS Y6, Y14, (R13)
	VMASKMOVPS Y7, Y15, 32(R13)
	VMASKMOVPS Y8, Y14, (R13)(R8*1)
	VMASKMOVPS Y9, Y15, 32(R13)(R8*1)
	VMASKMOVPS Y10, Y14, (R13)(R8*2)
	VMASKMOVPS Y11, Y15, 32(R13)(R8*2)
	VZEROUPPER
	RET

// func convolveMaxAVX512(out *float32, where *uint32, filters int, tables *float32, size int, symbols *uint32, positions, width int, floor float32)
//
//	for f := 0; f < filters; f++ { // 16 at a time
//		out[f], where[f] = floor, NoPosition
//		for t := 0; t < positions; t++ {
//			x := float32(0)
//			for o := 0; o < width; o++ { x += tables[o*size+symbols[t+o]*filters+f] }
//			if x > out[f] { out[f], where[f] = x, t }
//		}
//	}
TEXT ·convolveMaxAVX512(SB), NOSPLIT, $0-68
	CONVOLVE
	MOVL $1, AX
	VPBROADCASTD AX, Z3

filters:
	VBROADCASTSS floor+64(FP), Z0
	VPTERNLOGD $255, Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	MOVQ R8, AX
	MOVQ positions+48(FP), DX

positions:
	VPXORD Z4, Z4, Z4
	MOVQ BX, R9
	XORQ CX, CX

offsets:
	MOVL (AX)(CX*4), R10
	IMULQ R11, R10
	VADDPS (R9)(R10*1), Z4, Z4
	ADDQ R12, R9
	INCQ CX
	CMPQ CX, width+56(FP)
	JLT  offsets

	VCMPPS $30, Z0, Z4, K1
	VMOVAPS Z4, K1, Z0
	VMOVDQA32 Z2, K1, Z1
	VPADDD Z3, Z2, Z2
	ADDQ $4, AX
	DECQ DX
	JNZ  positions

	VMOVUPS Z0, (DI)
	VMOVDQU32 Z1, (SI)
	ADDQ $64, DI
	ADDQ $64, SI
	ADDQ $64, BX
	DECQ R13
	JNZ  filters
	VZEROUPPER
	RET

// func convolveMaxAVX2(out *float32, where *uint32, filters int, tables *float32, size int, symbols *uint32, positions, width int, floor float32)
//
// As convolveMaxAVX512.
TEXT ·convolveMaxAVX2(SB), NOSPLIT, $0-68
	CONVOLVE
	VPCMPEQD Y3, Y3, Y3
	VPSRLD $31, Y3, Y3

filters:
	VBROADCASTSS floor+64(FP), Y0
	VMOVAPS Y0, Y8
	VPCMPEQD Y1, Y1, Y1
	VPCMPEQD Y9, Y9, Y9
	VPXOR Y2, Y2, Y2
	MOVQ R8, AX
	MOVQ positions+48(FP), DX

positions:
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	MOVQ BX, R9
	XORQ CX, CX

offsets:
	MOVL (AX)(CX*4), R10
	IMULQ R11, R10
	VADDPS (R9)(R10*1), Y4, Y4
	VADDPS 32(R9)(R10*1), Y5, Y5
	ADDQ R12, R9
	INCQ CX
	CMPQ CX, width+56(FP)
	JLT  offsets

	VCMPPS $30, Y0, Y4, Y6
	VCMPPS $30, Y8, Y5, Y7
	VBLENDVPS Y6, Y4, Y0, Y0
	VBLENDVPS Y7, Y5, Y8, Y8
	VBLENDVPS Y6, Y2, Y1, Y1
	VBLENDVPS Y7, Y2, Y9, Y9
	VPADDD Y3, Y2, Y2
	ADDQ $4, AX
	DECQ DX
	JNZ  positions

	VMOVUPS Y0, (DI)
	VMOVUPS Y8, 32(DI)
	VMOVDQU Y1, (SI)
	VMOVDQU Y9, 32(SI)
	ADDQ $64, DI
	ADDQ $64, SI
	ADDQ $64, BX
	DECQ R13
	JNZ  filters
	VZEROUPPER
	RET
