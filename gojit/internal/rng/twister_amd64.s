#include "textflag.h"

// func twistAVX2(words, shifted *uint32, n int)
TEXT ·twistAVX2(SB), NOSPLIT, $0-24
	MOVQ words+0(FP), DI
	MOVQ shifted+8(FP), SI
	MOVQ n+16(FP), CX
	VPCMPEQD Y0, Y0, Y0
	VPSRLD $1, Y0, Y1  // the lower 31 bits
	VPSLLD $31, Y0, Y0 // the highest bit
	MOVL $0x9908b0df, AX
	MOVD AX, X2
	VPBROADCASTD X2, Y2

eight:
	VPAND (DI), Y0, Y3
	VPAND 4(DI), Y1, Y4
	VPOR Y4, Y3, Y3 // of the word and its successor
	VPSLLD $31, Y3, Y4
	VPSRAD $31, Y4, Y4
	VPAND Y2, Y4, Y4 // the constant where the number is odd
	VPSRLD $1, Y3, Y3
	VPXOR Y4, Y3, Y3
	VPXOR (SI), Y3, Y3
	VMOVDQU Y3, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ eight
	VZEROUPPER
	RET

// func temperAVX2(dst, src *uint32, n int)
TEXT ·temperAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL $0x9d2c5680, AX
	MOVD AX, X0
	VPBROADCASTD X0, Y0
	MOVL $0xefc60000, AX
	MOVD AX, X1
	VPBROADCASTD X1, Y1

eight:
	VMOVDQU (SI), Y2
	VPSRLD $11, Y2, Y3
	VPXOR Y3, Y2, Y2
	VPSLLD $7, Y2, Y3
	VPAND Y0, Y3, Y3
	VPXOR Y3, Y2, Y2
	VPSLLD $15, Y2, Y3
	VPAND Y1, Y3, Y3
	VPXOR Y3, Y2, Y2
	VPSRLD $18, Y2, Y3
	VPXOR Y3, Y2, Y2
	VMOVDQU Y2, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ eight
	VZEROUPPER
	RET
