//go:build amd64 && !noasm

#include "textflag.h"

// The kernel of scramble.go. Y0..Y3 have the lower halves of the keys in all lanes,
// Y4..Y6 the upper halves of keys 0, 1 and 2, Y7..Y9 keys 1, 2 and 3 in lanes of 64
// bits, Y10 low and Y11 high. Y12 has eight numbers.

// LINEAR is v = v*K + C.
#define LINEAR(K, C) \
	VPMULLD K, Y12, Y12; \
	VPADDD C, Y12, Y12

// HASH is v ^= ((v&high)*key + add)>>32 & low, where key is KLOW + KHIGH<<32. The
// product of 64 bits is that of KLOW, of even and of odd lanes apart; the lower half
// of the product of KHIGH is added to its upper half.
#define HASH(KLOW, KHIGH, ADD) \
	VPAND Y11, Y12, Y13; \
	VPSRLQ $32, Y13, Y14; \
	VPMULUDQ KLOW, Y13, Y15; \
	VPMULUDQ KLOW, Y14, Y14; \
	VPMULLD KHIGH, Y13, Y13; \
	VPADDQ ADD, Y15, Y15; \
	VPADDQ ADD, Y14, Y14; \
	VPSRLQ $32, Y15, Y15; \
	VPBLENDD $0xAA, Y14, Y15, Y15; \
	VPADDD Y13, Y15, Y15; \
	VPAND Y10, Y15, Y15; \
	VPXOR Y15, Y12, Y12

// func scrambleAVX2(x *uint32, eights int, b *Bijection)
//
// It is scrambleGo for 8*eights numbers, bit for bit. eights is positive.
TEXT ·scrambleAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ eights+8(FP), CX
	MOVQ b+16(FP), SI
	VPBROADCASTD 0(SI), Y0
	VPBROADCASTD 8(SI), Y1
	VPBROADCASTD 16(SI), Y2
	VPBROADCASTD 24(SI), Y3
	VPBROADCASTD 4(SI), Y4
	VPBROADCASTD 12(SI), Y5
	VPBROADCASTD 20(SI), Y6
	VPBROADCASTQ 8(SI), Y7
	VPBROADCASTQ 16(SI), Y8
	VPBROADCASTQ 24(SI), Y9
	VPBROADCASTD 32(SI), Y10
	VPBROADCASTD 36(SI), Y11
loop:
	VMOVDQU (DI), Y12
	LINEAR(Y0, Y2)
	HASH(Y0, Y4, Y7)
	LINEAR(Y1, Y3)
	HASH(Y1, Y5, Y8)
	LINEAR(Y2, Y0)
	HASH(Y2, Y6, Y9)
	LINEAR(Y3, Y1)
	VPOR Y10, Y11, Y13
	VPAND Y13, Y12, Y12
	VMOVDQU Y12, (DI)
	ADDQ $32, DI
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET
