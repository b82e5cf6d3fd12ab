package ir

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Pattern is a graph to be found in others: its parameters stand for any values, its nodes for
// nodes of the same kind and attributes, and its results for what is replaced.
type Pattern struct {
	graph  *Graph
	anchor *Node // the last one, which uses what the others define
	// Origins are, for values of what replaces the pattern, values of the pattern: the nodes that define the first are from where those of the
	// second were. Other new nodes are from where the result was.
	Origins map[*Value]*Value
	// OwnConstants is set where nothing but the occurrence may use its constants.
	OwnConstants bool
	// Where, unless it is nil, says of which occurrences are replaced. It is asked with what finds a value by its name in the pattern.
	Where func(named func(string) *Value) bool
}

// NewPattern makes a pattern of a graph without blocks whose results nodes define, the last one among them. ok is
// false for other graphs.
func NewPattern(g *Graph) (p *Pattern, ok bool) {
	anchor := g.block.Last()
	for n := g.block.First(); n != nil; n = n.Next() {
		if len(n.blocks) > 0 {
			return nil, false
		}
	}
	for _, out := range g.Outputs() {
		if out.node.kind == prim.Param {
			return nil, false
		}
	}
	return &Pattern{graph: g, anchor: anchor}, anchor != nil && len(g.Outputs()) > 0
}

// occurrence is a place where a pattern is found.
type occurrence struct {
	values map[*Value]*Value // of the pattern: those of the graph
	nodes  map[*Node]*Node   // of the graph: those of the pattern
	order  []*Node           // nodes of the graph, users first
}

// Find matches the pattern with n as the node that defines its result, and returns what its values stand for; nil where it does not fit.
func (p *Pattern) Find(n *Node) map[*Value]*Value {
	if o := p.find(n); o != nil {
		return o.values
	}
	return nil
}

// find is Find with the nodes.
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
	for _, out := range p.graph.Outputs() {
		if o.values[out] == nil {
			return nil // a result that has nothing to do with the last node
		}
	}
	if p.Where != nil && !p.Where(func(name string) *Value { return o.named(p, name) }) {
		return nil
	}
	return o
}

// named returns what a value of the pattern stands for.
func (o *occurrence) named(p *Pattern, name string) *Value {
	for v, found := range o.values {
		if v.node.graph == p.graph && v.Name() == name {
			return found
		}
	}
	return nil
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
	for n, pattern := range o.nodes {
		if n.kind == prim.Constant && !p.OwnConstants || n == anchor {
			continue
		}
		if n.block != anchor.block && n.kind != prim.Constant {
			return false
		}
		for i, out := range n.outputs {
			if slices.Contains(p.graph.Outputs(), pattern.outputs[i]) {
				continue
			}
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

// ReplaceAll puts a copy of replacement, a graph with as many parameters and results, where the pattern occurs in g and its blocks,
// behind the last of its arguments, and returns how often. Occurrences do not overlap: the first counts, those of a block before those
// in the blocks of its nodes, of which the last come first.
func (p *Pattern) ReplaceAll(g, replacement *Graph) int {
	r := &replacer{pattern: p, replacement: replacement, leaves: map[*Node]bool{}}
	var found []*occurrence
	for blocks := []*Block{g.block}; len(blocks) > 0; {
		b := blocks[len(blocks)-1]
		blocks = blocks[:len(blocks)-1]
		for n := b.First(); n != nil; n = n.Next() {
			blocks = append(blocks, n.blocks...)
			if o := p.find(n); o != nil && r.note(o) {
				found = append(found, o)
			}
		}
	}
	results := make([][]*Value, len(found))
	for i, o := range found {
		results[i] = r.insert(o)
	}
	for i, o := range found {
		for k, out := range p.graph.Outputs() {
			o.values[out].ReplaceAllUsesWith(results[i][k])
		}
	}
	for _, o := range found {
		for _, m := range o.order {
			m.RemoveAllInputs()
		}
	}
	for _, o := range found {
		r.remove(o)
	}
	return len(found)
}

// replacer is the state of one ReplaceAll.
type replacer struct {
	pattern     *Pattern
	replacement *Graph
	leaves      map[*Node]bool // what belongs to occurrences
}

// note says that an occurrence is to be replaced, unless it overlaps with an earlier one.
func (r *replacer) note(o *occurrence) bool {
	for _, n := range o.order {
		if r.leaves[n] {
			return false
		}
	}
	for _, n := range o.order {
		r.leaves[n] = n.kind != prim.Constant || r.pattern.OwnConstants
	}
	return true
}

// insert puts a copy of the replacement behind the arguments of an occurrence and returns its results.
func (r *replacer) insert(o *occurrence) []*Value {
	p, anchor := r.pattern, o.order[0]
	g := anchor.graph
	arguments := make([]*Value, len(p.graph.Inputs()))
	for i, in := range p.graph.Inputs() {
		arguments[i] = o.values[in]
	}
	at := r.place(o, arguments)
	old := g.SetInsertPoint(at)
	before := at.Prev()
	results := g.InsertGraph(r.replacement, arguments)
	g.SetInsertPoint(old)
	made := at.Prev()
	for from := r.replacement.block.ret.Prev(); from != nil && made != before; from, made = from.Prev(), made.Prev() {
		if !made.Range.IsValid() {
			made.SetRange(anchor.Range) // of what it stands for
		}
		for _, out := range from.outputs {
			if origin := p.Origins[out]; origin != nil {
				made.SetRange(o.values[origin].node.Range)
			}
		}
	}
	for i, out := range p.graph.Outputs() {
		if len(results[i].node.outputs) > 0 && results[i].node.kind != prim.Param {
			results[i].SetType(o.values[out].typ)
		}
	}
	return results
}

// place returns the node that the copy for an occurrence stands before: what follows the last of its arguments, or the last node of the
// occurrence where something may be written between them.
func (r *replacer) place(o *occurrence, arguments []*Value) *Node {
	anchor := o.order[0]
	if len(arguments) == 0 {
		return anchor
	}
	last := arguments[0].node
	for _, v := range arguments[1:] {
		if last.IsBefore(v.node) {
			last = v.node
		}
	}
	next := last.block.First()
	if last.kind != prim.Param {
		next = last.Next()
	}
	for n := next; n != nil && n.IsBefore(anchor); n = n.Next() {
		if !r.leaves[n] && (len(n.blocks) > 0 && anchor.block == n.block && writesIn(n) || writes(n)) {
			return anchor
		}
	}
	if next == nil {
		return last.block.ret
	}
	return next
}

// writesIn reports whether a node in the blocks of n may write.
func writesIn(n *Node) (found bool) {
	for _, b := range n.blocks {
		b.Walk(func(m *Node) { found = found || writes(m) })
	}
	return found
}

// writes reports whether a node may change what others see.
func writes(n *Node) bool {
	o := n.Operator()
	return n.HasSideEffects() || o != nil && o.Schema().IsMutable()
}

// remove destroys the nodes of an occurrence, which have no inputs any more, but for constants that others use.
func (r *replacer) remove(o *occurrence) {
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
