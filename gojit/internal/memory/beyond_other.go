//go:build !amd64

package memory

// NotBeyond counts no elements where the processor has no instructions for it.
func NotBeyond[T int8 | int16 | int32 | int64 | uint8 | float32 | float64](row []T, bound T, above bool) int {
	return 0
}
