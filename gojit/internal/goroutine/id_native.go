//go:build amd64 || arm64

package goroutine

// ID returns the address of what the runtime knows of the calling goroutine, which is another for each, and stays for its life.
func ID() uintptr
