package abi

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A member is a function whose name has a class before it: "Graph.addInput(Graph self) -> Value".
// torchjit/_C/__init__.py makes the classes of handles from the members; those of class "_C" are functions
// of the module. A member without a parameter called self is a static method.
//
// Most members are Go functions whose parameters and results are converted by their types; see bind.

// memberFunctions let Python read the table of members.
var memberFunctions = []Function{
	{Schema: "members() -> list", Run: members},
}

// members replies schema, doc and whether it is a property of each member.
func members(c *Call) error {
	found := allMembers()
	c.Open(KindList, len(found))
	for _, f := range found {
		c.Open(KindTuple, 3)
		c.String(f.Schema)
		c.String(f.Doc)
		c.Bool(f.Property)
	}
	return nil
}

func (f *Function) isMember() bool { return strings.Contains(f.Name, ".") }

// Bind makes the run of a registered function from a Go function with one parameter for each of
// the schema's, whose type says how the argument is read; the first may also be the *call. A
// parameter that takes None is a pointer or an interface. Results are written by their types; a
// last result that is an error is the failure. Handles of what has been destroyed are refused, and
// so are nodes, values and blocks of different graphs.
func Bind(fn any) func(*Call) error { return newBinding(fn, false) }

// BindAcross is bind for a function that takes parts of several graphs.
func BindAcross(fn any) func(*Call) error { return newBinding(fn, true) }

// binding is a Go function with what converts its arguments and results.
type binding struct {
	fn      reflect.Value
	takes   bool // the *call first
	readers []argumentReader
	results []resultWriter
	fails   bool
	across  bool
}

type (
	argumentReader func(w *Word) (reflect.Value, error)
	resultWriter   func(w *Writer, v reflect.Value) error
)

func newBinding(fn any, across bool) func(*Call) error {
	t := reflect.TypeOf(fn)
	b := &binding{fn: reflect.ValueOf(fn), across: across}
	for i := range t.NumIn() {
		in := t.In(i)
		if i == 0 && in == reflect.TypeFor[*Call]() {
			b.takes = true
			continue
		}
		b.readers = append(b.readers, readerOf(in))
	}
	for i := range t.NumOut() {
		out := t.Out(i)
		if i == t.NumOut()-1 && out == reflect.TypeFor[error]() {
			b.fails = true
			continue
		}
		b.results = append(b.results, writerOf(out))
	}
	return b.run
}

func (b *binding) run(c *Call) error {
	args := make([]reflect.Value, 0, len(b.readers)+1)
	if b.takes {
		args = append(args, reflect.ValueOf(c))
	}
	for i, read := range b.readers {
		v, err := read(c.Arg(i))
		if err != nil {
			return err
		}
		args = append(args, v)
	}
	if !b.across {
		if err := inOneGraph(args); err != nil {
			return err
		}
	}
	results := b.fn.Call(args)
	if b.fails {
		if err, ok := results[len(results)-1].Interface().(error); ok {
			return err
		}
	}
	switch len(b.results) {
	case 0:
		c.None()
		return nil
	case 1:
		return b.results[0](&c.Writer, results[0])
	}
	c.Open(KindTuple, len(b.results))
	for i, write := range b.results {
		if err := write(&c.Writer, results[i]); err != nil {
			return err
		}
	}
	return nil
}

// inOneGraph fails where arguments are parts of different graphs.
func inOneGraph(args []reflect.Value) error {
	var g *ir.Graph
	for _, a := range args {
		for _, other := range graphsOf(a.Interface()) {
			if g != nil && other != g {
				return RuntimeErrorf("a node, value or block of another graph was given; copy it into this graph first")
			}
			g = other
		}
	}
	return nil
}

func graphsOf(x any) []*ir.Graph {
	switch x := x.(type) {
	case *ir.Graph:
		return []*ir.Graph{x}
	case *ir.Node:
		if x != nil {
			return []*ir.Graph{x.Graph()}
		}
	case *ir.Value:
		if x != nil {
			return []*ir.Graph{x.Node().Graph()}
		}
	case *ir.Block:
		if x != nil {
			return []*ir.Graph{x.Graph()}
		}
	case []*ir.Value:
		var gs []*ir.Graph
		for _, v := range x {
			if v != nil {
				gs = append(gs, v.Node().Graph())
			}
		}
		return gs
	}
	return nil
}

// Destroyed says that a handle stands for something that is no more.
func Destroyed(x any) error {
	gone := false
	switch x := x.(type) {
	case *ir.Node:
		gone = x.IsDestroyed()
	case *ir.Value:
		gone = x.IsErased()
	case *ir.Block:
		gone = x.IsDestroyed()
	}
	if gone {
		return RuntimeErrorf("has been invalidated")
	}
	return nil
}

