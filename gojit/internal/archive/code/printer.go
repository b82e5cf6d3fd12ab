// Package archive turns programs into PyTorch's archives and back: graphs to source text
// (printer.go), zip archives (archive.go), pickled values and tensors (tensors.go), and source text
// with classes to programs (importer.go, load.go).
//
// Archives are not trusted: sizes, counts, depths and names are checked before anything is made of
// them, and nothing in an archive is executed while it is read but methods __setstate__ (load.go), which can be refused.
package code

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Printer writes functions as source text that the importer reads back to an equal graph.
type Printer struct {
	// Constants are the values that the text refers to as CONSTANTS.c0, CONSTANTS.c1, ...
	Constants []value.Value
	// Rename gives named types other names; nil keeps them.
	Rename types.Renamer
	// FunctionName gives the name under which a function is called; nil takes its own.
	FunctionName func(f *ir.Function) string
	// Self gives the first parameter of methods an annotation.
	Self bool
	// Places marks in the text what was printed for which range; see unmark.
	Places *places

	B        strings.Builder
	level    int
	names    map[string]bool       // in use in the function
	nextID   map[string]int        // number of the next name that is like a given one
	exprs    map[*ir.Value]string  // what stands for a value
	inlined  map[*ir.Node]bool     // nodes that are printed where their output is used
	pending  []*ir.Node            // inlined and not yet printed as a part of another
	constant map[*ir.Node]struct{} // constants seen
	writes   bool                  // the function writes what is in constants
	apart    map[int]bool          // the constants of such functions, which stand for no others that are equal
}

// PrintFunction returns the text of a function, with the constants that it refers to.
func PrintFunction(f *ir.Function) (text string, constants []value.Value) {
	p := &Printer{nextID: map[string]int{}}
	p.Function(f)
	return p.B.String(), p.Constants
}

func NameSet(names string) map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(names) {
		m[name] = true
	}
	return m
}

// keywords are the words of the language, which neither variables nor attributes can have as names.
var keywords = NameSet(`and as assert async await break class continue def del elif else except False finally for from global
	if import in is lambda None nonlocal not or pass raise return True try with while yield`)

// reserved are the other names that variables cannot have.
var reserved = NameSet(`_ aten attribute CONSTANTS fork getattr inf nan infj nanj ops __torch__ uninitialized unchecked_cast`)

// Function adds the text of a function.
func (p *Printer) Function(f *ir.Function) {
	g := f.Graph()
	p.writes = writesConstants(g)
	p.names = map[string]bool{}
	p.exprs = map[*ir.Value]string{}
	p.inlined = map[*ir.Node]bool{}
	p.constant = map[*ir.Node]struct{}{}
	p.indent()
	name := f.Name
	if p.FunctionName != nil && !f.IsMethod {
		name = p.FunctionName(f)
	}
	p.B.WriteString("def " + LastAtom(name) + "(")
	for i := range f.Schema.Arguments {
		a := &f.Schema.Arguments[i]
		name := p.genName(a.Name)
		if i > 0 {
			p.B.WriteString(",\n    ")
		}
		p.B.WriteString(name)
		if i > 0 || !f.IsMethod || p.Self {
			p.B.WriteString(": " + p.annotation(a.Type))
		}
		if a.HasDefault {
			p.B.WriteString("=" + p.ConstantText(a.NewDefault()))
		}
		p.exprs[g.Inputs()[i]] = name
	}
	p.B.WriteString(") -> " + p.annotation(f.Schema.Returns[0].Type) + ":\n")
	p.body(g.Block())
}

// writesConstants reports whether a graph writes a tensor that is a constant, or in one.
func writesConstants(g *ir.Graph) bool {
	var mutable []*ir.Value
	writes := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == prim.Constant && types.IsMutable(n.Output().Type()) {
			mutable = append(mutable, n.Output())
		}
		o := n.Operator()
		writes = writes || o == nil && n.Kind() != prim.Constant || o != nil && o.Schema().IsMutable()
	})
	if len(mutable) == 0 || !writes {
		return false
	}
	return slices.ContainsFunc(mutable, alias.Analyze(g, alias.Options{}).HasContentWriters)
}

