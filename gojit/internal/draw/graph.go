package draw

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Graph returns the drawing of a graph. Constants and attributes of the module are no boxes but text in those that use them.
func Graph(g *ir.Graph) *Drawing {
	b := &builder{drawing: &Drawing{Block: &Block{}}, of: map[*ir.Value]*Node{}, texts: map[*ir.Value]string{}}
	b.block(b.drawing.Block, g.Block(), "return")
	return b.drawing
}

type builder struct {
	drawing *Drawing
	of      map[*ir.Value]*Node
	texts   map[*ir.Value]string // of values that are no boxes
}

// mostDetail is how long the text below a title may be.
const mostDetail = 46

func (b *builder) block(to *Block, from *ir.Block, ends string) {
	for i, v := range from.Inputs() {
		if _, is := v.Type().(*types.Class); is && i == 0 && from.Owner() == nil && v.BaseName() == "self" {
			b.texts[v] = "self"
			continue
		}
		b.of[v] = to.Add(&Node{Title: v.Name(), Detail: Cut(v.Type().String()), Hint: "%" + v.Name() + " : " + v.Type().String(), Kind: Input})
	}
	for n := from.First(); n != nil; n = n.Next() {
		b.node(to, n)
	}
	if len(from.Outputs()) == 0 {
		return
	}
	result := &Node{Title: ends, Kind: Output}
	b.arguments(result, from.Outputs(), nil)
	to.Add(result)
}

func (b *builder) node(to *Block, n *ir.Node) {
	if len(n.Outputs()) == 1 && len(n.Blocks()) == 0 {
		if text, ok := b.textOf(n); ok {
			b.texts[n.Output()] = text
			return
		}
	}
	made := &Node{Title: title(n), Kind: kindOf(n), Hint: firstLine(n.String())}
	var declared []schema.Argument
	if o := n.Operator(); o != nil {
		declared = o.Schema().Arguments
	}
	b.arguments(made, n.Inputs(), declared)
	to.Add(made)
	for _, v := range n.Outputs() {
		b.of[v] = made
	}
	for i, inner := range n.Blocks() {
		block := &Block{Title: blockTitle(n, i)}
		made.Blocks = append(made.Blocks, block)
		b.block(block, inner, "yield")
	}
	if g := n.GraphAttr("Subgraph"); g != nil {
		block := &Block{}
		made.Blocks = append(made.Blocks, block)
		b.block(block, g.Block(), "yield")
	}
}

// arguments connects a box with what it reads; what is no box becomes its detail, without None where that is the default.
func (b *builder) arguments(n *Node, inputs []*ir.Value, declared []schema.Argument) {
	var texts []string
	for i, v := range inputs {
		if from := b.of[v]; from != nil {
			b.drawing.Connect(from, n, "%"+v.Name()+" : "+v.Type().String())
			continue
		}
		text := b.texts[v]
		if text == "" || text == "self" && n.Kind != Call {
			continue
		}
		if i < len(declared) {
			if text == "None" && declared[i].HasDefault {
				continue
			}
			text = declared[i].Name + "=" + text
		}
		texts = append(texts, text)
	}
	n.Detail = Cut(strings.Join(texts, ", "))
}

// textOf returns what stands for the result of a node in the boxes that use it: a constant, an attribute of the module, a list of such.
func (b *builder) textOf(n *ir.Node) (string, bool) {
	switch n.Kind() {
	case prim.Constant:
		if c, ok := n.Output().Constant(); ok {
			if c.IsTensor() {
				return "constant " + n.Output().Type().String(), true
			}
			return value.Repr(c, nil), true
		}
		_, isFunction := n.Output().Type().(*types.Function) // calls have its name
		return "", isFunction || n.Output().MustBeNone()
	case prim.GetAttr:
		if base, ok := b.texts[n.Input(0)]; ok {
			return base + "." + n.StringAttr("name"), true
		}
	case prim.ListConstruct, prim.TupleConstruct:
		items := make([]string, len(n.Inputs()))
		for i, v := range n.Inputs() {
			text, ok := b.texts[v]
			if !ok {
				return "", false
			}
			items[i] = text
		}
		if n.Kind() == prim.TupleConstruct {
			return "(" + strings.Join(items, ", ") + ")", true
		}
		return "[" + strings.Join(items, ", ") + "]", true
	}
	return "", false
}

// title is the operator of a node without its namespace where that is PyTorch's usual one.
func title(n *ir.Node) string {
	switch n.Kind() {
	case prim.CallFunction:
		if t, ok := n.Input(0).Type().(*types.Function); ok {
			return shortName(t.Name) + "()"
		}
	case prim.CallMethod:
		return "." + n.StringAttr("name") + "()"
	case prim.GetAttr:
		return "." + n.StringAttr("name")
	case prim.SetAttr:
		return "." + n.StringAttr("name") + " ="
	case prim.TensorExprGroup:
		if _, planned := n.Attr("region"); planned {
			return "plan"
		}
		return "kernel"
	}
	if namespace, base, ok := strings.Cut(n.Kind(), "::"); ok && (namespace == "aten" || namespace == "prim") {
		return base
	}
	return n.Kind()
}

func shortName(qualified string) string { return qualified[strings.LastIndexByte(qualified, '.')+1:] }

func kindOf(n *ir.Node) Kind {
	switch n.Kind() {
	case prim.If, prim.Loop, prim.With:
		return Control
	case prim.TensorExprGroup:
		return Fused
	case prim.CallFunction, prim.CallMethod, prim.Fork, prim.Awaitable:
		return Call
	}
	return Plain
}

func blockTitle(n *ir.Node, i int) string {
	switch {
	case n.Kind() == prim.If:
		return []string{"then", "else"}[i]
	case n.Kind() == prim.Loop:
		return "body"
	case len(n.Blocks()) > 1:
		return "block " + strconv.Itoa(i)
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// Cut returns the beginning of a text where it is too long for a box.
func Cut(text string) string {
	if utf8.RuneCountInString(text) <= mostDetail {
		return text
	}
	return string([]rune(text)[:mostDetail-1]) + "…"
}
