package memory

import (
	"sync"
	"unsafe"
)

// Pieces of chunks are of sizes from lastingFrom to lastingTo; smaller ones are not worth huge pages, larger ones have their own.
const (
	lastingFrom  = 16 << 10
	lastingTo    = 1 << 20
	lastingChunk = 4 << 20
)

// lasting is what is left of the chunk that pieces are cut from.
var lasting struct {
	mu   sync.Mutex
	rest []byte
}

// Lasting returns n cleared bytes for what is read many times, as packed weights are. They lie on huge pages where the system has such: weights come from
// memory in every call of a large network, and faster where the processor seldom has to look up a page. Pieces of some size are cut from chunks, whose
// memory is free when none of its pieces is in use.
func Lasting(n int) []byte {
	switch {
	case n < lastingFrom:
		return alignedBytes(n)
	case n > lastingTo:
		return hugeBytes(n)
	}
	lasting.mu.Lock()
	defer lasting.mu.Unlock()
	size := (n + Alignment - 1) &^ (Alignment - 1)
	if len(lasting.rest) < size {
		lasting.rest = hugeBytes(lastingChunk)
	}
	piece := lasting.rest[:n:n]
	lasting.rest = lasting.rest[size:]
	return piece
}

// hugeBytes returns n cleared bytes on huge pages.
func hugeBytes(n int) []byte {
	data := make([]byte, n+Alignment)
	adviseHuge(data)
	off := int(-uintptr(unsafe.Pointer(&data[0])) % Alignment)
	return data[off : off+n : off+n]
}