func (p *Printer) annotation(t types.Type) string { return t.Annotation(p.Rename) }

func (p *Printer) indent() {
	for range p.level {
		p.B.WriteString("  ")
	}
}

func (p *Printer) line(format string, args ...any) {
	p.indent()
	fmt.Fprintf(&p.B, format+"\n", args...)
}

// genName returns a name like candidate that is neither in use nor reserved.
func (p *Printer) genName(candidate string) string {
	name := candidate
	for p.names[name] || reserved[name] || keywords[name] {
		id := p.nextID[name]
		p.nextID[name]++
		name = candidate + strconv.Itoa(id)
	}
	p.names[name] = true
	return name
}

func validIdentifier(name string) string {
	var b strings.Builder
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		b.WriteByte('_')
	}
	for i := 0; i < len(name); i++ {
		if isIdentByte(name[i]) {
			b.WriteByte(name[i])
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}

func isIdentByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isIdentifier(name string) bool {
	return name != "" && validIdentifier(name) == name && !keywords[name]
}

func (p *Printer) nameFor(v *ir.Value) string {
	if v.HasName() {
		return p.genName(validIdentifier(v.BaseName()))
	}
	return p.genName("_")
}

func (p *Printer) assignNames(vs []*ir.Value) {
	for _, v := range vs {
		p.exprs[v] = p.nameFor(v)
	}
}

func (p *Printer) use(v *ir.Value) string {
	expr, ok := p.exprs[v]
	if !ok {
		panic("no text for %" + v.Name())
	}
	return expr
}

func (p *Printer) useAll(vs []*ir.Value) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = p.use(v)
	}
	return strings.Join(parts, ", ")
}

func (p *Printer) body(b *ir.Block) {
	var constants []*ir.Node
	p.collectConstants(b, &constants)
	p.scanBlock(b)
	p.level++
	for _, n := range constants {
		p.plain(n)
	}
	p.block(b, len(b.Outputs()) > 0)
	p.node(b.ReturnNode())
	p.level--
}

// collectConstants lists the constants in the order of their first uses.
func (p *Printer) collectConstants(b *ir.Block, out *[]*ir.Node) {
	visit := func(n *ir.Node) {
		for _, in := range n.Inputs() {
			c := in.Node()
			if c.Kind() != prim.Constant {
				continue
			}
			if _, seen := p.constant[c]; !seen {
				p.constant[c] = struct{}{}
				*out = append(*out, c)
			}
		}
	}
	for n := b.First(); n != nil; n = n.Next() {
		visit(n)
		for _, inner := range n.Blocks() {
			p.collectConstants(inner, out)
		}
	}
	visit(b.ReturnNode())
}

// scanBlock finds the nodes that can be printed where their only use is: those that a walk of the
// expression tree from the use, against the order of execution, meets in place.
func (p *Printer) scanBlock(b *ir.Block) {
	p.scanNode(b.ReturnNode())
	for n := b.Last(); n != nil; n = n.Prev() {
		p.scanNode(n)
	}
}

func (p *Printer) scanNode(n *ir.Node) {
	if p.inlined[n] {
		return
	}
	for _, b := range n.Blocks() {
		p.scanBlock(b)
	}
	point := previousNonConstant(n)
	for i := len(n.Inputs()) - 1; i >= 0; i-- {
		point = p.scanValue(point, n.Inputs()[i])
	}
}

func (p *Printer) scanValue(point *ir.Node, v *ir.Value) *ir.Node {
	n := v.Node()
	if n.Kind() == prim.Constant {
		p.inlined[n] = true
		return point
	}
	if n != point || !canInline(v) {
		return point
	}
	point = previousNonConstant(point)
	for i := len(n.Inputs()) - 1; i >= 0; i-- {
		point = p.scanValue(point, n.Inputs()[i])
	}
	p.inlined[n] = true
	return point
}

func previousNonConstant(n *ir.Node) *ir.Node {
	for n = n.Prev(); n != nil && n.Kind() == prim.Constant; n = n.Prev() {
	}
	return n
}

