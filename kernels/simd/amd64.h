// Macros that the assembly files of this package share.

// ROWS turns six row numbers at (CX) into addresses R8..R13 in the table BX
// with rows of DX floats.
#define ROWS \
	MOVL 0(CX), R8;  IMULQ DX, R8;  LEAQ (BX)(R8*4), R8; \
	MOVL 4(CX), R9;  IMULQ DX, R9;  LEAQ (BX)(R9*4), R9; \
	MOVL 8(CX), R10; IMULQ DX, R10; LEAQ (BX)(R10*4), R10; \
	MOVL 12(CX), R11; IMULQ DX, R11; LEAQ (BX)(R11*4), R11; \
	MOVL 16(CX), R12; IMULQ DX, R12; LEAQ (BX)(R12*4), R12; \
	MOVL 20(CX), R13; IMULQ DX, R13; LEAQ (BX)(R13*4), R13

// FOLD6 adds up the eight lanes of each of Y0..Y5 and stores the six sums at (DI).
#define FOLD6 \
	VHADDPS Y1, Y0, Y0; \
	VHADDPS Y3, Y2, Y2; \
	VHADDPS Y5, Y4, Y4; \
	VHADDPS Y2, Y0, Y0; \
	VHADDPS Y4, Y4, Y4; \
	VEXTRACTF128 $1, Y0, X1; \
	VEXTRACTF128 $1, Y4, X5; \
	VADDPS X1, X0, X0; \
	VADDPS X5, X4, X4; \
	VMOVUPS X0, (DI); \
	VMOVLPS X4, 16(DI)

// TAILMASK puts (1<<(DX-AX))-1 into K1.
#define TAILMASK \
	MOVQ DX, CX; SUBQ AX, CX; MOVL $1, BX; SHLL CX, BX; DECL BX; KMOVW BX, K1

// TAILLANES loads the AVX2 masks of DX-AX lanes: the first eight into Y15; BX
// points at the mask of the other eight.
#define TAILLANES \
	MOVQ DX, CX; SUBQ AX, CX; NEGQ CX; ADDQ $16, CX; \
	LEAQ ·lanes(SB), BX; LEAQ (BX)(CX*4), BX; \
	VMOVUPS (BX), Y15; ADDQ $32, BX
