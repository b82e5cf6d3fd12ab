//go:build !amd64

package memory

import "unsafe"

// Changes does nothing where the processor has no instructions for it.
func Changes(dst, src unsafe.Pointer, size, n int, floats bool) (done, wrote int) { return 0, 0 }
