package ir

import (
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Pattern is a graph to be found in others: its parameters stand for any values, its nodes for
// nodes of the same kind and attributes, and its only result for what is replaced.
type Pattern struct {
	graph  *Graph
	anchor *Node // defines the result
	// Origins are, for values of what replaces the pattern, values of the pattern: the nodes that define the first are from where those of the
	// second were. Other new nodes are from where the result was.
	Origins map[*Value]*Value
	// OwnConstants is set where nothing but the occurrence may use its constants.
	OwnConstants bool
}

// NewPattern makes a pattern of a graph without blocks whose only result a node defines. ok is
// false for other graphs.
func NewPattern(g *Graph) (p *Pattern, ok bool) {
	if len(g.Outputs()) != 1 {
		return nil, false
	}
	for n := g.block.First(); n != nil; n = n.Next() {
		if len(n.blocks) > 0 {
			return nil, false
		}
	}
	anchor := g.Outputs()[0].node
	return &Pattern{graph: g, anchor: anchor}, anchor.kind != prim.Param
}

// occurrence is a place where a pattern is found.
type occurrence struct {
	values map[*Value]*Value // of the pattern: those of the graph
	nodes  map[*Node]*Node   // of the graph: those of the pattern
	order  []*Node           // nodes of the graph, users first
}

// find matches the pattern with n as the node that defines its result; nil where it does not fit.
func (p *Pattern) find(n *Node) *occurrence {
	o := &occurrence{values: map[*Value]*Value{}, nodes: map[*Node]*Node{}}
	if !o.node(p.anchor, n) || !o.isClosed(p, n) {
		return nil
	}
	for _, in := range p.graph.Inputs() {
		if o.values[in] == nil {
			return nil // a parameter that the pattern does not use
		}
	}
	return o
}

func (o *occurrence) node(pattern, n *Node) bool {
	if known, ok := o.nodes[n]; ok {
		return known == pattern
	}
	if n.kind != pattern.kind || len(n.inputs) != len(pattern.inputs) || len(n.outputs) != len(pattern.outputs) ||
		len(n.blocks) > 0 || !sameAttributes(pattern, n) {
		return false
	}
	o.nodes[n] = pattern
	o.order = append(o.order, n)
	for i, in := range pattern.inputs {
		if !o.value(in, n.inputs[i]) {
			return false
		}
	}
	for i, out := range pattern.outputs {
		if known, ok := o.values[out]; ok && known != n.outputs[i] {
			return false
		}
		o.values[out] = n.outputs[i]
	}
	return true
}

func (o *occurrence) value(pattern, v *Value) bool {
	if known, ok := o.values[pattern]; ok {
		return known == v
	}
	if pattern.node.kind == prim.Param {
		o.values[pattern] = v
		return true
	}
	return v.node.kind != prim.Param && v.offset == pattern.offset && o.node(pattern.node, v.node)
}

// isClosed reports whether nothing besides the occurrence uses what its inner nodes define, and
// all of them are in one block. Constants may be used by others, unless the pattern says not.
func (o *occurrence) isClosed(p *Pattern, anchor *Node) bool {
	for n := range o.nodes {
		if n.kind == prim.Constant && !p.OwnConstants || n == anchor {
			continue
		}
		if n.block != anchor.block && n.kind != prim.Constant {
			return false
		}
		for _, out := range n.outputs {
			for _, u := range out.uses {
				if _, ok := o.nodes[u.User]; !ok {
					return false
				}
			}
		}
	}
	return true
}

func sameAttributes(pattern, n *Node) bool {
	if len(pattern.attrs) != len(n.attrs) {
		return false
	}
	for _, a := range pattern.attrs {
		b, ok := n.Attr(a.Name)
		if !ok || !sameAttribute(a.Value, b) {
			return false
		}
	}
	return n.kind != prim.Constant || types.Equal(pattern.outputs[0].typ, n.outputs[0].typ)
}

func sameAttribute(a, b any) bool {
	x, ok := a.(value.Value)
	y, ok2 := b.(value.Value)
	if ok && ok2 {
		return value.EqualConstants(x, y)
	}
	return attributeText(a) == attributeText(b)
}

// ReplaceAll puts a copy of replacement, a graph with as many parameters and one result, where the
// pattern occurs in g and its blocks, and returns how often. Occurrences do not overlap: the first
// in the text counts.
func (p *Pattern) ReplaceAll(g, replacement *Graph) int {
	return p.replaceIn(g.block, replacement)
}

func (p *Pattern) replaceIn(b *Block, replacement *Graph) int {
	count := 0
	for n := b.First(); n != nil; {
		for _, inner := range n.blocks {
			count += p.replaceIn(inner, replacement)
		}
		next := n.Next()
		if o := p.find(n); o != nil {
			p.replace(o, n, replacement)
			count++
		}
		n = next
	}
	return count
}

func (p *Pattern) replace(o *occurrence, n *Node, replacement *Graph) {
	g := n.graph
	old := g.SetInsertPoint(n)
	arguments := make([]*Value, len(p.graph.Inputs()))
	for i, in := range p.graph.Inputs() {
		arguments[i] = o.values[in]
	}
	before := n.Prev()
	results := g.InsertGraph(replacement, arguments)
	made := n.Prev()
	for from := replacement.block.ret.Prev(); from != nil && made != before; from, made = from.Prev(), made.Prev() {
		if !made.Range.IsValid() {
			made.SetRange(n.Range) // of what it stands for
		}
		for _, out := range from.outputs {
			if origin := p.Origins[out]; origin != nil {
				made.SetRange(o.values[origin].node.Range)
			}
		}
	}
	g.SetInsertPoint(old)
	result := o.values[p.graph.Outputs()[0]]
	if len(results[0].node.outputs) > 0 && results[0].node.kind != prim.Param {
		results[0].SetType(result.typ)
	}
	result.ReplaceAllUsesWith(results[0])
	for _, m := range o.order {
		used := false
		for _, out := range m.outputs {
			used = used || len(out.uses) > 0
		}
		if !used && m.block != nil {
			m.Destroy()
		}
	}
}