// readHandle reads a handle of content type T; None gives nil where the schema lets it pass.
func readHandle[T any](w *Word) (reflect.Value, error) {
	x, ok := w.Content().(T)
	if !ok {
		if w.Kind() == KindNone {
			return reflect.Zero(reflect.TypeFor[T]()), nil
		}
		return reflect.Value{}, TypeErrorf("expected a %s, not a %s", handleName[T](), w.KindName())
	}
	return reflect.ValueOf(x), Destroyed(x)
}

func handleName[T any]() string {
	name := reflect.TypeFor[T]().String()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// readPlain makes a reader of a function that cannot fail.
func readPlain[T any](read func(*Word) T) argumentReader {
	return func(w *Word) (reflect.Value, error) { return reflect.ValueOf(read(w)), nil }
}

func readValue(w *Word) (reflect.Value, error) {
	v, err := PlainValue(w)
	if err == nil && v.Kind() == value.KindCapsule {
		err = TypeErrorf("incompatible function arguments. A %s cannot be a value of a program", w.KindName())
	}
	return reflect.ValueOf(v), err
}

// readType reads a type, which converts to the interface so that all kinds are alike.
func readType(w *Word) (reflect.Value, error) {
	t, ok := w.Content().(types.Type)
	if !ok {
		return reflect.Zero(reflect.TypeFor[types.Type]()), TypeErrorf("expected a Type, not a %s", w.KindName())
	}
	v := reflect.New(reflect.TypeFor[types.Type]()).Elem()
	v.Set(reflect.ValueOf(t))
	return v, nil
}

func floatOf(w *Word) float64 {
	if w.Kind() == KindFloat {
		return w.Float()
	}
	return float64(w.Int())
}

var argumentReaders = map[reflect.Type]argumentReader{
	reflect.TypeFor[*ir.Graph]():              readHandle[*ir.Graph],
	reflect.TypeFor[*ir.Node]():               readHandle[*ir.Node],
	reflect.TypeFor[*ir.Value]():              readHandle[*ir.Value],
	reflect.TypeFor[*ir.Block]():              readHandle[*ir.Block],
	reflect.TypeFor[ir.Use]():                 readHandle[ir.Use],
	reflect.TypeFor[*schema.FunctionSchema](): readHandle[*schema.FunctionSchema],
	reflect.TypeFor[*schema.Argument]():       readHandle[*schema.Argument],
	reflect.TypeFor[*schema.Alias]():          readHandle[*schema.Alias],
	reflect.TypeFor[*alias.Db]():              readHandle[*alias.Db],
	reflect.TypeFor[*trace.Recorder]():        readHandle[*trace.Recorder],
	reflect.TypeFor[*value.Object]():          readHandle[*value.Object],
	reflect.TypeFor[*value.List]():            readHandle[*value.List],
	reflect.TypeFor[*value.Dict]():            readHandle[*value.Dict],
	reflect.TypeFor[*tensor.Tensor]():         readKeptTensor,
	reflect.TypeFor[types.Type]():             readType,
	reflect.TypeFor[value.Value]():            readValue,
	reflect.TypeFor[string]():                 readPlain(func(w *Word) string { return strings.Clone(w.Text()) }),
	reflect.TypeFor[int]():                    readPlain(func(w *Word) int { return int(w.Int()) }),
	reflect.TypeFor[int64]():                  readPlain((*Word).Int),
	reflect.TypeFor[bool]():                   readPlain((*Word).Bool),
	reflect.TypeFor[float64]():                readPlain(floatOf),
	reflect.TypeFor[complex128]():             readPlain(complexOf),
	reflect.TypeFor[*Word]():                  readPlain(func(w *Word) *Word { return w }),
}

// readCompiled reads a callable of a type, which compiled functions have.
func readCompiled(t reflect.Type) argumentReader {
	return func(w *Word) (reflect.Value, error) {
		f := reflect.ValueOf(w.Callable())
		if !f.IsValid() || f.Type() != t {
			return reflect.Value{}, TypeErrorf("expected a compiled function")
		}
		return f, nil
	}
}

func readKeptTensor(w *Word) (reflect.Value, error) {
	t := w.Tensor()
	if t == nil {
		return reflect.Value{}, TypeErrorf("expected a Tensor, not a %s", w.KindName())
	}
	w.Keep()
	return reflect.ValueOf(t), nil
}

func complexOf(w *Word) complex128 {
	if w.Kind() == KindComplex {
		return w.complex()
	}
	return complex(floatOf(w), 0)
}

// elementChecks say which words an element of a list may be, by the element's type.
var elementChecks = map[reflect.Type]string{
	reflect.TypeFor[string](): "str", reflect.TypeFor[int](): "int", reflect.TypeFor[int64](): "int",
	reflect.TypeFor[float64](): "float", reflect.TypeFor[bool](): "bool",
}

func readerOf(t reflect.Type) argumentReader {
	if read := argumentReaders[t]; read != nil {
		return read
	}
	if t.Implements(reflect.TypeFor[Callable]()) {
		return readCompiled(t)
	}
	switch t.Kind() {
	case reflect.Slice:
		return sliceReader(t)
	case reflect.Pointer:
		return optionalReader(t)
	}
	panic("no argument is read as a " + t.String())
}

func sliceReader(t reflect.Type) argumentReader {
	read, check := readerOf(t.Elem()), kindChecks[elementChecks[t.Elem()]]
	return func(w *Word) (reflect.Value, error) {
		items := reflect.MakeSlice(t, 0, w.Count())
		if !w.IsSequence() {
			return items, nil
		}
		for x := range w.Items {
			if check != nil && !check(x) {
				return items, TypeErrorf("expected a list of %s, but an element is a %s", elementChecks[t.Elem()], x.KindName())
			}
			v, err := read(x)
			if err != nil {
				return items, err
			}
			items = reflect.Append(items, v)
		}
		return items, nil
	}
}

// optionalReader reads a plain value that may be None.
func optionalReader(t reflect.Type) argumentReader {
	read := readerOf(t.Elem())
	return func(w *Word) (reflect.Value, error) {
		if w.Kind() == KindNone {
			return reflect.Zero(t), nil
		}
		v, err := read(w)
		if err != nil {
			return v, err
		}
		p := reflect.New(t.Elem())
		p.Elem().Set(v)
		return p, nil
	}
}

// writeHandle writes a pointer as a handle of a class, nil as None.
func writeHandle(class HandleClass) resultWriter {
	return func(w *Writer, v reflect.Value) error {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			w.None()
			return nil
		}
		w.Handle(class, v.Interface())
		return nil
	}
}

