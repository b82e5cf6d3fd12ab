//go:build !linux

package tensor

// memoryLimit returns the bytes a single allocation may ask for.
func memoryLimit() int { return 1 << 40 }
