package memory

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// firstsOfPairs32 writes every second of 2n elements, n a multiple of 16 and not 0.
//
//go:noescape
func firstsOfPairs32(dst, src *uint32, n int)

// firstsOfPairs64 writes every second of 2n elements, n a multiple of 8 and not 0.
//
//go:noescape
func firstsOfPairs64(dst, src *uint64, n int)

// FirstsOfPairs writes every second element from src on at the start of n and returns how many. It reads no
// element behind the last of them.
func FirstsOfPairs(dst, src unsafe.Pointer, size, n int) int {
	if !cpu.X86.HasAVX2 || n <= 16 {
		return 0
	}
	n = (n - 1) &^ 15
	switch size {
	case 4:
		firstsOfPairs32((*uint32)(dst), (*uint32)(src), n)
	case 8:
		firstsOfPairs64((*uint64)(dst), (*uint64)(src), n)
	default:
		n = 0
	}
	return n
}
