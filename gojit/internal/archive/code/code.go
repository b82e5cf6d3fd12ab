package code

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Exporter writes the source text of an archive: the definitions of the named types and functions
// that were asked for, and of all that these refer to.
type Exporter struct {
	Printers  map[string]*Printer // by the qualified prefix of the names: one for each record
	Prefixes  []string            // in the order in which they were first needed
	Constants []value.Value

	types     map[types.Type]string
	functions map[*ir.Function]string
	taken     map[string]any // a types.Type or an *ir.Function by its name in the archive
	mangled   int
	Tags      map[source.Range]int // numbers of the ranges in the program, over all records
	Version   int                  // that the operators need
	Pending   []any                // types.Type and *ir.Function whose definitions are not written yet
}

func NewExporter() *Exporter {
	return &Exporter{Printers: map[string]*Printer{}, types: map[types.Type]string{}, functions: map[*ir.Function]string{}, taken: map[string]any{}, Tags: map[source.Range]int{}}
}

// splitName returns what is before and after the last dot.
func splitName(qualified string) (prefix, atom string) {
	dot := strings.LastIndexByte(qualified, '.')
	return qualified[:max(dot, 0)], qualified[dot+1:]
}

func LastAtom(qualified string) string {
	_, atom := splitName(qualified)
	return atom
}

// TypeName implements types.Renamer: it names a type and takes note that it has to be defined.
// Different types of one name get different names.
func (x *Exporter) TypeName(t types.Type) (string, bool) {
	own := t.Annotation(nil)
	if strings.HasPrefix(own, types.NativePrefix) {
		return own, true
	}
	own = unmangled(own)
	if name, ok := x.types[t]; ok {
		return name, true
	}
	if other, ok := x.taken[own].(types.Type); ok && types.Equal(other, t) {
		x.types[t] = own
		return own, true
	}
	x.types[t] = x.take(own, t)
	return x.types[t], true
}

func (x *Exporter) functionName(f *ir.Function) string {
	if name, ok := x.functions[f]; ok {
		return name
	}
	x.functions[f] = x.take(unmangled(f.Name), f)
	return x.functions[f]
}

// unmangled is a qualified name without the numbers that tell it from others in its process: equal modules
// give equal archives.
func unmangled(name string) string {
	if !strings.Contains(name, mangle) {
		return name
	}
	atoms := strings.Split(name, ".")
	kept := atoms[:0]
	for _, atom := range atoms {
		if number, ok := strings.CutPrefix(atom, mangle); !ok || strings.Trim(number, "0123456789") != "" {
			kept = append(kept, atom)
		}
	}
	return strings.Join(kept, ".")
}

// mangle begins the atom that tells a name from others.
const mangle = "___torch_mangle_"

// take gives a definition a name that no other has.
func (x *Exporter) take(own string, definition any) string {
	name := own
	for x.taken[name] != nil {
		prefix, atom := splitName(own)
		name = prefix + "." + mangle + strconv.Itoa(x.mangled) + "." + atom
		x.mangled++
	}
	x.taken[name] = definition
	x.Pending = append(x.Pending, definition)
	return name
}

