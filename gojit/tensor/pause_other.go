//go:build !amd64 && !arm64

package tensor

func pause() {}

// goroutine returns 0: goroutines cannot be told apart.
func goroutine() uintptr { return 0 }
