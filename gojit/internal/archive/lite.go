package archive

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/bytecode"
	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// LiteOptions say how archives for the lite interpreter are written.
type LiteOptions struct {
	// Bytecode is the version of the bytecode, 0 for the newest.
	Bytecode int
	// DebugInfo adds what tells for each instruction where it comes from.
	DebugInfo bool
	// InterfaceCalls adds the methods that modules have for the interfaces through which methods call them.
	InterfaceCalls bool
}

// SaveLite returns the archive of a module for the lite interpreter: what Save writes, and bytecode. It fails where Save does, and on what
// the lite interpreter lacks: forks, contexts, objects of classes that are no modules, and other versions than 4 to 8.
func SaveLite(m *value.Object, extra map[string][]byte, o LiteOptions, call Call) ([]byte, error) {
	records, err := liteRecords(m, extra, o, call)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = writeArchive(&b, noFile, records)
	return b.Bytes(), err
}

// SaveLiteFile is SaveLite to a file, which is replaced as SaveFile replaces it.
func SaveLiteFile(m *value.Object, file string, extra map[string][]byte, o LiteOptions, call Call) error {
	records, err := liteRecords(m, extra, o, call)
	if err != nil {
		return err
	}
	return saveRecords(file, records, nil)
}

// liteExporter writes the bytecode of an archive.
type liteExporter struct {
	*code.Exporter
	bytecode int // version
	options  LiteOptions
	modules  []*types.Class // of the objects that the module holds, in the order in which they are reached
	codes    []*bytecode.Bytecode
	written  map[*ir.Function]bool
	calls    []interfaceCall
}

type interfaceCall struct {
	method   string
	receiver types.Type
}

func newLiteExporter(o LiteOptions) *liteExporter {
	l := &liteExporter{Exporter: code.NewExporter(), bytecode: o.Bytecode, options: o, written: map[*ir.Function]bool{}}
	if o.Bytecode == 0 {
		l.bytecode = bytecode.Newest
	}
	return l
}

func liteRecords(m *value.Object, extra map[string][]byte, o LiteOptions, call Call) ([]record, error) {
	if !m.Class.IsModule {
		return nil, archiveError("An object of %s is no module: only modules are saved", m.Class.Name)
	}
	l := newLiteExporter(o)
	if l.bytecode < bytecode.Oldest || l.bytecode > bytecode.Newest {
		return nil, archiveError("Bytecode of version %d cannot be written: the versions are %d to %d",
			l.bytecode, bytecode.Oldest, bytecode.Newest)
	}
	data := newPickler(l.TypeName, call)
	if err := data.value(value.OfObject(m)); err != nil {
		return nil, err
	}
	if err := l.Drain(); err != nil {
		return nil, err
	}
	l.reach(value.OfObject(m), map[*value.Object]bool{})
	if err := l.module(m.Class); err != nil {
		return nil, err
	}
	constants, err := finish(l.Exporter, call)
	if err != nil {
		return nil, err
	}
	code, err := l.pickled(call, constants)
	if err != nil {
		return nil, err
	}
	records := append(data.records("data"), sourceRecords(l.Exporter)...)
	if l.bytecode < bytecode.SharesTensors {
		records = append(records, constants.records("constants")...)
		records = append(records, code.records("bytecode")...)
	} else {
		records = append(records, record{"constants.pkl", constants.e.Finish()})
		records = append(records, code.storageRecords("constants")...)
		records = append(records, record{"bytecode.pkl", code.e.Finish()})
	}
	if o.DebugInfo {
		records = append(records, l.debugRecords()...)
	}
	return appendExtra(append(records, versionRecord(l.Exporter)), extra)
}

// reach lists the classes of an object and of those that it holds.
func (l *liteExporter) reach(v value.Value, seen map[*value.Object]bool) {
	if v.Kind() != value.KindObject || seen[v.Object()] {
		return
	}
	o := v.Object()
	seen[o] = true
	if !slices.Contains(l.modules, o.Class) {
		l.modules = append(l.modules, o.Class)
	}
	for _, slot := range o.Slots {
		l.reach(slot, seen)
	}
}

