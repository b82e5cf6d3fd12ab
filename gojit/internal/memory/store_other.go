//go:build !amd64

package memory

import "unsafe"

func StoreWords(to unsafe.Pointer, n int, word uint64, far bool) int { return 0 }
