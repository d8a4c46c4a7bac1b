//go:build amd64 && !noasm

#include "textflag.h"

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
