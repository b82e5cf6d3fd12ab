package gpu

import "sync/atomic"

// Counts says what a device was given to do.
type Counts struct {
	Launches                   int // of kernels and calls of libraries, those that a graph is captured of among them
	GraphLaunches              int
	Uploads, Downloads, Copies int // from the processor, to it, and within the device
	Allocations                int // that the driver was asked for
}

type counters struct{ launches, graphLaunches, uploads, downloads, copies, allocations atomic.Int64 }

// Counts returns what the device was given to do so far.
func (v *Device) Counts() Counts {
	c := &v.counts
	return Counts{int(c.launches.Load()), int(c.graphLaunches.Load()), int(c.uploads.Load()), int(c.downloads.Load()), int(c.copies.Load()), int(c.allocations.Load())}
}
