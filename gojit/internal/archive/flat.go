package archive

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/bytecode"
	"github.com/torchjit/torchjit/gojit/internal/archive/flatbuffer"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// flatIdentifier stands in files of PyTorch's mobile format that are FlatBuffers.
const flatIdentifier = "PTMF"

// The kinds of values in such a file.
const (
	flatNone = iota
	flatInt
	flatBool
	flatDouble
	flatComplex
	flatTensor
	flatString
	flatList
	flatTuple
	flatDict
	flatObject
	flatIntList
	flatDoubleList
	flatBoolList
	flatDevice
	flatEnum
	flatFunction
)

// How the state of an object stands in the file.
const (
	flatWithFields   = 1
	flatNative       = 2
	flatWithSetState = 3
)

// flatBytecode is the version of files whose bytecode has the instructions of version 8.
const flatBytecode = 9

// flatOpcodes are the instructions of the bytecode by their numbers.
var flatOpcodes = [...]string{
	"OP", "OPN", "LOAD", "MOVE", "STOREN", "STORE", "DROP", "DROPR", "LOADC", "JF", "JMP", "LOOP", "RET", "WAIT", "CALL", "GUARD", "TYPECHECK", "FAIL_GUARD",
	"PROFILE_OP", "TAIL_CALL", "INTERFACE_CALL", "GET_ATTR", "SET_ATTR", "LIST_UNPACK", "TUPLE_CONSTRUCT", "NAMED_TUPLE_CONSTRUCT", "LIST_CONSTRUCT",
	"DICT_CONSTRUCT", "CREATE_OBJECT", "ISINSTANCE", "TUPLE_SLICE", "TUPLE_INDEX", "RAISE_EXCEPTION", "DICT_INDEX", "UNCHECKED_CAST", "__IS__",
	"UN_INITIALIZED", "__ISNOT__", "FORMAT", "DEVICE", "DTYPE", "DIM", "__NOT__", "TO_LIST", "NUM_TO_TENSOR", "IS_CUDA", "FORK", "WARN", "ENTER", "EXIT", "AWAITABLE",
}

// SaveFlat returns a module in PyTorch's mobile format as a FlatBuffer: its state, its bytecode and its source text. It fails where SaveLite does.
func SaveFlat(m *value.Object, extra map[string][]byte, o LiteOptions, call Call) ([]byte, error) {
	if !m.Class.IsModule {
		return nil, archiveError("An object of %s is no module: only modules are saved", m.Class.Name)
	}
	l := newLiteExporter(LiteOptions{InterfaceCalls: o.InterfaceCalls})
	l.reach(value.OfObject(m), map[*value.Object]bool{})
	f := &flatWriter{l: l, call: call, index: map[value.Value]uint32{}, open: map[value.Value]bool{}, class: map[*types.Class]uint32{},
		keys: map[*tensor.Storage]uint32{}, setState: map[string]uint32{}, values: []flatValue{{}}}
	if err := l.module(m.Class); err != nil {
		return nil, err
	}
	for _, code := range l.codes {
		if err := f.function(code); err != nil {
			return nil, err
		}
	}
	state, err := f.value(value.OfObject(m))
	if err != nil {
		return nil, err
	}
	mobile := len(f.values)
	constants, err := f.constants()
	if err != nil {
		return nil, err
	}
	if f.bytes > flatbuffer.Limit {
		return nil, archiveError("The module has more than %d bytes, which a FlatBuffer cannot have: torch.jit.save writes it", flatbuffer.Limit)
	}
	return flatbuffer.Finish(flatIdentifier,
		flatbuffer.Uint32(flatBytecode),
		refs(extraFiles(extra)),
		numbers(f.functions),
		flatbuffer.Uint32(state),
		refs(f.written()),
		flatbuffer.Int32(int32(len(f.storages))),
		refs(f.memories()),
		refs(f.classes),
		refs(f.sources()),
		numbers(constants),
		flatbuffer.Uint32(1),
		flatbuffer.Uint32(uint32(mobile)),
	), nil
}