// module assembles the methods of the module, the methods that its parts are read with, and those that it calls through interfaces.
func (l *liteExporter) module(c *types.Class) error {
	for _, name := range c.MethodNames() {
		if m := c.FindMethod(name); !slices.Contains(c.Hooks, m) && !slices.Contains(c.PreHooks, m) {
			if err := l.method(c, m); err != nil {
				return err
			}
		}
	}
	for _, part := range l.modules {
		if part.FindMethod("__getstate__") == nil {
			continue
		}
		for _, name := range []string{"__setstate__", "__getstate__"} {
			if err := l.method(part, part.FindMethod(name)); err != nil {
				return err
			}
		}
	}
	return l.implementations()
}

func (l *liteExporter) method(c *types.Class, m types.Method) error {
	f, ok := m.(*ir.Function)
	if !ok || l.written[f] {
		return nil
	}
	l.written[f] = true
	name, _ := l.TypeName(c)
	a := bytecode.NewAssembler(name+"."+f.ShortName(), l.bytecode, l.TypeName, l.interfaceCall)
	if err := a.Function(f); err != nil {
		return err
	}
	l.codes = append(l.codes, a.Code)
	return a.Check()
}

// OperatorNames returns the names of the operators that the bytecode of a module calls, in no order. It fails where SaveLite does for
// its methods.
func OperatorNames(m *value.Object) ([]string, error) {
	l := newLiteExporter(LiteOptions{})
	l.reach(value.OfObject(m), map[*value.Object]bool{})
	if err := l.module(m.Class); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, code := range l.codes {
		for _, o := range code.Operators {
			if o.Overload == "" {
				found[o.Name] = true
			} else {
				found[o.Name+"."+o.Overload] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found)), nil
}

func (l *liteExporter) interfaceCall(method string, receiver types.Type) {
	if l.options.InterfaceCalls {
		l.calls = append(l.calls, interfaceCall{method, receiver})
	}
}

// implementations assembles the methods that interface calls may reach, until there are no more.
func (l *liteExporter) implementations() error {
	for len(l.calls) > 0 {
		call := l.calls[0]
		l.calls = l.calls[1:]
		for _, c := range l.modules {
			if types.IsSubtype(c, call.receiver) {
				if err := l.method(c, c.FindMethod(call.method)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pickled writes the bytecode. Its tensors lie among those of the constants where the version shares them.
func (l *liteExporter) pickled(call Call, constants *pickler) (*pickler, error) {
	p := newPickler(l.TypeName, call)
	if l.bytecode >= bytecode.SharesTensors {
		p.keys, p.storages = constants.keys, constants.storages
	}
	p.e.Mark()
	p.e.Int(int64(l.bytecode))
	for _, code := range l.codes {
		if err := l.function(p, code); err != nil {
			return nil, err
		}
	}
	p.e.Tuple()
	return p, nil
}

// function pushes (name, ((table's name, its items), ...), schema).
func (l *liteExporter) function(p *pickler, code *bytecode.Bytecode) (err error) {
	e := p.e
	e.Mark()
	e.String(code.Name)
	e.Mark()
	table(e, "instructions", code.Instructions, func(in bytecode.Instruction) {
		e.Mark()
		e.String(in.Name)
		e.Int(int64(in.X))
		e.Int(int64(in.N))
		e.Tuple()
	})
	table(e, "operators", code.Operators, func(o bytecode.CalledOperator) {
		e.Mark()
		e.String(o.Name)
		e.String(o.Overload)
		if l.bytecode >= bytecode.OmitsDefaults {
			e.Int(int64(o.Arguments))
		}
		e.Tuple()
	})
	table(e, "constants", code.Constants, func(v value.Value) {
		if failed := p.value(v); err == nil {
			err = failed
		}
	})
	table(e, "types", code.Types, e.String)
	e.Mark()
	e.String("register_size")
	e.Int(int64(code.Registers))
	e.Tuple()
	e.Tuple()
	e.Mark()
	table(e, "arguments", code.Schema.Arguments, func(a schema.Argument) {
		if failed := l.argument(p, &a); err == nil {
			err = failed
		}
	})
	table(e, "returns", code.Schema.Returns, func(a schema.Argument) {
		if failed := l.argument(p, &a); err == nil {
			err = failed
		}
	})
	e.Tuple()
	e.Tuple()
	return err
}

// table pushes (name, items).
func table[T any](e *pickle.Encoder, name string, items []T, push func(T)) {
	e.Mark()
	e.String(name)
	e.Mark()
	for _, item := range items {
		push(item)
	}
	e.Tuple()
	e.Tuple()
}

// argument pushes (("name", name), ("type", type), ("default_value", value)).
func (l *liteExporter) argument(p *pickler, a *schema.Argument) error {
	e := p.e
	e.Mark()
	for _, field := range [][2]string{{"name", a.Name}, {"type", a.Type.Annotation(l.TypeName)}} {
		e.Mark()
		e.String(field[0])
		e.String(field[1])
		e.Tuple()
	}
	e.Mark()
	e.String("default_value")
	def := value.None
	if a.HasDefault {
		def = a.NewDefault()
	}
	err := p.value(def)
	e.Tuple()
	e.Tuple()
	return err
}

// debugRecords say where the instructions come from: each has a number, under which its source range, its kind of node and the calls
// that it was inlined through stand.
func (l *liteExporter) debugRecords() []record {
	handles, stacks := pickle.NewEncoder(), pickle.NewEncoder()
	handles.Mark()
	handles.Int(int64(l.bytecode))
	stacks.Mark()
	next := int64(0)
	for _, code := range l.codes {
		handles.Mark()
		handles.String(code.Name)
		handles.Mark()
		handles.Mark()
		handles.String("function_debug_handles")
		handles.Mark()
		handles.Global("torch.jit._pickle", "build_intlist")
		handles.Mark()
		handles.EmptyList()
		handles.Mark()
		for _, in := range code.Instructions {
			handles.Int(next)
			stacks.Mark()
			stacks.Int(next)
			stacks.Int(int64(l.Tags[in.Node.Range]))
			stacks.String(in.Node.Kind())
			l.inlinedCalls(stacks, outermostFirst(in.Node.Calls))
			stacks.Tuple()
			next++
		}
		handles.Append()
		handles.Tuple()
		handles.Reduce()
		for range 4 {
			handles.Tuple()
		}
	}
	handles.Tuple()
	stacks.Tuple()
	backends := pickle.NewEncoder()
	backends.Mark()
	backends.String(code.OriginsFormat)
	backends.Mark()
	backends.String("")
	backends.Tuple()
	backends.EmptyTuple()
	backends.Tuple()
	return []record{
		{"mobile_debug_handles.pkl", handles.Finish()}, {"delegated_backends.debug_pkl", backends.Finish()},
		{"callstack_debug_map.pkl", stacks.Finish()},
	}
}

func outermostFirst(c *ir.InlinedCall) (calls []*ir.InlinedCall) {
	for ; c != nil; c = c.Outer {
		calls = append(calls, c)
	}
	slices.Reverse(calls)
	return calls
}

// inlinedCalls pushes ((class, instance), range, calls within, function), None in place of an empty chain and of the class of a function.
func (l *liteExporter) inlinedCalls(e *pickle.Encoder, calls []*ir.InlinedCall) {
	if len(calls) == 0 {
		e.None()
		return
	}
	c := calls[0]
	e.Mark()
	if c.Receiver == nil {
		e.None()
	} else {
		name, _ := l.TypeName(c.Receiver)
		instance := c.Instance[strings.LastIndexByte(c.Instance, '.')+1:]
		if instance == "" {
			instance = "INSTANCE_NAME_UNKNOWN"
		}
		e.Mark()
		e.String(name)
		e.String(instance)
		e.Tuple()
	}
	e.Int(int64(l.Tags[c.Range]))
	l.inlinedCalls(e, calls[1:])
	e.String(c.Callee)
	e.Tuple()
}
