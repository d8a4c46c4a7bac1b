//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// ADAM is one update of w, m, v (registers W, M, V) by g (G) with the
// constants of AdamStep in C0..C6; T is scratch. No multiplication is fused,
// so the bits are those of plain Go.
#define ADAM(G, M, V, W, T, C0, C1, C2, C3, C4, C5, C6) \
	VMULPS C0, M, M; \
	VMULPS C1, G, T; \
	VADDPS T, M, M; \
	VMULPS C2, V, V; \
	VMULPS C3, G, T; \
	VMULPS G, T, T; \
	VADDPS T, V, V; \
	VSQRTPS V, T; \
	VADDPS C6, T, T; \
	VMULPS C5, M, G; \
	VDIVPS T, G, G; \
	VMULPS C4, W, W; \
	VSUBPS G, W, W

// func adamAVX512(w, m, v, grad *float32, n int, s *AdamStep)
//
//	for j := 0; j < n; j++ {
//		m[j] = s.Beta1*m[j] + s.OneMinusBeta1*g[j]
//		v[j] = s.Beta2*v[j] + s.OneMinusBeta2*g[j]*g[j]
//		w[j] = s.Keep*w[j] - s.Scale*m[j]/(sqrt(v[j])+s.Epsilon)
//	}
TEXT ·adamAVX512(SB), NOSPLIT, $0-48
	MOVQ w+0(FP), DI
	MOVQ m+8(FP), R8
	MOVQ v+16(FP), R9
	MOVQ grad+24(FP), R10
	MOVQ n+32(FP), DX
	MOVQ s+40(FP), SI
	VBROADCASTSS 0(SI), Z10
	VBROADCASTSS 4(SI), Z11
	VBROADCASTSS 8(SI), Z12
	VBROADCASTSS 12(SI), Z13
	VBROADCASTSS 16(SI), Z14
	VBROADCASTSS 20(SI), Z15
	VBROADCASTSS 24(SI), Z16
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-16, CX
	JZ   tail

loop: // asks for the moments of rows that follow, as they mostly come next
	PREFETCHT0 1024(R8)(AX*4)
	PREFETCHT0 1024(R9)(AX*4)
	VMOVUPS (R10)(AX*4), Z0
	VMOVUPS (R8)(AX*4), Z1
	VMOVUPS (R9)(AX*4), Z2
	VMOVUPS (DI)(AX*4), Z3
	ADAM(Z0, Z1, Z2, Z3, Z4, Z10, Z11, Z12, Z13, Z14, Z15, Z16)
	VMOVUPS Z1, (R8)(AX*4)
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
	VMOVUPS.Z (R8)(AX*4), K1, Z1
	VMOVUPS.Z (R9)(AX*4), K1, Z2
	VMOVUPS.Z (DI)(AX*4), K1, Z3
	ADAM(Z0, Z1, Z2, Z3, Z4, Z10, Z11, Z12, Z13, Z14, Z15, Z16)
	VMOVUPS Z1, K1, (R8)(AX*4)
	VMOVUPS Z2, K1, (R9)(AX*4)
	VMOVUPS Z3, K1, (DI)(AX*4)

done:
	VZEROUPPER
	RET

// func adamAVX2(w, m, v, grad *float32, n int, s *AdamStep)
//
// adamAVX512, eight lanes at a time.
TEXT ·adamAVX2(SB), NOSPLIT, $0-48
	MOVQ w+0(FP), DI
	MOVQ m+8(FP), R8
	MOVQ v+16(FP), R9
	MOVQ grad+24(FP), R10
	MOVQ n+32(FP), DX
	MOVQ s+40(FP), SI
	VBROADCASTSS 0(SI), Y8
	VBROADCASTSS 4(SI), Y9
	VBROADCASTSS 8(SI), Y10
	VBROADCASTSS 12(SI), Y11
	VBROADCASTSS 16(SI), Y12
	VBROADCASTSS 20(SI), Y13
	VBROADCASTSS 24(SI), Y14
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-8, CX
	JZ   tail

loop:
	VMOVUPS (R10)(AX*4), Y0
	VMOVUPS (R8)(AX*4), Y1
	VMOVUPS (R9)(AX*4), Y2
	VMOVUPS (DI)(AX*4), Y3
	ADAM(Y0, Y1, Y2, Y3, Y4, Y8, Y9, Y10, Y11, Y12, Y13, Y14)
	VMOVUPS Y1, (R8)(AX*4)
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
	VMASKMOVPS (R8)(AX*4), Y15, Y1
	VMASKMOVPS (R9)(AX*4), Y15, Y2
	VMASKMOVPS (DI)(AX*4), Y15, Y3
	ADAM(Y0, Y1, Y2, Y3, Y4, Y8, Y9, Y10, Y11, Y12, Y13, Y14)
	VMASKMOVPS Y1, Y15, (R8)(AX*4)
	VMASKMOVPS Y2, Y15, (R9)(AX*4)
	VMASKMOVPS Y3, Y15, (DI)(AX*4)

