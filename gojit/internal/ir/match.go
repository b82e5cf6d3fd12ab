package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Argument is an actual argument of a call: a value of the graph or a constant that becomes one
// when it is needed.
type Argument struct {
	Name     string // of a keyword argument, else ""
	Range    source.Range
	value    *Value
	constant value.Value
}

// Arg returns an argument that is a value.
func Arg(v *Value) Argument { return Argument{value: v} }

// ArgAt is Arg with a place.
func ArgAt(v *Value, r source.Range) Argument { return Argument{value: v, Range: r} }

// ConstArg returns an argument that is a constant.
func ConstArg(v value.Value) Argument { return Argument{constant: v} }

// Named returns a with the name of a keyword argument.
func (a Argument) Named(name string) Argument {
	a.Name = name
	return a
}

// Value returns the value, inserting the constant where it is one.
func (a Argument) Value(g *Graph) *Value {
	if a.value != nil {
		return a.value
	}
	return g.Constant(a.constant, a.Range)
}

// Type returns the type of the argument.
func (a Argument) Type() types.Type {
	if a.value != nil {
		return a.value.typ
	}
	return value.TypeOf(a.constant)
}

// Match is a schema that fits a call: the inputs in the schema's order and the types of the
// results.
type Match struct {
	Inputs     []*Value
	Returns    []types.Type
	FieldNames []string // of the returns, where all have names
	Name       string
}

// matcher tries one schema.
type matcher struct {
	g       *Graph
	at      source.Range
	schema  *schema.FunctionSchema
	convert bool // allow implicit conversions
	vars    types.Bindings
	failure *strings.Builder // where reasons go; nil: not wanted
	inputs  []*Value         // of the match that is being tried
}

func (m *matcher) fail(format string, args ...any) {
	if m.failure != nil {
		fmt.Fprintf(m.failure, "\n%s:\n", m.schema)
		fmt.Fprintf(m.failure, format, args...)
	}
}

// MatchSchema fits a call to one schema, inserting constants and conversions. self, if not nil, is
// the argument for a parameter named self. It fails with the reason.
func MatchSchema(g *Graph, at source.Range, s *schema.FunctionSchema, args, kwargs []Argument, self *Argument) (*Match, error) {
	var failure strings.Builder
	m := &matcher{g: g, at: at, schema: s, convert: true, vars: types.Bindings{}, failure: &failure}
	if match := m.match(args, kwargs, self); match != nil {
		return match, nil
	}
	return nil, withOptionalNotes(source.Errorf(source.RuntimeError, at, "%s", failure.String()), args, kwargs, self)
}

// withOptionalNotes tells of the arguments of a call that fits nothing that may be None.
func withOptionalNotes(e *source.Error, args, kwargs []Argument, self *Argument) *source.Error {
	all := append(append([]Argument{}, args...), kwargs...)
	if self != nil {
		all = append([]Argument{*self}, all...)
	}
	for _, a := range all {
		o, ok := a.Type().(*types.Optional)
		if !ok || a.Range.String() == "" || strings.Contains(a.Range.String(), "\n") {
			continue
		}
		e.WithNote(source.Range{}, "`%s` may be None; a variable is of type %s where `is not None` has been checked, by if or assert", a.Range, o.Elem.Annotation(nil))
	}
	return e
}

// MatchSchemas fits a call to the first of several schemas that takes it without conversions, or
// else to the first that takes it with. It returns the position of the schema.
func MatchSchemas(g *Graph, at source.Range, schemas []*schema.FunctionSchema, args, kwargs []Argument, self *Argument) (int, *Match, error) {
	if len(schemas) == 1 {
		match, err := MatchSchema(g, at, schemas[0], args, kwargs, self)
		return 0, match, err
	}
	m := &matcher{g: g, at: at, vars: types.Bindings{}, inputs: g.matching}
	g.matching = nil // one that is within this one takes its own
	defer func() { g.matching = m.inputs }()
	for _, convert := range []bool{false, true} {
		for i, s := range schemas {
			m.schema, m.convert = s, convert
			clear(m.vars)
			if match := m.match(args, kwargs, self); match != nil {
				return i, match, nil
			}
		}
	}
	all, nearest := mismatches(g, at, schemas, args, kwargs, self)
	e := source.Errorf(source.RuntimeError, at, "Arguments for call are not valid.\nThe following variants are available:\n%s\nThe original call is", prefixLines(all, "  "))
	e.Advice = append(e.Advice, nearest)
	return 0, nil, withOptionalNotes(e, args, kwargs, self)
}

