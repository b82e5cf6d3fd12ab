#include "textflag.h"

// BEGIN reads the arguments of the functions of squares; a row has width << shift bytes.
#define BEGIN(shift) \
	MOVQ dst+0(FP), DI; \
	MOVQ plane+8(FP), BX; \
	MOVQ first+16(FP), DX; \
	MOVQ weights+24(FP), SI; \
	MOVQ n+32(FP), CX; \
	MOVQ width+40(FP), R8; \
	SHLQ $shift, R8; \
	VXORPD Y15, Y15, Y15

// LOAD32 multiplies the four float32 of a place, which first and weights give at these bytes, with its weights.
#define LOAD32(place, weight, x, y) \
	MOVQ place(DX), AX; \
	LEAQ (BX)(AX*4), AX; \
	VMOVSD (AX), x; \
	VMOVHPS (AX)(R8*1), x, x; \
	VCVTPS2PD x, y; \
	VMULPD weight(SI), y, y

// LOAD64 does so with float64.
#define LOAD64(place, weight, x, y) \
	MOVQ place(DX), AX; \
	LEAQ (BX)(AX*8), AX; \
	VMOVUPD (AX), x; \
	VINSERTF128 $1, (AX)(R8*1), y, y; \
	VMULPD weight(SI), y, y

// SUM adds the products of four places, which are in Y0 to Y3, in Y0: it brings the first ones together, the second ones and so on.
#define SUM \
	VUNPCKLPD Y1, Y0, Y4; \
	VUNPCKHPD Y1, Y0, Y5; \
	VUNPCKLPD Y3, Y2, Y6; \
	VUNPCKHPD Y3, Y2, Y7; \
	VPERM2F128 $0x20, Y6, Y4, Y0; \
	VPERM2F128 $0x20, Y7, Y5, Y1; \
	VPERM2F128 $0x31, Y6, Y4, Y2; \
	VPERM2F128 $0x31, Y7, Y5, Y3; \
	VADDPD Y15, Y0, Y0; \
	VADDPD Y1, Y0, Y0; \
	VADDPD Y2, Y0, Y0; \
	VADDPD Y3, Y0, Y0

// func squaresFloat32(dst, plane unsafe.Pointer, first *int, weights *[4]float64, n, width int)
TEXT ·squaresFloat32(SB), NOSPLIT, $0-48
	BEGIN(2)

four32:
	LOAD32(0, 0, X0, Y0)
	LOAD32(8, 32, X1, Y1)
	LOAD32(16, 64, X2, Y2)
	LOAD32(24, 96, X3, Y3)
	SUM
	VCVTPD2PSY Y0, X0
	VMOVUPS X0, (DI)
	ADDQ $16, DI
	ADDQ $32, DX
	ADDQ $128, SI
	SUBQ $4, CX
	JNZ  four32
	VZEROUPPER
	RET

// func squaresFloat64(dst, plane unsafe.Pointer, first *int, weights *[4]float64, n, width int)
TEXT ·squaresFloat64(SB), NOSPLIT, $0-48
	BEGIN(3)

four64:
	LOAD64(0, 0, X0, Y0)
	LOAD64(8, 32, X1, Y1)
	LOAD64(16, 64, X2, Y2)
	LOAD64(24, 96, X3, Y3)
	SUM
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, DX
	ADDQ $128, SI
	SUBQ $4, CX
	JNZ  four64
	VZEROUPPER
	RET
