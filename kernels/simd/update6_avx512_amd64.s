//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// The macros of update6 work on six rights and one left, whose coefficients are
// at (DI).

#define SUMRIGHTS \
	VBROADCASTSS 0(DI), Z26; \
	VFMADD231PS Z24, Z26, Z12; \
	VFMADD231PS Z25, Z26, Z18; \
	VBROADCASTSS 4(DI), Z27; \
	VFMADD231PS Z24, Z27, Z13; \
	VFMADD231PS Z25, Z27, Z19; \
	VBROADCASTSS 8(DI), Z28; \
	VFMADD231PS Z24, Z28, Z14; \
	VFMADD231PS Z25, Z28, Z20; \
	VBROADCASTSS 12(DI), Z29; \
	VFMADD231PS Z24, Z29, Z15; \
	VFMADD231PS Z25, Z29, Z21; \
	VBROADCASTSS 16(DI), Z30; \
	VFMADD231PS Z24, Z30, Z16; \
	VFMADD231PS Z25, Z30, Z22; \
	VBROADCASTSS 20(DI), Z31; \
	VFMADD231PS Z24, Z31, Z17; \
	VFMADD231PS Z25, Z31, Z23

#define SUMLEFTS \
	VBROADCASTSS 0(DI), Z26; \
	VFMADD231PS Z0, Z26, Z24; \
	VFMADD231PS Z6, Z26, Z25; \
	VBROADCASTSS 4(DI), Z27; \
	VFMADD231PS Z1, Z27, Z24; \
	VFMADD231PS Z7, Z27, Z25; \
	VBROADCASTSS 8(DI), Z28; \
	VFMADD231PS Z2, Z28, Z24; \
	VFMADD231PS Z8, Z28, Z25; \
	VBROADCASTSS 12(DI), Z29; \
	VFMADD231PS Z3, Z29, Z24; \
	VFMADD231PS Z9, Z29, Z25; \
	VBROADCASTSS 16(DI), Z30; \
	VFMADD231PS Z4, Z30, Z24; \
	VFMADD231PS Z10, Z30, Z25; \
	VBROADCASTSS 20(DI), Z31; \
	VFMADD231PS Z5, Z31, Z24; \
	VFMADD231PS Z11, Z31, Z25

#define ZEROSUMS \
	VPXORQ Z12, Z12, Z12; \
	VPXORQ Z13, Z13, Z13; \
	VPXORQ Z14, Z14, Z14; \
	VPXORQ Z15, Z15, Z15; \
	VPXORQ Z16, Z16, Z16; \
	VPXORQ Z17, Z17, Z17; \
	VPXORQ Z18, Z18, Z18; \
	VPXORQ Z19, Z19, Z19; \
	VPXORQ Z20, Z20, Z20; \
	VPXORQ Z21, Z21, Z21; \
	VPXORQ Z22, Z22, Z22; \
	VPXORQ Z23, Z23, Z23

// FETCH asks for the 32 values at AX of row number K at (SI), one of the rights of
// a later call.
#define FETCH(K) \
	MOVL 4*K(SI), BX; \
	IMULQ n+56(FP), BX; \
	PREFETCHW_AX_BX4; \
	PREFETCHW_64_AX_BX4

#define FETCH6 \
	FETCH(0); \
	FETCH(1); \
	FETCH(2); \
	FETCH(3); \
	FETCH(4); \
	FETCH(5)

// func update6AVX512(sums *float32, rows *uint32, left *float32, lefts *uint32, m int, right *float32, rights *uint32, n int, coefficients *float32, stride int, next *uint32)
//
//	for j := 0; j < n; j++ {
//		var old, sum [6]float32
//		for k := 0; k < 6; k++ { old[k] = right[rights[k]*n+j] }
//		for i := 0; i < m; i++ {
//			for k := 0; k < 6; k++ { sum[k] += coefficients[i*stride+k] * left[lefts[i]*n+j] }
//		}
//		for i := 0; i < m; i++ {
//			for k := 0; k < 6; k++ { sums[rows[i]*n+j] += coefficients[i*stride+k] * old[k] }
//		}
//		for k := 0; k < 6; k++ { right[rights[k]*n+j] += sum[k] }
//	}
//
// It asks the memory system for rows next[0..6) of right; next may be nil.
//
// 32 values at a time: old in Z0..Z11, sum in Z12..Z23. Coefficients of both
// inner loops come from DI, a row of them at a time.
TEXT ·update6AVX512(SB), NOSPLIT, $32-88
	MOVQ right+40(FP), BX
	MOVQ rights+48(FP), CX
	MOVQ n+56(FP), DX
	ROWS
	MOVQ left+16(FP), AX
	MOVQ AX, l-8(SP)
	MOVQ sums+0(FP), AX
	MOVQ AX, s-16(SP)
	MOVQ BX, r-32(SP)
	MOVQ DX, rest-24(SP)
	MOVQ stride+72(FP), DX
	SHLQ $2, DX

columns:
	CMPQ rest-24(SP), $32
	JB   tail
	SUBQ $32, rest-24(SP)
	MOVQ next+80(FP), SI
	TESTQ SI, SI
	JZ   load
	MOVQ r-32(SP), AX
	FETCH6

load:
	VMOVUPS (R8), Z0
	VMOVUPS 64(R8), Z6
	VMOVUPS (R9), Z1
	VMOVUPS 64(R9), Z7
	VMOVUPS (R10), Z2
	VMOVUPS 64(R10), Z8
	VMOVUPS (R11), Z3
	VMOVUPS 64(R11), Z9
	VMOVUPS (R12), Z4
	VMOVUPS 64(R12), Z10
	VMOVUPS (R13), Z5
	VMOVUPS 64(R13), Z11
	ZEROSUMS
	MOVQ l-8(SP), AX
	MOVQ lefts+24(FP), SI
	MOVQ coefficients+64(FP), DI
	MOVQ m+32(FP), CX

rightsums:
	MOVL (SI), BX
	IMULQ n+56(FP), BX
	VMOVUPS (AX)(BX*4), Z24
	VMOVUPS 64(AX)(BX*4), Z25
	SUMRIGHTS
	NEXTLEFT
	JNZ  rightsums
	MOVQ s-16(SP), AX
	MOVQ rows+8(FP), SI
	MOVQ coefficients+64(FP), DI
	MOVQ m+32(FP), CX

leftsums:
	MOVL (SI), BX
	IMULQ n+56(FP), BX
	VMOVUPS (AX)(BX*4), Z24
	VMOVUPS 64(AX)(BX*4), Z25
	SUMLEFTS
	VMOVUPS Z24, (AX)(BX*4)
	VMOVUPS Z25, 64(AX)(BX*4)
	NEXTLEFT
	JNZ  leftsums

	VADDPS (R8), Z12, Z12
	VADDPS 64(R8), Z18, Z18
	VMOVUPS Z12, (R8)
	VMOVUPS Z18, 64(R8)
	VADDPS (R9), Z13, Z13
	VADDPS 64(R9), Z19, Z19
	VMOVUPS Z13, (R9)
	VMOVUPS Z19, 64(R9)
	VADDPS (R10), Z14, Z14
	VADDPS 64(R10), Z20, Z20
	VMOVUPS Z14, (R10)
	VMOVUPS Z20, 64(R10)
	VADDPS (R11), Z15, Z15
	VADDPS 64(R11), Z21, Z21
	VMOVUPS Z15, (R11)
	VMOVUPS Z21, 64(R11)
	VADDPS (R12), Z16, Z16
	VADDPS 64(R12), Z22, Z22
	VMOVUPS Z16, (R12)
	VMOVUPS Z22, 64(R12)
	VADDPS (R13), Z17, Z17
	VADDPS 64(R13), Z23, Z23
	VMOVUPS Z17, (R13)
	VMOVUPS Z23, 64(R13)
	ADDQ $128, R8
	ADDQ $128, R9
	ADDQ $128, R10
	ADDQ $128, R11
	ADDQ $128, R12
	ADDQ $128, R13
	ADDQ $128, l-8(SP)
	ADDQ $128, s-16(SP)
	ADDQ $128, r-32(SP)
	JMP  columns

