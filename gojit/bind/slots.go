package bind

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

// handleClass numbers the Python classes of handles; torchjit registers a class for each.
type handleClass int64

const (
	handleTensor handleClass = iota
	handleParameter
	handleGenerator
	handleGraph
	handleModule
	handleUnit
	handleObject
	handleFuture
	handleGradNode
	handleNode
	handleIRValue
	handleBlock
	handleUse
	handleSchema
	handleArgument
	handleAliasInfo
	handleAliasDb
	handleScriptList
	handleScriptDict
	handleCapsule
	handleRecorder
	handleType // and the kind of the type
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

// releaseWaiting ends the lives of the small tensors whose Python objects have gone since the last call.
func releaseWaiting() {
	for waiting.Count > 0 {
		waiting.Count--
		releaseSlot(waiting.Slots[waiting.Count])
	}
}

// tensorSlot returns the slot of t, which it makes where t has none.
func tensorSlot(t *tensor.Tensor) int64 {
	if t.PyObject() != 0 {
		releaseWaiting() // t may be among them
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

// tensor writes a tensor; nil is None.
func (w *writer) tensor(t *tensor.Tensor) {
	if t == nil {
		w.none()
		return
	}
	if w.revived(t) {
		return
	}
	w.put(int64(kindHandle)|int64(handleTensor)<<8, uint64(tensorSlot(t)))
}

// giveBack takes back the words of tensors from one on, which Python is not to have.
func (w *writer) giveBack(first int) {
	for _, x := range w.words[first:] {
		if x.kind() == kindHandle && !embedder.HasObject(int64(x.bits)) {
			releaseSlot(int64(x.bits))
		}
	}
	w.words = w.words[:first]
}

// keptTensor writes a tensor that something besides Python holds.
func (w *writer) keptTensor(t *tensor.Tensor) {
	w.tensor(t)
	slots[t.PyObject()].kept = true
}

// keep says that something besides Python will hold the tensor that w stands for.
func (w *Word) keep() { slots[w.bits].kept = true }

// parameter writes a tensor that is shown as a Parameter where it has no Python object yet.
func (w *writer) parameter(t *tensor.Tensor) {
	if !w.revived(t) {
		w.put(int64(kindHandle)|int64(handleParameter)<<8, uint64(tensorSlot(t)))
	}
	slots[t.PyObject()].kept = true
}

// handleClassOf returns the class of what a slot holds.
func handleClassOf(content any) handleClass {
	switch x := content.(type) {
	case *rng.Generator:
		return handleGenerator
	case *autograd.Node:
		return handleGradNode
	case *ir.Graph:
		return handleGraph
	case *ir.Node:
		return handleNode
	case *ir.Value:
		return handleIRValue
	case *ir.Block:
		return handleBlock
	case ir.Use:
		return handleUse
	case *schema.FunctionSchema:
		return handleSchema
	case *schema.Argument:
		return handleArgument
	case *schema.Alias:
		return handleAliasInfo
	case *alias.Db:
		return handleAliasDb
	case *trace.Recorder:
		return handleRecorder
	case types.Type:
		return handleType + handleClass(x.Kind())
	case *value.Object:
		if x.Class.IsModule {
			return handleModule
		}
		return handleObject
	case *value.Future:
		return handleFuture
	case *value.List:
		return handleScriptList
	case *value.Dict:
		return handleScriptDict
	case *value.Capsule:
		return handleCapsule
	}
	return handleTensor
}

// handle writes any pointer as an object of a handle class, the same object each time.
func (w *writer) handle(class handleClass, x any) {
	n, ok := numberOf[x]
	if !ok {
		n = newSlot(x)
		numberOf[x] = n
	}
	w.put(int64(kindHandle)|int64(class)<<8, uint64(n))
}

// typeObject writes a type.
func (w *writer) typeObject(t types.Type) { w.handle(handleType+handleClass(t.Kind()), t) }

// content returns what a handle word stands for, nil for other words.
func (w *Word) content() any {
	if w.kind() != kindHandle || w.bits >= uint64(len(slots)) {
		return nil
	}
	return slots[w.bits].content
}

// tensor returns the tensor that w stands for, nil where it is something else.
func (w *Word) tensor() *tensor.Tensor {
	t, _ := w.content().(*tensor.Tensor)
	return t
}

// callable is anything that has a number and can be called from Python.
type callable interface {
	callableName() string
	call(c *call) error
}

// callables are the callables that Python holds, each held once; 0 is never used.
var (
	callables     = make([]callable, 1, 1024)
	freeCallables []int64
)

func newCallable(f callable) int64 {
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

// function writes a callable as a new Function object.
func (w *writer) function(f callable) { w.put(int64(kindCallable), uint64(newCallable(f))) }

// scriptFunction writes a callable as a new ScriptFunction object.
func (w *writer) scriptFunction(f callable) { w.put(int64(kindCallable)|1<<8, uint64(newCallable(f))) }

// method writes a callable as a new Method object, which binds to the object whose class has it.
func (w *writer) method(f callable) { w.put(int64(kindCallable)|3<<8, uint64(newCallable(f))) }

// scriptMethod writes a callable as a new ScriptMethod object.
func (w *writer) scriptMethod(f callable) { w.put(int64(kindCallable)|2<<8, uint64(newCallable(f))) }

// callable returns the callable that w stands for, nil where it is something else.
func (w *Word) callable() callable {
	if w.kind() != kindCallable || w.bits >= uint64(len(callables)) {
		return nil
	}
	return callables[w.bits]
}
