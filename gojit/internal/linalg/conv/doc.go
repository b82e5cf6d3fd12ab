// Package conv computes convolutions and poolings over plain slices.
//
// Central types: Convolution, the geometry of a convolution or pooling; Plan and ChannelsPlan, convolutions and poolings of images whose channels
// lie together, with weights packed once. Products, memory and epilogues are those of package gemm, and so are the invariants.
//
// Portable loops (portable.go) are what the tests compare the generated code with.
package conv
