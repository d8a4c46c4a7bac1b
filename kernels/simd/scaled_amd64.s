//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// The kernels of scaled.go. AX counts floats; a mask covers the tail of a row.

// SCALED is one update of w and v (registers W, V) by g (G) with the constants of
// ScaledStep in C0..C4; T is scratch. No multiplication is fused, so the bits are
// those of plain Go.
#define SCALED(G, V, W, T, C0, C1, C2, C3, C4) \
	VMULPS C0, V, V; \
	VMULPS C1, G, T; \
	VMULPS G, T, T; \
	VADDPS T, V, V; \
	VSQRTPS V, T; \
	VADDPS C4, T, T; \
	VMULPS C3, G, G; \
	VDIVPS T, G, G; \
	VMULPS C2, W, W; \
	VSUBPS G, W, W

// func scaledAVX512(w, v, grad *float32, n int, s *ScaledStep)
//
//	for j := 0; j < n; j++ {
//		v[j] = s.Decay*v[j] + s.Share*g[j]*g[j]
//		w[j] = s.Keep*w[j] - s.Rate*g[j]/(sqrt(v[j])+s.Epsilon)
//	}
TEXT ·scaledAVX512(SB), NOSPLIT, $0-40
	MOVQ w+0(FP), DI
	MOVQ v+8(FP), R9
	MOVQ grad+16(FP), R10
	MOVQ n+24(FP), DX
	MOVQ s+32(FP), SI
	VBROADCASTSS 0(SI), Z10
	VBROADCASTSS 4(SI), Z11
	VBROADCASTSS 8(SI), Z12
	VBROADCASTSS 12(SI), Z13
	VBROADCASTSS 16(SI), Z14
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-16, CX
	JZ   tail

loop: // asks for the squares of rows that follow, as they mostly come next
	PREFETCHT0 1024(R9)(AX*4)
	VMOVUPS (R10)(AX*4), Z0
	VMOVUPS (R9)(AX*4), Z2
	VMOVUPS (DI)(AX*4), Z3
	SCALED(Z0, Z2, Z3, Z4, Z10, Z11, Z12, Z13, Z14)
	VMOVUPS Z2, (R9)(AX*4)
	VMOVUPS Z3, (DI)(AX*4)
	ADDQ $16, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   done
	TAILMASK
	VMOVUPS.Z (R10)(AX*4), K1, Z0
	VMOVUPS.Z (R9)(AX*4), K1, Z2
	VMOVUPS.Z (DI)(AX*4), K1, Z3
	SCALED(Z0, Z2, Z3, Z4, Z10, Z11, Z12, Z13, Z14)
	VMOVUPS Z2, K1, (R9)(AX*4)
	VMOVUPS Z3, K1, (DI)(AX*4)

done:
	VZEROUPPER
	RET

// func scaledAVX2(w, v, grad *float32, n int, s *ScaledStep)
//
// scaledAVX512, eight lanes at a time.
TEXT ·scaledAVX2(SB), NOSPLIT, $0-40
	MOVQ w+0(FP), DI
	MOVQ v+8(FP), R9
	MOVQ grad+16(FP), R10
	MOVQ n+24(FP), DX
	MOVQ s+32(FP), SI
	VBROADCASTSS 0(SI), Y8
	VBROADCASTSS 4(SI), Y9
	VBROADCASTSS 8(SI), Y10
	VBROADCASTSS 12(SI), Y11
	VBROADCASTSS 16(SI), Y12
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-8, CX
	JZ   tail

loop:
	VMOVUPS (R10)(AX*4), Y0
	VMOVUPS (R9)(AX*4), Y2
	VMOVUPS (DI)(AX*4), Y3
	SCALED(Y0, Y2, Y3, Y4, Y8, Y9, Y10, Y11, Y12)
	VMOVUPS Y2, (R9)(AX*4)
	VMOVUPS Y3, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   done
	TAILLANES
	VMASKMOVPS (R10)(AX*4), Y15, Y0
	VMASKMOVPS (R9)(AX*4), Y15, Y2
	VMASKMOVPS (DI)(AX*4), Y15, Y3
	SCALED(Y0, Y2, Y3, Y4, Y8, Y9, Y10, Y11, Y12)
	VMASKMOVPS Y2, Y15, (R9)(AX*4)
	VMASKMOVPS Y3, Y15, (DI)(AX*4)

done:
	VZEROUPPER
	RET
