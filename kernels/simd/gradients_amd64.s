//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// STEPS turns scores Y0 of kinds Y13 into coefficients Y3 and factors Y4. Y1, Y2
// are scratch, Y5..Y9 and Y12 hold constants, Y14 -rate; the other constants come
// from R9.
//
// MIN and MAX return their first operand, the score, if one operand is NaN.
#define STEPS \
	VXORPS Y13, Y0, Y0; \
	VMAXPS Y0, Y5, Y0; \
	VMINPS Y0, Y6, Y0; \
	VMULPS Y7, Y0, Y2; \
	VROUNDPS $0, Y2, Y2; \
	VFNMADD231PS Y8, Y2, Y0; \
	VFNMADD231PS Y9, Y2, Y0; \
	VBROADCASTSS 0x14(R9), Y3; \
	VBROADCASTSS 0x18(R9), Y1; \
	VFMADD213PS Y1, Y0, Y3; \
	VBROADCASTSS 0x1c(R9), Y1; \
	VFMADD213PS Y1, Y0, Y3; \
	VBROADCASTSS 0x20(R9), Y1; \
	VFMADD213PS Y1, Y0, Y3; \
	VBROADCASTSS 0x24(R9), Y1; \
	VFMADD213PS Y1, Y0, Y3; \
	VBROADCASTSS 0x28(R9), Y1; \
	VFMADD213PS Y1, Y0, Y3; \
	VMULPS Y0, Y0, Y4; \
	VFMADD213PS Y0, Y4, Y3; \
	VADDPS Y12, Y3, Y3; \
	VCVTPS2DQ Y2, Y2; \
	VPBROADCASTD 0x30(R9), Y1; \
	VPADDD Y1, Y2, Y2; \
	VPSLLD $23, Y2, Y2; \
	VMULPS Y2, Y3, Y3; \
	VADDPS Y12, Y3, Y4; \
	VDIVPS Y4, Y3, Y3; \
	VMULPS Y14, Y3, Y3; \
	VXORPS Y13, Y3, Y3

// MULTIPLY multiplies the products Y10, Y11 by the factors Y4.
#define MULTIPLY \
	VCVTPS2PD X4, Y1; \
	VEXTRACTF128 $1, Y4, X4; \
	VCVTPS2PD X4, Y2; \
	VMULPD Y1, Y10, Y10; \
	VMULPD Y2, Y11, Y11

// func gradientsAVX2(coefficients, scores *float32, kinds *uint32, n int, rate float32, products *[8]float64)
//
//	for j := 0; j < n; j++ {
//		s := scores[j]
//		if kinds[j] == Positive { s = -s }
//		e := exp(min(max(s, -87), 80))
//		products[j%8] *= 1 + e
//		coefficients[j] = -rate * (e / (1 + e))
//		if kinds[j] == Positive { coefficients[j] = -coefficients[j] }
//	}
TEXT ·gradientsAVX2(SB), NOSPLIT, $0-48
	MOVQ coefficients+0(FP), DI
	MOVQ scores+8(FP), SI
	MOVQ kinds+16(FP), R10
	MOVQ n+24(FP), DX
	MOVQ products+40(FP), R8
	LEAQ ·expc(SB), R9
	VBROADCASTSS 0x00(R9), Y5
	VBROADCASTSS 0x04(R9), Y6
	VBROADCASTSS 0x08(R9), Y7
	VBROADCASTSS 0x0c(R9), Y8
	VBROADCASTSS 0x10(R9), Y9
	VBROADCASTSS 0x2c(R9), Y12
	VBROADCASTSS rate+32(FP), Y14
	VBROADCASTSS 0x34(R9), Y0
	VXORPS Y0, Y14, Y14
	VMOVUPD (R8), Y10
	VMOVUPD 32(R8), Y11
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-8, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Y0
	VMOVUPS (R10)(AX*4), Y13
	STEPS
	VMOVUPS Y3, (DI)(AX*4)
	MULTIPLY
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop

tail:
	SUBQ AX, DX
	JZ   done
	NEGQ DX
	LEAQ ·lanes(SB), BX
	VMOVUPS 64(BX)(DX*4), Y15
	VMASKMOVPS (SI)(AX*4), Y15, Y0
	VMASKMOVPS (R10)(AX*4), Y15, Y13
	STEPS
	VMASKMOVPS Y3, Y15, (DI)(AX*4)
	VBLENDVPS Y15, Y4, Y12, Y4
	MULTIPLY

