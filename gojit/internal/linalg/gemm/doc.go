// Package gemm computes products of matrices over plain slices.
//
// Central types: Product, a batch of products with what is added to them; HalfProduct, one of 16-bit floats; Weights, the right side of many
// products, packed once; Tiled, a product by register tiles that packages of convolutions set up themselves, whose right side may be Columns
// that are packed as they are read; Epilogue, what is done to results before they are stored; Buffers, the memory that a thread packs into.
//
// On amd64 with AVX2 or AVX-512 the work is done by register tiles that package kernel/amd64 generates; a product is a way through a grid of
// them. Elsewhere, and for types that are not floats, it is done by blocked loops in Go (portable.go), which the tests compare the generated code with.
//
// Invariants: no function reads or writes outside the extents its arguments state, and no result depends on the number of threads, to the bit:
// the grid follows from the sizes alone. The package knows no tensors beyond the thread pool it shares with them.
package gemm
