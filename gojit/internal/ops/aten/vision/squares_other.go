//go:build !amd64

package vision

// combineSquares does nothing where the processor has no instructions for it.
func combineSquares[T float32 | float64](b *gridBlock, dst, plane []T, width int) int {
	return 0
}