done:
	VMOVUPD Y10, (R8)
	VMOVUPD Y11, 32(R8)
	VZEROUPPER
	RET

// STEPS512 is STEPS for scores Z0 of kinds Z13, coefficients Z3 and factors Z4;
// all constants are in registers: Z5..Z9, Z12, Z14 and Z16..Z22.
#define STEPS512 \
	VXORPS Z13, Z0, Z0; \
	VMAXPS Z0, Z5, Z0; \
	VMINPS Z0, Z6, Z0; \
	VMULPS Z7, Z0, Z2; \
	VRNDSCALEPS $0, Z2, Z2; \
	VFNMADD231PS Z8, Z2, Z0; \
	VFNMADD231PS Z9, Z2, Z0; \
	VMOVAPS Z16, Z3; \
	VFMADD213PS Z17, Z0, Z3; \
	VFMADD213PS Z18, Z0, Z3; \
	VFMADD213PS Z19, Z0, Z3; \
	VFMADD213PS Z20, Z0, Z3; \
	VFMADD213PS Z21, Z0, Z3; \
	VMULPS Z0, Z0, Z4; \
	VFMADD213PS Z0, Z4, Z3; \
	VADDPS Z12, Z3, Z3; \
	VCVTPS2DQ Z2, Z2; \
	VPADDD Z22, Z2, Z2; \
	VPSLLD $23, Z2, Z2; \
	VMULPS Z2, Z3, Z3; \
	VADDPS Z12, Z3, Z4; \
	VDIVPS Z4, Z3, Z3; \
	VMULPS Z14, Z3, Z3; \
	VXORPS Z13, Z3, Z3

// MULTIPLY512 multiplies the products Z10 by the factors Z4.
#define MULTIPLY512 \
	VCVTPS2PD Y4, Z1; \
	VEXTRACTF64X4 $1, Z4, Y4; \
	VCVTPS2PD Y4, Z2; \
	VMULPD Z1, Z10, Z10; \
	VMULPD Z2, Z10, Z10

// func gradientsAVX512(coefficients, scores *float32, kinds *uint32, n int, rate float32, products *[8]float64)
//
// gradientsAVX2, sixteen scores at a time.
TEXT ·gradientsAVX512(SB), NOSPLIT, $0-48
	MOVQ coefficients+0(FP), DI
	MOVQ scores+8(FP), SI
	MOVQ kinds+16(FP), R10
	MOVQ n+24(FP), DX
	MOVQ products+40(FP), R8
	LEAQ ·expc(SB), R9
	VBROADCASTSS 0x00(R9), Z5
	VBROADCASTSS 0x04(R9), Z6
	VBROADCASTSS 0x08(R9), Z7
	VBROADCASTSS 0x0c(R9), Z8
	VBROADCASTSS 0x10(R9), Z9
	VBROADCASTSS 0x14(R9), Z16
	VBROADCASTSS 0x18(R9), Z17
	VBROADCASTSS 0x1c(R9), Z18
	VBROADCASTSS 0x20(R9), Z19
	VBROADCASTSS 0x24(R9), Z20
	VBROADCASTSS 0x28(R9), Z21
	VBROADCASTSS 0x2c(R9), Z12
	VPBROADCASTD 0x30(R9), Z22
	VBROADCASTSS rate+32(FP), Z14
	VBROADCASTSS 0x34(R9), Z0
	VXORPS Z0, Z14, Z14
	VMOVUPD (R8), Z10
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-16, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Z0
	VMOVUPS (R10)(AX*4), Z13
	STEPS512
	VMOVUPS Z3, (DI)(AX*4)
	MULTIPLY512
	ADDQ $16, AX
	CMPQ AX, CX
	JB   loop

tail:
	MOVQ DX, CX
	SUBQ AX, CX
	JZ   done
	MOVL $1, BX
	SHLL CX, BX
	DECL BX
	KMOVW BX, K1
	KNOTW K1, K2
	VMOVUPS.Z (SI)(AX*4), K1, Z0
	VMOVUPS.Z (R10)(AX*4), K1, Z13
	STEPS512
	VMOVUPS Z3, K1, (DI)(AX*4)
	VMOVAPS Z12, K2, Z4
	MULTIPLY512

done:
	VMOVUPD Z10, (R8)
	VZEROUPPER
	RET
