//go:build amd64 && !noasm

#include "textflag.h"
#include "amd64.h"

// func addToRowsAVX2(table *float32, rows *uint32, coefficients *float32, count int, x *float32, n int, next *uint32)
//
//	for k := 0; k < count; k++ {
//		for j := 0; j < n; j++ { table[rows[k]*n+j] += coefficients[k]*x[j] }
//	}
//
// It asks for row next[k] of the table beside row k.
TEXT ·addToRowsAVX2(SB), NOSPLIT, $0-56
	MOVQ table+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ coefficients+16(FP), R9
	MOVQ count+24(FP), R11
	MOVQ x+32(FP), R10
	MOVQ n+40(FP), DX
	MOVQ next+48(FP), R12
	MOVQ DX, R13
	ANDQ $-8, R13
	MOVQ R13, AX
	TAILLANES

row:
	MOVL (SI), R8
	IMULQ DX, R8
	LEAQ (DI)(R8*4), R8
	MOVL (R12), BX
	IMULQ DX, BX
	LEAQ (DI)(BX*4), BX
	VBROADCASTSS (R9), Y10
	XORQ AX, AX
	CMPQ AX, R13
	JE   tail

loop:
	PREFETCHT0 (BX)(AX*4)
	VMULPS (R10)(AX*4), Y10, Y0
	VADDPS (R8)(AX*4), Y0, Y0
	VMOVUPS Y0, (R8)(AX*4)
	ADDQ $8, AX
	CMPQ AX, R13
	JB   loop

tail:
	CMPQ AX, DX
	JE   end
	PREFETCHT0 (BX)(AX*4)
	VMASKMOVPS (R10)(AX*4), Y15, Y0
	VMASKMOVPS (R8)(AX*4), Y15, Y2
	VMULPS Y0, Y10, Y0
	VADDPS Y2, Y0, Y0
	VMASKMOVPS Y0, Y15, (R8)(AX*4)

end:
	ADDQ $4, SI
	ADDQ $4, R9
	ADDQ $4, R12
	DECQ R11
	JNZ  row
	VZEROUPPER
	RET
