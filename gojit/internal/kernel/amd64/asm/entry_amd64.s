#include "textflag.h"

// func enter(entry uintptr, args unsafe.Pointer)
// Kernels use no stack of their own. NOSPLIT keeps arguments that lie on this stack in place.
TEXT ·enter(SB), NOSPLIT, $16-16
	MOVQ entry+0(FP), AX
	MOVQ args+8(FP), DI
	CALL AX
	RET
