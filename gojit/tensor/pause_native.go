//go:build amd64 || arm64

package tensor

// pause tells the processor that the thread waits in a loop.
func pause()

// goroutine returns the address of what the runtime knows of the calling goroutine, which is another for each.
func goroutine() uintptr
