package memory

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var (
	// repeatsStores is whether the processor's own repetition of stores writes whole lines without reading them first.
	repeatsStores = cpu.X86.HasERMS
	storesVectors = cpu.X86.HasAVX2
	storesLines   = cpu.X86.HasAVX512F
)

// repeatStores writes n copies of a word.
//
//go:noescape
func repeatStores(to unsafe.Pointer, n int, word uint64)

// storeAVX2 writes n copies of a word, a multiple of 16 and not 0.
//
//go:noescape
func storeAVX2(to unsafe.Pointer, n int, word uint64)

// storeAVX512 writes n copies of a word, at least 8, by whole lines that are not read first. The words of a line may begin anywhere in a
// word: copies that begin at an address with the rest of to after division by 8, or by 4 where the halves of a word are equal.
//
//go:noescape
func storeAVX512(to unsafe.Pointer, n int, word uint64)

// StoreWords writes copies of a word at the start of n and returns how many. far is whether all that is written is more than
// the nearer caches hold.
func StoreWords(to unsafe.Pointer, n int, word uint64, far bool) int {
	switch {
	case far && repeatsStores:
		repeatStores(to, n, word)
	case storesLines && n >= 8 && (uintptr(to)%8 == 0 || uintptr(to)%4 == 0 && uint32(word) == uint32(word>>32)):
		storeAVX512(to, n, word)
	case storesVectors && n >= 16:
		n -= n % 16
		storeAVX2(to, n, word)
	default:
		n = 0
	}
	return n
}