done:
	VZEROUPPER
	RET

// func momentumAVX2(w, m, grad *float32, n int, beta1, rest, keep, scale float32)
//
//	for j := 0; j < n; j++ {
//		m[j] = beta1*m[j] + rest*g[j]
//		w[j] = keep*w[j] - scale*m[j]
//	}
TEXT ·momentumAVX2(SB), NOSPLIT, $0-48
	MOVQ w+0(FP), DI
	MOVQ m+8(FP), R8
	MOVQ grad+16(FP), R10
	MOVQ n+24(FP), DX
	VBROADCASTSS beta1+32(FP), Y8
	VBROADCASTSS rest+36(FP), Y9
	VBROADCASTSS keep+40(FP), Y10
	VBROADCASTSS scale+44(FP), Y11
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-8, CX
	JZ   tail

loop:
	VMULPS (R10)(AX*4), Y9, Y0
	VMULPS (R8)(AX*4), Y8, Y1
	VADDPS Y0, Y1, Y1
	VMOVUPS Y1, (R8)(AX*4)
	VMULPS (DI)(AX*4), Y10, Y2
	VMULPS Y1, Y11, Y1
	VSUBPS Y1, Y2, Y2
	VMOVUPS Y2, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   done
	TAILLANES
	VMASKMOVPS (R10)(AX*4), Y15, Y0
	VMASKMOVPS (R8)(AX*4), Y15, Y1
	VMASKMOVPS (DI)(AX*4), Y15, Y2
	VMULPS Y0, Y9, Y0
	VMULPS Y1, Y8, Y1
	VADDPS Y0, Y1, Y1
	VMASKMOVPS Y1, Y15, (R8)(AX*4)
	VMULPS Y2, Y10, Y2
	VMULPS Y1, Y11, Y1
	VSUBPS Y1, Y2, Y2
	VMASKMOVPS Y2, Y15, (DI)(AX*4)

done:
	VZEROUPPER
	RET

// func sgdAVX2(w, grad *float32, n int, keep, rate float32)
//
//	for j := 0; j < n; j++ { w[j] = keep*w[j] - rate*g[j] }
TEXT ·sgdAVX2(SB), NOSPLIT, $0-32
	MOVQ w+0(FP), DI
	MOVQ grad+8(FP), R10
	MOVQ n+16(FP), DX
	VBROADCASTSS keep+24(FP), Y10
	VBROADCASTSS rate+28(FP), Y11
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-8, CX
	JZ   tail

loop:
	VMULPS (R10)(AX*4), Y11, Y0
	VMULPS (DI)(AX*4), Y10, Y2
	VSUBPS Y0, Y2, Y2
	VMOVUPS Y2, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   done
	TAILLANES
	VMASKMOVPS (R10)(AX*4), Y15, Y0
	VMASKMOVPS (DI)(AX*4), Y15, Y2
	VMULPS Y0, Y11, Y0
	VMULPS Y2, Y10, Y2
	VSUBPS Y0, Y2, Y2
	VMASKMOVPS Y2, Y15, (DI)(AX*4)

done:
	VZEROUPPER
	RET

// func exchangeAVX2(shared, own, before *float32, n int)
//
//	for j := 0; j < n; j++ {
//		shared[j] += own[j] - before[j]
//		own[j], before[j] = shared[j], shared[j]
//	}
TEXT ·exchangeAVX2(SB), NOSPLIT, $0-32
	MOVQ shared+0(FP), DI
	MOVQ own+8(FP), SI
	MOVQ before+16(FP), R10
	MOVQ n+24(FP), DX
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-8, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Y0
	VSUBPS (R10)(AX*4), Y0, Y0
	VADDPS (DI)(AX*4), Y0, Y0
	VMOVUPS Y0, (DI)(AX*4)
	VMOVUPS Y0, (SI)(AX*4)
	VMOVUPS Y0, (R10)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   done
	TAILLANES
	VMASKMOVPS (SI)(AX*4), Y15, Y0
	VMASKMOVPS (R10)(AX*4), Y15, Y1
	VSUBPS Y1, Y0, Y0
	VMASKMOVPS (DI)(AX*4), Y15, Y1
	VADDPS Y1, Y0, Y0
	VMASKMOVPS Y0, Y15, (DI)(AX*4)
	VMASKMOVPS Y0, Y15, (SI)(AX*4)
	VMASKMOVPS Y0, Y15, (R10)(AX*4)

done:
	VZEROUPPER
	RET
