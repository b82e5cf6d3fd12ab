#include "textflag.h"

// func repeatStores(to unsafe.Pointer, n int, word uint64)
TEXT ·repeatStores(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ word+16(FP), AX
	CLD
	REP; STOSQ
	RET

// func storeAVX2(to unsafe.Pointer, n int, word uint64)
TEXT ·storeAVX2(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ n+8(FP), CX
	VPBROADCASTQ word+16(FP), Y0

loop:
	VMOVDQU Y0, (DI)
	VMOVDQU Y0, 32(DI)
	VMOVDQU Y0, 64(DI)
	VMOVDQU Y0, 96(DI)
	ADDQ $128, DI
	SUBQ $16, CX
	JNZ  loop
	VZEROUPPER
	RET

// func storeAVX512(to unsafe.Pointer, n int, word uint64)
TEXT ·storeAVX512(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ n+8(FP), CX
	VPBROADCASTQ word+16(FP), Z0
	LEAQ -64(DI)(CX*8), SI // the last line
	VMOVDQU64 Z0, (DI)
	ADDQ $64, DI
	ANDQ $-64, DI
	CMPQ DI, SI
	JAE  last

lines:
	VMOVDQA64 Z0, (DI)
	ADDQ $64, DI
	CMPQ DI, SI
	JB   lines

last:
	VMOVDQU64 Z0, (SI)
	VZEROUPPER
	RET
