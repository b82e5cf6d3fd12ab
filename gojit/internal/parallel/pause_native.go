//go:build amd64 || arm64

package parallel

// pause tells the processor that the thread waits in a loop.
func pause()