func canInline(v *ir.Value) bool {
	n := v.Node()
	if len(n.Outputs()) != 1 || len(v.Uses()) != 1 {
		return false
	}
	user := v.Uses()[0].User
	switch {
	case v.HasName() && user.Kind() != prim.Return:
		return false // it was written as a variable
	case len(n.Blocks()) > 0:
		return false
	case user.Kind() == prim.Loop && v.Uses()[0].Index >= 2:
		return false // what a loop carries is read at another time than its condition
	case user.Is(prim.Fork, prim.Awaitable):
		return false
	case n.Kind() == prim.Isinstance:
		return false // it would refine once more
	}
	return true
}

func (p *Printer) block(b *ir.Block, hasMore bool) {
	if !hasMore && b.First() == nil {
		p.line("pass")
	}
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() != prim.Constant {
			p.node(n)
		}
	}
}

// longLine is the length from which on an inlined expression gets a line of its own.
const longLine = 40

func (p *Printer) isLong(text string) bool { return p.Places.length(text)+p.level*2 >= longLine }

// splitLongInlines gives inlined inputs lines of their own up to the last one that is long, and
// before them everything that is inlined and executed earlier.
func (p *Printer) splitLongInlines(inputs []*ir.Value) {
	var last *ir.Node
	isInput := map[*ir.Node]bool{}
	for _, v := range inputs {
		if p.inlined[v.Node()] && v.Node().Kind() != prim.Constant {
			isInput[v.Node()] = true
			if p.isLong(p.use(v)) {
				last = v.Node()
			}
		}
	}
	for last != nil {
		n := p.pending[0]
		p.pending = p.pending[1:]
		p.define(n, p.use(n.Output()))
		if n == last {
			last = nil
		}
	}
	kept := p.pending[:0]
	for _, n := range p.pending {
		if !isInput[n] {
			kept = append(kept, n)
		}
	}
	p.pending = kept
}

// define prints a node as an assignment to its outputs.
func (p *Printer) define(n *ir.Node, text string) {
	p.assignNames(n.Outputs())
	delete(p.inlined, n)
	if len(n.Outputs()) == 0 {
		p.line("%s", text)
		return
	}
	p.line("%s = %s", p.useAll(n.Outputs()), text)
}

func (p *Printer) assign(lhs, rhs []*ir.Value) {
	if len(lhs) > 0 {
		p.line("%s = %s", p.useAll(lhs), p.useAll(rhs))
	}
}

func (p *Printer) node(n *ir.Node) {
	if p.Places != nil {
		p.B.WriteString(p.Places.open(n.Range.Program()))
		defer p.B.WriteByte(placeEnd)
	}
	p.splitLongInlines(n.Inputs())
	switch n.Kind() {
	case prim.Return:
		if len(n.Inputs()) > 0 {
			p.line("return %s", p.useAll(n.Inputs()))
		}
	case prim.Loop:
		p.loop(n)
	case prim.If:
		p.ifNode(n)
	case prim.TupleUnpack, prim.ListUnpack:
		p.assignNames(n.Outputs())
		if len(n.Outputs()) > 0 {
			p.line("%s, = %s", p.useAll(n.Outputs()), p.use(n.Input(0)))
		}
	case prim.SetAttr:
		p.line("%s.%s = %s", p.use(n.Input(0)), n.StringAttr("name"), p.use(n.Input(1)))
	case prim.Fork:
		p.fork(n, "__forked_function", "fork")
	case prim.Awaitable:
		p.fork(n, "__awaitable_function", "awaitable")
	case prim.Enter:
		as := ""
		if out := n.Output(); out.HasUses() {
			p.exprs[out] = p.nameFor(out)
			as = " as " + p.use(out)
		}
		p.line("with %s%s:", p.use(n.Input(0)), as)
		p.level++
	case prim.Exit:
		if n.Prev() != nil && n.Prev().Kind() == prim.Enter {
			p.line("pass")
		}
		p.level--
	case prim.ModuleContainerIndex:
		p.assignNames(n.Outputs())
		p.line("%s : %s = %s[%s]", p.use(n.Output()), p.annotation(n.Output().Type()), p.use(n.Input(0)), p.use(n.Input(1)))
	default:
		p.plain(n)
	}
}

