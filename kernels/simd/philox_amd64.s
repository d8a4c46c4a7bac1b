//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// Multipliers and key increments of Philox4x32, then the numbers of eight
// lanes.
DATA philoxc<>+0x00(SB)/4, $0xD2511F53
DATA philoxc<>+0x04(SB)/4, $0xCD9E8D57
DATA philoxc<>+0x08(SB)/4, $0x9E3779B9
DATA philoxc<>+0x0c(SB)/4, $0xBB67AE85
DATA philoxc<>+0x10(SB)/8, $0x0000000100000000
DATA philoxc<>+0x18(SB)/8, $0x0000000300000002
DATA philoxc<>+0x20(SB)/8, $0x0000000500000004
DATA philoxc<>+0x28(SB)/8, $0x0000000700000006
GLOBL philoxc<>(SB), RODATA|NOPTR, $48

// WIDEMUL multiplies eight 32-bit lanes of A by M: the high 32 bits of
// each product go to HI, the low 32 bits to LO; T is scratch.
#define WIDEMUL(A, M, HI, LO, T) \
	VPMULUDQ M, A, LO; \
	VPSRLQ $32, A, T; \
	VPMULUDQ M, T, T; \
	VPSRLQ $32, LO, HI; \
	VPBLENDD $0xAA, T, HI, HI; \
	VPSLLQ $32, T, T; \
	VPBLENDD $0xAA, T, LO, LO

// func philoxAVX2(dst *uint32, eights int, key *[6]uint32)
//
//	for i := 0; i < 8*eights; i++ { copy(dst[4*i:], Philox(seed, stream, counter+i)) }
//
// Eight counters at a time, a lane each. key is seed, stream and counter, each with
// its low 32 bits first. The low 32 bits of the counter must not overflow on the
// way.
TEXT ·philoxAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ eights+8(FP), CX
	MOVQ key+16(FP), SI
	LEAQ philoxc<>(SB), R9
	VPBROADCASTD 0(R9), Y4
	VPBROADCASTD 4(R9), Y5
	VPBROADCASTD 8(R9), Y8
	VPBROADCASTD 12(R9), Y9
	MOVL 16(SI), BX

eight:
	MOVQ BX, X0
	VPBROADCASTD X0, Y0
	VPADDD 16(R9), Y0, Y0
	VPBROADCASTD 20(SI), Y1
	VPBROADCASTD 8(SI), Y2
	VPBROADCASTD 12(SI), Y3
	VPBROADCASTD 0(SI), Y6
	VPBROADCASTD 4(SI), Y7
	MOVL $10, AX

round:
	WIDEMUL(Y0, Y4, Y12, Y10, Y11)
	WIDEMUL(Y2, Y5, Y15, Y13, Y14)
	VPXOR Y1, Y15, Y15
	VPXOR Y6, Y15, Y0
	VPXOR Y3, Y12, Y12
	VPXOR Y7, Y12, Y2
	VMOVDQA Y13, Y1
	VMOVDQA Y10, Y3
	VPADDD Y8, Y6, Y6
	VPADDD Y9, Y7, Y7
	DECL AX
	JNZ  round

	VPUNPCKLDQ Y1, Y0, Y10
	VPUNPCKLDQ Y3, Y2, Y11
	VPUNPCKHDQ Y1, Y0, Y12
	VPUNPCKHDQ Y3, Y2, Y13
	VPUNPCKLQDQ Y11, Y10, Y0
	VPUNPCKHQDQ Y11, Y10, Y1
	VPUNPCKLQDQ Y13, Y12, Y2
	VPUNPCKHQDQ Y13, Y12, Y3
	VMOVDQU X0, 0(DI)
	VMOVDQU X1, 16(DI)
	VMOVDQU X2, 32(DI)
	VMOVDQU X3, 48(DI)
	VEXTRACTI128 $1, Y0, 64(DI)
	VEXTRACTI128 $1, Y1, 80(DI)
	VEXTRACTI128 $1, Y2, 96(DI)
	VEXTRACTI128 $1, Y3, 112(DI)
	ADDQ $128, DI
	ADDL $8, BX
	DECQ CX
	JNZ  eight
	VZEROUPPER
	RET
