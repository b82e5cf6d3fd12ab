#include "textflag.h"

// The powers of x that move 128 bits on by one block of 2048: x^(2048+32) for the low half and x^(2048-32)
// for the high one, modulo the polynomial 0x04C11DB7, with the bits in CRC-32's order.
DATA powers<>+0(SB)/8, $0x011542778a
DATA powers<>+8(SB)/8, $0x01322d1430
GLOBL powers<>(SB), RODATA|NOPTR, $16

// func foldAVX512(sum uint32, p []byte, to *[foldBlock]byte)
TEXT ·foldAVX512(SB), NOSPLIT, $0-40
	MOVL sum+0(FP), AX
	MOVQ p_base+8(FP), SI
	MOVQ p_len+16(FP), CX
	MOVQ to+32(FP), DI
	VBROADCASTI32X4 powers<>(SB), Z8
	VMOVDQU64 (SI), Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	VMOVD AX, X4 // the rest of Z4 is zero
	VPXORQ Z4, Z0, Z0
	JMP next

block:
	VPCLMULQDQ $0x00, Z8, Z0, Z4
	VPCLMULQDQ $0x11, Z8, Z0, Z0
	VPTERNLOGQ $0x96, (SI), Z4, Z0 // exclusive or of the three
	VPCLMULQDQ $0x00, Z8, Z1, Z5
	VPCLMULQDQ $0x11, Z8, Z1, Z1
	VPTERNLOGQ $0x96, 64(SI), Z5, Z1
	VPCLMULQDQ $0x00, Z8, Z2, Z6
	VPCLMULQDQ $0x11, Z8, Z2, Z2
	VPTERNLOGQ $0x96, 128(SI), Z6, Z2
	VPCLMULQDQ $0x00, Z8, Z3, Z7
	VPCLMULQDQ $0x11, Z8, Z3, Z3
	VPTERNLOGQ $0x96, 192(SI), Z7, Z3

next:
	ADDQ $256, SI
	SUBQ $256, CX
	JNZ block
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
	VZEROUPPER
	RET
