package archive

import (
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// storageClasses has the name of the storage class of each element type.
var storageClasses = func() (names [tensor.NumDTypes]string) {
	for name, dtype := range storageTypes {
		names[dtype] = name
	}
	return names
}()

// pickler writes values as a pickle and the storages of their tensors beside it. Values that are
// reached twice are written once.
type pickler struct {
	e      *pickle.Encoder
	rename types.Renamer
	call   Call // runs __getstate__
	plain  bool // lists and dictionaries do not have the types of their elements

	memo     map[value.Value]int
	open     map[value.Value]bool // being written
	keys     map[*tensor.Storage]int
	storages []*tensor.Storage                   // by key
	fetched  map[*tensor.Storage]*tensor.Storage // copies of those on devices
	refs     map[storageRef]int
	depth    int
}

// storageRef is a storage as tensors of one type refer to it.
type storageRef struct {
	storage *tensor.Storage
	dtype   tensor.DType
}

func newPickler(rename types.Renamer, call Call) *pickler {
	return &pickler{e: pickle.NewEncoder(), rename: rename, call: call, memo: map[value.Value]int{}, open: map[value.Value]bool{}, keys: map[*tensor.Storage]int{}, refs: map[storageRef]int{}}
}

// value pushes a value. It fails on a value that archives cannot hold, and on one that holds itself.
func (p *pickler) value(v value.Value) error {
	switch v.Kind() {
	case value.KindNone:
		p.e.None()
		return nil
	case value.KindBool:
		p.e.Bool(v.Bool())
		return nil
	case value.KindInt:
		p.e.Int(v.Int())
		return nil
	case value.KindFloat:
		p.e.Float(v.Float())
		return nil
	case value.KindString, value.KindEmptyString:
		p.e.String(v.Str())
		return nil
	case value.KindDevice:
		p.e.Global("torch", "device")
		p.e.Mark()
		p.e.String(v.Device().String())
		p.e.Tuple()
		p.e.Reduce()
		return nil
	case value.KindComplex:
		p.e.Global("builtins", "complex")
		p.e.Mark()
		p.e.Float(real(v.Complex()))
		p.e.Float(imag(v.Complex()))
		p.e.Tuple()
		p.e.Reduce()
		return nil
	}
	return p.shared(v)
}

// shared pushes a value that may be reached more than once.
func (p *pickler) shared(v value.Value) error {
	if id, ok := p.memo[v]; ok {
		p.e.Recall(id)
		return nil
	}
	if p.open[v] {
		return archiveError("Cannot serialize a value of type %s that holds itself", value.TypeOf(v).Annotation(nil))
	}
	if p.depth++; p.depth > maxDepth {
		return archiveError("Cannot serialize values that are nested more than %d deep", maxDepth)
	}
	p.open[v] = true
	err := p.compound(v)
	delete(p.open, v)
	p.depth--
	if err == nil {
		p.memo[v] = p.e.Remember()
	}
	return err
}

func (p *pickler) compound(v value.Value) error {
	switch v.Kind() {
	case value.KindTensor:
		return p.tensor(v.Tensor())
	case value.KindTuple:
		p.e.Mark()
		err := p.values(v.Tuple().Items)
		p.e.Tuple()
		return err
	case value.KindList:
		return p.list(v.List())
	case value.KindDict:
		return p.dict(v.Dict())
	case value.KindEnum:
		p.class(v.Enum().Type)
		err := p.value(v.Enum().Value())
		p.e.Reduce()
		return err
	case value.KindObject:
		return p.object(v.Object())
	case value.KindCapsule:
		return p.capsule(v.Capsule())
	}
	return archiveError("Cannot serialize a value of type %s", value.TypeOf(v).Annotation(nil))
}

func (p *pickler) values(items []value.Value) error {
	for _, item := range items {
		if err := p.value(item); err != nil {
			return err
		}
	}
	return nil
}

// class pushes the global that a named type is.
func (p *pickler) class(t types.Type) {
	name := t.Annotation(p.rename)
	dot := strings.LastIndexByte(name, '.')
	p.e.Global(name[:max(dot, 0)], name[dot+1:])
}

// listBuilder returns the function that gives a list its type, "" where that is a type tag.
func listBuilder(elem types.Type) string {
	switch elem.Kind() {
	case types.KindInt:
		return "build_intlist"
	case types.KindFloat:
		return "build_doublelist"
	case types.KindBool:
		return "build_boollist"
	case types.KindTensor:
		return "build_tensorlist"
	}
	return ""
}

func (p *pickler) list(l *value.List) error {
	if p.plain {
		return p.listItems(l)
	}
	builder := listBuilder(l.Elem)
	if builder == "" {
		p.e.Global("torch.jit._pickle", "restore_type_tag")
	} else {
		p.e.Global("torch.jit._pickle", builder)
	}
	p.e.Mark()
	err := p.listItems(l)
	if builder == "" {
		p.e.String(types.NewList(l.Elem).Annotation(p.rename))
	}
	p.e.Tuple()
	p.e.Reduce()
	return err
}

func (p *pickler) listItems(l *value.List) error {
	p.e.EmptyList()
	p.e.Mark()
	err := p.values(l.Items)
	p.e.Append()
	return err
}

func (p *pickler) dict(d *value.Dict) error {
	if p.plain {
		return p.dictItems(d)
	}
	p.e.Global("torch.jit._pickle", "restore_type_tag")
	p.e.Mark()
	if err := p.dictItems(d); err != nil {
		return err
	}
	p.e.String(types.NewDict(d.Key, d.Elem).Annotation(p.rename))
	p.e.Tuple()
	p.e.Reduce()
	return nil
}

func (p *pickler) dictItems(d *value.Dict) error {
	p.e.EmptyDict()
	p.e.Mark()
	for k, v := range d.All {
		if err := p.values([]value.Value{k, v}); err != nil {
			return err
		}
	}
	p.e.SetItems()
	return nil
}

// object pushes an instance with its slots, or with what __getstate__ returns.
func (p *pickler) object(o *value.Object) error {
	p.class(o.Class)
	p.e.EmptyTuple()
	p.e.NewObject()
	if f, ok := o.Class.FindMethod("__getstate__").(*ir.Function); ok {
		state, err := p.state(o, f)
		if err != nil {
			return err
		}
		if err := p.value(state); err != nil {
			return err
		}
		p.e.Build()
		return nil
	}
	o.Complete()
	p.e.EmptyDict()
	p.e.Mark()
	for i := range o.Class.Attributes {
		p.e.String(o.Class.Attributes[i].Name)
		if err := p.value(o.Slots[i]); err != nil {
			return err
		}
	}
	p.e.SetItems()
	p.e.Build()
	return nil
}

func (p *pickler) state(o *value.Object, getState *ir.Function) (value.Value, error) {
	if o.Class.FindMethod("__setstate__") == nil {
		return value.None, archiveError("The class %s has __getstate__ and no __setstate__", o.Class.Name)
	}
	if err := getState.EnsureDefined(); err != nil {
		return value.None, err
	}
	if len(getState.Schema.Arguments) != 1 || p.call == nil {
		return value.None, archiveError("__getstate__ of %s cannot be called without arguments", o.Class.Name)
	}
	return p.call(parallel.InterruptContext(), getState, value.OfObject(o))
}

// StateOf returns what an object of the library's own classes is made of again.
func StateOf(c *value.Capsule) (value.Value, bool) {
	if s, has := c.Content.(interface{ State() value.Value }); has {
		return s.State(), true
	}
	state, ok := c.Content.(value.Value)
	return state, ok
}

func (p *pickler) capsule(c *value.Capsule) error {
	state, ok := StateOf(c)
	if !ok {
		return archiveError("Cannot serialize a value of the class %s", c.Kind)
	}
	name := types.NativePrefix + c.Kind
	dot := strings.LastIndexByte(name, '.')
	p.e.Global(name[:dot], name[dot+1:])
	p.e.EmptyTuple()
	p.e.NewObject()
	err := p.value(state)
	p.e.Build()
	return err
}

// quantizer pushes how a tensor is quantized.
func (p *pickler) quantizer(q *tensor.Quantizer) error {
	p.e.Mark()
	if !q.PerChannel() {
		p.e.Global("torch", "per_tensor_affine")
		p.e.Float(q.Scale)
		p.e.Int(q.ZeroPoint)
		p.e.Tuple()
		return nil
	}
	scales, zeros, err := q.ChannelTensors()
	if err != nil {
		return err
	}
	p.e.Global("torch", q.Scheme())
	if err := p.tensor(scales); err != nil {
		return err
	}
	err = p.tensor(zeros)
	p.e.Int(int64(q.Axis))
	p.e.Tuple()
	return err
}

func (p *pickler) tensor(t *tensor.Tensor) error {
	if t.Layout() == tensor.MKLDNN {
		return archiveError("Cannot access data pointer of Tensor that doesn't have storage")
	}
	if t.IsSparse() {
		return p.sparse(t)
	}
	t, err := t.Resolved()
	if err != nil {
		return err
	}
	if t.Device().Type == tensor.Meta {
		return archiveError("Cannot serialize a tensor on the device %s", t.Device())
	}
	if s := t.Storage(); t.OnDevice() && p.fetched[s] == nil {
		here, err := storageOn(s, tensor.Device{})
		if err != nil {
			return err
		}
		if p.fetched == nil {
			p.fetched = map[*tensor.Storage]*tensor.Storage{}
		}
		p.fetched[s] = here
	}
	q := t.Quantizer()
	if q != nil {
		p.e.Global("torch._utils", "_rebuild_qtensor")
	} else {
		p.e.Global("torch._utils", "_rebuild_tensor_v2")
	}
	p.e.Mark()
	p.storage(t)
	p.e.Int(int64(t.Offset()))
	p.ints(t.Shape())
	p.ints(t.Strides())
	if q != nil {
		if err := p.quantizer(q); err != nil {
			return err
		}
	}
	p.e.Bool(t.RequiresGrad())
	p.endTensor()
	return nil
}

// endTensor writes what ends the call that makes a tensor: it has no hooks.
func (p *pickler) endTensor() {
	p.e.Global("collections", "OrderedDict")
	p.e.EmptyTuple()
	p.e.Reduce()
	p.e.Tuple()
	p.e.Reduce()
}

func (p *pickler) ints(xs []int) {
	p.e.Mark()
	for _, x := range xs {
		p.e.Int(int64(x))
	}
	p.e.Tuple()
}

// storage pushes the reference to a tensor's storage. PyTorch shares a storage where the reference
// is remembered, not where two of them are equal.
func (p *pickler) storage(t *tensor.Tensor) {
	s := t.Storage()
	ref := storageRef{s, t.DType()}
	if id, ok := p.refs[ref]; ok {
		p.e.Recall(id)
		return
	}
	key, ok := p.keys[s]
	if !ok {
		key = len(p.storages)
		p.keys[s] = key
		p.storages = append(p.storages, s)
	}
	p.e.Mark()
	p.e.String("storage")
	p.e.Global("torch", storageClasses[t.DType()])
	p.e.String(strconv.Itoa(key))
	p.e.String(t.Device().String())
	p.e.Int(int64(s.NBytes() / t.DType().Size()))
	p.e.Tuple()
	p.e.Persistent()
	p.refs[ref] = p.e.Remember()
}