// flatValue is a value that is to be written: its kind and what holds it.
type flatValue struct {
	kind uint8
	ref  flatbuffer.Ref
}

// flatWriter numbers the values of a module.
type flatWriter struct {
	l    *liteExporter
	call Call

	values    []flatValue // the first is None
	index     map[value.Value]uint32
	open      map[value.Value]bool // being numbered
	depth     int
	functions []uint32
	setState  map[string]uint32 // the functions __setstate__ by the names of their classes
	classes   []flatbuffer.Ref
	class     map[*types.Class]uint32
	storages  []*tensor.Storage
	keys      map[*tensor.Storage]uint32
	bytes     int
}

func refs(rs []flatbuffer.Ref) flatbuffer.Field {
	return flatbuffer.To(func(w *flatbuffer.Writer) int { return w.Refs(rs) })
}

func tableOf(fields ...flatbuffer.Field) flatbuffer.Ref {
	return func(w *flatbuffer.Writer) int { return w.Table(fields...) }
}

func vector[T any](items []T, size int, put func(b []byte, item T) []byte) flatbuffer.Field {
	return flatbuffer.To(func(w *flatbuffer.Writer) int {
		data := make([]byte, 0, size*len(items))
		for _, item := range items {
			data = put(data, item)
		}
		return w.Bytes(len(items), data, min(size, 8))
	})
}

func numbers(items []uint32) flatbuffer.Field {
	return vector(items, 4, binary.LittleEndian.AppendUint32)
}

func texts(items []string) flatbuffer.Field {
	rs := make([]flatbuffer.Ref, len(items))
	for i, s := range items {
		rs[i] = func(w *flatbuffer.Writer) int { return w.Text(s) }
	}
	return refs(rs)
}

func extraFiles(extra map[string][]byte) (rs []flatbuffer.Ref) {
	for _, name := range sortedNames(extra) {
		rs = append(rs, tableOf(flatbuffer.Text(name), flatbuffer.Text(string(extra[name]))))
	}
	return rs
}

