//go:build !linux

package goroutine

// Thread returns 0: threads cannot be told apart.
func Thread() int { return 0 }
