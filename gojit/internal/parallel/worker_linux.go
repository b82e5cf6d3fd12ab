package parallel

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// sleeper lets one goroutine with a thread of its own sleep and others wake it. It sleeps in the kernel and not on a channel: the
// scheduler would wake some other thread first, which would then wake this one.
type sleeper struct{ state atomic.Uint32 }

const (
	awake uint32 = iota
	sleeping
)

// Operations of the futex system call, on words of this process.
const (
	futexWait = 0 | 128
	futexWake = 1 | 128
)

func newSleeper() sleeper { return sleeper{} }

// asleep reports whether the sleeper sleeps or is about to.
func (s *sleeper) asleep() bool { return s.state.Load() == sleeping }

// sleep waits for wake, unless due reports true.
func (s *sleeper) sleep(due func() bool) {
	s.state.Store(sleeping)
	for !due() && s.state.Load() == sleeping {
		syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&s.state)), futexWait, uintptr(sleeping), 0, 0, 0)
	}
	s.state.Store(awake)
}

// wake ends the sleep.
func (s *sleeper) wake() {
	if s.state.Swap(awake) == sleeping {
		syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&s.state)), futexWake, 1, 0, 0, 0)
	}
}