func sortedNames(extra map[string][]byte) []string {
	names := make([]string, 0, len(extra))
	for name := range extra {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// sources are the texts of the program.
func (f *flatWriter) sources() (rs []flatbuffer.Ref) {
	x := f.l.Exporter
	for _, prefix := range x.Prefixes {
		text, _ := x.Printers[prefix].Places.Unmark(x.Printers[prefix].B.String())
		rs = append(rs, tableOf(flatbuffer.Text(prefix), flatbuffer.Text(text)))
	}
	return rs
}

// constants numbers those that the program refers to; these may need definitions in turn.
func (f *flatWriter) constants() (indices []uint32, err error) {
	x := f.l.Exporter
	for {
		if err := x.Drain(); err != nil {
			return nil, err
		}
		if indices, err = f.all(x.Constants); err != nil || len(x.Pending) == 0 {
			return indices, err
		}
	}
}

func (f *flatWriter) written() []flatbuffer.Ref {
	rs := make([]flatbuffer.Ref, len(f.values))
	for i, v := range f.values {
		if v.kind == flatNone {
			rs[i] = tableOf()
			continue
		}
		rs[i] = tableOf(flatbuffer.Uint8(v.kind), flatbuffer.To(v.ref))
	}
	return rs
}

func (f *flatWriter) memories() []flatbuffer.Ref {
	rs := make([]flatbuffer.Ref, len(f.storages))
	for i, s := range f.storages {
		rs[i] = tableOf(flatbuffer.To(func(w *flatbuffer.Writer) int { return w.Bytes(s.NBytes(), s.Bytes(), 16) }))
	}
	return rs
}

func (f *flatWriter) add(kind uint8, ref flatbuffer.Ref) uint32 {
	f.values = append(f.values, flatValue{kind, ref})
	return uint32(len(f.values) - 1)
}

// value numbers a value. One that is reached twice has one number. It fails on a value that archives cannot hold, and on one that holds itself.
func (f *flatWriter) value(v value.Value) (uint32, error) {
	if v.Kind() == value.KindNone {
		return 0, nil
	}
	if i, ok := f.index[v]; ok {
		return i, nil
	}
	if f.open[v] {
		return 0, archiveError("Cannot serialize a value of type %s that holds itself", value.TypeOf(v).Annotation(nil))
	}
	if f.depth++; f.depth > maxDepth {
		return 0, archiveError("Cannot serialize values that are nested more than %d deep", maxDepth)
	}
	f.open[v] = true
	kind, ref, err := f.content(v)
	delete(f.open, v)
	f.depth--
	if err != nil {
		return 0, err
	}
	i := f.add(kind, ref)
	f.index[v] = i
	return i, nil
}

func (f *flatWriter) all(vs []value.Value) (indices []uint32, err error) {
	for _, v := range vs {
		i, err := f.value(v)
		if err != nil {
			return nil, err
		}
		indices = append(indices, i)
	}
	return indices, nil
}

// plainStruct writes numbers of eight bytes.
func plainStruct(words ...uint64) flatbuffer.Ref {
	return func(w *flatbuffer.Writer) int {
		var b []byte
		for _, x := range words {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		return w.Struct(b, 8)
	}
}

func (f *flatWriter) content(v value.Value) (kind uint8, ref flatbuffer.Ref, err error) {
	switch v.Kind() {
	case value.KindBool:
		yes := v.Bool()
		return flatBool, func(w *flatbuffer.Writer) int {
			if yes {
				return w.Struct([]byte{1}, 1)
			}
			return w.Struct([]byte{0}, 1)
		}, nil
	case value.KindInt:
		return flatInt, plainStruct(uint64(v.Int())), nil
	case value.KindFloat:
		return flatDouble, plainStruct(math.Float64bits(v.Float())), nil
	case value.KindComplex:
		return flatComplex, plainStruct(math.Float64bits(real(v.Complex())), math.Float64bits(imag(v.Complex()))), nil
	case value.KindString, value.KindEmptyString:
		return flatString, tableOf(flatbuffer.Text(v.Str())), nil
	case value.KindDevice:
		return flatDevice, tableOf(flatbuffer.Text(v.Device().String())), nil
	case value.KindTensor:
		ref, err = f.tensor(v.Tensor())
		return flatTensor, ref, err
	case value.KindTuple:
		items, err := f.all(v.Tuple().Items)
		return flatTuple, tableOf(numbers(items)), err
	case value.KindList:
		return f.list(v.List())
	case value.KindDict:
		var keys, elems []uint32
		for k, x := range v.Dict().All {
			pair, err := f.all([]value.Value{k, x})
			if err != nil {
				return 0, nil, err
			}
			keys, elems = append(keys, pair[0]), append(elems, pair[1])
		}
		text := types.NewDict(v.Dict().Key, v.Dict().Elem).Annotation(f.l.TypeName)
		return flatDict, tableOf(numbers(keys), numbers(elems), flatbuffer.Text(text)), nil
	case value.KindEnum:
		member, err := f.value(v.Enum().Value())
		return flatEnum, tableOf(flatbuffer.Text(v.Enum().Type.Annotation(f.l.TypeName)), flatbuffer.Uint32(member)), err
	case value.KindObject:
		ref, err = f.object(v.Object())
		return flatObject, ref, err
	case value.KindCapsule:
		ref, err = f.capsule(v.Capsule())
		return flatObject, ref, err
	}
	return 0, nil, archiveError("Cannot serialize a value of type %s", value.TypeOf(v).Annotation(nil))
}

func (f *flatWriter) list(l *value.List) (uint8, flatbuffer.Ref, error) {
	switch l.Elem.Kind() {
	case types.KindInt:
		return flatIntList, tableOf(vector(l.Items, 8, func(b []byte, v value.Value) []byte { return binary.LittleEndian.AppendUint64(b, uint64(v.Int())) })), nil
	case types.KindFloat:
		return flatDoubleList, tableOf(vector(l.Items, 8, func(b []byte, v value.Value) []byte {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
		})), nil
	case types.KindBool:
		return flatBoolList, tableOf(vector(l.Items, 1, func(b []byte, v value.Value) []byte {
			if v.Bool() {
				return append(b, 1)
			}
			return append(b, 0)
		})), nil
	}
	items, err := f.all(l.Items)
	return flatList, tableOf(numbers(items), flatbuffer.Text(types.NewList(l.Elem).Annotation(f.l.TypeName))), err
}

// classIndex numbers a class, whose objects have their state in one of three ways.
func (f *flatWriter) classIndex(c *types.Class, how uint8, fields []string) uint32 {
	i, ok := f.class[c]
	if !ok {
		i = uint32(len(f.classes))
		f.class[c] = i
		name, _ := f.l.TypeName(c)
		f.classes = append(f.classes, tableOf(flatbuffer.Text(name), flatbuffer.Uint8(how), texts(fields)))
	}
	return i
}

func (f *flatWriter) object(o *value.Object) (flatbuffer.Ref, error) {
	name, _ := f.l.TypeName(o.Class)
	if get, ok := o.Class.FindMethod("__getstate__").(*ir.Function); ok {
		made, err := (&pickler{call: f.call}).state(o, get)
		if err != nil {
			return nil, err
		}
		state, err := f.value(made)
		if err != nil {
			return nil, err
		}
		set, ok := f.setState[name]
		if !ok {
			return nil, archiveError("The class %s has no bytecode of __setstate__", o.Class.Name)
		}
		return tableOf(flatbuffer.Uint32(f.classIndex(o.Class, flatWithSetState, nil)), flatbuffer.Uint32(state), numbers(nil), flatbuffer.Uint32(set)), nil
	}
	o.Complete()
	attributes, err := f.all(o.Slots[:len(o.Class.Attributes)])
	if err != nil {
		return nil, err
	}
	var fields []string
	for i := range o.Class.Attributes {
		fields = append(fields, o.Class.Attributes[i].Name)
	}
	return tableOf(flatbuffer.Uint32(f.classIndex(o.Class, flatWithFields, fields)), flatbuffer.Uint32(0), numbers(attributes)), nil
}

func (f *flatWriter) capsule(c *value.Capsule) (flatbuffer.Ref, error) {
	content, ok := StateOf(c)
	if !ok {
		return nil, archiveError("Cannot serialize a value of the class %s", c.Kind)
	}
	state, err := f.value(content)
	if err != nil {
		return nil, err
	}
	i := uint32(len(f.classes))
	f.classes = append(f.classes, tableOf(flatbuffer.Text(types.NativePrefix+c.Kind), flatbuffer.Uint8(flatNative), texts(nil)))
	return tableOf(flatbuffer.Uint32(i), flatbuffer.Uint32(state)), nil
}

func sizes(ns []int) (flatbuffer.Field, bool) {
	for _, n := range ns {
		if n > math.MaxInt32 {
			return flatbuffer.Field{}, false
		}
	}
	return vector(ns, 4, func(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }), true
}

func (f *flatWriter) tensor(t *tensor.Tensor) (flatbuffer.Ref, error) {
	t, err := t.Resolved()
	if err != nil {
		return nil, err
	}
	if t.IsSparse() || t.OnDevice() || t.Device().Type == tensor.Meta {
		return nil, archiveError("A tensor on the device %s of the layout %s cannot be in a FlatBuffer: torch.jit.save writes it", t.Device(), t.Layout())
	}
	s := t.Storage()
	key, ok := f.keys[s]
	if !ok {
		key = uint32(len(f.storages))
		f.keys[s] = key
		f.storages = append(f.storages, s)
		f.bytes += s.NBytes()
	}
	shape, small := sizes(t.Shape())
	strides, smallStrides := sizes(t.Strides())
	if !small || !smallStrides || t.Offset() > math.MaxInt32 {
		return nil, archiveError("A tensor with more than %d elements cannot be in a FlatBuffer: torch.jit.save writes it", math.MaxInt32)
	}
	fields := []flatbuffer.Field{
		flatbuffer.Uint32(key), flatbuffer.Uint8(uint8(t.DType())), flatbuffer.Int32(int32(t.Offset())), shape, strides, flatbuffer.Bool(t.RequiresGrad()),
	}
	if q := t.Quantizer(); q != nil {
		how, err := f.quantizer(q)
		if err != nil {
			return nil, err
		}
		fields = append(fields, flatbuffer.To(how))
	}
	return tableOf(fields...), nil
}

// The numbers of the ways in which tensors are quantized.
var flatSchemes = [...]string{"per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric", "per_channel_affine_float_qparams"}

func (f *flatWriter) quantizer(q *tensor.Quantizer) (flatbuffer.Ref, error) {
	if !q.PerChannel() {
		return tableOf(flatbuffer.Uint8(0), flatbuffer.Float64(q.Scale), flatbuffer.Int32(int32(q.ZeroPoint))), nil
	}
	scales, zeros, err := q.ChannelTensors()
	if err != nil {
		return nil, err
	}
	s, err := f.tensor(scales)
	if err != nil {
		return nil, err
	}
	z, err := f.tensor(zeros)
	scheme := slices.Index(flatSchemes[:], q.Scheme())
	return tableOf(flatbuffer.Uint8(uint8(scheme)), flatbuffer.Field{}, flatbuffer.Field{}, flatbuffer.To(s), flatbuffer.To(z), flatbuffer.Int32(int32(q.Axis))), err
}

func (f *flatWriter) arguments(args []schema.Argument) (flatbuffer.Field, error) {
	var rs []flatbuffer.Ref
	for _, a := range args {
		def := value.None
		if a.HasDefault {
			def = a.NewDefault()
		}
		i, err := f.value(def)
		if err != nil {
			return flatbuffer.Field{}, err
		}
		rs = append(rs, tableOf(flatbuffer.Text(a.Name), flatbuffer.Text(a.Type.Annotation(f.l.TypeName)), flatbuffer.Uint32(i)))
	}
	return refs(rs), nil
}

// function numbers the bytecode of a function.
func (f *flatWriter) function(code *bytecode.Bytecode) error {
	for _, in := range code.Instructions {
		if !slices.Contains(flatOpcodes[:], in.Name) || in.N > math.MaxUint16 {
			return archiveError("The instruction %s %d %d of %s cannot be in a FlatBuffer", in.Name, in.X, in.N, code.Name)
		}
	}
	instructions := vector(code.Instructions, 8, func(b []byte, in bytecode.Instruction) []byte {
		b = append(b, byte(slices.Index(flatOpcodes[:], in.Name)), 0)
		b = binary.LittleEndian.AppendUint16(b, uint16(in.N))
		return binary.LittleEndian.AppendUint32(b, uint32(int32(in.X)))
	})
	var operators []flatbuffer.Ref
	for _, o := range code.Operators {
		operators = append(operators, tableOf(flatbuffer.Text(o.Name), flatbuffer.Text(o.Overload), flatbuffer.Int32(int32(o.Arguments))))
	}
	constants, err := f.all(code.Constants)
	if err != nil {
		return err
	}
	arguments, err := f.arguments(code.Schema.Arguments)
	if err != nil {
		return err
	}
	returns, err := f.arguments(code.Schema.Returns)
	if err != nil {
		return err
	}
	i := f.add(flatFunction, tableOf(flatbuffer.Text(code.Name), instructions, refs(operators), numbers(constants), texts(code.Types),
		flatbuffer.Int32(int32(code.Registers)), flatbuffer.To(tableOf(arguments, returns))))
	f.functions = append(f.functions, i)
	if class, found := strings.CutSuffix(code.Name, ".__setstate__"); found {
		f.setState[class] = i
	}
	return nil
}