// writePlain makes a writer of a method of writer.
func writePlain[T any](write func(*Writer, T)) resultWriter {
	return func(w *Writer, v reflect.Value) error {
		write(w, v.Interface().(T))
		return nil
	}
}

var resultWriters = map[reflect.Type]resultWriter{
	reflect.TypeFor[*ir.Graph]():              writeHandle(HandleGraph),
	reflect.TypeFor[*ir.Node]():               writeHandle(HandleNode),
	reflect.TypeFor[*ir.Value]():              writeHandle(HandleIRValue),
	reflect.TypeFor[*ir.Block]():              writeHandle(HandleBlock),
	reflect.TypeFor[ir.Use]():                 writeHandle(HandleUse),
	reflect.TypeFor[*schema.FunctionSchema](): writeHandle(HandleSchema),
	reflect.TypeFor[*schema.Argument]():       writeHandle(HandleArgument),
	reflect.TypeFor[*schema.Alias]():          writeHandle(HandleAliasInfo),
	reflect.TypeFor[*alias.Db]():              writeHandle(HandleAliasDb),
	reflect.TypeFor[*trace.Recorder]():        writeHandle(HandleRecorder),
	reflect.TypeFor[*value.Object]():          writeHandle(HandleModule),
	reflect.TypeFor[*value.List]():            writeHandle(HandleScriptList),
	reflect.TypeFor[*value.Dict]():            writeHandle(HandleScriptDict),
	reflect.TypeFor[*tensor.Tensor]():         writePlain((*Writer).KeptTensor),
	reflect.TypeFor[types.Type]():             writeType,
	reflect.TypeFor[value.Value]():            writePlainValue,
	reflect.TypeFor[tensor.DType]():           writePlain(func(w *Writer, d tensor.DType) { w.Token(TokenDType, int64(d)) }),
	reflect.TypeFor[tensor.Device]():          writePlain(func(w *Writer, d tensor.Device) { w.Token(TokenDevice, DeviceCode(d)) }),
	reflect.TypeFor[string]():                 writePlain((*Writer).String),
	reflect.TypeFor[int]():                    writePlain((*Writer).Int),
	reflect.TypeFor[int64]():                  writePlain((*Writer).Int64),
	reflect.TypeFor[bool]():                   writePlain((*Writer).Bool),
	reflect.TypeFor[float64]():                writePlain((*Writer).Float),
	reflect.TypeFor[complex128]():             writePlain((*Writer).complex),
}

