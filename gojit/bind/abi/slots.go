package abi

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// HandleClass numbers the Python classes of handles; torchjit registers a class for each.
type HandleClass int64

// The classes of handles.
const (
	HandleTensor HandleClass = iota
	HandleParameter
	HandleGenerator
	HandleGraph
	HandleModule
	HandleUnit
	HandleObject
	HandleFuture
	HandleGradNode
	HandleNode
	HandleIRValue
	HandleBlock
	HandleUse
	HandleSchema
	HandleArgument
	HandleAliasInfo
	HandleAliasDb
	HandleScriptList
	HandleScriptDict
	HandleCapsule
	HandleRecorder
	HandleAwait
	HandleType // and the kind of the type
)

// slot is one object that Python holds. The Python side has one object for each slot.
type slot struct {
	content any
	// kept says that something besides Python may use a tensor, so that its memory is left to the
	// collector; else it is given back when the Python object goes.
	kept bool
	// passing says that the library is handing on a tensor which Python's function has returned.
	passing bool
}

// slots are the objects that Python holds, by number; 0 is never used. freeSlots are unused numbers.
// numberOf finds the number of anything but a tensor, which knows its own.
var (
	slots     = make([]slot, 1, 1024)
	freeSlots []int64
	numberOf  = map[any]int64{}
)

func newSlot(content any) int64 {
	if n := len(freeSlots); n > 0 {
		i := freeSlots[n-1]
		freeSlots = freeSlots[:n-1]
		slots[i] = slot{content: content}
		return i
	}
	if n := len(slots); n == cap(slots) {
		source.Throw(tensor.CheckHeapRoom(n * int(unsafe.Sizeof(slot{}))))
	}
	slots = append(slots, slot{content: content})
	return int64(len(slots) - 1)
}

// LiveSlots is how many objects Python holds.
func LiveSlots() int { return len(slots) - 1 - len(freeSlots) }

// releaseSlot ends the life of the Python object of a slot.
func releaseSlot(i int64) {
	switch x := slots[i].content.(type) {
	case nil:
		return
	case *tensor.Tensor:
		x.SetPyObject(0)
		show(i, nil)
		switch {
		case slots[i].kept:
			x.Retain()
		case x.RequiresGrad() || x.History() != nil:
			autograd.Drop(x)
		case recorders() != 0:
			x.GiveUp() // a trace knows tensors by their addresses, which are not used again; nodes may hold it
		default:
			x.Release()
		}
	default:
		delete(numberOf, x)
	}
	slots[i].content = nil
	freeSlots = append(freeSlots, i)
}

// ReleaseWaiting ends the lives of the small tensors whose Python objects have gone since the last call.
func ReleaseWaiting() {
	for waiting.Count > 0 {
		waiting.Count--
		releaseSlot(waiting.Slots[waiting.Count])
	}
}

// tensorSlot returns the slot of t, which it makes where t has none.
func tensorSlot(t *tensor.Tensor) int64 {
	if t.PyObject() != 0 {
		ReleaseWaiting() // t may be among them
	}
	if n := t.PyObject(); n != 0 {
		return int64(n)
	}
	n := newSlot(t)
	t.UnmarkTemporary()
	t.TakeBack()
	t.SetPyObject(uintptr(n))
	show(n, t)
	return n
}

// Tensor writes a tensor; nil is None.
func (w *Writer) Tensor(t *tensor.Tensor) {
	if t == nil {
		w.None()
		return
	}
	if w.revived(t) {
		return
	}
	w.put(int64(KindHandle)|int64(HandleTensor)<<8, uint64(tensorSlot(t)))
}

// giveBack takes back the words of tensors from one on, which Python is not to have.
func (w *Writer) giveBack(first int) {
	for _, x := range w.words[first:] {
		if x.Kind() == KindHandle && !Attached.HasObject(int64(x.Bits)) {
			releaseSlot(int64(x.Bits))
		}
	}
	w.words = w.words[:first]
}

// KeptTensor writes a tensor that something besides Python holds.
func (w *Writer) KeptTensor(t *tensor.Tensor) {
	w.Tensor(t)
	slots[t.PyObject()].kept = true
}

// Keep says that something besides Python will hold the tensor that w stands for.
func (w *Word) Keep() { slots[w.Bits].kept = true }

