package gpu

// Memory is a block of a device's memory.
type Memory struct {
	device *Device
	at     pointer
	bytes  int
}

// Allocate returns a block of a size in bytes; what it holds is undefined. Free gives it back.
func (v *Device) Allocate(bytes int) (*Memory, error) {
	m := &Memory{device: v, bytes: bytes}
	if bytes == 0 {
		return m, nil
	}
	err := v.do(func() error { return v.driver.check("cuMemAlloc", v.driver.cuMemAlloc_v2(&m.at, uint64(bytes))) })
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Free gives the block back, once the device has done what it was given. It may be called again.
func (m *Memory) Free() error {
	if m.at == 0 {
		return nil
	}
	at := m.at
	m.at = 0
	return m.device.do(func() error { return m.device.driver.check("cuMemFree", m.device.driver.cuMemFree_v2(at)) })
}
