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

// DOTS6 loads the arguments (out, left, table, rows, n) of six dot products: DI, SI, the rows
// at R8..R13, DX.
#define DOTS6 \
	MOVQ out+0(FP), DI; \
	MOVQ left+8(FP), SI; \
	MOVQ table+16(FP), BX; \
	MOVQ rows+24(FP), CX; \
	MOVQ n+32(FP), DX; \
	ROWS

// ZERO6 clears Y0..Y5.
#define ZERO6 \
	VXORPS X0, X0, X0; \
	VXORPS X1, X1, X1; \
	VXORPS X2, X2, X2; \
	VXORPS X3, X3, X3; \
	VXORPS X4, X4, X4; \
	VXORPS X5, X5, X5

// PAIRS6 adds the second of two lanes of each of X0..X5 to the first.
#define PAIRS6 \
	VMOVSHDUP X0, X7; \
	VMOVSHDUP X1, X8; \
	VMOVSHDUP X2, X9; \
	VMOVSHDUP X3, X10; \
	VMOVSHDUP X4, X11; \
	VMOVSHDUP X5, X12; \
	VADDSS X7, X0, X0; \
	VADDSS X8, X1, X1; \
	VADDSS X9, X2, X2; \
	VADDSS X10, X3, X3; \
	VADDSS X11, X4, X4; \
	VADDSS X12, X5, X5

// STORE6 stores the first lanes of X0..X5 at (DI).
#define STORE6 \
	VMOVSS X0, 0(DI); \
	VMOVSS X1, 4(DI); \
	VMOVSS X2, 8(DI); \
	VMOVSS X3, 12(DI); \
	VMOVSS X4, 16(DI); \
	VMOVSS X5, 20(DI)

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

// PREFETCHW asks for the cache line at AX + 4 BX, or 64 bytes further, to write
// to it: the caches of other processors give it up now and not at the write. The
// assembler does not know the instruction; processors without it (before
// Broadwell) skip it.
#define PREFETCHW_AX_BX4 BYTE $0x0F; BYTE $0x0D; BYTE $0x0C; BYTE $0x98
#define PREFETCHW_64_AX_BX4 BYTE $0x0F; BYTE $0x0D; BYTE $0x4C; BYTE $0x98; BYTE $0x40

// NEXTLEFT goes to the next left of update6 and its coefficients.
#define NEXTLEFT \
	ADDQ $4, SI; \
	ADDQ DX, DI; \
	DECQ CX
