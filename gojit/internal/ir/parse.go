package ir

import (
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Parse reads the text form of a graph. Comments with source places are skipped. It fails with a
// source.Error at the place that cannot be read; tensor constants that the text does not show
// cannot be.
func Parse(text string) (*Graph, error) { return ParseWith(text, ParseOptions{}) }

// ParseOptions say how Parse reads what a text alone does not tell.
type ParseOptions struct {
	// Named finds the type of a qualified name, nil where there is none; such names, and all where
	// Named is nil, become opaque classes.
	Named func(name string) types.Type
	// Renumber drops the names of all but parameters, as PyTorch's parser does.
	Renumber bool
	// TensorConstants gives tensor constants whose elements the text does not show zeros.
	TensorConstants bool
	// Places gives nodes the places of their kinds in the text, as source ranges.
	Places bool
}

// ParseWith is Parse with options.
func ParseWith(text string, options ParseOptions) (*Graph, error) {
	p := &graphParser{Parser: types.Parser{Src: text}, options: options, values: map[string]*Value{}, classes: map[string]types.Type{}}
	if options.Places {
		p.text = source.NewText("", text, 1)
	}
	p.Named = func(name string) (types.Type, bool) {
		if options.Named != nil {
			if t := options.Named(name); t != nil {
				return t, true
			}
		}
		t, ok := p.classes[name]
		if !ok {
			t = types.NewClass(name, false)
			p.classes[name] = t
		}
		return t, true
	}
	return p.graph()
}

type graphParser struct {
	types.Parser
	options ParseOptions
	values  map[string]*Value
	classes map[string]types.Type
	text    *source.Text // that nodes point at, nil for none
	nodes   []*Node      // in the order of the text
}

// space skips blanks and comments.
func (p *graphParser) space() {
	for {
		p.Space()
		if p.Pos >= len(p.Src) || p.Src[p.Pos] != '#' {
			return
		}
		end := strings.IndexByte(p.Src[p.Pos:], '\n')
		if end < 0 {
			end = len(p.Src) - p.Pos
		}
		p.Pos += end
	}
}

func (p *graphParser) accept(text string) bool {
	p.space()
	return p.Accept(text)
}

func (p *graphParser) expect(text string) error {
	p.space()
	return p.Expect(text)
}

func (p *graphParser) valueName() (string, error) {
	if err := p.expect("%"); err != nil {
		return "", err
	}
	start := p.Pos
	for p.Pos < len(p.Src) && (p.Src[p.Pos] == '.' || p.Src[p.Pos] == '_' || isAlphanumeric(p.Src[p.Pos])) {
		p.Pos++
	}
	if p.Pos == start {
		return "", p.Expected("ident")
	}
	return p.Src[start:p.Pos], nil
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// definition reads "%name : type" and gives both to the value that make returns.
func (p *graphParser) definition(make func() *Value) error {
	name, t, err := p.declaration()
	if err != nil {
		return err
	}
	if t == nil {
		t = types.Tensor
	}
	v := make()
	v.SetType(t)
	p.define(name, v, true)
	return nil
}

// declaration reads "%name : type"; the type is nil where it is left out.
func (p *graphParser) declaration() (name string, t types.Type, err error) {
	if name, err = p.valueName(); err != nil {
		return "", nil, err
	}
	if p.accept(":") {
		t, err = p.Type()
	}
	return name, t, err
}

// define makes a name mean v from here on, and gives it to v if v may keep it.
func (p *graphParser) define(name string, v *Value, named bool) {
	if named && ValidName(name) {
		v.SetName(name)
	}
	p.values[name] = v
}

// list reads items between brackets, separated by commas.
func (p *graphParser) list(item func() error) error {
	if err := p.expect("("); err != nil {
		return err
	}
	for !p.accept(")") {
		if err := item(); err != nil {
			return err
		}
		if !p.accept(",") && !p.Peek(")") {
			return p.Expected(")")
		}
	}
	return nil
}

// graph reads a graph, and those that its nodes run, to the end of the text.
func (p *graphParser) graph() (*Graph, error) {
	g, err := p.withSubgraphs()
	if err != nil {
		return nil, err
	}
	if p.accept("with") {
		p.space()
		namespace := p.Ident(false)
		if err := p.Expect("::"); err != nil {
			return nil, err
		}
		return nil, p.Errorf("no node of the text runs %s::%s", namespace, p.Ident(true))
	}
	p.space()
	if p.Pos != len(p.Src) {
		return nil, p.Expected("dedent")
	}
	return g, nil
}

// body reads one graph.
func (p *graphParser) body() (*Graph, error) {
	p.space()
	if p.Ident(false) == "" {
		return nil, p.Expected("ident")
	}
	g := NewGraph()
	if err := p.list(func() error { return p.definition(func() *Value { return g.AddInput("") }) }); err != nil {
		return nil, err
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	for !p.accept("return") {
		if err := p.node(g, g.Block()); err != nil {
			return nil, err
		}
	}
	if err := p.uses(func(v *Value) { g.AddOutput(v) }); err != nil {
		return nil, err
	}
	return g, nil
}

// withSubgraphs reads one graph, and behind it those that its nodes run, in their order.
func (p *graphParser) withSubgraphs() (*Graph, error) {
	g, err := p.body()
	for read := 0; err == nil; read++ {
		n := p.nextRun(read)
		if n == nil {
			return g, nil
		}
		inner := &graphParser{Parser: p.Parser, options: p.options, values: map[string]*Value{}, classes: p.classes}
		var run *Graph
		run, err = inner.withSubgraphs()
		p.Pos = inner.Pos
		n.SetAttr("Subgraph", run)
	}
	return nil, err
}

// nextRun reads "with prim::X_0 =" where the graph has a node prim::X_0 for that number, and returns the node, of the kind prim::X from now on.
// Where there is none it returns nil and reads nothing.
func (p *graphParser) nextRun(number int) *Node {
	start := p.Pos
	if p.accept("with") {
		p.space()
		namespace := p.Ident(false)
		if p.Expect("::") == nil {
			kind := namespace + "::" + p.Ident(true)
			at := slices.IndexFunc(p.nodes, func(n *Node) bool { return n.kind == kind })
			plain, numbered := strings.CutSuffix(kind, "_"+strconv.Itoa(number))
			if at >= 0 && numbered && p.expect("=") == nil {
				p.nodes[at].kind = plain
				return p.nodes[at]
			}
		}
	}
	p.Pos = start
	return nil
}

// uses reads "(%a, %b)".
func (p *graphParser) uses(add func(*Value)) error {
	return p.list(func() error {
		name, err := p.valueName()
		if err != nil {
			return err
		}
		v := p.values[name]
		if v == nil {
			return p.Errorf("Cannot find a variable with name '%s'", name)
		}
		add(v)
		return nil
	})
}

func (p *graphParser) node(g *Graph, b *Block) error {
	n := g.Create("", nil, 0)
	p.space()
	untyped := false
	var names []string
	for p.Peek("%") {
		name, t, err := p.declaration()
		if err != nil {
			return err
		}
		if t == nil {
			t, untyped = types.Tensor, true
		}
		names = append(names, name)
		n.AddOutput().SetType(t)
		if !p.accept(",") {
			break
		}
	}
	if len(names) > 0 || p.Peek("=") {
		if err := p.expect("="); err != nil {
			return err
		}
	}
	p.space()
	start := p.Pos
	namespace := p.Ident(false)
	if p.text != nil {
		n.SetRange(source.Range{Text: p.text, Start: start, End: p.Pos})
	}
	if err := p.Expect("::"); err != nil {
		return err
	}
	n.kind = namespace + "::" + p.Ident(true)
	p.nodes = append(p.nodes, n)
	if p.accept("[") {
		if err := p.attributes(n); err != nil {
			return err
		}
	}
	if err := p.uses(func(v *Value) { n.AddInput(v) }); err != nil {
		return err
	}
	for i, name := range names {
		p.define(name, n.outputs[i], !p.options.Renumber)
	}
	if p.accept(", scope:") {
		p.Space()
		n.Scope = p.untilSpace()
	}
	b.Append(n)
	if untyped {
		takeTypes(n)
	}
	for p.accept("block") {
		if _, err := p.Integer(); err != nil {
			return err
		}
		if err := p.block(g, n.AddBlock()); err != nil {
			return err
		}
	}
	return nil
}

// takeTypes gives outputs whose types the text leaves out those of the operator.
func takeTypes(n *Node) {
	o := n.Operator()
	if o == nil || o.Schema().IsVarret {
		return
	}
	for i, out := range n.outputs {
		if t := o.Schema().Returns[i].Type; out.typ == types.Tensor && !types.HasVars(t) {
			out.SetType(t)
		}
	}
}

func (p *graphParser) untilSpace() string {
	start := p.Pos
	for p.Pos < len(p.Src) && p.Src[p.Pos] != ' ' && p.Src[p.Pos] != '\n' {
		p.Pos++
	}
	return p.Src[start:p.Pos]
}

func (p *graphParser) block(g *Graph, b *Block) error {
	if err := p.list(func() error { return p.definition(func() *Value { return b.AddInput("") }) }); err != nil {
		return err
	}
	if err := p.expect(":"); err != nil {
		return err
	}
	for !p.accept("->") {
		if err := p.node(g, b); err != nil {
			return err
		}
	}
	return p.uses(func(v *Value) { b.AddOutput(v) })
}

func (p *graphParser) attributes(n *Node) error {
	for {
		p.space()
		name := p.Ident(false)
		if name == "" {
			return p.Expected("ident")
		}
		if err := p.expect("="); err != nil {
			return err
		}
		var v any
		var err error
		switch {
		case n.kind == prim.Constant && name == "value" && len(n.outputs) == 1:
			v, err = p.constant(n.outputs[0].typ)
		case n.kind == prim.Constant && name == "name":
			v, err = p.quoted()
			if s, ok := v.(string); ok && err == nil {
				n.outputs[0].SetType(&types.Function{Name: s})
			}
		case name == "types":
			v, err = p.typeList()
		default:
			v, err = p.plainAttribute()
		}
		if err != nil {
			return err
		}
		n.SetAttr(name, v)
		if p.accept("]") {
			return nil
		}
		if err := p.expect(","); err != nil {
			return err
		}
	}
}

func (p *graphParser) typeList() (any, error) {
	if err := p.expect("["); err != nil {
		return nil, err
	}
	var ts []types.Type
	for !p.accept("]") {
		t, err := p.Type()
		if err != nil {
			return nil, err
		}
		ts = append(ts, t)
		p.accept(",")
	}
	return ts, nil
}

func (p *graphParser) plainAttribute() (any, error) {
	p.space()
	if p.Peek("\"") {
		return p.quoted()
	}
	if p.accept("[") {
		return p.listAttribute()
	}
	text := p.scalarText()
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, nil
	}
	p.Pos -= len(text)
	return nil, p.unreadable()
}

// unreadable returns the error that the token at Pos begins no value.
func (p *graphParser) unreadable() error {
	p.space()
	return p.Errorf("Could not parse literal%.1s", p.Src[p.Pos:])
}

// listAttribute reads the rest of a list of ints, floats or texts.
func (p *graphParser) listAttribute() (any, error) {
	var ints []int64
	var floats []float64
	var texts []string
	for !p.accept("]") {
		item, err := p.plainAttribute()
		if err != nil {
			return nil, err
		}
		switch x := item.(type) {
		case int64:
			ints, floats = append(ints, x), append(floats, float64(x))
		case float64:
			floats = append(floats, x)
		case string:
			texts = append(texts, x)
		default:
			return nil, p.Errorf("expected a list of numbers or texts")
		}
		if !p.accept(",") && !p.Peek("]") {
			return nil, p.Expected("]")
		}
	}
	switch {
	case texts != nil && floats == nil:
		return texts, nil
	case texts != nil:
		return nil, p.Errorf("expected a list of numbers or texts, not of both")
	case len(floats) > len(ints):
		return floats, nil
	}
	return ints, nil
}

func (p *graphParser) quoted() (string, error) {
	if err := p.expect("\""); err != nil {
		return "", err
	}
	start := p.Pos
	for p.Pos < len(p.Src) && p.Src[p.Pos] != '"' {
		if p.Src[p.Pos] == '\\' {
			p.Pos++
		}
		p.Pos++
	}
	if p.Pos >= len(p.Src) {
		p.Pos = start - 1
		return "", p.Expected("string_literal")
	}
	inner := p.Src[start:p.Pos]
	p.Pos++
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(inner, `\'`, `'`) + `"`)
	if err != nil {
		return "", p.Errorf("a text with a bad escape")
	}
	return s, nil
}

// scalarText reads what may be a number.
func (p *graphParser) scalarText() string {
	start := p.Pos
	for p.Pos < len(p.Src) && (isAlphanumeric(p.Src[p.Pos]) || strings.IndexByte("+-._", p.Src[p.Pos]) >= 0) {
		p.Pos++
	}
	return p.Src[start:p.Pos]
}

// constant reads a value of type t.
func (p *graphParser) constant(t types.Type) (value.Value, error) {
	p.space()
	if p.accept("annotate(") {
		depth := 0
		for ; p.Pos < len(p.Src) && (depth > 0 || p.Src[p.Pos] != ','); p.Pos++ {
			switch p.Src[p.Pos] {
			case '[':
				depth++
			case ']':
				depth--
			}
		}
		if err := p.expect(","); err != nil {
			return value.None, err
		}
		v, err := p.constant(t)
		if err != nil {
			return v, err
		}
		return v, p.expect(")")
	}
	switch t := t.(type) {
	case *types.List:
		items, err := p.items("[", "]", func(int) types.Type { return t.Elem })
		return value.OfList(value.NewList(t.Elem, items...)), err
	case *types.Tuple:
		items, err := p.items("(", ")", func(i int) types.Type {
			if i < len(t.Elems) {
				return t.Elems[i]
			}
			return types.None
		})
		return value.OfTuple(&value.Tuple{Type: t, Items: items}), err
	case *types.Optional:
		if p.accept("None") {
			return value.None, nil
		}
		return p.constant(t.Elem)
	case *types.Dict:
		return p.dict(t)
	case *types.TensorInfo:
		if p.accept("<Tensor>") {
			return p.hiddenTensor(t)
		}
		return p.oneElement(t)
	}
	return p.scalar(t)
}

func (p *graphParser) items(open, end string, typeAt func(int) types.Type) ([]value.Value, error) {
	if err := p.expect(open); err != nil {
		return nil, err
	}
	var items []value.Value
	for !p.accept(end) {
		v, err := p.constant(typeAt(len(items)))
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		if !p.accept(",") && !p.Peek(end) {
			return nil, p.Expected(end)
		}
	}
	return items, nil
}

func (p *graphParser) dict(t *types.Dict) (value.Value, error) {
	d := value.NewDict(t.Key, t.Value)
	if err := p.expect("{"); err != nil {
		return value.None, err
	}
	for !p.accept("}") {
		k, err := p.constant(t.Key)
		if err != nil {
			return value.None, err
		}
		if err := p.expect(":"); err != nil {
			return value.None, err
		}
		v, err := p.constant(t.Value)
		if err != nil {
			return value.None, err
		}
		d.Set(k, v)
		p.accept(",")
	}
	return value.OfDict(d), nil
}

// hiddenTensor makes the tensor that stands for a constant whose elements are not shown.
func (p *graphParser) hiddenTensor(t *types.TensorInfo) (value.Value, error) {
	if !p.options.TensorConstants {
		return value.None, p.Errorf("Tensor constant encountered but `parse_tensor_constants` set to false<")
	}
	dtype, ok := tensor.ParseDType(t.DType)
	if !ok || !t.IsComplete() {
		return value.None, p.Errorf("a tensor constant whose type is not complete cannot be read")
	}
	made, err := tensor.Zeros(t.Sizes, dtype)
	return value.OfTensor(made), err
}

// oneElement reads a tensor of one element, written {x}.
func (p *graphParser) oneElement(t *types.TensorInfo) (value.Value, error) {
	if err := p.expect("{"); err != nil {
		return value.None, p.Errorf("a tensor constant that is not shown cannot be read")
	}
	text := p.scalarText()
	if err := p.expect("}"); err != nil {
		return value.None, err
	}
	v, err := oneNumber(text)
	if err != nil {
		return value.None, p.Errorf("%q is no number", text)
	}
	ones := slices.Repeat([]int{1}, len(t.Sizes))
	if !slices.Equal(t.Sizes, ones) {
		return value.OfTensor(v), nil
	}
	shaped, err := v.Reshape(ones...)
	return value.OfTensor(shaped), err
}

// oneNumber makes a tensor of a number.
func oneNumber(text string) (*tensor.Tensor, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return tensor.FromScalar(tensor.Int(n), tensor.Int64), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	return tensor.FromScalar(tensor.Float(f), tensor.Float32), err
}

func (p *graphParser) scalar(t types.Type) (value.Value, error) {
	switch t.Kind() {
	case types.KindString:
		s, err := p.quoted()
		return value.Str(s), err
	case types.KindDevice:
		s, err := p.quoted()
		if err != nil {
			return value.None, err
		}
		d, err := tensor.ParseDevice(s)
		return value.OfDevice(d), err
	case types.KindNone:
		return value.None, p.expect("None")
	}
	text := p.scalarText()
	switch t.Kind() {
	case types.KindBool:
		switch text {
		case "1", "True":
			return value.Bool(true), nil
		case "0", "False":
			return value.Bool(false), nil
		}
	case types.KindInt:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.Int(n), nil
		}
	case types.KindFloat:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return value.Float(f), nil
		}
	case types.KindComplex:
		if c, err := strconv.ParseComplex(strings.TrimSuffix(text, "j")+"i", 128); err == nil && strings.HasSuffix(text, "j") {
			return value.Complex(c), nil
		}
	}
	return value.None, p.Errorf("%q is no value of type %s", text, t)
}
