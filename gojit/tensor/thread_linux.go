package tensor

import "syscall"

// threadID returns the number of the thread that runs the caller.
func threadID() int { return syscall.Gettid() }
