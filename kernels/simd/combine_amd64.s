//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

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
