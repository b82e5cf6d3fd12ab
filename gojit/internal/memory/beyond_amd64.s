#include "textflag.h"

// BEYOND is the body of the functions of beyond: compare the bound, in all lanes of Z0, with two vectors of elements until one is beyond it, and tell its
// place. A vector has lanes elements; shift is the logarithm of their size.
#define BEYOND(compare, predicate, lanes, shift) \
	MOVQ row+0(FP), SI; \
	MOVQ n+8(FP), CX; \
	MOVQ SI, DX; \
loop: \
	compare $predicate, (SI), Z0, K1; \
	compare $predicate, 64(SI), Z0, K2; \
	KORTESTW K1, K2; \
	JNZ found; \
	ADDQ $128, SI; \
	SUBQ $(2*lanes), CX; \
	JNZ loop; \
	SUBQ DX, SI; \
	SHRQ $shift, SI; \
	MOVQ SI, ret+24(FP); \
	VZEROUPPER; \
	RET; \
found: \
	KMOVW K1, AX; \
	KMOVW K2, BX; \
	SHLQ $lanes, BX; \
	ORQ BX, AX; \
	BSFQ AX, AX; \
	SUBQ DX, SI; \
	SHRQ $shift, SI; \
	ADDQ AX, SI; \
	MOVQ SI, ret+24(FP); \
	VZEROUPPER; \
	RET

// func aboveFloat32(row unsafe.Pointer, n int, bound float32) int
TEXT ·aboveFloat32(SB), NOSPLIT, $0-32
	VBROADCASTSS bound+16(FP), Z0
	BEYOND(VCMPPS, 9, 16, 2)

// func belowFloat32(row unsafe.Pointer, n int, bound float32) int
TEXT ·belowFloat32(SB), NOSPLIT, $0-32
	VBROADCASTSS bound+16(FP), Z0
	BEYOND(VCMPPS, 6, 16, 2)

// func aboveFloat64(row unsafe.Pointer, n int, bound float64) int
TEXT ·aboveFloat64(SB), NOSPLIT, $0-32
	VBROADCASTSD bound+16(FP), Z0
	BEYOND(VCMPPD, 9, 8, 3)

// func belowFloat64(row unsafe.Pointer, n int, bound float64) int
TEXT ·belowFloat64(SB), NOSPLIT, $0-32
	VBROADCASTSD bound+16(FP), Z0
	BEYOND(VCMPPD, 6, 8, 3)

// func aboveInt32(row unsafe.Pointer, n int, bound int32) int
TEXT ·aboveInt32(SB), NOSPLIT, $0-32
	MOVL bound+16(FP), AX
	VPBROADCASTD AX, Z0
	BEYOND(VPCMPD, 1, 16, 2)

// func belowInt32(row unsafe.Pointer, n int, bound int32) int
TEXT ·belowInt32(SB), NOSPLIT, $0-32
	MOVL bound+16(FP), AX
	VPBROADCASTD AX, Z0
	BEYOND(VPCMPD, 6, 16, 2)

// func aboveInt64(row unsafe.Pointer, n int, bound int64) int
TEXT ·aboveInt64(SB), NOSPLIT, $0-32
	VPBROADCASTQ bound+16(FP), Z0
	BEYOND(VPCMPQ, 1, 8, 3)

// func belowInt64(row unsafe.Pointer, n int, bound int64) int
TEXT ·belowInt64(SB), NOSPLIT, $0-32
	VPBROADCASTQ bound+16(FP), Z0
	BEYOND(VPCMPQ, 6, 8, 3)
