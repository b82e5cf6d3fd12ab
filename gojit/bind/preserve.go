package bind

import (
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// preserveFunctions are about tensors whose Python objects have more than the library knows.
var preserveFunctions = []function{
	{schema: "tensor_wrapper(list size, list? strides, int offset, dtype dtype, device device) -> Tensor", run: tensorWrapper},
	{schema: "tensor_wraps(Tensor self) -> bool", run: func(c *call) error {
		c.bool(c.argTensor(0).Wraps())
		return nil
	}},
	{schema: "tensor_dispatches(Tensor self) -> bool", run: func(c *call) error {
		c.bool(c.argTensor(0).Dispatches())
		return nil
	}},
	{schema: "foreign_in_use() -> bool", run: func(c *call) error {
		c.bool(tensor.ForeignInUse())
		return nil
	}},
}

// tensorWrapper makes a tensor without elements.
func tensorWrapper(c *call) error {
	var strides []int
	if !c.isNone(1) {
		strides = c.sizes(1)
	}
	t, err := tensor.NewWrapper(c.sizes(0), strides, int(c.argInt(2)), c.argDType(3), deviceOfCode(c.arg(4).int()))
	if err == nil {
		c.tensor(t)
	}
	return err
}

// sizes reads a list of ints.
func (c *call) sizes(i int) (found []int) {
	for w := range c.arg(i).items {
		found = append(found, int(w.int()))
	}
	return found
}

// pythonOwner is the library's reference to the Python object of a tensor that only the library holds: its class has made it, so it is to be
// the same object when Python sees the tensor again.
type pythonOwner struct {
	object *object
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
	embedder.Retain(self)
	k := &pythonOwner{object: &object{pointer: self}, kept: s.kept}
	k.object.cleanup = runtime.AddCleanup(k.object, func(p unsafe.Pointer) { discard(func() { embedder.Abandon(p) }) }, self)
	t.SetKeeper(k)
	t.SetPyObject(0)
	show(i, nil)
	slots[i] = slot{}
	freeSlots = append(freeSlots, i)
	return true
}

// revived writes the Python object that a tensor has kept, if any, and gives it back to Python.
func (w *writer) revived(t *tensor.Tensor) bool {
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
	embedder.Revive(k.object.pointer, n)
	w.put(int64(kindObject), uint64(uintptr(k.object.pointer)))
	return true
}

// passOn has read convert what a Python function returned. Tensors without elements are not kept for good by that: nothing is lost with them
// but their objects, which pass on to Python.
func passOn(w *Word, read func() error) error {
	var results []*Word
	if w.isSequence() {
		for x := range w.items {
			results = append(results, x)
		}
	} else {
		results = []*Word{w}
	}
	held := make([]bool, len(results))
	for i, x := range results {
		held[i] = x.tensor() != nil && slots[x.bits].kept
	}
	err := read()
	for i, x := range results {
		if t := x.tensor(); t != nil && t.Wraps() {
			slots[x.bits].kept, slots[x.bits].passing = held[i], true
		}
	}
	return err
}
