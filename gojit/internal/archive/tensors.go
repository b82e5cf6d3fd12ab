package archive

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// maxDepth bounds how deeply values may be nested in each other.
const maxDepth = 2000

// maxStride bounds the strides of tensors.
const maxStride = 1 << 60

// storageTypes are the names of storage classes with the type of their elements.
var storageTypes = map[string]tensor.DType{
	"ByteStorage": tensor.Uint8, "CharStorage": tensor.Int8, "ShortStorage": tensor.Int16, "IntStorage": tensor.Int32,
	"LongStorage": tensor.Int64, "HalfStorage": tensor.Float16, "FloatStorage": tensor.Float32,
	"DoubleStorage": tensor.Float64, "ComplexHalfStorage": tensor.Complex32, "ComplexFloatStorage": tensor.Complex64,
	"ComplexDoubleStorage": tensor.Complex128, "BoolStorage": tensor.Bool, "QInt8Storage": tensor.QInt8,
	"QUInt8Storage": tensor.QUInt8, "QInt32Storage": tensor.QInt32, "BFloat16Storage": tensor.BFloat16,
}

// unpickler makes values from the data of a pickle.
type unpickler struct {
	a      *Archive
	folder string // of the storages: "data" or "constants"
	// class returns the type of a qualified name.
	class func(name string) (types.Type, error)
	// annotation reads the text of a type.
	annotation func(text string) (types.Type, error)
	// setState runs __setstate__ of a class that has one; ok is false where it has none.
	setState func(o *value.Object, state value.Value) (ok bool, err error)

	device   *tensor.Device // of the tensors, nil for where they were
	storages map[string]*tensor.Storage
	made     map[any]value.Value // by the pointer of the pickle's data
	slots    map[*types.Class]map[string]int
	depth    int
}

func (u *unpickler) read(record string) (value.Value, error) {
	data, err := u.a.Read(record)
	if err != nil {
		return value.None, err
	}
	tree, err := pickle.Decode(data)
	if err != nil {
		return value.None, wrap(record, err)
	}
	if err := measure(tree); err != nil {
		return value.None, wrap(record, err)
	}
	v, err := u.value(tree)
	return v, wrap(record, err)
}

// malformed says what makes a pickle one that readers read differently.
type malformed string

func malformedf(format string, args ...any) error { return malformed(fmt.Sprintf(format, args...)) }

func (m malformed) Error() string { return string(m) }

// value makes the value that a piece of a pickle stands for.
func (u *unpickler) value(x any) (value.Value, error) {
	switch x := x.(type) {
	case nil:
		return value.None, nil
	case bool:
		return value.Bool(x), nil
	case int64:
		return value.Int(x), nil
	case float64:
		return value.Float(x), nil
	case string:
		return value.Str(x), nil
	}
	if v, ok := u.made[x]; ok {
		return v, nil
	}
	if u.depth++; u.depth > maxDepth {
		return value.None, archiveError("Values are nested more than %d deep", maxDepth)
	}
	defer func() { u.depth-- }()
	v, err := u.compound(x)
	if err == nil {
		u.made[x] = v
	}
	return v, err
}