// mostNearest is how many schemas are named as the nearest of those that a call does not fit.
const mostNearest = 2

// mismatches returns why a call does not fit any of some schemas, and apart from that why not the nearest: those that it fits farthest, those that write
// an argument out last.
func mismatches(g *Graph, at source.Range, schemas []*schema.FunctionSchema, args, kwargs []Argument, self *Argument) (whole, nearest string) {
	type failed struct {
		text string
		fits int
	}
	all := make([]failed, len(schemas))
	for i, s := range schemas {
		var text strings.Builder
		m := &matcher{g: g, at: at, schema: s, convert: true, vars: types.Bindings{}, failure: &text}
		m.match(args, kwargs, self)
		whole += text.String()
		all[i] = failed{strings.TrimSpace(text.String()), 2 * len(m.inputs)}
		if s.ArgumentIndex("out") >= 0 && !slices.ContainsFunc(kwargs, func(a Argument) bool { return a.Name == "out" }) {
			all[i].fits -= 2*len(schemas[i].Arguments) + 1
		}
	}
	slices.SortStableFunc(all, func(a, b failed) int { return b.fits - a.fits })
	nearest = "nearest of " + strconv.Itoa(len(all)) + " overloads:"
	for _, f := range all[:min(len(all), mostNearest)] {
		nearest += "\n" + strings.TrimSuffix(prefixLines(f.text, "  "), "\n")
	}
	return whole, nearest
}

func prefixLines(text, prefix string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		if line != "" {
			b.WriteString(prefix + line)
		}
	}
	return b.String()
}

func (m *matcher) match(args, kwargs []Argument, self *Argument) *Match {
	s := m.schema
	m.inputs = slices.Grow(m.inputs[:0], len(s.Arguments))
	usedKwargs := make([]bool, len(kwargs))
	used := 0
	aten := strings.HasPrefix(s.Name, "aten::") // PyTorch's Python functions call the tensor input
	for i := range s.Arguments {
		formal := &s.Arguments[i]
		var actual Argument
		switch {
		case formal.Name == "self" && self != nil:
			actual, self = *self, nil
		case !formal.KwargOnly && used < len(args):
			if m.convert && m.takesRest(i) {
				first := args[used].Value(m.g)
				elem := formal.Type.(*types.List).Elem
				if first.typ.Kind() != types.KindList && !convertibleToList(first.typ, formal.Type) {
					list := m.restAsList(elem, args[used:])
					if list == nil {
						return nil
					}
					used = len(args)
					m.inputs = append(m.inputs, list)
					continue
				}
			}
			actual = args[used]
			used++
		default:
			k := slices.IndexFunc(kwargs, func(a Argument) bool {
				return a.Name == formal.Name || aten && a.Name == "input" && formal.Name == "self"
			})
			switch {
			case k >= 0 && usedKwargs[k]:
				m.fail("argument %s specified twice in schema.\n", formal.Name)
				return nil
			case k >= 0:
				usedKwargs[k] = true
				actual = kwargs[k]
			case formal.HasDefault:
				actual = ConstArg(formal.Default)
			default:
				m.fail("Argument %s not provided.\n", formal.Name)
				return nil
			}
		}
		v := m.argument(formal, actual)
		if v == nil {
			return nil
		}
		m.inputs = append(m.inputs, v)
	}
	if self != nil {
		m.fail("Provided self argument not used in schema.\n")
		return nil
	}
	if s.IsVararg {
		for ; used < len(args); used++ {
			m.inputs = append(m.inputs, args[used].Value(m.g))
		}
	}
	if used < len(args) {
		m.fail("Expected at most %d arguments but found %d positional arguments.\n", used, len(args))
		return nil
	}
	for k, isUsed := range usedKwargs {
		if isUsed {
			continue
		}
		if s.ArgumentIndex(kwargs[k].Name) < 0 {
			m.fail("Keyword argument %s unknown.\n", kwargs[k].Name)
		} else {
			m.fail("Keyword argument %s specified twice.\n", kwargs[k].Name)
		}
		return nil
	}
	return m.result()
}

func (m *matcher) result() *Match {
	returns := m.schema.Returns
	room := &struct { // most matches fit into one piece of memory
		match   Match
		inputs  [4]*Value
		returns [1]types.Type
	}{}
	match := &room.match
	match.Name = m.schema.Name
	match.Inputs = append(room.inputs[:0], m.inputs...)
	match.Returns = room.returns[:min(len(returns), 1)]
	if len(returns) > 1 {
		match.Returns = make([]types.Type, len(returns))
	}
	named := len(returns) > 0
	for i := range returns {
		match.Returns[i] = m.vars.Apply(returns[i].Type)
		named = named && returns[i].Name != ""
	}
	if named {
		for i := range returns {
			match.FieldNames = append(match.FieldNames, returns[i].Name)
		}
	}
	return match
}

