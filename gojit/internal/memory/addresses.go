package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// addressLimit watches the addresses of a process that may have only so many (RLIMIT_AS). Go's heap ends the process where the system refuses it
// more, so that whoever makes something asks here first, and fails instead.
type addressLimit struct {
	state atomic.Int32
	asked atomic.Int64 // what was asked for since the last look
}

const (
	addressesUnasked   = iota
	addressesUnlimited // as far as was seen when the first storage was made
	addressesEnough
	addressesShort
)

// addressMargin is what is left for threads, the stacks of C and what Go's heap takes between two looks.
const addressMargin = 192 << 20

// objectBytes is about what a small tensor takes besides its elements, here and in Python.
const objectBytes = 512

var addresses addressLimit

// CheckAddresses fails where the process has hardly any addresses left, for so many more bytes.
func CheckAddresses(bytes int) error {
	if addresses.state.Load() == addressesUnlimited {
		return nil
	}
	return addresses.check(bytes)
}

// CheckMappable fails where addresses are few and so large a block gets none.
func CheckMappable(bytes int) error {
	if bytes >= ProbedFrom && addresses.state.Load() != addressesUnlimited && !IsMappable(bytes) {
		return OutOfMemory(bytes)
	}
	return nil
}

// check fails where the heap can hardly grow, after a collection.
func (a *addressLimit) check(bytes int) error {
	switch a.state.Load() {
	case addressesUnasked:
		if !isAddressSpaceLimited() {
			a.state.Store(addressesUnlimited)
			return nil
		}
		if a.state.CompareAndSwap(addressesUnasked, addressesEnough) {
			a.begin()
		}
	case addressesEnough: // others than Go take addresses too, and no collection follows from that
		if a.asked.Add(int64(bytes+objectBytes)) > addressMargin/8 {
			a.look()
		}
	case addressesShort:
		runtime.GC()
		a.look()
	}
	if a.state.Load() == addressesShort {
		return OutOfMemory(bytes)
	}
	return nil
}

// begin makes the collector run before the addresses are used up, and looks at them after each collection.
func (a *addressLimit) begin() {
	a.look()
	unused, mapped := heapAddresses()
	limit := int64(mapped-unused) + int64(freeAddresses()+unused) - addressMargin
	if limit < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(max(limit, 0))
	}
	a.watch()
}

func (a *addressLimit) look() {
	a.asked.Store(0)
	unused, _ := heapAddresses()
	if freeAddresses()+unused < addressMargin {
		a.state.Store(addressesShort)
	} else {
		a.state.Store(addressesEnough)
	}
}

// watch looks after the next collection, and so on.
func (a *addressLimit) watch() {
	sentinel := new([16]*byte) // has pointers, so it is an object of its own
	runtime.AddCleanup(sentinel, func(a *addressLimit) {
		a.look()
		a.watch()
	}, a)
}

// heapAddresses returns the bytes that Go has mapped, and those of them that its heap can still use.
func heapAddresses() (unused, mapped int) {
	samples := [3]metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples[:])
	return int(samples[0].Value.Uint64() + samples[1].Value.Uint64()), int(samples[2].Value.Uint64())
}
