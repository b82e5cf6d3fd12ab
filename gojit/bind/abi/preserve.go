package abi

import (
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// pythonOwner is the library's reference to the Python object of a tensor that only the library holds: its class has made it, so it is to be
// the same object when Python sees the tensor again.
type pythonOwner struct {
	object *Object
	kept   bool
}

// Preserve takes over the Python object of a slot, which is about to go, where something besides Python may use the tensor. It returns
// whether it has.
func Preserve(i int64, self unsafe.Pointer) bool {
	s := &slots[i]
	t, ok := s.content.(*tensor.Tensor)
	if !ok || !s.kept && !s.passing && !t.RequiresGrad() && t.History() == nil && !t.IsRetained() {
		return false
	}
	Attached.Retain(self)
	k := &pythonOwner{object: &Object{Pointer: self}, kept: s.kept}
	k.object.cleanup = runtime.AddCleanup(k.object, func(p unsafe.Pointer) { Discard(func() { Attached.Abandon(p) }) }, self)
	t.SetKeeper(k)
	t.SetPyObject(0)
	show(i, nil)
	slots[i] = slot{}
	freeSlots = append(freeSlots, i)
	return true
}

// revived writes the Python object that a tensor has kept, if any, and gives it back to Python.
func (w *Writer) revived(t *tensor.Tensor) bool {
	k, ok := t.Keeper().(*pythonOwner)
	if !ok {
		return false
	}
	n := newSlot(t)
	t.TakeBack()
	slots[n].kept = k.kept || w.keeping
	t.SetKeeper(nil)
	t.SetPyObject(uintptr(n))
	show(n, t)
	k.object.cleanup.Stop()
	Attached.Revive(k.object.Pointer, n)
	w.put(int64(KindObject), uint64(uintptr(k.object.Pointer)))
	return true
}

// PassOn has read convert what a Python function returned. Tensors without elements are not kept for good by that: nothing is lost with them
// but their objects, which pass on to Python.
func PassOn(w *Word, read func() error) error {
	var results []*Word
	if w.IsSequence() {
		for x := range w.Items {
			results = append(results, x)
		}
	} else {
		results = []*Word{w}
	}
	held := make([]bool, len(results))
	for i, x := range results {
		held[i] = x.Tensor() != nil && slots[x.Bits].kept
	}
	err := read()
	for i, x := range results {
		if t := x.Tensor(); t != nil && t.Wraps() {
			slots[x.Bits].kept, slots[x.Bits].passing = held[i], true
		}
	}
	return err
}
