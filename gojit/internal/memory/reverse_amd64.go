package memory

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// reverseAVX512 is Reverse of at least 64 bytes, by whole lines of dst; order is that of the bytes in each 16 of them.
//
//go:noescape
func reverseAVX512(dst, src unsafe.Pointer, bytes int, order *[16]byte)

// reverseAVX2 is Reverse of at least 32 bytes.
//
//go:noescape
func reverseAVX2(dst, src unsafe.Pointer, bytes int, order *[16]byte)

var reversesLines = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW

// reversedOrders are the orders of 16 bytes that turn elements around, by the logarithm of their size.
var reversedOrders = func() (orders [5][16]byte) {
	for k := range orders {
		for i := range 16 {
			orders[k][i] = byte((16/(1<<k)-1-i>>k)<<k | i&(1<<k-1))
		}
	}
	return orders
}()

// Reverse copies n elements, whose size is a power of two of at most 16 bytes, from the last to the first, and reports whether it did: not where
// they are few or the processor has no instructions for it. dst has another memory than src and begins at a multiple of the size.
func Reverse(dst, src unsafe.Pointer, size, n int) bool {
	k := bits.TrailingZeros(uint(size))
	if k >= len(reversedOrders) || size != 1<<k || uintptr(dst)&uintptr(size-1) != 0 {
		return false
	}
	switch bytes := n * size; {
	case reversesLines && bytes >= 64:
		reverseAVX512(dst, src, bytes, &reversedOrders[k])
	case storesVectors && bytes >= 32:
		reverseAVX2(dst, src, bytes, &reversedOrders[k])
	default:
		return false
	}
	return true
}
