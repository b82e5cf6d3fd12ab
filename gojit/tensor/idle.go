package tensor

import "sync/atomic"

// maxIdle bounds what waits to be used again.
const maxIdle = 128

// idle holds what Release has given up until something like it is made. It is not worth waiting for: a goroutine that finds it
// in use does without.
type idle[T any] struct {
	count atomic.Int32 // of what is there, inUse while that changes
	items [maxIdle]*T
}

const inUse = -1

var (
	idleTensors idle[ownTensor]
	idleViews   idle[Tensor]
)

// take returns one of the items, nil where it has none to give.
func (l *idle[T]) take() *T {
	n := l.count.Load()
	if n <= 0 || !l.count.CompareAndSwap(n, inUse) {
		return nil
	}
	x := l.items[n-1]
	l.items[n-1] = nil
	l.count.Store(n - 1)
	return x
}

// put adds an item, or leaves it to the collector.
func (l *idle[T]) put(x *T) {
	n := l.count.Load()
	if n == inUse || n == maxIdle || !l.count.CompareAndSwap(n, inUse) {
		return
	}
	l.items[n] = x
	l.count.Store(n + 1)
}
