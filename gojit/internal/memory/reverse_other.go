//go:build !amd64

package memory

import "unsafe"

// Reverse does nothing where the processor has no instructions for it.
func Reverse(dst, src unsafe.Pointer, size, n int) bool { return false }
