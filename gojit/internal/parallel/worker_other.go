//go:build !linux

package parallel

import "sync/atomic"

// sleeper lets one goroutine sleep and others wake it.
type sleeper struct {
	parked  atomic.Bool
	channel chan struct{}
}

func newSleeper() sleeper { return sleeper{channel: make(chan struct{}, 1)} }

// asleep reports whether the sleeper sleeps or is about to.
func (s *sleeper) asleep() bool { return s.parked.Load() }

// sleep waits for wake, unless due reports true.
func (s *sleeper) sleep(due func() bool) {
	s.parked.Store(true)
	if !due() {
		<-s.channel
	}
	s.parked.Store(false)
}

// wake ends the sleep, or the next one where the sleeper is awake.
func (s *sleeper) wake() {
	select {
	case s.channel <- struct{}{}:
	default:
	}
}
