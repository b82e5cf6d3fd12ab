// Package tile makes the inner loops of dense numerics as machine code: register tiles of products of matrices, of
// convolutions along channels, by patches and by Winograd's transforms, of depthwise convolutions, of products of bytes and
// half floats, and the copies, rotations and Fourier steps around them.
//
// Each kind of loop is a comparable description (Tile, Depthwise, Patches ...) whose Code method gives the function for it,
// made once (cache.go). Sizes, strides and addresses are arguments; what is in the description is in the code. An Epilogue
// is a kernel that a tile applies to its sums before it stores them.
package tile
