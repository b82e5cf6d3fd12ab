// Package dense computes matrix products, convolutions and poolings over plain slices.
//
// Central types: Product, a batch of matrix products with what is added to them; HalfProduct, one of
// 16-bit floats; Weights, the right side of many products, packed once; Convolution, the geometry of
// a convolution or pooling; Plan and ChannelsPlan, convolutions and poolings of images whose channels
// lie together, with weights packed once; BytePlan, one of unsigned bytes by signed ones (ByteWeights),
// with sums of 32 bits.
//
// On amd64 with AVX2 or AVX-512 the work is done by register tiles that package kernel/amd64
// generates; a product or convolution is a way through a grid of them. Elsewhere, and for types that
// are not floats, it is done by blocked loops in Go (portable*.go), which the tests compare the
// generated code with.
//
// Invariants: no function reads or writes outside the extents its arguments state, and no result
// depends on the number of threads, to the bit: the grid follows from the sizes alone. The package
// knows no tensors beyond the thread pool it shares with them.
package dense
