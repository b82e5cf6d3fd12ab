//go:build !amd64

package tensor

import "unsafe"

func storeWords(to unsafe.Pointer, n int, word uint64, far bool) int { return 0 }
