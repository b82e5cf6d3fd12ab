package checksum

import "golang.org/x/sys/cpu"

// canFold tells whether the processor multiplies polynomials 512 bits at a time.
var canFold = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPCLMULQDQ

// foldAVX512 reduces p, at least one block and only whole ones, to one block that has the same remainder
// when it is divided by the polynomial of CRC-32. The division begins with sum.
//
//go:noescape
func foldAVX512(sum uint32, p []byte, to *[foldBlock]byte)

func fold(sum uint32, p []byte) (rest [foldBlock]byte) {
	foldAVX512(sum, p, &rest)
	return rest
}