// takesRest reports whether the i-th parameter may take all remaining positional arguments as a
// list: f(1, 2) for f([1, 2]).
func (m *matcher) takesRest(i int) bool {
	formals := m.schema.Arguments
	if i+1 < len(formals) && !formals[i+1].KwargOnly {
		return false
	}
	list, ok := formals[i].Type.(*types.List)
	return ok && list.Elem.Kind() != types.KindVar && formals[i].ListSize < 0
}

func (m *matcher) restAsList(elem types.Type, rest []Argument) *Value {
	items := make([]*Value, len(rest))
	for i, a := range rest {
		v := m.fit(elem, "<varargs>", a.Value(m.g))
		if v == nil {
			return nil
		}
		items[i] = v
	}
	return m.g.InsertNode(m.g.CreateList(elem, items)).Output()
}

func withoutOptional(t types.Type) types.Type {
	if o, ok := t.(*types.Optional); ok {
		return o.Elem
	}
	return t
}

// argument makes an actual argument fit a parameter, or returns nil.
func (m *matcher) argument(formal *schema.Argument, actual Argument) *Value {
	v := actual.Value(m.g)
	if formal.ListSize >= 0 && isNumberForList(v.typ, withoutOptional(formal.Type)) {
		items := make([]*Value, formal.ListSize)
		for i := range items {
			items[i] = v
		}
		v = m.g.InsertNode(m.g.CreateList(v.typ, items)).Output()
	}
	return m.fit(formal.Type, formal.Name, v)
}

func isNumberForList(t, formal types.Type) bool {
	list, ok := formal.(*types.List)
	return ok && (t.Kind() == types.KindInt || t.Kind() == types.KindFloat) && types.Equal(list.Elem, t)
}

func (m *matcher) fit(formal types.Type, name string, v *Value) *Value {
	concrete := formal
	if types.HasVars(formal) {
		if t, why := m.vars.Match(formal, v.typ); t == nil {
			m.fail("Could not match type %s to %s in argument '%s': %s.\n", types.Repr(v.typ), types.Repr(formal), name, why)
			return nil
		}
		concrete = m.vars.Apply(formal)
		if types.HasVars(concrete) {
			m.fail("Type variables in type %s could not be inferred from actual type %s", types.Repr(formal), types.Repr(v.typ))
			return nil
		}
	}
	v = ConvertTo(m.g, m.at, concrete, v, m.convert)
	ok, why := types.IsSubtypeWhy(v.typ, concrete)
	if ok {
		return v
	}
	if m.failure != nil {
		m.mismatch(name, formal, v, why)
	}
	return nil
}

func (m *matcher) mismatch(name string, formal types.Type, v *Value, why string) {
	var b strings.Builder
	fmt.Fprintf(&b, "Expected a value of type '%s' for argument '%s' but instead found type '%s'.\n", types.Repr(formal), name, types.Repr(v.typ))
	if t, ok := formal.(*types.TensorInfo); ok && t.Inferred {
		fmt.Fprintf(&b, "Inferred '%s' to be of type 'Tensor' because it was not annotated with an explicit type.\n", name)
	}
	if t, ok := v.typ.(*types.TensorInfo); ok && t.Inferred {
		fmt.Fprintf(&b, "Inferred the value for argument '%s' to be of type 'Tensor' because it was not annotated with an explicit type.\n", name)
	}
	if list, ok := v.typ.(*types.List); ok && list.Elem.Kind() == types.KindTensor {
		b.WriteString("Empty lists default to List[Tensor]. Add a variable annotation to the assignment to create an empty list of another type (torch.jit.annotate(List[T, []]) where T is the type of elements in the list for Python 2)\n")
	}
	b.WriteString(why)
	m.fail("%s", b.String())
}

func convertibleToList(t, list types.Type) bool {
	l, ok := list.(*types.List)
	if !ok {
		return false
	}
	if types.IsSubtype(t, list) {
		return true
	}
	tuple, ok := t.(*types.Tuple)
	if !ok {
		return false
	}
	for _, e := range tuple.Elems {
		if !types.IsSubtype(e, l.Elem) {
			return false
		}
	}
	return true
}