// plain prints a node that is an expression, or keeps it for where it is used.
func (p *Printer) plain(n *ir.Node) {
	text := p.Places.mark(n.Range.Program(), p.expression(n))
	if !p.inlined[n] || n.Kind() == prim.Constant && p.isLong(text) {
		p.define(n, text)
		return
	}
	p.exprs[n.Output()] = text
	if n.Kind() != prim.Constant {
		p.pending = append(p.pending, n)
	}
}

// fork prints the body of a call that is forked, or left to whoever waits, as a function of its own, and the call of it by a name.
func (p *Printer) fork(n *ir.Node, function, call string) {
	name := p.genName(function)
	g := n.GraphAttr("Subgraph")
	p.line("def %s():", name)
	for i, in := range n.Inputs() {
		p.exprs[g.Inputs()[i]] = p.use(in)
	}
	p.body(g.Block())
	p.define(n, call+"("+name+")")
}

func (p *Printer) ifNode(n *ir.Node) {
	p.assignNames(n.Outputs())
	for i, head := range []string{"if " + p.use(n.Input(0)), "else"} {
		b := n.Blocks()[i]
		p.line("%s:", head)
		p.level++
		p.block(b, len(n.Outputs()) > 0)
		p.splitLongInlines(b.Outputs())
		if i == 0 {
			p.annotatedAssign(n.Outputs(), b.Outputs())
		} else {
			p.assign(n.Outputs(), b.Outputs())
		}
		p.level--
	}
}

// annotatedAssign assigns the results of the first branch of an if. A single variable whose type
// the branch does not tell gets its annotation.
func (p *Printer) annotatedAssign(lhs, rhs []*ir.Value) {
	if len(lhs) == 1 && !types.Equal(lhs[0].Type(), rhs[0].Type()) {
		p.line("%s : %s = %s", p.use(lhs[0]), p.annotation(lhs[0].Type()), p.use(rhs[0]))
		return
	}
	p.assign(lhs, rhs)
}

func (p *Printer) loop(n *ir.Node) {
	body := n.Blocks()[0]
	p.assignNames(n.Outputs())
	for i, out := range n.Outputs() {
		p.exprs[body.Inputs()[i+1]] = p.use(out)
	}
	for i, out := range n.Outputs() {
		annotation := ""
		in := n.Input(i + 2)
		if k := out.Type().Kind(); k == types.KindOptional || k == types.KindUnion || !types.Equal(out.Type(), in.Type()) {
			annotation = ": " + p.annotation(out.Type())
		}
		p.line("%s%s = %s", p.use(out), annotation, p.use(in))
	}
	trip := body.Inputs()[0]
	p.assignNames([]*ir.Value{trip})
	from := 0
	if isForLoop(n) {
		from = 1
		p.line("for %s in range(%s):", p.use(trip), p.use(n.Input(0)))
	} else {
		// The number of the trip is not used, so its name can stand for the condition.
		p.assign([]*ir.Value{trip}, []*ir.Value{n.Input(1)})
		p.line("while %s:", p.use(trip))
	}
	p.level++
	p.block(body, len(body.Inputs()) > from)
	p.splitLongInlines(body.Outputs()[from:])
	p.assign(body.Inputs()[from:], body.Outputs()[from:])
	p.level--
}

// isForLoop reports whether a loop runs a number of times rather than while a condition holds.
func isForLoop(n *ir.Node) bool {
	body := n.Blocks()[0]
	c, ok := n.Input(0).Constant()
	return !ok || c.Int() != 1<<63-1 || body.Inputs()[0].HasUses()
}

func (p *Printer) ConstantText(v value.Value) string {
	return value.Repr(v, func(b *strings.Builder, v value.Value) bool {
		switch v.Kind() {
		case value.KindTensor, value.KindObject:
			p.constantRef(b, v)
			return true
		case value.KindCapsule:
			if v.Capsule().Native {
				p.constantRef(b, v)
				return true
			}
		case value.KindString:
			if !IsASCII(v.Str()) {
				p.constantRef(b, v)
				return true
			}
		case value.KindFloat:
			// PyTorch's text of a large whole float is that of an int; an archive keeps it a float.
			if f := v.Float(); p.Self && math.Abs(f) >= 1e10 && f == math.Trunc(f) && math.Abs(f) < 1e17 {
				b.WriteString(strconv.FormatFloat(f, 'f', -1, 64) + ".")
				return true
			}
		case value.KindTuple:
			if t := v.Tuple().Type; t != nil && t.Name != "" {
				b.WriteString(p.annotation(t))
			}
		case value.KindEnum:
			b.WriteString(p.annotation(v.Enum().Type) + "." + v.Enum().Name())
			return true
		}
		return false
	})
}

