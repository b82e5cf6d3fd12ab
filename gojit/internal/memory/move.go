package memory

// Go copies from a mebibyte on past the caches: whoever reads the copy next would wait for memory. The third cache of most processors holds
// what is below farFrom, and copies of more are worth that.
const (
	movedAtOnce = 512 << 10
	farFrom     = 16 << 20
)

// Move is copy of as many bytes as src has, which leaves them in the caches where these hold them.
func Move(dst, src []byte) {
	if len(src) < farFrom {
		for len(src) > movedAtOnce {
			copy(dst[:movedAtOnce], src)
			dst, src = dst[movedAtOnce:], src[movedAtOnce:]
		}
	}
	copy(dst, src)
}
