//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// The constants here and the macros of amd64.h serve window_amd64.s, too.
//
// In all kernels AX counts floats. R14 and R15 belong to the Go runtime and stay
// as they are. A mask covers the tail of a row, so nothing outside a row is
// touched.

// 16 ones, then 16 zeros: the mask of the first r of 16 lanes starts at (16-r)*4;
// its part for lanes 8 to 15 starts 32 bytes further.
DATA ·lanes+0x00(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x08(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x10(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x18(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x20(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x28(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x30(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x38(SB)/8, $0xffffffffffffffff
DATA ·lanes+0x40(SB)/8, $0
DATA ·lanes+0x48(SB)/8, $0
DATA ·lanes+0x50(SB)/8, $0
DATA ·lanes+0x58(SB)/8, $0
DATA ·lanes+0x60(SB)/8, $0
DATA ·lanes+0x68(SB)/8, $0
DATA ·lanes+0x70(SB)/8, $0
DATA ·lanes+0x78(SB)/8, $0
GLOBL ·lanes(SB), RODATA|NOPTR, $128

// Constants of exp (Cephes expf): limits, log2(e), ln 2 in two parts, the
// polynomial of (exp(r)-1-r)/r^2, highest power first, then 1, the bias and the
// sign bit.
DATA ·expc+0x00(SB)/4, $0xc2ae0000 // -87
DATA ·expc+0x04(SB)/4, $0x42a00000 // 80
DATA ·expc+0x08(SB)/4, $0x3fb8aa3b // 1.44269504
DATA ·expc+0x0c(SB)/4, $0x3f318000 // 0.693359375
DATA ·expc+0x10(SB)/4, $0xb95e8083 // -2.12194440e-4
DATA ·expc+0x14(SB)/4, $0x39506967 // 1.9875691500e-4
DATA ·expc+0x18(SB)/4, $0x3ab743ce // 1.3981999507e-3
DATA ·expc+0x1c(SB)/4, $0x3c088908 // 8.3334519073e-3
DATA ·expc+0x20(SB)/4, $0x3d2aa9c1 // 4.1665795894e-2
DATA ·expc+0x24(SB)/4, $0x3e2aaaaa // 1.6666665459e-1
DATA ·expc+0x28(SB)/4, $0x3f000000 // 0.5
DATA ·expc+0x2c(SB)/4, $0x3f800000 // 1
DATA ·expc+0x30(SB)/4, $127
DATA ·expc+0x34(SB)/4, $0x80000000
GLOBL ·expc(SB), RODATA|NOPTR, $56

// func dots6AVX512(out, left, table *float32, rows *uint32, n int)
//
//	for k := 0; k < 6; k++ {
//		var lane [16]float32
//		for j := 0; j < n; j++ { lane[j%16] += left[j] * table[rows[k]*n+j] }
//		for j := 0; j < 8; j++ { lane[j] += lane[j+8] }
//		out[k] = ((lane[0]+lane[1]) + (lane[2]+lane[3])) + ((lane[4]+lane[5]) + (lane[6]+lane[7]))
//	}
TEXT ·dots6AVX512(SB), NOSPLIT, $0-40
	DOTS6
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-16, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Z6
	VFMADD231PS (R8)(AX*4), Z6, Z0
	VFMADD231PS (R9)(AX*4), Z6, Z1
	VFMADD231PS (R10)(AX*4), Z6, Z2
	VFMADD231PS (R11)(AX*4), Z6, Z3
	VFMADD231PS (R12)(AX*4), Z6, Z4
	VFMADD231PS (R13)(AX*4), Z6, Z5
	ADDQ $16, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   fold
	TAILMASK
	VMOVUPS.Z (SI)(AX*4), K1, Z6
	VMOVUPS.Z (R8)(AX*4), K1, Z7
	VMOVUPS.Z (R9)(AX*4), K1, Z8
	VMOVUPS.Z (R10)(AX*4), K1, Z9
	VMOVUPS.Z (R11)(AX*4), K1, Z10
	VMOVUPS.Z (R12)(AX*4), K1, Z11
	VMOVUPS.Z (R13)(AX*4), K1, Z12
	VFMADD231PS Z7, Z6, Z0
	VFMADD231PS Z8, Z6, Z1
	VFMADD231PS Z9, Z6, Z2
	VFMADD231PS Z10, Z6, Z3
	VFMADD231PS Z11, Z6, Z4
	VFMADD231PS Z12, Z6, Z5

fold:
	VEXTRACTF64X4 $1, Z0, Y6
	VEXTRACTF64X4 $1, Z1, Y7
	VEXTRACTF64X4 $1, Z2, Y8
	VEXTRACTF64X4 $1, Z3, Y9
	VEXTRACTF64X4 $1, Z4, Y10
	VEXTRACTF64X4 $1, Z5, Y11
	VADDPS Y6, Y0, Y0
	VADDPS Y7, Y1, Y1
	VADDPS Y8, Y2, Y2
	VADDPS Y9, Y3, Y3
	VADDPS Y10, Y4, Y4
	VADDPS Y11, Y5, Y5
	FOLD6
	VZEROUPPER
	RET

// ROWAT turns the row number AT into its address R in the table BX with rows of DX
// floats.
#define ROWAT(AT, R) MOVL AT, R; IMULQ DX, R; LEAQ (BX)(R*4), R

// func dotsAVX512(out, left, table *float32, rows *uint32, count, n int)
//
// dots6AVX512 for any number of rows from 1 up, four at a time: the last one to three
// go with rows that are there already.
TEXT ·dotsAVX512(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ left+8(FP), SI
	MOVQ table+16(FP), BX
	MOVQ rows+24(FP), R12
	MOVQ count+32(FP), R13
	MOVQ n+40(FP), DX
	MOVQ DX, CX
	ANDQ $15, CX
	MOVL $1, AX
	SHLL CX, AX
	DECL AX
	KMOVW AX, K1
	MOVQ DX, CX
	ANDQ $-16, CX
	ROWAT(0(R12), R8)
	MOVQ R8, R9
	MOVQ R8, R10
	MOVQ R8, R11
	CMPQ R13, $2
	JLT  dot
	ROWAT(4(R12), R9)
	CMPQ R13, $3
	JLT  dot
	ROWAT(8(R12), R10)
	CMPQ R13, $4
	JLT  dot

four:
	ROWAT(12(R12), R11)

dot:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	XORQ AX, AX
	TESTQ CX, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Z4
	VFMADD231PS (R8)(AX*4), Z4, Z0
	VFMADD231PS (R9)(AX*4), Z4, Z1
	VFMADD231PS (R10)(AX*4), Z4, Z2
	VFMADD231PS (R11)(AX*4), Z4, Z3
	ADDQ $16, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   fold
	VMOVUPS.Z (SI)(AX*4), K1, Z4
	VFMADD231PS (R8)(AX*4), Z4, K1, Z0
	VFMADD231PS (R9)(AX*4), Z4, K1, Z1
	VFMADD231PS (R10)(AX*4), Z4, K1, Z2
	VFMADD231PS (R11)(AX*4), Z4, K1, Z3

fold:
	VEXTRACTF64X4 $1, Z0, Y4
	VEXTRACTF64X4 $1, Z1, Y5
	VEXTRACTF64X4 $1, Z2, Y6
	VEXTRACTF64X4 $1, Z3, Y7
	VADDPS Y4, Y0, Y0
	VADDPS Y5, Y1, Y1
	VADDPS Y6, Y2, Y2
	VADDPS Y7, Y3, Y3
	VHADDPS Y1, Y0, Y0
	VHADDPS Y3, Y2, Y2
	VHADDPS Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	SUBQ $4, R13
	JLT  few
	VMOVUPS X0, (DI)
	JEQ  done
	ADDQ $16, DI
	ADDQ $16, R12
	ROWAT(0(R12), R8)
	CMPQ R13, $2
	JLT  dot
	ROWAT(4(R12), R9)
	CMPQ R13, $3
	JLT  dot
	ROWAT(8(R12), R10)
	CMPQ R13, $4
	JLT  dot
	JMP  four

few:
	VMOVSS X0, (DI)
	CMPQ R13, $-3
	JEQ  done
	VEXTRACTPS $1, X0, 4(DI)
	CMPQ R13, $-2
	JEQ  done
	VEXTRACTPS $2, X0, 8(DI)

done:
	VZEROUPPER
	RET

// func dots6AVX2(out, left, table *float32, rows *uint32, n int)
//
// dots6AVX512 with lanes 0..7 in Y0..Y5 and lanes 8..15 in Y6..Y11.
TEXT ·dots6AVX2(SB), NOSPLIT, $0-40
	DOTS6
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-16, CX
	JZ   tail

loop:
	VMOVUPS (SI)(AX*4), Y12
	VMOVUPS 32(SI)(AX*4), Y13
	VFMADD231PS (R8)(AX*4), Y12, Y0
	VFMADD231PS (R9)(AX*4), Y12, Y1
	VFMADD231PS (R10)(AX*4), Y12, Y2
	VFMADD231PS (R11)(AX*4), Y12, Y3
	VFMADD231PS (R12)(AX*4), Y12, Y4
	VFMADD231PS (R13)(AX*4), Y12, Y5
	VFMADD231PS 32(R8)(AX*4), Y13, Y6
	VFMADD231PS 32(R9)(AX*4), Y13, Y7
	VFMADD231PS 32(R10)(AX*4), Y13, Y8
	VFMADD231PS 32(R11)(AX*4), Y13, Y9
	VFMADD231PS 32(R12)(AX*4), Y13, Y10
	VFMADD231PS 32(R13)(AX*4), Y13, Y11
	ADDQ $16, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   fold
	TAILLANES
	VMASKMOVPS (SI)(AX*4), Y15, Y12
	VMASKMOVPS (R8)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y0
	VMASKMOVPS (R9)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y1
	VMASKMOVPS (R10)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y2
	VMASKMOVPS (R11)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y3
	VMASKMOVPS (R12)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y4
	VMASKMOVPS (R13)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y12, Y5
	VMOVUPS (BX), Y15
	VMASKMOVPS 32(SI)(AX*4), Y15, Y13
	VMASKMOVPS 32(R8)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y6
	VMASKMOVPS 32(R9)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y7
	VMASKMOVPS 32(R10)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y8
	VMASKMOVPS 32(R11)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y9
	VMASKMOVPS 32(R12)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y10
	VMASKMOVPS 32(R13)(AX*4), Y15, Y14
	VFMADD231PS Y14, Y13, Y11

fold:
	VADDPS Y6, Y0, Y0
	VADDPS Y7, Y1, Y1
	VADDPS Y8, Y2, Y2
	VADDPS Y9, Y3, Y3
	VADDPS Y10, Y4, Y4
	VADDPS Y11, Y5, Y5
	FOLD6
	VZEROUPPER
	RET

// func dotAVX2(x, y *float32, n int) float32
//
// Four accumulators of eight lanes, so that additions overlap.
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DI
	MOVQ n+16(FP), DX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-32, CX
	JZ   rest

loop:
	VMOVUPS (SI)(AX*4), Y4
	VMOVUPS 32(SI)(AX*4), Y5
	VMOVUPS 64(SI)(AX*4), Y6
	VMOVUPS 96(SI)(AX*4), Y7
	VFMADD231PS (DI)(AX*4), Y4, Y0
	VFMADD231PS 32(DI)(AX*4), Y5, Y1
	VFMADD231PS 64(DI)(AX*4), Y6, Y2
	VFMADD231PS 96(DI)(AX*4), Y7, Y3
	ADDQ $32, AX
	CMPQ AX, CX
	JB   loop

rest:
	MOVQ DX, CX
	ANDQ $-8, CX

eight:
	CMPQ AX, CX
	JAE  tail
	VMOVUPS (SI)(AX*4), Y4
	VFMADD231PS (DI)(AX*4), Y4, Y0
	ADDQ $8, AX
	JMP  eight

tail:
	CMPQ AX, DX
	JE   fold
	TAILLANES
	VMASKMOVPS (SI)(AX*4), Y15, Y4
	VMASKMOVPS (DI)(AX*4), Y15, Y5
	VFMADD231PS Y5, Y4, Y1

fold:
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	VADDPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET

// NEXTROW broadcasts the coefficient of the row whose number is at R9 to Z4, and puts
// the address of the row's float AX into R8, that of the row to ask for into CX.
#define NEXTROW \
	MOVL (R9), R8; \
	IMULQ DX, R8; \
	ADDQ AX, R8; \
	LEAQ (BX)(R8*4), R8; \
	VBROADCASTSS (R9)(SI*1), Z4; \
	MOVL (R9)(R10*1), CX; \
	IMULQ DX, CX; \
	ADDQ AX, CX; \
	LEAQ (BX)(CX*4), CX; \
	ADDQ $4, R9

// func combineAVX512(out, coefficients, table *float32, rows *uint32, count, n, add int, next *uint32)
//
//	for j := 0; j < n; j++ { // 64 at a time, in one to four vectors
//		sum := 0
//		if add != 0 { sum = out[j] }
//		for k := 0; k < count; k++ {
//			sum += coefficients[k] * table[rows[k]*n+j]
//			prefetch(table[next[k]*n+j])
//		}
//		out[j] = sum
//	}
TEXT ·combineAVX512(SB), NOSPLIT, $0-64
	MOVQ out+0(FP), DI
	MOVQ coefficients+8(FP), SI
	MOVQ table+16(FP), BX
	MOVQ rows+24(FP), R11
	MOVQ count+32(FP), R12
	MOVQ n+40(FP), DX
	MOVQ add+48(FP), R13
	MOVQ next+56(FP), R10
	SUBQ R11, R10
	LEAQ (R11)(R12*4), R12
	SUBQ R11, SI
	XORQ AX, AX

panel:
	MOVQ R11, R9
	MOVQ DX, R8
	SUBQ AX, R8
	KXNORW K1, K1, K1
	CMPQ R8, $64
	JAE  four
	LEAQ -1(R8), CX
	ANDQ $15, CX
	MOVL $2, BX
	SHLL CX, BX
	DECL BX
	KMOVW BX, K1
	MOVQ table+16(FP), BX
	CMPQ R8, $48
	JA   four
	CMPQ R8, $32
	JA   three
	CMPQ R8, $16
	JA   two

	VPXORQ Z0, Z0, Z0
	TESTQ R13, R13
	JZ   loop1
	VMOVUPS.Z (DI)(AX*4), K1, Z0

loop1:
	NEXTROW
	PREFETCHT0 (CX)
	VFMADD231PS (R8), Z4, K1, Z0
	CMPQ R9, R12
	JB   loop1
	VMOVUPS Z0, K1, (DI)(AX*4)
	VZEROUPPER
	RET

two:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	TESTQ R13, R13
	JZ   loop2
	VMOVUPS (DI)(AX*4), Z0
	VMOVUPS.Z 64(DI)(AX*4), K1, Z1

loop2:
	NEXTROW
	PREFETCHT0 (CX)
	PREFETCHT0 64(CX)
	VFMADD231PS (R8), Z4, Z0
	VFMADD231PS 64(R8), Z4, K1, Z1
	CMPQ R9, R12
	JB   loop2
	VMOVUPS Z0, (DI)(AX*4)
	VMOVUPS Z1, K1, 64(DI)(AX*4)
	VZEROUPPER
	RET

three:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	TESTQ R13, R13
	JZ   loop3
	VMOVUPS (DI)(AX*4), Z0
	VMOVUPS 64(DI)(AX*4), Z1
	VMOVUPS.Z 128(DI)(AX*4), K1, Z2

loop3:
	NEXTROW
	PREFETCHT0 (CX)
	PREFETCHT0 64(CX)
	PREFETCHT0 128(CX)
	VFMADD231PS (R8), Z4, Z0
	VFMADD231PS 64(R8), Z4, Z1
	VFMADD231PS 128(R8), Z4, K1, Z2
	CMPQ R9, R12
	JB   loop3
	VMOVUPS Z0, (DI)(AX*4)
	VMOVUPS Z1, 64(DI)(AX*4)
	VMOVUPS Z2, K1, 128(DI)(AX*4)
	VZEROUPPER
	RET

four:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	TESTQ R13, R13
	JZ   loop4
	VMOVUPS (DI)(AX*4), Z0
	VMOVUPS 64(DI)(AX*4), Z1
	VMOVUPS 128(DI)(AX*4), Z2
	VMOVUPS.Z 192(DI)(AX*4), K1, Z3

loop4:
	NEXTROW
	PREFETCHT0 (CX)
	PREFETCHT0 64(CX)
	PREFETCHT0 128(CX)
	PREFETCHT0 192(CX)
	VFMADD231PS (R8), Z4, Z0
	VFMADD231PS 64(R8), Z4, Z1
	VFMADD231PS 128(R8), Z4, Z2
	VFMADD231PS 192(R8), Z4, K1, Z3
	CMPQ R9, R12
	JB   loop4
	VMOVUPS Z0, (DI)(AX*4)
	VMOVUPS Z1, 64(DI)(AX*4)
	VMOVUPS Z2, 128(DI)(AX*4)
	VMOVUPS Z3, K1, 192(DI)(AX*4)
	ADDQ $64, AX
	CMPQ AX, DX
	JB   panel
	VZEROUPPER
	RET

// func combine6AVX2(out, coefficients, table *float32, rows *uint32, n, add int)
//
// combineAVX512 for six rows, eight lanes at a time; the last step takes 1 to 7.
TEXT ·combine6AVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ coefficients+8(FP), SI
	MOVQ table+16(FP), BX
	MOVQ rows+24(FP), CX
	MOVQ n+32(FP), DX
	ROWS
	VBROADCASTSS 0(SI), Y0
	VBROADCASTSS 4(SI), Y1
	VBROADCASTSS 8(SI), Y2
	VBROADCASTSS 12(SI), Y3
	VBROADCASTSS 16(SI), Y4
	VBROADCASTSS 20(SI), Y5
	MOVQ add+40(FP), SI
	XORQ AX, AX
	MOVQ DX, CX
	ANDQ $-8, CX
	JZ   tail

loop:
	VXORPS Y6, Y6, Y6
	TESTQ SI, SI
	JZ   fresh
	VMOVUPS (DI)(AX*4), Y6

fresh:
	VFMADD231PS (R8)(AX*4), Y0, Y6
	VFMADD231PS (R9)(AX*4), Y1, Y6
	VFMADD231PS (R10)(AX*4), Y2, Y6
	VFMADD231PS (R11)(AX*4), Y3, Y6
	VFMADD231PS (R12)(AX*4), Y4, Y6
	VFMADD231PS (R13)(AX*4), Y5, Y6
	VMOVUPS Y6, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop

tail:
	CMPQ AX, DX
	JE   done
	TAILLANES
	VXORPS Y6, Y6, Y6
	TESTQ SI, SI
	JZ   tailfresh
	VMASKMOVPS (DI)(AX*4), Y15, Y6

tailfresh:
	VMASKMOVPS (R8)(AX*4), Y15, Y7
	VFMADD231PS Y7, Y0, Y6
	VMASKMOVPS (R9)(AX*4), Y15, Y7
	VFMADD231PS Y7, Y1, Y6
	VMASKMOVPS (R10)(AX*4), Y15, Y7
	VFMADD231PS Y7, Y2, Y6
	VMASKMOVPS (R11)(AX*4), Y15, Y7
	VFMADD231PS Y7, Y3, Y6
	VMASKMOVPS (R12)(AX*4), Y15, Y7
	VFMADD231PS Y7, Y4, Y6
	VMASKMOVPS (R13)(AX*4), Y15, Y7
	VFMADD231PS Y7, Y5, Y6
	VMASKMOVPS Y6, Y15, (DI)(AX*4)

done:
	VZEROUPPER
	RET

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

// func prefetch(table *float32, rows *uint32, count, n int)
//
// Asks for every cache line of rows[0..count) of the table.
TEXT ·prefetch(SB), NOSPLIT, $0-32
	MOVQ table+0(FP), BX
	MOVQ rows+8(FP), SI
	MOVQ count+16(FP), CX
	MOVQ n+24(FP), DX

row:
	MOVL (SI), R8
	IMULQ DX, R8
	LEAQ (BX)(R8*4), R8
	LEAQ (R8)(DX*4), R9

line:
	PREFETCHT0 (R8)
	ADDQ $64, R8
	CMPQ R8, R9
	JB   line
	ADDQ $4, SI
	DECQ CX
	JNZ  row
	RET