// Drain writes the definitions that are pending, and those that they refer to.
func (x *Exporter) Drain() error {
	for len(x.Pending) > 0 {
		next := x.Pending[0]
		x.Pending = x.Pending[1:]
		if err := x.define(next); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exporter) define(definition any) error {
	switch d := definition.(type) {
	case *ir.Function:
		return x.within(x.functions[d], func(p *Printer, _ string) error { return x.function(p, d) })
	case *types.Class:
		return x.within(x.types[d], func(p *Printer, name string) error { return x.class(p, name, d) })
	case *types.Tuple:
		return x.within(x.types[d], func(p *Printer, name string) error {
			p.line("class %s(NamedTuple):", name)
			p.namedTupleFields(d)
			return nil
		})
	case *types.Enum:
		return x.within(x.types[d], func(p *Printer, name string) error {
			p.line("class %s(Enum):", name)
			for _, m := range d.Members {
				p.line("  %s = %s", m.Name, p.ConstantText(m.Value.(value.Value)))
			}
			return nil
		})
	case *types.Interface:
		return x.within(x.types[d], func(p *Printer, name string) error {
			p.interfaceType(name, d)
			return nil
		})
	}
	return source.Errorf(source.RuntimeError, source.Range{}, "The type %v cannot be written to an archive", definition)
}

// within writes a definition to the record that its qualified name belongs to.
func (x *Exporter) within(name string, write func(p *Printer, atom string) error) error {
	prefix, atom := splitName(name)
	p := x.Printers[prefix]
	if p == nil {
		p = &Printer{Rename: x.TypeName, FunctionName: x.functionName, Self: true, nextID: map[string]int{}, Places: &places{}}
		x.Printers[prefix] = p
		x.Prefixes = append(x.Prefixes, prefix)
	}
	p.Constants = x.Constants
	err := write(p, atom)
	x.Constants = p.Constants
	return err
}

func (x *Exporter) function(p *Printer, f *ir.Function) error {
	if err := f.EnsureDefined(); err != nil {
		return err
	}
	if err := exportable(f.Graph().Block()); err != nil {
		return err
	}
	x.Version = max(x.Version, versionOf(f.Graph().Block()))
	p.Function(f)
	return nil
}

// exportable fails where a block, or one inside it, calls a Python function.
func exportable(b *ir.Block) (err error) {
	b.Walk(func(n *ir.Node) {
		switch {
		case err != nil:
		case n.Kind() == prim.PythonOp:
			err = source.Errorf(source.RuntimeError, n.Range, "Could not export Python function call '%s'. Remove calls to Python functions before export. Did you forget to add @script or @script_method annotation? If this is a nn.ModuleList, add it to __constants__", n.StringAttr("name"))
		case n.Is(prim.Fork, prim.Awaitable):
			err = exportable(n.GraphAttr("Subgraph").Block())
		}
	})
	return err
}

func (x *Exporter) class(p *Printer, name string, c *types.Class) error {
	if c.IsModule {
		p.line("class %s(Module):", name)
	} else {
		p.line("class %s:", name)
	}
	p.level++
	defer func() { p.level-- }()
	if c.IsModule {
		p.line("__parameters__ = %s", attributeNames(c, func(a *types.Attribute) bool { return a.IsParameter }))
		p.line("__buffers__ = %s", attributeNames(c, func(a *types.Attribute) bool { return a.IsBuffer }))
		p.hookNames("__forward_pre_hooks__", c.PreHooks)
		p.hookNames("__forward_hooks__", c.Hooks)
	}
	for i := range c.Attributes {
		p.field(c.Attributes[i].Name, c.Attributes[i].Type)
	}
	for _, constant := range c.Constants {
		v := constant.Value.(value.Value)
		p.line("%s : Final[%s] = %s", constant.Name, p.annotation(value.TypeOf(v)), p.ConstantText(v))
	}
	return x.methods(p, c)
}

// methods prints the methods of a class, then its hooks, as PyTorch orders them.
func (x *Exporter) methods(p *Printer, c *types.Class) error {
	hooks := append(append([]types.Method(nil), c.Hooks...), c.PreHooks...)
	var all []types.Method
	for _, name := range c.MethodNames() {
		if m := c.FindMethod(name); !slices.Contains(hooks, m) {
			all = append(all, m)
		}
	}
	all = append(all, hooks...)
	written := map[types.Method]bool{}
	for _, m := range all {
		f, ok := m.(*ir.Function)
		if !ok || written[m] {
			continue
		}
		written[m] = true
		if err := x.function(p, f); err != nil {
			return err
		}
	}
	return nil
}

// attributeNames lists the attributes that are wanted, each in quotes and with a comma.
func attributeNames(c *types.Class, wanted func(*types.Attribute) bool) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range c.Attributes {
		if wanted(&c.Attributes[i]) {
			b.WriteString(value.Quote(c.Attributes[i].Name) + ", ")
		}
	}
	b.WriteByte(']')
	return b.String()
}

func (p *Printer) hookNames(list string, hooks []types.Method) {
	if len(hooks) == 0 {
		return
	}
	var b strings.Builder
	for _, h := range hooks {
		b.WriteString(value.Quote(LastAtom(h.QualifiedName())) + ", ")
	}
	p.line("%s = [%s]", list, b.String())
}

// field declares an attribute.
func (p *Printer) field(name string, t types.Type) {
	if isIdentifier(name) {
		p.line("%s : %s", name, p.annotation(t))
	} else {
		p.line("__annotations__[%s] = %s", value.Quote(name), p.annotation(t))
	}
}

// namedTupleFields declares the fields. Archives have no place for defaults: PyTorch does not load them.
func (p *Printer) namedTupleFields(t *types.Tuple) {
	for i, name := range t.Fields {
		p.line("  %s : %s", name, p.annotation(t.Elems[i]))
	}
}

func (p *Printer) interfaceType(name string, t *types.Interface) {
	base := "Interface"
	if t.IsModule {
		base = "ModuleInterface"
	}
	p.line("class %s(%s):", name, base)
	for _, m := range t.Methods {
		s := m.Schema.(*schema.FunctionSchema)
		var b strings.Builder
		for i := range s.Arguments {
			a := &s.Arguments[i]
			if i == 0 {
				b.WriteString(a.Name)
				continue
			}
			fmt.Fprintf(&b, ", %s: %s", a.Name, p.annotation(a.Type))
		}
		p.line("  def %s(%s) -> %s:", m.Name, b.String(), p.annotation(s.Returns[0].Type))
		p.line("    pass")
	}
}
