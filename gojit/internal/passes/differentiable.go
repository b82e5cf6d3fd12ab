package passes

import (
	"slices"
	"sort"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// DifferentiableKind is the kind of a node whose Subgraph is differentiated as a whole.
const DifferentiableKind = prim.DifferentiableGraph

// CreateDifferentiableGraphs groups differentiable operators that follow each other, at least threshold of them, and
// returns the nodes of the groups. Nothing with an effect that can be seen stands between the nodes of a group. Inputs of a group are
// those of its last node first; profiled says that those of one node come from the last to the first, as in graphs that were profiled.
//
//	%a = aten::mul(%x, %y)          %b = prim::DifferentiableGraph_0(%x, %y)
//	%b = aten::tanh(%a)       ->    with prim::DifferentiableGraph_0 = graph(%x, %y): ...
func CreateDifferentiableGraphs(g *ir.Graph, threshold int, profiled bool) []*ir.Node {
	s := &slicer{g: g, least: threshold, memory: alias.Analyze(g, alias.Options{}), behind: map[*ir.Node][]*ir.Node{}, profiled: profiled}
	s.block(g.Block())
	var kept []*ir.Node
	for _, p := range s.dissolve() {
		enclosed := s.enclose(p)
		if len(p.nodes) < threshold {
			InlineSubgraph(enclosed)
			continue
		}
		kept = append(kept, enclosed)
	}
	return kept
}

// slicer makes groups. While it works a group is a node whose only block has the nodes; they use what is outside.
type slicer struct {
	g      *ir.Graph
	least  int // how many nodes make a group
	memory *alias.Db
	groups []*ir.Node
	behind map[*ir.Node][]*ir.Node // by group: the nodes that giveOwnMemory has put behind it
	part   map[*ir.Node]int        // of the nodes of a block: the effects before
	small  map[int]bool            // the parts that have too few nodes for a group
	// profiled says in which order a node's inputs become those of its group.
	profiled bool
}

func (s *slicer) block(b *ir.Block) {
	s.part, s.small = map[*ir.Node]int{}, map[int]bool{}
	effects := 0
	joining := map[int]int{}
	for n := b.First(); n != nil; n = n.Next() {
		if n.HasSideEffects() {
			effects++
		}
		s.part[n] = effects
		if s.mayJoin(n) {
			joining[effects]++
		}
	}
	for part := range effects + 1 {
		s.small[part] = joining[part] < s.least
	}
	for again := true; again; { // what moves behind a group is seen the next time
		again = false
		for n := b.Last(); n != nil; n = n.Prev() {
			if s.mayJoin(n) {
				group, grown := s.grow(n)
				n, again = group, again || grown
			}
		}
	}
	for _, n := range b.Nodes() {
		if n.Kind() != DifferentiableKind {
			for _, inner := range n.Blocks() {
				s.block(inner)
			}
		}
	}
}

// mayJoin reports whether n is a group or may become part of one.
func (s *slicer) mayJoin(n *ir.Node) bool {
	if n.Kind() == DifferentiableKind {
		return len(n.Blocks()) > 0
	}
	if s.small[s.part[n]] {
		return false
	}
	if n.Kind() == PartsKind {
		return true
	}
	o := n.Operator()
	return o != nil && o.Def().Has(ops.Grouped) && o.IsFunctional() && trains(n)
}

// trains reports whether a node that does nothing but in training is always in training.
func trains(n *ir.Node) bool {
	i := n.Operator().Schema().ArgumentIndex("train")
	return i < 0 || IsTrue(n.Input(i))
}

// grow makes n a group and takes in what makes its inputs, the last first, as long as that is possible. It returns the
// group and whether there was something to do.
func (s *slicer) grow(n *ir.Node) (group *ir.Node, grown bool) {
	group = n
	if n.Kind() != DifferentiableKind {
		group = s.g.Create(DifferentiableKind, nil, 0).SetRange(n.Range).InsertBefore(n)
		group.AddBlock()
		s.part[group] = s.part[n]
		s.groups = append(s.groups, group)
		s.take(group, n)
		grown = true
	}
	for s.takeProducer(group) {
		grown = true
	}
	return group, grown
}

func (s *slicer) takeProducer(group *ir.Node) bool {
	var producers []*ir.Node
	for n := group.Blocks()[0].First(); n != nil; n = n.Next() {
		for _, v := range n.Inputs() {
			p := v.Node()
			if p.Block() == group.Block() && s.mayJoin(p) && s.part[p] == s.part[group] && !slices.Contains(producers, p) {
				producers = append(producers, p)
			}
		}
	}
	sort.SliceStable(producers, func(i, j int) bool { return producers[j].IsBefore(producers[i]) })
	for _, p := range producers {
		if s.memory.MoveBefore(p, group) {
			s.take(group, p)
			return true
		}
	}
	return false
}

// take moves n, which stands just before the group, to the front of its block.
func (s *slicer) take(group, n *ir.Node) {
	b := group.Blocks()[0]
	moved := []*ir.Node{n}
	if n.Kind() == DifferentiableKind {
		moved = n.Blocks()[0].Nodes()
		for i, out := range n.Outputs() {
			inner := n.Blocks()[0].Outputs()[i]
			for _, u := range slices.Clone(out.Uses()) {
				if u.User.Block() == b {
					u.User.ReplaceInput(u.Index, inner)
				}
			}
		}
	}
	for i := len(moved) - 1; i >= 0; i-- {
		if first := b.First(); first != nil {
			moved[i].MoveBefore(first)
		} else {
			moved[i].MoveBefore(b.ReturnNode())
		}
	}
	if n.Kind() == DifferentiableKind {
		for i, out := range n.Outputs() {
			s.giveOut(group, n.Blocks()[0].Outputs()[i], out)
		}
		n.Destroy()
		return
	}
	for _, out := range n.Outputs() {
		s.giveOut(group, out, out)
	}
}

// giveOut makes inner an output of the group where outer, the same value, is used outside of it.
func (s *slicer) giveOut(group *ir.Node, inner, outer *ir.Value) {
	b := group.Blocks()[0]
	at := slices.Index(b.Outputs(), inner)
	var given *ir.Value
	if at >= 0 {
		given = group.Outputs()[at]
	}
	for _, u := range slices.Clone(outer.Uses()) {
		if u.User.Block() == b {
			continue
		}
		if given == nil {
			given = group.AddTransientOutput().SetType(inner.Type())
			s.memory.Forget(inner, given)
		}
		u.User.ReplaceInput(u.Index, given)
	}
	if given != nil && at < 0 {
		b.AddOutput(inner)
	}
}

// giveOwnMemory puts a node that makes a result of a group share memory with an input, or with another result, behind the group, with the
// nodes that need what it gives. It reports whether there was one.
func (s *slicer) giveOwnMemory(group *ir.Node) bool {
	b := group.Blocks()[0]
	given := map[*ir.Value]*ir.Node{} // by memory: what makes a result of it
	for _, n := range b.Nodes() {
		for _, out := range n.Outputs() {
			if !slices.Contains(b.Outputs(), out) {
				continue
			}
			memory := memoryOf(out, b)
			if memory.Node().Block() != b || given[memory] != nil && given[memory] != n {
				s.putBehind(group, n)
				return true
			}
			given[memory] = n
		}
	}
	return false
}

// memoryOf follows views in a group's block to the value whose memory they show.
func memoryOf(v *ir.Value, b *ir.Block) *ir.Value {
	for n := v.Node(); n.Block() == b && (n.Kind() == PartsKind || n.Operator() != nil && n.Operator().IsView()); n = v.Node() {
		v = n.Input(0)
	}
	return v
}

// putBehind moves a node out of a group, and all nodes of the group that need it.
func (s *slicer) putBehind(group, first *ir.Node) {
	b := group.Blocks()[0]
	leaves := []*ir.Node{first}
	for n := first.Next(); n != nil; n = n.Next() {
		if slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return slices.Contains(leaves, v.Node()) }) {
			leaves = append(leaves, n)
		}
	}
	s.behind[group] = append(leaves, s.behind[group]...)
	for _, n := range slices.Backward(leaves) {
		n.MoveAfter(group)
		for _, out := range n.Outputs() {
			if i := slices.Index(b.Outputs(), out); i >= 0 {
				group.Outputs()[i].ReplaceAllUsesWith(out)
				b.EraseOutput(i)
				group.EraseOutput(i)
			}
		}
	}
	for _, n := range b.Nodes() {
		for _, out := range n.Outputs() {
			s.giveOut(group, out, out)
		}
	}
}

