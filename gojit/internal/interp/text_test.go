package interp

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// readGraph makes a graph from the text form that Graph.String prints, as far as the tests here
// need it: constants that are scalars and strings, names, begin and end. Classes are resolved by
// name; every line is its own source range.
func readGraph(t *testing.T, text string, named map[string]types.Type) *ir.Graph {
	t.Helper()
	r := &graphReader{t: t, g: ir.NewGraph(), env: map[string]*ir.Value{}, named: named, text: source.NewText("g.ir", text, 1)}
	head, body, _ := strings.Cut(strings.TrimLeft(text, "\n"), "):\n")
	for _, in := range strings.Split(strings.TrimPrefix(head, "graph("), ",") {
		if strings.TrimSpace(in) != "" {
			r.define(strings.TrimSpace(in), r.g.AddInput(""))
		}
	}
	r.offset = strings.Index(text, "):\n") + 3
	for _, line := range strings.Split(body, "\n") {
		at := r.offset + len(line) - len(strings.TrimLeft(line, " "))
		r.line(line, source.Range{Text: r.text, Start: at, End: r.offset + len(line)})
		r.offset += len(line) + 1
	}
	if err := ir.Verify(r.g); err != nil {
		t.Fatalf("%v in\n%s", err, r.g)
	}
	return r.g
}

type graphReader struct {
	t      *testing.T
	g      *ir.Graph
	text   *source.Text
	offset int
	env    map[string]*ir.Value
	named  map[string]types.Type
	blocks []*ir.Block // open ones, innermost last
	last   *ir.Node    // the last node of the top-level block or of an open block
	nodes  []*ir.Node  // owners of the open blocks
}

func (r *graphReader) typeOf(text string) types.Type {
	p := &types.Parser{Src: text, Named: func(name string) (types.Type, bool) {
		t, ok := r.named[name]
		return t, ok
	}}
	typ, err := p.Type()
	if err != nil {
		r.t.Fatal(err)
	}
	return typ
}

// define sets the name and type of v from "%x : int".
func (r *graphReader) define(text string, v *ir.Value) {
	name, typ, _ := strings.Cut(text, " : ")
	v.SetType(r.typeOf(typ)).SetName(strings.TrimPrefix(name, "%"))
	r.env[strings.TrimPrefix(name, "%")] = v
}

func (r *graphReader) values(text string) (vs []*ir.Value) {
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimPrefix(strings.TrimSpace(name), "%"); name != "" {
			if r.env[name] == nil {
				r.t.Fatalf("%%%s is not defined", name)
			}
			vs = append(vs, r.env[name])
		}
	}
	return vs
}

func (r *graphReader) block() *ir.Block {
	if len(r.blocks) == 0 {
		return r.g.Block()
	}
	return r.blocks[len(r.blocks)-1]
}

func (r *graphReader) line(line string, at source.Range) {
	line = strings.TrimSpace(line)
	between := func(s, open, end string) string {
		_, s, _ = strings.Cut(s, open)
		return s[:strings.LastIndex(s, end)]
	}
	switch {
	case line == "":
	case strings.HasPrefix(line, "return"), strings.HasPrefix(line, "->"):
		for _, v := range r.values(between(line, "(", ")")) {
			r.block().AddOutput(v)
		}
		if len(r.blocks) > 0 {
			r.blocks = r.blocks[:len(r.blocks)-1]
			r.last = r.nodes[len(r.nodes)-1]
			r.nodes = r.nodes[:len(r.nodes)-1]
		}
	case strings.HasPrefix(line, "block"):
		b := r.last.AddBlock()
		for _, in := range strings.Split(between(line, "(", "):"), ", ") {
			if in != "" {
				r.define(in, b.AddInput(""))
			}
		}
		r.nodes = append(r.nodes, r.last)
		r.blocks = append(r.blocks, b)
	default:
		r.node(line, at)
	}
}

func (r *graphReader) node(line string, at source.Range) {
	outs, rest, ok := strings.Cut(line, " = ")
	if !ok {
		rest, outs = strings.TrimPrefix(line, "= "), ""
	}
	head := rest[:strings.LastIndex(rest, "(")]
	kind, attrs, _ := strings.Cut(head, "[")
	inputs := rest[len(head)+1 : strings.LastIndex(rest, ")")]
	n := r.g.Create(kind, r.values(inputs), 0).SetRange(at)
	for _, out := range strings.Split(outs, ", %") {
		if out != "" {
			r.define("%"+strings.TrimPrefix(out, "%"), n.AddOutput())
		}
	}
	if attrs = strings.TrimSuffix(attrs, "]"); attrs != "" {
		r.attributes(n, attrs)
	}
	r.block().Append(n)
	r.last = n
}

func (r *graphReader) attributes(n *ir.Node, text string) {
	for _, attr := range strings.Split(text, ", ") {
		key, v, _ := strings.Cut(attr, "=")
		switch key {
		case "value":
			n.SetAttr("value", r.literal(v, n.Output().Type()))
		case "name":
			n.SetAttr("name", strings.Trim(v, `"`))
		case "types":
			n.SetAttr("types", []types.Type{r.typeOf(strings.Trim(v, "[]"))})
		default:
			i, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				r.t.Fatal(err)
			}
			n.SetAttr(key, i)
		}
	}
}

func (r *graphReader) literal(text string, t types.Type) value.Value {
	var v value.Value
	var err error
	switch t.Kind() {
	case types.KindInt:
		var i int64
		i, err = strconv.ParseInt(text, 10, 64)
		v = value.Int(i)
	case types.KindFloat:
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		v = value.Float(f)
	case types.KindBool:
		v = value.Bool(text == "1")
	default:
		var s string
		s, err = strconv.Unquote(text)
		v = value.Str(s)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// show prints a value for comparison.
func show(v value.Value) string { return value.Repr(v, nil) }

// asDefined are options whose functions run as they are defined.
func asDefined() *Options {
	o := &Options{}
	o.Code = func(f *ir.Function) (*Code, error) {
		if c, ok := f.Compiled.Load(o); ok {
			return c.(*Code), nil
		}
		c, err := Lower(f.ShortName(), f.Graph(), o)
		if err == nil {
			f.Compiled.Store(o, c)
		}
		return c, err
	}
	return o
}

func lower(t testing.TB, g *ir.Graph) *Code {
	t.Helper()
	c, err := Lower("f", g, asDefined())
	if err != nil {
		t.Fatalf("%v\n%s", err, g)
	}
	return c
}

func showAll(vs []value.Value) string {
	s := make([]string, len(vs))
	for i, v := range vs {
		s[i] = show(v)
	}
	return fmt.Sprint(strings.Join(s, " "))
}
