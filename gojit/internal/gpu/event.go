package gpu

import "runtime"

// Event is a mark in the work of a stream.
type Event struct {
	device  *Device
	handle  uintptr
	capture *capture // that the mark is part of
}

// notReady is the driver's code for work that is not done yet.
const notReady = 600

// Flags of events: who waits sleeps, and the time is not noted.
const (
	eventBlocking = 1
	eventUntimed  = 2
)

// NewEvent marks the end of what a stream was given to do so far. Only marks that are timed tell milliseconds; who waits for a blocking one sleeps.
func (s *Stream) NewEvent(timed, blocking bool) (*Event, error) {
	v, flags := s.device, uint32(0)
	if !timed {
		flags |= eventUntimed
	}
	if blocking {
		flags |= eventBlocking
	}
	e := &Event{device: v, capture: s.capture.Load()}
	var err error
	if e.handle, err = s.mark(flags); err != nil {
		return nil, err
	}
	runtime.AddCleanup(e, func(handle uintptr) { _ = v.destroyEvent(handle) }, e.handle)
	return e, nil
}

// mark makes an event of the driver's and records it.
func (s *Stream) mark(flags uint32) (handle uintptr, err error) {
	d := s.device.driver
	err = s.device.do(func() error {
		if err := d.check("cuEventCreate", d.cuEventCreate(&handle, flags)); err != nil {
			return err
		}
		return d.check("cuEventRecord", d.cuEventRecord.call(handle, s.handle))
	})
	return handle, err
}

func (v *Device) destroyEvent(handle uintptr) error {
	return v.do(func() error { return v.driver.check("cuEventDestroy", v.driver.cuEventDestroy_v2(handle)) })
}

// refuse fails where the mark is part of a capture: nothing comes to it.
func (e *Event) refuse() error {
	if e.capture == nil {
		return nil
	}
	return e.capture.refuse("operation not permitted on an event last recorded in a capturing stream", "an event is waited for or queried")
}

// IsDone reports whether the stream has come to the mark.
func (e *Event) IsDone() (done bool, err error) {
	if err := e.refuse(); err != nil {
		return false, err
	}
	v := e.device
	err = v.do(func() error {
		code := v.driver.cuEventQuery.call(e.handle)
		if done = code == 0; code == notReady {
			return nil
		}
		return v.driver.check("cuEventQuery", code)
	})
	runtime.KeepAlive(e)
	return done, err
}

// Synchronize waits until the stream has come to the mark.
func (e *Event) Synchronize() error {
	if err := e.refuse(); err != nil {
		return err
	}
	v := e.device
	err := v.do(func() error { return v.driver.check("cuEventSynchronize", v.driver.cuEventSynchronize(e.handle)) })
	runtime.KeepAlive(e)
	return err
}

// Until returns the milliseconds from this mark to another one.
func (e *Event) Until(other *Event) (milliseconds float64, err error) {
	for _, mark := range []*Event{e, other} {
		if err := mark.refuse(); err != nil {
			return 0, err
		}
	}
	v, passed := e.device, float32(0)
	err = v.do(func() error {
		return v.driver.check("cuEventElapsedTime", v.driver.cuEventElapsedTime(&passed, e.handle, other.handle))
	})
	runtime.KeepAlive(e)
	runtime.KeepAlive(other)
	return float64(passed), err
}
