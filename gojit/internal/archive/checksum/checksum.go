// Package checksum computes the CRC-32 of the entries of zip archives: 512 bits at a time where the processor multiplies polynomials.
package checksum

import "hash/crc32"

// Update continues the CRC-32 of a zip entry over b.
func Update(sum uint32, b []byte) uint32 {
	if n := len(b) / foldBlock * foldBlock; canFold && n > foldBlock {
		// What is left of the folding has the same remainder as what was folded.
		rest := fold(^sum, b[:n])
		sum = crc32.Update(^uint32(0), crc32.IEEETable, rest[:])
		b = b[n:]
	}
	return crc32.Update(sum, crc32.IEEETable, b)
}

// foldBlock is what one step of folding takes, in bytes.
const foldBlock = 256