func writeType(w *Writer, v reflect.Value) error {
	if v.IsNil() {
		w.None()
		return nil
	}
	w.TypeObject(v.Interface().(types.Type))
	return nil
}

func writePlainValue(w *Writer, v reflect.Value) error {
	return w.KeptValue(v.Interface().(value.Value))
}

func writerOf(t reflect.Type) resultWriter {
	if write := resultWriters[t]; write != nil {
		return write
	}
	if t.Implements(reflect.TypeFor[Callable]()) {
		return func(w *Writer, v reflect.Value) error {
			w.ScriptFunction(v.Interface().(Callable))
			return nil
		}
	}
	switch t.Kind() {
	case reflect.Slice:
		element := writerOf(t.Elem())
		return func(w *Writer, v reflect.Value) error {
			w.Open(KindList, v.Len())
			for i := range v.Len() {
				if err := element(w, v.Index(i)); err != nil {
					return err
				}
			}
			return nil
		}
	case reflect.Pointer:
		inner := writerOf(t.Elem())
		return func(w *Writer, v reflect.Value) error {
			if v.IsNil() {
				w.None()
				return nil
			}
			return inner(w, v.Elem())
		}
	}
	panic("no result is written from a " + t.String())
}

// handleKinds are the classes of handles that parameters name, besides "Handle".
var handleKinds = map[string]func(any) bool{
	"Graph":          isA[*ir.Graph],
	"Node":           isA[*ir.Node],
	"Value":          isA[*ir.Value],
	"Block":          isA[*ir.Block],
	"Use":            isA[ir.Use],
	"FunctionSchema": isA[*schema.FunctionSchema],
	"Argument":       isA[*schema.Argument],
	"_AliasInfo":     isA[*schema.Alias],
	"AliasDb":        isA[*alias.Db],
	"TracingState":   isA[*trace.Recorder],
	"Type":           isA[types.Type],
	"Module":         isA[*value.Object],
	"ScriptList":     isA[*value.List],
	"ScriptDict":     isA[*value.Dict],
}

func isA[T any](x any) bool {
	_, ok := x.(T)
	return ok
}

func init() {
	for name, is := range handleKinds {
		kindChecks[name] = func(w *Word) bool { return w.Kind() == KindHandle && is(w.Content()) }
	}
	for kind, name := range TypeKinds {
		kindChecks[name] = func(w *Word) bool {
			t, ok := w.Content().(types.Type)
			return ok && t.Kind() == kind
		}
	}
}

// contentName names what a handle stands for in messages.
func contentName(x any) string {
	if x == nil {
		return "handle"
	}
	for _, name := range slices.Sorted(maps.Keys(handleKinds)) {
		if handleKinds[name](x) {
			return name
		}
	}
	return "handle"
}

// TypeKinds are the Python classes of types by kind; those that are missing are plain Types.
var TypeKinds = map[types.Kind]string{
	types.KindAny: "AnyType", types.KindTensor: "TensorType", types.KindNone: "NoneType", types.KindBool: "BoolType",
	types.KindInt: "IntType", types.KindFloat: "FloatType", types.KindComplex: "ComplexType", types.KindNumber: "NumberType",
	types.KindString: "StringType", types.KindDevice: "DeviceObjType", types.KindGenerator: "GeneratorType",
	types.KindStream: "StreamObjType", types.KindStorage: "StorageType", types.KindScalarType: "ScalarTypeType",
	types.KindLayout: "LayoutType", types.KindMemoryFormat: "MemoryFormatType", types.KindQScheme: "QSchemeType",
	types.KindSymInt: "SymIntType", types.KindCapsule: "CapsuleType", types.KindPyObject: "PyObjectType",
	types.KindQuantizer: "QuantizerType", types.KindAnyList: "AnyListType", types.KindAnyTuple: "AnyTupleType",
	types.KindAnyClass: "AnyClassType", types.KindAnyEnum: "AnyEnumType", types.KindList: "ListType",
	types.KindTuple: "TupleType", types.KindDict: "DictType", types.KindOptional: "OptionalType", types.KindUnion: "UnionType",
	types.KindFuture: "FutureType", types.KindAwait: "AwaitType", types.KindRRef: "RRefType", types.KindVar: "VarType", types.KindClass: "ClassType",
	types.KindInterface: "InterfaceType", types.KindEnum: "EnumType", types.KindFunction: "FunctionType",
}