func (p *Printer) constantRef(b *strings.Builder, v value.Value) {
	for i, c := range p.Constants {
		if c == v || c.Kind() == value.KindTensor && !p.writes && !p.apart[i] && value.EqualConstants(c, v) {
			fmt.Fprintf(b, "CONSTANTS.c%d", i)
			return
		}
	}
	fmt.Fprintf(b, "CONSTANTS.c%d", len(p.Constants))
	if p.writes {
		if p.apart == nil {
			p.apart = map[int]bool{}
		}
		p.apart[len(p.Constants)] = true
	}
	p.Constants = append(p.Constants, v)
}

func IsASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// expression returns the right-hand side that a node is.
func (p *Printer) expression(n *ir.Node) string {
	if name, ok := ops.FactOf(n.Kind(), "code"); ok { // a name of Python
		return name + "(" + p.useAll(n.Inputs()) + ")"
	}
	switch n.Kind() {
	case prim.Constant:
		return p.constantNode(n)
	case aten.Getitem:
		base := p.use(n.Input(0))
		if !isIdentifier(p.Places.plain(base)) {
			base = "(" + base + ")"
		}
		return base + "[" + p.use(n.Input(1)) + "]"
	case prim.TupleConstruct:
		name, end := "", ")"
		if t := n.Output().Type().(*types.Tuple); t.Name != "" {
			name = p.annotation(t)
		}
		if len(n.Inputs()) == 1 {
			end = ",)"
		}
		return name + "(" + p.useAll(n.Inputs()) + end
	case prim.TupleIndex:
		return "(" + p.use(n.Input(0)) + ")[" + p.use(n.Input(1)) + "]"
	case prim.ListConstruct:
		return p.annotateUnless(len(n.Inputs()) > 0 && elementsTellType(n.Output().Type().(*types.List).Elem), n, "["+p.useAll(n.Inputs())+"]")
	case prim.DictConstruct:
		var pairs []string
		for i := 0; i+1 < len(n.Inputs()); i += 2 {
			pairs = append(pairs, p.use(n.Input(i))+": "+p.use(n.Input(i+1)))
		}
		return p.annotateUnless(len(pairs) > 0 && elementsTellType(n.Output().Type().(*types.Dict).Value), n, "{"+strings.Join(pairs, ", ")+"}")
	case prim.CreateObject:
		name := p.annotation(n.Output().Type())
		return name + ".__new__(" + name + ")"
	case prim.GetAttr:
		field := n.StringAttr("name")
		if isIdentifier(field) {
			return p.use(n.Input(0)) + "." + field
		}
		return "getattr(" + p.use(n.Input(0)) + ", " + value.Quote(field) + ")"
	case prim.CallFunction:
		return p.call(p.use(n.Input(0)), n.Inputs()[1:])
	case prim.CallMethod:
		return p.call("("+p.use(n.Input(0))+")."+n.StringAttr("name"), n.Inputs()[1:])
	case prim.PythonOp:
		return "^" + n.StringAttr("name") + "()(" + p.useAll(n.Inputs()) + ")"
	case prim.UncheckedCast, prim.UncheckedUnwrapOptional:
		return "unchecked_cast(" + p.annotation(n.Output().Type()) + ", " + p.use(n.Input(0)) + ")"
	case prim.Uninitialized:
		return "uninitialized(" + p.annotation(n.Output().Type()) + ")"
	case prim.Isinstance:
		return "isinstance(" + p.use(n.Input(0)) + ", " + p.typeList(n.TypesAttr("types")) + ")"
	case prim.Tolist:
		return "annotate(" + p.annotation(n.Output().Type()) + ", " + p.use(n.Input(0)) + ".tolist())"
	case prim.EnumValue:
		return "(" + p.use(n.Input(0)) + ").value"
	case prim.EnumName:
		return "(" + p.use(n.Input(0)) + ").name"
	case aten.UnwrapOptional:
		if n.Input(0).MustBeNone() {
			return "torch._unwrap_optional(annotate(" + p.annotation(types.NewOptional(n.Output().Type())) + ", " + p.use(n.Input(0)) + "))"
		}
	}
	if n.Has(ops.Implicit) {
		return "annotate(" + p.annotation(n.Output().Type()) + ", " + p.use(n.Input(0)) + ")"
	}
	return p.operator(n)
}

