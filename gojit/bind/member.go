package bind

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
var memberFunctions = []function{
	{schema: "members() -> list", run: members},
}

// members replies schema, doc and whether it is a property of each member.
func members(c *call) error {
	found := registeredMembers()
	c.open(kindList, len(found))
	for _, f := range found {
		c.open(kindTuple, 3)
		c.string(f.schema)
		c.string(f.doc)
		c.bool(f.property)
	}
	return nil
}

func (f *function) isMember() bool { return strings.Contains(f.name, ".") }

// bind makes the run of a registered function from a Go function with one parameter for each of
// the schema's, whose type says how the argument is read; the first may also be the *call. A
// parameter that takes None is a pointer or an interface. Results are written by their types; a
// last result that is an error is the failure. Handles of what has been destroyed are refused, and
// so are nodes, values and blocks of different graphs.
func bind(fn any) func(*call) error { return newBinding(fn, false) }

// bindAcross is bind for a function that takes parts of several graphs.
func bindAcross(fn any) func(*call) error { return newBinding(fn, true) }

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
	resultWriter   func(w *writer, v reflect.Value) error
)

func newBinding(fn any, across bool) func(*call) error {
	t := reflect.TypeOf(fn)
	b := &binding{fn: reflect.ValueOf(fn), across: across}
	for i := range t.NumIn() {
		in := t.In(i)
		if i == 0 && in == reflect.TypeFor[*call]() {
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

func (b *binding) run(c *call) error {
	args := make([]reflect.Value, 0, len(b.readers)+1)
	if b.takes {
		args = append(args, reflect.ValueOf(c))
	}
	for i, read := range b.readers {
		v, err := read(c.arg(i))
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
		c.none()
		return nil
	case 1:
		return b.results[0](&c.writer, results[0])
	}
	c.open(kindTuple, len(b.results))
	for i, write := range b.results {
		if err := write(&c.writer, results[i]); err != nil {
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
				return runtimeErrorf("a node, value or block of another graph was given; copy it into this graph first")
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

// destroyed says that a handle stands for something that is no more.
func destroyed(x any) error {
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
		return runtimeErrorf("has been invalidated")
	}
	return nil
}

// readHandle reads a handle of content type T; None gives nil where the schema lets it pass.
func readHandle[T any](w *Word) (reflect.Value, error) {
	x, ok := w.content().(T)
	if !ok {
		if w.kind() == kindNone {
			return reflect.Zero(reflect.TypeFor[T]()), nil
		}
		return reflect.Value{}, typeErrorf("expected a %s, not a %s", handleName[T](), w.kindName())
	}
	return reflect.ValueOf(x), destroyed(x)
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
	v, err := plainValue(w)
	if err == nil && v.Kind() == value.KindCapsule {
		err = typeErrorf("incompatible function arguments. A %s cannot be a value of a program", w.kindName())
	}
	return reflect.ValueOf(v), err
}

// readType reads a type, which converts to the interface so that all kinds are alike.
func readType(w *Word) (reflect.Value, error) {
	t, ok := w.content().(types.Type)
	if !ok {
		return reflect.Zero(reflect.TypeFor[types.Type]()), typeErrorf("expected a Type, not a %s", w.kindName())
	}
	v := reflect.New(reflect.TypeFor[types.Type]()).Elem()
	v.Set(reflect.ValueOf(t))
	return v, nil
}

func floatOf(w *Word) float64 {
	if w.kind() == kindFloat {
		return w.float()
	}
	return float64(w.int())
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
	reflect.TypeFor[*scriptFunction]():        readScript,
	reflect.TypeFor[types.Type]():             readType,
	reflect.TypeFor[value.Value]():            readValue,
	reflect.TypeFor[string]():                 readPlain(func(w *Word) string { return strings.Clone(w.text()) }),
	reflect.TypeFor[int]():                    readPlain(func(w *Word) int { return int(w.int()) }),
	reflect.TypeFor[int64]():                  readPlain((*Word).int),
	reflect.TypeFor[bool]():                   readPlain((*Word).bool),
	reflect.TypeFor[float64]():                readPlain(floatOf),
	reflect.TypeFor[complex128]():             readPlain(complexOf),
	reflect.TypeFor[*Word]():                  readPlain(func(w *Word) *Word { return w }),
}

func readScript(w *Word) (reflect.Value, error) {
	f, ok := w.callable().(*scriptFunction)
	if !ok {
		return reflect.Value{}, typeErrorf("expected a compiled function")
	}
	return reflect.ValueOf(f), nil
}

func readKeptTensor(w *Word) (reflect.Value, error) {
	t := w.tensor()
	if t == nil {
		return reflect.Value{}, typeErrorf("expected a Tensor, not a %s", w.kindName())
	}
	w.keep()
	return reflect.ValueOf(t), nil
}

func complexOf(w *Word) complex128 {
	if w.kind() == kindComplex {
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
		items := reflect.MakeSlice(t, 0, w.count())
		if !w.isSequence() {
			return items, nil
		}
		for x := range w.items {
			if check != nil && !check(x) {
				return items, typeErrorf("expected a list of %s, but an element is a %s", elementChecks[t.Elem()], x.kindName())
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
		if w.kind() == kindNone {
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
func writeHandle(class handleClass) resultWriter {
	return func(w *writer, v reflect.Value) error {
		if v.Kind() == reflect.Pointer && v.IsNil() {
			w.none()
			return nil
		}
		w.handle(class, v.Interface())
		return nil
	}
}

// writePlain makes a writer of a method of writer.
func writePlain[T any](write func(*writer, T)) resultWriter {
	return func(w *writer, v reflect.Value) error {
		write(w, v.Interface().(T))
		return nil
	}
}

var resultWriters = map[reflect.Type]resultWriter{
	reflect.TypeFor[*ir.Graph]():              writeHandle(handleGraph),
	reflect.TypeFor[*ir.Node]():               writeHandle(handleNode),
	reflect.TypeFor[*ir.Value]():              writeHandle(handleIRValue),
	reflect.TypeFor[*ir.Block]():              writeHandle(handleBlock),
	reflect.TypeFor[ir.Use]():                 writeHandle(handleUse),
	reflect.TypeFor[*schema.FunctionSchema](): writeHandle(handleSchema),
	reflect.TypeFor[*schema.Argument]():       writeHandle(handleArgument),
	reflect.TypeFor[*schema.Alias]():          writeHandle(handleAliasInfo),
	reflect.TypeFor[*alias.Db]():              writeHandle(handleAliasDb),
	reflect.TypeFor[*trace.Recorder]():        writeHandle(handleRecorder),
	reflect.TypeFor[*value.Object]():          writeHandle(handleModule),
	reflect.TypeFor[*value.List]():            writeHandle(handleScriptList),
	reflect.TypeFor[*value.Dict]():            writeHandle(handleScriptDict),
	reflect.TypeFor[*scriptFunction]():        writePlain(func(w *writer, f *scriptFunction) { w.scriptFunction(f) }),
	reflect.TypeFor[*tensor.Tensor]():         writePlain((*writer).keptTensor),
	reflect.TypeFor[types.Type]():             writeType,
	reflect.TypeFor[value.Value]():            writePlainValue,
	reflect.TypeFor[tensor.DType]():           writePlain(func(w *writer, d tensor.DType) { w.token(tokenDType, int64(d)) }),
	reflect.TypeFor[tensor.Device]():          writePlain(func(w *writer, d tensor.Device) { w.token(tokenDevice, deviceCode(d)) }),
	reflect.TypeFor[string]():                 writePlain((*writer).string),
	reflect.TypeFor[int]():                    writePlain((*writer).int),
	reflect.TypeFor[int64]():                  writePlain((*writer).int64),
	reflect.TypeFor[bool]():                   writePlain((*writer).bool),
	reflect.TypeFor[float64]():                writePlain((*writer).float),
	reflect.TypeFor[complex128]():             writePlain((*writer).complex),
}

func writeType(w *writer, v reflect.Value) error {
	if v.IsNil() {
		w.none()
		return nil
	}
	w.typeObject(v.Interface().(types.Type))
	return nil
}

func writePlainValue(w *writer, v reflect.Value) error {
	return w.keptValue(v.Interface().(value.Value))
}

func writerOf(t reflect.Type) resultWriter {
	if write := resultWriters[t]; write != nil {
		return write
	}
	switch t.Kind() {
	case reflect.Slice:
		element := writerOf(t.Elem())
		return func(w *writer, v reflect.Value) error {
			w.open(kindList, v.Len())
			for i := range v.Len() {
				if err := element(w, v.Index(i)); err != nil {
					return err
				}
			}
			return nil
		}
	case reflect.Pointer:
		inner := writerOf(t.Elem())
		return func(w *writer, v reflect.Value) error {
			if v.IsNil() {
				w.none()
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
		kindChecks[name] = func(w *Word) bool { return w.kind() == kindHandle && is(w.content()) }
	}
	for kind, name := range typeKinds {
		kindChecks[name] = func(w *Word) bool {
			t, ok := w.content().(types.Type)
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
