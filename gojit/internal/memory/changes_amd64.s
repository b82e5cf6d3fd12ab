#include "textflag.h"

// func changesFloat32(dst, src unsafe.Pointer, n int) int
TEXT ·changesFloat32(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ DI, DX

loopchangesFloat32:
	VMOVDQU64 (SI), Z0
	VCMPPS $4, -4(SI), Z0, K1
	VPCOMPRESSD.Z Z0, K1, Z1
	VMOVDQU64 Z1, (DI)
	KMOVW K1, AX
	POPCNTL AX, AX
	LEAQ (DI)(AX*4), DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ  loopchangesFloat32
	SUBQ DX, DI
	SHRQ $2, DI
	MOVQ DI, ret+24(FP)
	VZEROUPPER
	RET

// func changesFloat64(dst, src unsafe.Pointer, n int) int
TEXT ·changesFloat64(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ DI, DX

loopchangesFloat64:
	VMOVDQU64 (SI), Z0
	VCMPPD $4, -8(SI), Z0, K1
	VPCOMPRESSQ.Z Z0, K1, Z1
	VMOVDQU64 Z1, (DI)
	KMOVW K1, AX
	POPCNTL AX, AX
	LEAQ (DI)(AX*8), DI
	ADDQ $64, SI
	SUBQ $8, CX
	JNZ  loopchangesFloat64
	SUBQ DX, DI
	SHRQ $3, DI
	MOVQ DI, ret+24(FP)
	VZEROUPPER
	RET

// func changesInt32(dst, src unsafe.Pointer, n int) int
TEXT ·changesInt32(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ DI, DX

loopchangesInt32:
	VMOVDQU64 (SI), Z0
	VPCMPD $4, -4(SI), Z0, K1
	VPCOMPRESSD.Z Z0, K1, Z1
	VMOVDQU64 Z1, (DI)
	KMOVW K1, AX
	POPCNTL AX, AX
	LEAQ (DI)(AX*4), DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ  loopchangesInt32
	SUBQ DX, DI
	SHRQ $2, DI
	MOVQ DI, ret+24(FP)
	VZEROUPPER
	RET

// func changesInt64(dst, src unsafe.Pointer, n int) int
TEXT ·changesInt64(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ DI, DX

loopchangesInt64:
	VMOVDQU64 (SI), Z0
	VPCMPQ $4, -8(SI), Z0, K1
	VPCOMPRESSQ.Z Z0, K1, Z1
	VMOVDQU64 Z1, (DI)
	KMOVW K1, AX
	POPCNTL AX, AX
	LEAQ (DI)(AX*8), DI
	ADDQ $64, SI
	SUBQ $8, CX
	JNZ  loopchangesInt64
	SUBQ DX, DI
	SHRQ $3, DI
	MOVQ DI, ret+24(FP)
	VZEROUPPER
	RET
