#include "textflag.h"

// func firstsOfPairs32(dst, src *uint32, n int)
TEXT ·firstsOfPairs32(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

loop32:
	VMOVUPS (SI), Y0
	VMOVUPS 64(SI), Y1
	VSHUFPS $0x88, 32(SI), Y0, Y0
	VSHUFPS $0x88, 96(SI), Y1, Y1
	VPERMQ  $0xd8, Y0, Y0
	VPERMQ  $0xd8, Y1, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ $128, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JNZ  loop32
	VZEROUPPER
	RET

// func firstsOfPairs64(dst, src *uint64, n int)
TEXT ·firstsOfPairs64(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX

loop64:
	VMOVUPD (SI), Y0
	VMOVUPD 64(SI), Y1
	VUNPCKLPD 32(SI), Y0, Y0
	VUNPCKLPD 96(SI), Y1, Y1
	VPERMQ  $0xd8, Y0, Y0
	VPERMQ  $0xd8, Y1, Y1
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $128, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JNZ  loop64
	VZEROUPPER
	RET
