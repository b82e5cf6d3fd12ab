package tensor

import (
	"sync"
	"syscall"
)

// memoryLimit returns the bytes a single allocation may ask for: memory and swap of the machine.
var memoryLimit = sync.OnceValue(func() int {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 1 << 46
	}
	return int((uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit))
})
