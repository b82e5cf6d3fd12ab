//go:build !amd64

package memory

import "unsafe"

func FirstsOfPairs(dst, src unsafe.Pointer, size, n int) int { return 0 }
