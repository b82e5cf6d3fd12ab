package gpu

import "runtime"

// Event is a mark in what a device is given to do, which it does in order.
type Event struct {
	device *Device
	handle uintptr
}

// notReady is the driver's code for work that is not done yet.
const notReady = 600

// NewEvent marks the end of what the device was given to do so far.
func (v *Device) NewEvent() (*Event, error) {
	e := &Event{device: v}
	err := v.do(func() error {
		if err := v.driver.check("cuEventCreate", v.driver.cuEventCreate(&e.handle, 0)); err != nil {
			return err
		}
		return v.driver.check("cuEventRecord", v.driver.cuEventRecord(e.handle, 0))
	})
	if err != nil {
		return nil, err
	}
	runtime.AddCleanup(e, func(handle uintptr) {
		_ = v.do(func() error { return v.driver.check("cuEventDestroy", v.driver.cuEventDestroy_v2(handle)) })
	}, e.handle)
	return e, nil
}

// IsDone reports whether the device has come to the mark.
func (e *Event) IsDone() (done bool, err error) {
	v := e.device
	err = v.do(func() error {
		code := v.driver.cuEventQuery(e.handle)
		if done = code == 0; code == notReady {
			return nil
		}
		return v.driver.check("cuEventQuery", code)
	})
	runtime.KeepAlive(e)
	return done, err
}

// Synchronize waits until the device has come to the mark.
func (e *Event) Synchronize() error {
	v := e.device
	err := v.do(func() error { return v.driver.check("cuEventSynchronize", v.driver.cuEventSynchronize(e.handle)) })
	runtime.KeepAlive(e)
	return err
}

// Until returns the milliseconds from this mark to another one.
func (e *Event) Until(other *Event) (milliseconds float64, err error) {
	v, passed := e.device, float32(0)
	err = v.do(func() error {
		return v.driver.check("cuEventElapsedTime", v.driver.cuEventElapsedTime(&passed, e.handle, other.handle))
	})
	runtime.KeepAlive(e)
	runtime.KeepAlive(other)
	return float64(passed), err
}