// ConvertTo converts v towards type t where an implicit conversion exists: tuples to lists, the
// empty list literal to any list, and with allow also tensors, numbers and strings to scalars and
// devices. Where none exists it returns v.
func ConvertTo(g *Graph, at source.Range, t types.Type, v *Value, allow bool) *Value {
	if o, ok := t.(*types.Optional); ok {
		if v.typ.Kind() != types.KindOptional && v.typ.Kind() != types.KindNone {
			return ConvertTo(g, at, o.Elem, v, allow)
		}
	}
	if l, ok := t.(*types.List); ok && v.node.kind == prim.EmptyListLiteral {
		v = g.InsertNode(g.CreateList(l.Elem, nil)).Output()
	}
	if tuple, ok := v.typ.(*types.Tuple); ok {
		if l, ok := withoutOptional(t).(*types.List); ok && convertibleToList(v.typ, l) {
			unpacked := g.UnpackTuple(v)
			v = g.InsertNode(g.CreateList(l.Elem, unpacked)).Output()
		}
		if want, ok := t.(*types.Tuple); ok && len(want.Elems) == len(tuple.Elems) && !types.IsSubtype(tuple, want) {
			unpacked := g.UnpackTuple(v)
			converted := make([]*Value, len(unpacked))
			for i, item := range unpacked {
				converted[i] = ConvertTo(g, at, want.Elems[i], item, allow)
			}
			v = g.InsertNode(g.CreateTuple(converted, nil)).Output()
		}
	}
	if !allow {
		return v
	}
	return convertScalar(g, at, t, v)
}

func convertScalar(g *Graph, at source.Range, t types.Type, v *Value) *Value {
	from, to := v.typ.Kind(), t.Kind()
	insert := func(kind string) *Value {
		out, err := g.InsertAt(at, kind, []Argument{Arg(v)}, nil)
		if err != nil {
			return v
		}
		return out
	}
	switch {
	case types.IsSubtype(v.typ, types.Tensor):
		switch to {
		case types.KindFloat:
			return insert(aten.FloatImplicit)
		case types.KindComplex:
			return insert(aten.ComplexImplicit)
		case types.KindInt:
			return insert(aten.IntImplicit)
		case types.KindNumber:
			return insert(aten.ScalarImplicit)
		}
	case from == types.KindNumber:
		switch to {
		case types.KindFloat:
			return insert(aten.Float)
		case types.KindComplex:
			return insert(aten.Complex)
		case types.KindInt:
			return insert(aten.Int)
		}
	case from == types.KindString && to == types.KindDevice:
		return insert(aten.Device)
	}
	return v
}

// Insert adds a call of the named operator at the insertion point: it chooses the overload by the
// arguments, fills in defaults and returns the result, a tuple where there are several.
func (g *Graph) Insert(kind string, args ...Argument) (*Value, error) {
	return g.InsertAt(source.Range{}, kind, args, nil)
}

// InsertAt is Insert with a place and keyword arguments.
func (g *Graph) InsertAt(at source.Range, kind string, args, kwargs []Argument) (*Value, error) {
	overloads := ops.Overloads(kind)
	if len(overloads) == 0 {
		return nil, source.Errorf(source.RuntimeError, at, "Unknown builtin op: %s", kind)
	}
	schemas := make([]*schema.FunctionSchema, len(overloads))
	for i, o := range overloads {
		schemas[i] = o.Schema()
	}
	i, match, err := MatchSchemas(g, at, schemas, args, kwargs, nil)
	if err != nil {
		return nil, err
	}
	return g.InsertMatch(at, overloads[i], match), nil
}

// InsertMatch adds a call of an operator whose arguments have been matched, and packs several
// results into a tuple.
func (g *Graph) InsertMatch(at source.Range, o *ops.Operator, match *Match) *Value {
	n := g.InsertNode(g.Create(o.BaseName(), match.Inputs, 0)).SetRange(at)
	for _, t := range match.Returns {
		n.AddOutput().SetType(t)
	}
	n.operator = o
	return g.PackOutputs(n.outputs, match.FieldNames)
}

// PackOutputs returns the only value, or a tuple of all; names, if there are any, name its fields.
func (g *Graph) PackOutputs(vs []*Value, names []string) *Value {
	if len(vs) == 1 {
		return vs[0]
	}
	var t *types.Tuple
	if names != nil {
		elems := make([]types.Type, len(vs))
		for i, v := range vs {
			elems[i] = v.typ
		}
		t = &types.Tuple{Elems: elems, Fields: names}
	}
	return g.InsertNode(g.CreateTuple(vs, t)).Output()
}
