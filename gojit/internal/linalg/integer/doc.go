// Package integer computes convolutions and poolings of unsigned bytes by signed ones, with sums of 32 bits.
//
// Central types: ByteWeights, signed weights packed once; BytePlan, a convolution or pooling of images whose channels lie together. The geometry is that
// of package conv; the invariants are those of package gemm.
package integer