tail:
	MOVQ rest-24(SP), CX
	TESTQ CX, CX
	JZ   done
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1
	SHRL $16, AX
	KMOVW AX, K2
	VMOVUPS.Z (R8), K1, Z0
	VMOVUPS.Z 64(R8), K2, Z6
	VMOVUPS.Z (R9), K1, Z1
	VMOVUPS.Z 64(R9), K2, Z7
	VMOVUPS.Z (R10), K1, Z2
	VMOVUPS.Z 64(R10), K2, Z8
	VMOVUPS.Z (R11), K1, Z3
	VMOVUPS.Z 64(R11), K2, Z9
	VMOVUPS.Z (R12), K1, Z4
	VMOVUPS.Z 64(R12), K2, Z10
	VMOVUPS.Z (R13), K1, Z5
	VMOVUPS.Z 64(R13), K2, Z11
	ZEROSUMS
	MOVQ l-8(SP), AX
	MOVQ lefts+24(FP), SI
	MOVQ coefficients+64(FP), DI
	MOVQ m+32(FP), CX

rightsumstail:
	MOVL (SI), BX
	IMULQ n+56(FP), BX
	VMOVUPS.Z (AX)(BX*4), K1, Z24
	VMOVUPS.Z 64(AX)(BX*4), K2, Z25
	SUMRIGHTS
	NEXTLEFT
	JNZ  rightsumstail
	MOVQ s-16(SP), AX
	MOVQ rows+8(FP), SI
	MOVQ coefficients+64(FP), DI
	MOVQ m+32(FP), CX

leftsumstail:
	MOVL (SI), BX
	IMULQ n+56(FP), BX
	VMOVUPS.Z (AX)(BX*4), K1, Z24
	VMOVUPS.Z 64(AX)(BX*4), K2, Z25
	SUMLEFTS
	VMOVUPS Z24, K1, (AX)(BX*4)
	VMOVUPS Z25, K2, 64(AX)(BX*4)
	NEXTLEFT
	JNZ  leftsumstail

	VMOVUPS.Z (R8), K1, Z0
	VMOVUPS.Z 64(R8), K2, Z6
	VADDPS Z0, Z12, Z12
	VADDPS Z6, Z18, Z18
	VMOVUPS Z12, K1, (R8)
	VMOVUPS Z18, K2, 64(R8)
	VMOVUPS.Z (R9), K1, Z1
	VMOVUPS.Z 64(R9), K2, Z7
	VADDPS Z1, Z13, Z13
	VADDPS Z7, Z19, Z19
	VMOVUPS Z13, K1, (R9)
	VMOVUPS Z19, K2, 64(R9)
	VMOVUPS.Z (R10), K1, Z2
	VMOVUPS.Z 64(R10), K2, Z8
	VADDPS Z2, Z14, Z14
	VADDPS Z8, Z20, Z20
	VMOVUPS Z14, K1, (R10)
	VMOVUPS Z20, K2, 64(R10)
	VMOVUPS.Z (R11), K1, Z3
	VMOVUPS.Z 64(R11), K2, Z9
	VADDPS Z3, Z15, Z15
	VADDPS Z9, Z21, Z21
	VMOVUPS Z15, K1, (R11)
	VMOVUPS Z21, K2, 64(R11)
	VMOVUPS.Z (R12), K1, Z4
	VMOVUPS.Z 64(R12), K2, Z10
	VADDPS Z4, Z16, Z16
	VADDPS Z10, Z22, Z22
	VMOVUPS Z16, K1, (R12)
	VMOVUPS Z22, K2, 64(R12)
	VMOVUPS.Z (R13), K1, Z5
	VMOVUPS.Z 64(R13), K2, Z11
	VADDPS Z5, Z17, Z17
	VADDPS Z11, Z23, Z23
	VMOVUPS Z17, K1, (R13)
	VMOVUPS Z23, K2, 64(R13)

done:
	VZEROUPPER
	RET