// Parameter writes a tensor that is shown as a Parameter where it has no Python object yet.
func (w *Writer) Parameter(t *tensor.Tensor) {
	if !w.revived(t) {
		w.put(int64(KindHandle)|int64(HandleParameter)<<8, uint64(tensorSlot(t)))
	}
	slots[t.PyObject()].kept = true
}

// handleClassOf returns the class of what a slot holds.
func handleClassOf(content any) HandleClass {
	switch x := content.(type) {
	case *rng.Generator:
		return HandleGenerator
	case *autograd.Node:
		return HandleGradNode
	case *ir.Graph:
		return HandleGraph
	case *ir.Node:
		return HandleNode
	case *ir.Value:
		return HandleIRValue
	case *ir.Block:
		return HandleBlock
	case ir.Use:
		return HandleUse
	case *schema.FunctionSchema:
		return HandleSchema
	case *schema.Argument:
		return HandleArgument
	case *schema.Alias:
		return HandleAliasInfo
	case *alias.Db:
		return HandleAliasDb
	case *trace.Recorder:
		return HandleRecorder
	case types.Type:
		return HandleType + HandleClass(x.Kind())
	case *value.Object:
		if x.Class.IsModule {
			return HandleModule
		}
		return HandleObject
	case *value.Future:
		if x.Lazy {
			return HandleAwait
		}
		return HandleFuture
	case *value.List:
		return HandleScriptList
	case *value.Dict:
		return HandleScriptDict
	case *value.Capsule:
		return HandleCapsule
	}
	return HandleTensor
}

// Handle writes any pointer as an object of a handle class, the same object each time.
func (w *Writer) Handle(class HandleClass, x any) {
	n, ok := numberOf[x]
	if !ok {
		n = newSlot(x)
		numberOf[x] = n
	}
	w.put(int64(KindHandle)|int64(class)<<8, uint64(n))
}

// TypeObject writes a type.
func (w *Writer) TypeObject(t types.Type) { w.Handle(HandleType+HandleClass(t.Kind()), t) }

// Content returns what a handle word stands for, nil for other words.
func (w *Word) Content() any {
	if w.Kind() != KindHandle || w.Bits >= uint64(len(slots)) {
		return nil
	}
	return slots[w.Bits].content
}

// Tensor returns the tensor that w stands for, nil where it is something else.
func (w *Word) Tensor() *tensor.Tensor {
	t, _ := w.Content().(*tensor.Tensor)
	return t
}

// Callable is anything that has a number and can be called from Python.
type Callable interface {
	CallableName() string
	Call(c *Call) error
}

// callables are the callables that Python holds, each held once; 0 is never used.
var (
	callables     = make([]Callable, 1, 1024)
	freeCallables []int64
)

// CallableAt returns the callable of a slot.
func CallableAt(slot int64) Callable { return callables[slot] }

func newCallable(f Callable) int64 {
	if n := len(freeCallables); n > 0 {
		i := freeCallables[n-1]
		freeCallables = freeCallables[:n-1]
		callables[i] = f
		return i
	}
	callables = append(callables, f)
	return int64(len(callables) - 1)
}

func releaseCallable(i int64) {
	callables[i] = nil
	freeCallables = append(freeCallables, i)
}

// Function writes a callable as a new Function object.
func (w *Writer) Function(f Callable) { w.put(int64(KindCallable), uint64(newCallable(f))) }

// ScriptFunction writes a callable as a new ScriptFunction object.
func (w *Writer) ScriptFunction(f Callable) { w.put(int64(KindCallable)|1<<8, uint64(newCallable(f))) }

// Method writes a callable as a new Method object, which binds to the object whose class has it.
func (w *Writer) Method(f Callable) { w.put(int64(KindCallable)|3<<8, uint64(newCallable(f))) }

// ScriptMethod writes a callable as a new ScriptMethod object.
func (w *Writer) ScriptMethod(f Callable) { w.put(int64(KindCallable)|2<<8, uint64(newCallable(f))) }

// Callable returns the callable that w stands for, nil where it is something else.
func (w *Word) Callable() Callable {
	if w.Kind() != KindCallable || w.Bits >= uint64(len(callables)) {
		return nil
	}
	return callables[w.Bits]
}
