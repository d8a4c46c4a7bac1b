//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// PRODUCTS loads the arguments of combineProducts: DI out, SI weights - rowsA, BX a, R11 rowsA and
// R12 its end, R13 b, R10 rowsB - rowsA, DX n. AX is the columns that are left.
#define PRODUCTS \
	MOVQ out+0(FP), DI; \
	MOVQ weights+8(FP), SI; \
	MOVQ a+16(FP), BX; \
	MOVQ rowsA+24(FP), R11; \
	MOVQ b+32(FP), R13; \
	MOVQ rowsB+40(FP), R10; \
	MOVQ count+48(FP), R12; \
	MOVQ n+56(FP), DX; \
	LEAQ (R11)(R12*4), R12; \
	SUBQ R11, SI; \
	SUBQ R11, R10; \
	MOVQ DX, AX

// NEXTPAIR puts the addresses of the next two rows into R8 and CX.
#define NEXTPAIR \
	MOVL (R9), R8; \
	IMULQ DX, R8; \
	LEAQ (BX)(R8*4), R8; \
	MOVL (R9)(R10*1), CX; \
	IMULQ DX, CX; \
	LEAQ (R13)(CX*4), CX

// PANEL goes on by so many bytes of all rows.
#define PANEL(bytes) \
	ADDQ $bytes, DI; \
	ADDQ $bytes, BX; \
	ADDQ $bytes, R13

// ADDPRODUCT adds the product of two vectors, times the weight in the register weight, to sum.
#define ADDPRODUCT(at, temporary, weight, sum) \
	VMOVUPS at(R8), temporary; \
	VMULPS at(CX), temporary, temporary; \
	VFMADD231PS temporary, weight, sum

// func combineProductsAVX512(out, weights, a *float32, rowsA *uint32, b *float32, rowsB *uint32, count, n int)
//
//	for j := 0; j < n; j++ { // 64 at a time, then 32, then 16
//		sum := 0
//		for i := 0; i < count; i++ {
//			sum += weights[i] * (a[rowsA[i]*n+j] * b[rowsB[i]*n+j])
//		}
//		out[j] = sum
//	}
TEXT ·combineProductsAVX512(SB), NOSPLIT, $0-64
	PRODUCTS

four:
	CMPQ AX, $64
	JB   two
	MOVQ R11, R9
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3

loop4:
	NEXTPAIR
	VBROADCASTSS (R9)(SI*1), Z4
	ADDPRODUCT(0, Z5, Z4, Z0)
	ADDPRODUCT(64, Z6, Z4, Z1)
	ADDPRODUCT(128, Z7, Z4, Z2)
	ADDPRODUCT(192, Z8, Z4, Z3)
	ADDQ $4, R9
	CMPQ R9, R12
	JB   loop4
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	PANEL(256)
	SUBQ $64, AX
	JMP  four

two:
	CMPQ AX, $32
	JB   one
	MOVQ R11, R9
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1

loop2:
	NEXTPAIR
	VBROADCASTSS (R9)(SI*1), Z4
	ADDPRODUCT(0, Z5, Z4, Z0)
	ADDPRODUCT(64, Z6, Z4, Z1)
	ADDQ $4, R9
	CMPQ R9, R12
	JB   loop2
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	PANEL(128)
	SUBQ $32, AX

one:
	CMPQ AX, $0
	JLE  done
	MOVL $-1, CX
	BZHIL AX, CX, CX
	KMOVW CX, K1
	MOVQ R11, R9
	VPXORQ Z0, Z0, Z0

loop1:
	NEXTPAIR
	VBROADCASTSS (R9)(SI*1), Z4
	VMOVUPS.Z (R8), K1, Z5
	VMULPS.Z (CX), Z5, K1, Z5
	VFMADD231PS Z5, Z4, Z0
	ADDQ $4, R9
	CMPQ R9, R12
	JB   loop1
	VMOVUPS Z0, K1, (DI)
	PANEL(64)
	SUBQ $16, AX
	JMP  one

done:
	VZEROUPPER
	RET

// func combineProductsAVX2(out, weights, a *float32, rowsA *uint32, b *float32, rowsB *uint32, count, n int)
//
// combineProductsAVX512, 32 columns at a time, then 8.
TEXT ·combineProductsAVX2(SB), NOSPLIT, $0-64
	PRODUCTS

four:
	CMPQ AX, $32
	JB   one
	MOVQ R11, R9
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

loop4:
	NEXTPAIR
	VBROADCASTSS (R9)(SI*1), Y4
	ADDPRODUCT(0, Y5, Y4, Y0)
	ADDPRODUCT(32, Y6, Y4, Y1)
	ADDPRODUCT(64, Y7, Y4, Y2)
	ADDPRODUCT(96, Y8, Y4, Y3)
	ADDQ $4, R9
	CMPQ R9, R12
	JB   loop4
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	PANEL(128)
	SUBQ $32, AX
	JMP  four

one:
	CMPQ AX, $0
	JLE  done
	MOVQ $16, CX
	SUBQ AX, CX
	MOVQ $8, R9
	CMPQ CX, R9
	CMOVQLT R9, CX
	LEAQ ·lanes(SB), R9
	VMOVUPS (R9)(CX*4), Y15
	MOVQ R11, R9
	VXORPS Y0, Y0, Y0

loop1:
	NEXTPAIR
	VBROADCASTSS (R9)(SI*1), Y4
	VMASKMOVPS (R8), Y15, Y5
	VMASKMOVPS (CX), Y15, Y6
	VMULPS Y6, Y5, Y5
	VFMADD231PS Y5, Y4, Y0
	ADDQ $4, R9
	CMPQ R9, R12
	JB   loop1
	VMASKMOVPS Y0, Y15, (DI)
	PANEL(32)
	SUBQ $8, AX
	JMP  one

done:
	VZEROUPPER
	RET
