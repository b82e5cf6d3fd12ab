package tensor

import (
	"sync"
	"syscall"
	"unsafe"
)

// memoryLimit returns the bytes a single allocation may ask for: memory and swap of the machine.
var memoryLimit = sync.OnceValue(func() int {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 1 << 46
	}
	return int((uint64(info.Totalram) + uint64(info.Totalswap)) * uint64(info.Unit))
})

// hugePage is the size of the pages that adviseHuge asks for.
const hugePage = 2 << 20

// adviseHuge asks the system to map the huge pages that a block touches as such. It only matters for pages that nobody has used yet.
func adviseHuge(block []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
	end := (start + uintptr(len(block)) + hugePage - 1) &^ (hugePage - 1)
	start &^= hugePage - 1
	syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_HUGEPAGE) // a hint
}
