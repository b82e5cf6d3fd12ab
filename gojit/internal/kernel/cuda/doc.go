// Package cuda writes kernels as CUDA C.
//
// Central type: Source, the text of a kernel. It is made from the same instructions as machine code for the processor (package
// kernel/amd64), functions written in primitives, so that a GPU computes the same bits; package gpu compiles and runs it.
//
// Invariant: the text is C, too, but for the words around it (prelude.cu); tests compile it for the processor.
package cuda
