//go:build !linux

package memory

// Limit returns the bytes a single allocation may ask for.
func Limit() int { return 1 << 40 }

// IsMappable reports whether the system would give the process n more bytes of addresses, which is not known here.
func IsMappable(n int) bool { return true }

// isAddressSpaceLimited reports whether the process may have only so many bytes of addresses, which is not known here.
func isAddressSpaceLimited() bool { return false }

// freeAddresses returns how many bytes of addresses the process may still take, which is not known here.
func freeAddresses() int { return 1 << 46 }

// adviseHuge asks the system for huge pages; there is nobody to ask.
func adviseHuge([]byte) {}