func (u *unpickler) values(items []any) ([]value.Value, error) {
	out := make([]value.Value, len(items))
	for i, item := range items {
		v, err := u.value(item)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (u *unpickler) compound(x any) (value.Value, error) {
	switch x := x.(type) {
	case *pickle.Tuple:
		items, err := u.values(x.Items)
		return value.OfTuple(value.NewTuple(items...)), err
	case *pickle.List:
		items, err := u.values(x.Items)
		if err != nil {
			return value.None, err
		}
		return value.OfList(value.NewList(value.CommonType(items), items...)), nil
	case *pickle.Dict:
		return u.dict(x)
	case *pickle.Call:
		return u.call(x)
	case *pickle.Object:
		return u.object(x)
	}
	return value.None, archiveError("A value of kind %T stands where it has no meaning", x)
}

func (u *unpickler) dict(x *pickle.Dict) (value.Value, error) {
	keys, err := u.values(x.Keys)
	if err != nil {
		return value.None, err
	}
	vals, err := u.values(x.Values)
	if err != nil {
		return value.None, err
	}
	var key, elem types.Type = types.Str, types.Tensor
	if len(keys) > 0 {
		key, elem = value.CommonType(keys), value.CommonType(vals)
	}
	d := value.NewDict(key, elem)
	for i, k := range keys {
		switch k.Kind() {
		case value.KindString, value.KindInt, value.KindFloat, value.KindBool, value.KindComplex, value.KindTensor:
		default:
			return value.None, archiveError("A value of kind %s is the key of a dictionary", k.Kind())
		}
		if d.Set(k, vals[i]); d.Len() <= i {
			return value.None, malformedf("a dictionary has the key %.40s twice", value.Repr(k, nil))
		}
	}
	return value.OfDict(d), nil
}

// listBuilders are the functions that give a list the type of its elements.
var listBuilders = map[string]types.Type{
	"build_intlist": types.Int, "build_doublelist": types.Float, "build_boollist": types.Bool, "build_tensorlist": types.Tensor,
}

func (u *unpickler) call(x *pickle.Call) (value.Value, error) {
	args, _ := x.Args.(*pickle.Tuple)
	if args == nil {
		args = &pickle.Tuple{Items: []any{x.Args}}
	}
	name := x.Callee.String()
	want := func(n int) error {
		if len(args.Items) < n {
			return archiveError("%s is called with %d arguments, %d are needed", name, len(args.Items), n)
		}
		return nil
	}
	switch name {
	case "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor":
		if err := want(4); err != nil {
			return value.None, err
		}
		return u.tensor(args.Items)
	case "torch._utils._rebuild_qtensor":
		if err := want(6); err != nil {
			return value.None, err
		}
		return u.quantized(args.Items)
	case "torch._utils._rebuild_sparse_tensor":
		if err := want(5); err != nil {
			return value.None, err
		}
		return u.sparse(args.Items)
	case "torch._utils._rebuild_parameter":
		if err := want(2); err != nil {
			return value.None, err
		}
		v, err := u.value(args.Items[0])
		if on, ok := args.Items[1].(bool); err == nil && ok && v.IsTensor() {
			err = v.Tensor().SetRequiresGrad(on)
		}
		return v, err
	case "collections.OrderedDict":
		if len(args.Items) > 0 {
			return value.None, malformedf("%s is called with arguments", name)
		}
		return value.OfDict(value.NewDict(types.Str, types.Tensor)), nil
	case "torch.device":
		if err := want(1); err != nil {
			return value.None, err
		}
		text, _ := args.Items[0].(string)
		d, err := tensor.ParseDevice(text)
		return value.OfDevice(d), err
	case "builtins.complex", "__builtin__.complex":
		items, err := u.values(args.Items)
		if err != nil || len(items) != 2 || !items[0].IsFloat() || !items[1].IsFloat() {
			return value.None, archiveError("A complex number is made of two floats")
		}
		return value.Complex(complex(items[0].Float(), items[1].Float())), nil
	case "torch.jit._pickle.restore_type_tag":
		if err := want(2); err != nil {
			return value.None, err
		}
		return u.tagged(args.Items)
	}
	if elem := listBuilders[x.Callee.Name]; elem != nil && x.Callee.Module == "torch.jit._pickle" {
		if err := want(1); err != nil {
			return value.None, err
		}
		v, err := u.value(args.Items[0])
		if err != nil {
			return value.None, err
		}
		return coerce(v, types.NewList(elem))
	}
	if strings.HasPrefix(x.Callee.Module, "__torch__") {
		return u.enum(name, args.Items)
	}
	return value.None, archiveError("The archive asks for a call of %s, which is not allowed", name)
}

func coerce(v value.Value, t types.Type) (value.Value, error) {
	c, ok := value.Coerce(v, t)
	if !ok {
		return value.None, archiveError("A value of type %s stands where a %s is expected", value.TypeOf(v).Annotation(nil), t.Annotation(nil))
	}
	return c, nil
}

func (u *unpickler) tagged(args []any) (value.Value, error) {
	text, ok := args[1].(string)
	if !ok {
		return value.None, archiveError("A type tag is no text")
	}
	t, err := u.annotation(text)
	if err != nil {
		return value.None, err
	}
	v, err := u.value(args[0])
	if err != nil {
		return value.None, err
	}
	return coerce(v, t)
}

func (u *unpickler) enum(name string, args []any) (value.Value, error) {
	t, err := u.class(name)
	if err != nil {
		return value.None, err
	}
	e, ok := t.(*types.Enum)
	if !ok || len(args) != 1 {
		return value.None, archiveError("The archive asks for a call of %s, which is no enumeration", name)
	}
	v, err := u.value(args[0])
	if err != nil {
		return value.None, err
	}
	for i, m := range e.Members {
		if value.EqualConstants(m.Value.(value.Value), v) {
			return value.OfEnum(&value.Enum{Type: e, Index: i}), nil
		}
	}
	return value.None, archiveError("No member of %s has the value %s", name, value.Repr(v, nil))
}

// ints reads a tuple of integers that are not negative.
func ints(x any) ([]int, error) {
	t, ok := x.(*pickle.Tuple)
	if !ok || len(t.Items) > 64 {
		return nil, archiveError("A size or stride is no tuple of integers")
	}
	out := make([]int, len(t.Items))
	for i, item := range t.Items {
		n, ok := item.(int64)
		if !ok || n < 0 {
			return nil, archiveError("A size or stride is no tuple of integers")
		}
		out[i] = int(n)
	}
	return out, nil
}

func (u *unpickler) tensor(args []any) (value.Value, error) {
	t, err := u.strided(args)
	if err != nil {
		return value.None, err
	}
	if t.DType().IsQuantized() {
		return value.None, archiveError("A tensor has elements of type %s and no quantization", t.DType())
	}
	if len(args) > 4 {
		if on, ok := args[4].(bool); ok && on {
			if err := t.SetRequiresGrad(true); err != nil {
				return value.None, err
			}
		}
	}
	if len(args) > 6 {
		return u.withBits(t, args[6])
	}
	return value.OfTensor(t), nil
}

// withBits gives a tensor that shows what the file says of it: the conjugates of what lies there, or the negatives. PyTorch 2 writes that.
func (u *unpickler) withBits(t *tensor.Tensor, metadata any) (value.Value, error) {
	d, _ := metadata.(*pickle.Dict)
	if d == nil {
		return value.OfTensor(t), nil
	}
	var bits tensor.Bits
	for key, bit := range map[string]tensor.Bits{"conj": tensor.ConjugateBit, "neg": tensor.NegativeBit} {
		if on, _ := d.Get(key); on == true {
			bits |= bit
		}
	}
	if bits == 0 {
		return value.OfTensor(t), nil
	}
	shown, err := t.WithBits(bits).Resolved()
	if err == nil && t.RequiresGrad() {
		err = shown.SetRequiresGrad(true)
	}
	return value.OfTensor(shown), err
}

// strided makes a tensor over a storage: storage, offset, size, stride.
func (u *unpickler) strided(args []any) (*tensor.Tensor, error) {
	s, dtype, err := u.storage(args[0])
	if err != nil {
		return nil, err
	}
	offset, ok := args[1].(int64)
	if !ok || offset < 0 {
		return nil, archiveError("The offset of a tensor is no integer")
	}
	shape, err := ints(args[2])
	if err != nil {
		return nil, err
	}
	strides, err := ints(args[3])
	if err != nil {
		return nil, err
	}
	return Strided(s, dtype, int(offset), shape, strides)
}

// Strided makes a tensor over a storage that was read. It fails where the tensor reaches beyond the storage.
func Strided(s *tensor.Storage, dtype tensor.DType, offset int, shape, strides []int) (*tensor.Tensor, error) {
	if len(shape) != len(strides) {
		return nil, archiveError("A tensor has %d sizes and %d strides", len(shape), len(strides))
	}
	if _, err := tensor.Numel(shape); err != nil {
		return nil, err
	}
	// No number is larger than the storage has elements, or a tensor of one element has: sums of them do not overflow.
	held := s.NBytes() / dtype.Size()
	end, empty := 1, slices.Contains(shape, 0)
	for i, n := range shape {
		stride := strides[i]
		if stride < 0 || stride > maxStride || !empty && n > 1 && stride > 0 && (stride > held || n-1 > held/stride) {
			return nil, archiveError("A tensor of shape %v and strides %v reaches beyond its storage, which has %d elements", shape, strides, held)
		}
		if !empty {
			end += (n - 1) * stride
		}
	}
	if empty {
		end = 0
	}
	if offset < 0 || offset > held || end > held-offset {
		return nil, archiveError("A tensor of shape %v reaches from element %d to element %d of a storage that has %d", shape, offset, end+offset, held)
	}
	return tensor.FromStorage(s, offset, shape, strides, dtype)
}

// storage returns the storage of a persistent reference; tensors that refer to one storage share
// it.
func (u *unpickler) storage(x any) (*tensor.Storage, tensor.DType, error) {
	p, ok := x.(*pickle.PersistentID)
	if !ok {
		return nil, 0, archiveError("A tensor has no storage")
	}
	t, ok := p.ID.(*pickle.Tuple)
	if !ok || len(t.Items) < 5 {
		return nil, 0, archiveError("The reference to a storage is malformed")
	}
	if tag, _ := t.Items[0].(string); tag != "storage" {
		return nil, 0, archiveError("The reference to a storage is malformed")
	}
	class, isGlobal := t.Items[1].(pickle.Global)
	key, isString := t.Items[2].(string)
	numel, isInt := t.Items[4].(int64)
	dtype, known := storageTypes[class.Name]
	if !isGlobal || !isString || !isInt || !known || numel < 0 {
		return nil, 0, archiveError("The reference to a storage is malformed")
	}
	if s := u.storages[key]; s != nil {
		return s, dtype, nil
	}
	if numel == 0 {
		s, err := tensor.NewStorage(0)
		u.storages[key] = s
		return s, dtype, err
	}
	place, err := u.place(t.Items[3])
	if err != nil {
		return nil, 0, err
	}
	read := u.a.ReadLater
	if u.a.swapped || place.Type != tensor.CPU {
		read = u.a.Read
	}
	b, err := read(u.folder + "/" + key)
	if err != nil {
		return nil, 0, err
	}
	if int64(len(b))/int64(dtype.Size()) < numel {
		return nil, 0, archiveError("The record %q has %d bytes, too few for %d elements of type %s", u.folder+"/"+key, len(b), numel, dtype)
	}
	s := u.a.storageOf(b[:int(numel)*dtype.Size()], dtype)
	if place.Type != tensor.CPU {
		if s, err = storageOn(s, place); err != nil {
			return nil, 0, err
		}
	}
	u.storages[key] = s
	return s, dtype, nil
}

// Storage returns the elements of a record that has nothing else. Elements that cannot stay as they are, for their place or the order of their bytes,
// are copied.
func (a *Archive) Storage(record string, dtype tensor.DType) (*tensor.Storage, error) {
	b, err := a.Read(record)
	if err != nil {
		return nil, err
	}
	return a.storageOf(b[:len(b)/dtype.Size()*dtype.Size()], dtype), nil
}

func (a *Archive) storageOf(b []byte, dtype tensor.DType) *tensor.Storage {
	switch {
	case a.swapped:
		b = swapBytes(b, dtype)
	case uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(dtype.Size()) != 0:
		b = slices.Clone(b)
	}
	return tensor.ForeignStorage(b, nil)
}

// place returns the device for a storage that was at a location when it was saved.
func (u *unpickler) place(location any) (tensor.Device, error) {
	if u.device != nil {
		return *u.device, nil
	}
	name, _ := location.(string)
	if !strings.HasPrefix(name, "cuda") {
		return tensor.Device{}, nil
	}
	d, err := tensor.ParseDevice(name)
	if err == nil {
		_, err = tensor.FindDevice(d)
	}
	if err != nil {
		return d, archiveError("The archive has tensors on the device %s, which is not available: %v. Load it with map_location='cpu' to have them on the processor", name, err)
	}
	return d, nil
}

// storageOn returns a copy of a storage on a device.
func storageOn(s *tensor.Storage, d tensor.Device) (*tensor.Storage, error) {
	bytes, err := tensor.FromStorage(s, 0, []int{s.NBytes()}, []int{1}, tensor.Uint8)
	if err != nil {
		return nil, err
	}
	there, err := bytes.ToDevice(d)
	if err != nil {
		return nil, err
	}
	return there.Storage(), nil
}

// swapBytes returns a copy of elements whose bytes stand in the other order. Each part of a complex number is a number.
func swapBytes(b []byte, dtype tensor.DType) []byte {
	width := dtype.Size()
	if dtype.IsComplex() {
		width /= 2
	}
	b = slices.Clone(b)
	for i := 0; i < len(b); i += width {
		slices.Reverse(b[i : i+width])
	}
	return b
}

func (u *unpickler) quantized(args []any) (value.Value, error) {
	t, err := u.strided(args)
	if err != nil {
		return value.None, err
	}
	scheme, ok := args[4].(*pickle.Tuple)
	if !ok || len(scheme.Items) < 3 {
		return value.None, archiveError("The quantization of a tensor is malformed")
	}
	q, err := u.quantizer(scheme.Items)
	if err != nil {
		return value.None, err
	}
	if q.PerChannel() && (q.Axis < 0 || q.Axis >= t.Dim() || !q.FitsChannels(t.Size(q.Axis))) {
		return value.None, archiveError("A tensor of shape %v is quantized along dimension %d with %d scales and %d zero points", t.Shape(), q.Axis, len(q.Scales), len(q.ZeroPoints)+len(q.FloatZeros))
	}
	t.SetQuantizer(q)
	return value.OfTensor(t), nil
}

// quantizer reads (scheme, scale, zero point) or (scheme, scales, zero points, axis).
func (u *unpickler) quantizer(scheme []any) (*tensor.Quantizer, error) {
	malformed := archiveError("The quantization of a tensor is malformed")
	switch kind, _ := scheme[0].(pickle.Global); kind.Name {
	case "per_tensor_affine":
		scale, isFloat := scheme[1].(float64)
		zero, isInt := scheme[2].(int64)
		if !isFloat || !isInt {
			return nil, malformed
		}
		return &tensor.Quantizer{Scale: scale, ZeroPoint: zero}, nil
	case "per_channel_affine", "per_channel_affine_float_qparams":
		if len(scheme) < 4 {
			return nil, malformed
		}
		axis, isInt := scheme[3].(int64)
		scales, err := u.numbers(scheme[1], tensor.Float64)
		if err != nil || !isInt {
			return nil, malformed
		}
		if kind.Name != "per_channel_affine" {
			zeros, err := u.numbers(scheme[2], tensor.Float32)
			if err != nil {
				return nil, malformed
			}
			return &tensor.Quantizer{Scales: slices.Clone(tensor.Data[float64](scales)), FloatZeros: slices.Clone(tensor.Data[float32](zeros)), Axis: int(axis)}, nil
		}
		zeros, err := u.numbers(scheme[2], tensor.Int64)
		if err != nil {
			return nil, malformed
		}
		return &tensor.Quantizer{Scales: slices.Clone(tensor.Data[float64](scales)), ZeroPoints: slices.Clone(tensor.Data[int64](zeros)), Axis: int(axis)}, nil
	default:
		return nil, archiveError("Tensors quantized by %s are not supported", kind)
	}
}

// numbers reads a tensor of one dimension as a copy of a type.
func (u *unpickler) numbers(x any, dtype tensor.DType) (*tensor.Tensor, error) {
	v, err := u.value(x)
	if err != nil {
		return nil, err
	}
	if !v.IsTensor() || v.Tensor().Dim() != 1 {
		return nil, archiveError("The quantization of a tensor is malformed")
	}
	t, err := v.Tensor().To(dtype)
	if err != nil {
		return nil, err
	}
	return t.Clone(tensor.ContiguousFormat)
}

// object makes an instance of a class of the archive and fills its slots.
func (u *unpickler) object(x *pickle.Object) (value.Value, error) {
	name := x.Class.String()
	t, err := u.class(name)
	if err != nil {
		return value.None, err
	}
	c, ok := t.(*types.Class)
	if !ok {
		return value.None, archiveError("The archive holds an object of %s, which it does not define as a class", name)
	}
	o := value.NewObject(c)
	u.made[x] = value.OfObject(o)
	if strings.HasPrefix(c.Name, types.NativePrefix) {
		state, err := u.value(x.State)
		if err != nil {
			return value.None, err
		}
		return value.OfCapsule(&value.Capsule{Kind: strings.TrimPrefix(c.Name, types.NativePrefix), Native: true, Content: state}), nil
	}
	if c.FindMethod("__setstate__") != nil {
		state, err := u.value(x.State)
		if err != nil {
			return value.None, err
		}
		_, err = u.setState(o, state)
		return value.OfObject(o), err
	}
	state, ok := x.State.(*pickle.Dict)
	if !ok {
		return value.None, archiveError("The state of an object of %s is no dictionary", name)
	}
	slots, filled := u.slotsOf(c), make([]bool, len(o.Slots))
	for i, k := range state.Keys {
		field, isText := k.(string)
		slot, ok := slots[field]
		if !isText || !ok {
			return value.None, archiveError("The state of an object of %s has the entry %v, which the class does not have", name, k)
		}
		if filled[slot] {
			return value.None, malformedf("the state of an object of %s has the entry '%s' twice", name, field)
		}
		filled[slot] = true
		v, err := u.value(state.Values[i])
		if err != nil {
			return value.None, err
		}
		if o.Slots[slot], err = coerce(v, c.Attributes[slot].Type); err != nil {
			return value.None, archiveError("The attribute '%s' of %s: %s", field, name, err)
		}
	}
	if missing := slices.Index(filled, false); missing >= 0 {
		return value.None, malformedf("the state of an object of %s does not have the attribute '%s'", name, c.Attributes[missing].Name)
	}
	return value.OfObject(o), nil
}

// slotsOf returns the slots of a class by the names of its attributes.
func (u *unpickler) slotsOf(c *types.Class) map[string]int {
	if slots := u.slots[c]; slots != nil {
		return slots
	}
	slots := make(map[string]int, len(c.Attributes))
	for i := range c.Attributes {
		slots[c.Attributes[i].Name] = i
	}
	if u.slots == nil {
		u.slots = map[*types.Class]map[string]int{}
	}
	u.slots[c] = slots
	return slots
}
