package tensor

import "sync/atomic"

// holders counts those besides its owner who keep a tensor for later, and knows whether the owner is gone.
type holders struct{ state atomic.Int32 }

// ownerGone is set where the owner is gone; below it is the count.
const ownerGone = 1 << 30

// flag is a bool that goroutines may see change. Whoever has alone what it is part of writes it like any other field.
type flag uint32

const (
	unset flag = iota
	set
)

func (f *flag) Load() bool { return atomic.LoadUint32((*uint32)(f)) != 0 }

func (f *flag) Store(to bool) { f.Swap(to) }

func (f *flag) Swap(to bool) (was bool) {
	v := unset
	if to {
		v = set
	}
	return atomic.SwapUint32((*uint32)(f), uint32(v)) != 0
}

// counter counts what goroutines share. Whoever has alone what it is part of writes it like any other field.
type counter int32

func (c *counter) Load() int32 { return atomic.LoadInt32((*int32)(c)) }

func (c *counter) Store(n int32) { atomic.StoreInt32((*int32)(c), n) }

func (c *counter) Add(n int32) int32 { return atomic.AddInt32((*int32)(c), n) }

// Hold says that somebody besides the owner of t keeps it, until LetGo.
func (t *Tensor) Hold() { t.holders.state.Add(1) }

// LetGo ends what Hold began. The last holder of a tensor without an owner gives its memory back; who still knows the tensor may look at
// its layout.
func (t *Tensor) LetGo() {
	if t.holders.state.Add(-1) == ownerGone && t.PyObject() == 0 {
		t.ReleaseMemory()
	}
}

// IsHeld reports whether somebody holds t.
func (t *Tensor) IsHeld() bool { return t.holders.state.Load()&^ownerGone != 0 }

// GiveUp says that the owner of t does not use it any more. The memory is given back when nobody holds t.
func (t *Tensor) GiveUp() {
	if t.holders.state.Or(ownerGone)&^ownerGone == 0 && t.PyObject() == 0 {
		t.ReleaseMemory()
	}
}

// TakeBack says that t, whose memory others may have kept, has an owner again.
func (t *Tensor) TakeBack() {
	if t.holders.state.Load()&ownerGone != 0 && t.holders.state.And(^ownerGone)&ownerGone != 0 && t.released.Swap(false) {
		t.storage.refs.Add(1)
	}
}

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
