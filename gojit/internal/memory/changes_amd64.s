#include "textflag.h"

// CHANGES is the body of the functions of changes: compare elements with those before them, compress what differs, count it. An element has size bytes, its
// logarithm is shift, a vector has lanes of them.
#define CHANGES(compare, compress, size, shift, lanes) \
	MOVQ dst+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ n+16(FP), CX; \
	MOVQ DI, DX; \
loop: \
	VMOVDQU64 (SI), Z0; \
	compare $4, -size(SI), Z0, K1; \
	compress Z0, K1, Z1; \
	VMOVDQU64 Z1, (DI); \
	KMOVW K1, AX; \
	POPCNTL AX, AX; \
	LEAQ (DI)(AX*size), DI; \
	ADDQ $64, SI; \
	SUBQ $lanes, CX; \
	JNZ  loop; \
	SUBQ DX, DI; \
	SHRQ $shift, DI; \
	MOVQ DI, ret+24(FP); \
	VZEROUPPER; \
	RET

// func changesFloat32(dst, src unsafe.Pointer, n int) int
TEXT ·changesFloat32(SB), NOSPLIT, $0-32
	CHANGES(VCMPPS, VPCOMPRESSD.Z, 4, 2, 16)

// func changesFloat64(dst, src unsafe.Pointer, n int) int
TEXT ·changesFloat64(SB), NOSPLIT, $0-32
	CHANGES(VCMPPD, VPCOMPRESSQ.Z, 8, 3, 8)

// func changesInt32(dst, src unsafe.Pointer, n int) int
TEXT ·changesInt32(SB), NOSPLIT, $0-32
	CHANGES(VPCMPD, VPCOMPRESSD.Z, 4, 2, 16)

// func changesInt64(dst, src unsafe.Pointer, n int) int
TEXT ·changesInt64(SB), NOSPLIT, $0-32
	CHANGES(VPCMPQ, VPCOMPRESSQ.Z, 8, 3, 8)
