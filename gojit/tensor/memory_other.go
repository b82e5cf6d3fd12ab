//go:build !linux

package tensor

// memoryLimit returns the bytes a single allocation may ask for.
func memoryLimit() int { return 1 << 40 }

// adviseHuge asks the system for huge pages; there is nobody to ask.
func adviseHuge([]byte) {}
