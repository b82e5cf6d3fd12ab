package parallel

// cachedPart is the most bytes that a part of a copy has whose result stays in the caches: the runtime's copy passes these with a
// megabyte and more. Copies that write streamedBytes in all are too large for the caches and pass them in parts of streamedPart or more.
const (
	cachedPart    = 512 << 10
	streamedPart  = 2 << 20
	streamedBytes = 12 << 20
)

// Copy copies bytes with all threads, for an operation that writes a number of bytes in all.
func Copy(dst, src []byte, written int) {
	n, part := len(src), cachedPart
	if written >= streamedBytes {
		parts := max(1, n/streamedPart)
		part = (n + parts - 1) / parts
	}
	if n <= part {
		copy(dst, src)
		return
	}
	For(n, part, func(lo, hi int) { copy(dst[lo:hi], src[lo:hi]) })
}