// part is the nodes of a group and those behind it, which share memory with its inputs or with each other.
type part struct {
	nodes, behind []*ir.Node
}

// dissolve puts the nodes of the groups back and lists them by group.
func (s *slicer) dissolve() (parts []part) {
	for _, group := range s.groups {
		if group.IsDestroyed() {
			continue
		}
		for s.giveOwnMemory(group) {
		}
		b := group.Blocks()[0]
		nodes := b.Nodes()
		for _, n := range nodes {
			n.MoveBefore(group)
		}
		for i, out := range group.Outputs() {
			out.ReplaceAllUsesWith(b.Outputs()[i])
		}
		if behind := s.behind[group]; len(nodes)+len(behind) > 0 {
			parts = append(parts, part{nodes, behind})
		}
		group.Destroy()
	}
	return parts
}

// GroupDifferentiable is CreateDifferentiableGraphs for graphs that were not profiled, after which nodes that compute the same are one.
func GroupDifferentiable(g *ir.Graph, threshold int) bool {
	groups := CreateDifferentiableGraphs(g, threshold, false)
	for _, n := range groups {
		CSE(n.GraphAttr("Subgraph"))
	}
	return CSE(g) || len(groups) > 0
}

// enclose puts the nodes of a group, the last first, into the Subgraph of a node, which it returns, and those that stand behind
// it out again. Constants are copied.
func (s *slicer) enclose(p part) *ir.Node {
	nodes := slices.Concat(p.nodes, p.behind)
	last := nodes[len(nodes)-1]
	made := NewSubgraph(s.g, DifferentiableKind).SetRange(last.Range).InsertAfter(last)
	var behind []*ir.Node
	for i, n := range slices.Backward(nodes) {
		uses := outsideOf(n)
		if s.profiled {
			slices.Reverse(uses)
		}
		inner := mergeRenamed(s.memory, n, made, uses)
		if i >= len(p.nodes) {
			behind = append(behind, inner)
		}
	}
	slices.Reverse(behind)
	takeOut(s.memory, behind, made)
	return made
}

// IsTrue reports whether a value is always true.
func IsTrue(v *ir.Value) bool {
	c, ok := v.Constant()
	return ok && c.IsBool() && c.Bool()
}
