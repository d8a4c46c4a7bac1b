//go:build amd64 && !noasm

#include "textflag.h"

// PANELS loads the arguments of sumProducts: DI table, DX n, R11 sums and R12 their number, R13 weights, BX a, SI b.
#define PANELS \
	MOVQ table+0(FP), DI; \
	MOVQ n+8(FP), DX; \
	MOVQ sums+24(FP), R11; \
	MOVQ count+32(FP), R12; \
	MOVQ weights+40(FP), R13; \
	MOVQ a+48(FP), BX; \
	MOVQ b+56(FP), SI

// NEXTSUM loads a sum: AX where it is added, R8 its weights and R15 the bytes from one to the next, R9 and R10 its rows of a and b, CX
// their number. The flag Z says that the sum replaces what is there.
#define NEXTSUM \
	MOVL 0(R11), AX; \
	IMULQ DX, AX; \
	LEAQ (DI)(AX*4), AX; \
	MOVL 4(R11), R8; \
	LEAQ (R13)(R8*4), R8; \
	MOVL 8(R11), R15; \
	SHLQ $2, R15; \
	MOVL 12(R11), R9; \
	SHLQ $8, R9; \
	ADDQ BX, R9; \
	MOVL 16(R11), R10; \
	SHLQ $8, R10; \
	ADDQ SI, R10; \
	MOVL 20(R11), CX; \
	ADDQ $28, R11; \
	CMPL -4(R11), $0

// NEXTROW goes on to the next row, and sets the flag Z after the last.
#define NEXTROW \
	ADDQ $256, R9; \
	ADDQ $256, R10; \
	ADDQ R15, R8; \
	DECQ CX

// ADDPRODUCT adds the product of two vectors, times the weight in the register weight, to sum.
#define ADDPRODUCT(at, temporary, weight, sum) \
	VMOVUPS at(R9), temporary; \
	VMULPS at(R10), temporary, temporary; \
	VFMADD231PS temporary, weight, sum

// func sumProductsAVX512(table *float32, n, columns int, sums *ProductSum, count int, weights, a, b *float32)
//
// The loop of SumProducts.
TEXT ·sumProductsAVX512(SB), NOSPLIT, $0-64
	PANELS
	MOVQ columns+16(FP), CX
	MOVQ $-1, AX
	BZHIQ CX, AX, AX
	KMOVQ AX, K1
	KSHIFTRQ $16, K1, K2
	KSHIFTRQ $32, K1, K3
	KSHIFTRQ $48, K1, K4

sum:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	NEXTSUM
	JZ   row
	VMOVUPS.Z 0(AX), K1, Z0
	VMOVUPS.Z 64(AX), K2, Z1
	VMOVUPS.Z 128(AX), K3, Z2
	VMOVUPS.Z 192(AX), K4, Z3

row:
	VBROADCASTSS (R8), Z4
	ADDPRODUCT(0, Z5, Z4, Z0)
	ADDPRODUCT(64, Z6, Z4, Z1)
	ADDPRODUCT(128, Z7, Z4, Z2)
	ADDPRODUCT(192, Z8, Z4, Z3)
	NEXTROW
	JNZ  row
	VMOVUPS Z0, K1, 0(AX)
	VMOVUPS Z1, K2, 64(AX)
	VMOVUPS Z2, K3, 128(AX)
	VMOVUPS Z3, K4, 192(AX)
	DECQ R12
	JNZ  sum
	VZEROUPPER
	RET

// func sumProductsAVX2(table *float32, n, columns int, sums *ProductSum, count int, weights, a, b *float32)
//
// The loop of SumProducts, for whole panels.
TEXT ·sumProductsAVX2(SB), NOSPLIT, $0-64
	PANELS

sum:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	NEXTSUM
	JZ   row
	VMOVUPS 0(AX), Y0
	VMOVUPS 32(AX), Y1
	VMOVUPS 64(AX), Y2
	VMOVUPS 96(AX), Y3
	VMOVUPS 128(AX), Y4
	VMOVUPS 160(AX), Y5
	VMOVUPS 192(AX), Y6
	VMOVUPS 224(AX), Y7

row:
	VBROADCASTSS (R8), Y8
	ADDPRODUCT(0, Y9, Y8, Y0)
	ADDPRODUCT(32, Y10, Y8, Y1)
	ADDPRODUCT(64, Y11, Y8, Y2)
	ADDPRODUCT(96, Y12, Y8, Y3)
	ADDPRODUCT(128, Y9, Y8, Y4)
	ADDPRODUCT(160, Y10, Y8, Y5)
	ADDPRODUCT(192, Y11, Y8, Y6)
	ADDPRODUCT(224, Y12, Y8, Y7)
	NEXTROW
	JNZ  row
	VMOVUPS Y0, 0(AX)
	VMOVUPS Y1, 32(AX)
	VMOVUPS Y2, 64(AX)
	VMOVUPS Y3, 96(AX)
	VMOVUPS Y4, 128(AX)
	VMOVUPS Y5, 160(AX)
	VMOVUPS Y6, 192(AX)
	VMOVUPS Y7, 224(AX)
	DECQ R12
	JNZ  sum
	VZEROUPPER
	RET
