package goroutine

import "syscall"

// Thread returns the number of the thread that runs the caller.
func Thread() int { return syscall.Gettid() }