func (p *Printer) annotateUnless(plain bool, n *ir.Node, text string) string {
	if plain {
		return text
	}
	return "annotate(" + p.annotation(n.Output().Type()) + ", " + text + ")"
}

// elementsTellType reports whether the type of a container can be seen from its elements.
func elementsTellType(elem types.Type) bool {
	switch elem.Kind() {
	case types.KindOptional, types.KindUnion, types.KindNumber, types.KindInterface, types.KindAny:
		return false
	}
	return true
}

func (p *Printer) constantNode(n *ir.Node) string {
	if f, ok := n.Output().Type().(*types.Function); ok {
		if target, ok := f.Target.(*ir.Function); ok {
			if p.FunctionName != nil {
				return p.FunctionName(target)
			}
			return target.Name
		}
		return f.Name
	}
	v, ok := n.Output().Constant()
	if !ok || v.IsNone() {
		return "None"
	}
	return p.ConstantText(v)
}

func (p *Printer) call(callee string, args []*ir.Value) string {
	var b strings.Builder
	b.WriteString(callee + "(")
	for _, a := range args {
		b.WriteString(p.use(a) + ", ")
	}
	b.WriteByte(')')
	return b.String()
}

func (p *Printer) typeList(ts []types.Type) string {
	if len(ts) == 1 {
		return p.annotation(ts[0])
	}
	parts := make([]string, len(ts))
	for i, t := range ts {
		parts[i] = p.annotation(t)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func operatorName(kind string) string {
	switch kind {
	case aten.Backward:
		return "torch.autograd.backward"
	case aten.Grad:
		return "torch.autograd.grad"
	}
	ns, name, _ := strings.Cut(kind, "::")
	if ns == "aten" {
		return "torch." + name
	}
	return "ops." + ns + "." + name
}

// operator prints a call of an operator without the trailing arguments that are defaults.
func (p *Printer) operator(n *ir.Node) string {
	o := n.Operator()
	if o == nil || len(o.Schema().Arguments) == 0 {
		return operatorName(n.Kind()) + "(" + p.useAll(n.Inputs()) + ")"
	}
	formals := o.Schema().Arguments
	needed, outs := necessaryArguments(formals, n.Inputs())
	var parts []string
	for i := range needed {
		text := p.use(n.Input(i))
		if i < len(formals) && formals[i].KwargOnly {
			text = formals[i].Name + "=" + text
		}
		parts = append(parts, text)
	}
	for i := len(formals) - outs; i < len(formals); i++ {
		parts = append(parts, formals[i].Name+"="+p.use(n.Input(i)))
	}
	return operatorName(n.Kind()) + "(" + strings.Join(parts, ", ") + ")"
}

// necessaryArguments returns how many of the leading arguments are to be printed, and how many
// output arguments at the end.
func necessaryArguments(formals []schema.Argument, actuals []*ir.Value) (needed, outs int) {
	last := len(formals) - 1
	for last >= 0 && formals[last].IsOut() {
		last--
	}
	outs = len(formals) - last - 1
	if len(formals) < len(actuals) {
		return len(actuals), outs
	}
	for ; last >= 0; last-- {
		if !formals[last].HasDefault {
			return last + 1, outs
		}
		actual, ok := actuals[last].Constant()
		if !ok || !sameDefault(formals[last].Default, actual) {
			return last + 1, outs
		}
	}
	return 0, outs
}

func sameDefault(a, b value.Value) bool {
	if a.Kind() == value.KindList && b.Kind() == value.KindList {
		x, y := a.List().Items, b.List().Items
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !value.EqualConstants(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	if a.IsBool() && b.IsInt() || a.IsInt() && b.IsBool() {
		return a.Bits() == b.Bits()
	}
	return value.EqualConstants(a, b)
}
