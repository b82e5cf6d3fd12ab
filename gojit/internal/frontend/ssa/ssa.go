// Package ssa makes of what is emitted of a program, which has variables and jumps, a graph that has neither.
package ssa

import (
	"maps"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Convert removes variables and jumps: it gives prim::If and prim::Loop outputs for the
// variables that they assign, makes the jumps of loops carry the variables, moves the conditions
// of loops into place, connects loads to stores, and removes jumps and returns.
func Convert(g *ir.Graph) {
	(&controlFlow{g: g}).block(g.Block())
	(&continuations{g: g}).run(g.Block())
	inlineLoopConditions(g.Block())
	(&eraser{g: g}).block(g.Block())
	transformExits(g)
}

// scope is a frame of variables by name.
type scope[T any] struct {
	names  map[string]T // nil until there is one
	parent *scope[T]
}

func (s *scope[T]) push() *scope[T] { return &scope[T]{parent: s} }

func (s *scope[T]) set(name string, v T) {
	if s.names == nil {
		s.names = map[string]T{}
	}
	s.names[name] = v
}

func (s *scope[T]) find(name string) (v T, ok bool) {
	for at := s; at != nil; at = at.parent {
		if v, ok = at.names[name]; ok {
			return v, true
		}
	}
	return v, false
}

// controlFlow adds the loads and stores by which variables enter and leave blocks.
type controlFlow struct {
	g     *ir.Graph
	scope *scope[types.Type]
}

func (c *controlFlow) block(b *ir.Block) *scope[types.Type] {
	c.scope = c.scope.push()
	for n := b.First(); n != nil; n = n.Next() {
		switch n.Kind() {
		case prim.If:
			c.ifNode(n)
		case prim.Loop:
			c.loopNode(n)
		case prim.Closure, prim.ComprehensionScope, prim.DiscardedScope:
			for _, inner := range n.Blocks() {
				c.block(inner)
			}
		case prim.Store:
			c.scope.set(n.StringAttr("name"), storedType(n))
		}
	}
	s := c.scope
	c.scope = s.parent
	return s
}

// storedType is the type that a variable has after a store: the declared one where there is one.
func storedType(store *ir.Node) types.Type {
	if declared, ok := store.Attr("types"); ok {
		return declared.([]types.Type)[0]
	}
	return store.Input(0).Type()
}

func (c *controlFlow) ifNode(n *ir.Node) {
	yesBlock, noBlock := n.Blocks()[0], n.Blocks()[1]
	yes, no := c.block(yesBlock), c.block(noBlock)
	assigned := map[string]bool{}
	for name := range yes.names {
		if _, ok := no.find(name); ok {
			assigned[name] = true
		}
	}
	for name := range no.names {
		if _, ok := yes.find(name); ok {
			assigned[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(assigned)) {
		t, _ := yes.find(name)
		f, _ := no.find(name)
		unified := types.Unify(t, f, true, nil)
		if unified == nil {
			continue
		}
		c.addBlockOutput(yesBlock, name, t)
		c.addBlockOutput(noBlock, name, f)
		c.addNodeOutput(n, name, unified)
	}
}

func (c *controlFlow) loopNode(n *ir.Node) {
	body := n.Blocks()[0]
	inner := c.block(body)
	for _, name := range slices.Sorted(maps.Keys(inner.names)) {
		outer, ok := c.scope.find(name)
		if !ok {
			continue // local to the body
		}
		load := c.g.CreateLoad(name, outer).InsertBefore(n)
		n.AddInput(load.Output())
		carried := types.Unify(outer, inner.names[name], false, nil) // a loop may run no round
		if carried == nil {
			carried = outer
		}
		in := body.AddInput(name).SetType(carried)
		c.g.CreateStore(name, in).InsertAfter(body.ParamNode())
		c.addBlockOutput(body, name, inner.names[name])
		c.addNodeOutput(n, name, carried)
	}
}

func (c *controlFlow) addBlockOutput(b *ir.Block, name string, t types.Type) {
	b.AddOutput(b.Append(c.g.CreateLoad(name, t)).Output())
}

func (c *controlFlow) addNodeOutput(n *ir.Node, name string, t types.Type) {
	out := n.AddOutput().SetType(t)
	if MeaningfulName(name) {
		out.SetName(name)
	}
	c.g.CreateStore(name, out).InsertAfter(n)
	c.scope.set(name, t)
}

// continuations replaces break and continue by prim::LoopContinuation, whose inputs are whether
// the loop goes on and what the carried variables are then.
type continuations struct {
	g     *ir.Graph
	loop  *ir.Node
	never *ir.Value
}

func (c *continuations) run(b *ir.Block) {
	front := b.First()
	if front == nil {
		front = b.ReturnNode()
	}
	old := c.g.SetInsertPoint(front)
	c.never = c.g.Constant(value.Bool(false), source.Range{})
	c.g.SetInsertPoint(old)
	c.block(b)
}

func (c *continuations) block(b *ir.Block) {
	for n := b.First(); n != nil; {
		next := n.Next()
		switch n.Kind() {
		case prim.If:
			c.block(n.Blocks()[0])
			c.block(n.Blocks()[1])
		case prim.ComprehensionScope, prim.DiscardedScope:
			c.block(n.Blocks()[0])
		case prim.Closure:
			(&continuations{g: c.g}).run(n.Blocks()[0])
		case prim.Loop:
			outer := c.loop
			c.loop = n
			c.block(n.Blocks()[0])
			c.loop = outer
		case prim.ContinueStmt:
			jump := c.g.Create(prim.LoopContinuation, nil, 0).InsertAfter(n)
			header := jump.AddBlock()
			header.CloneFrom(c.loop.Blocks()[1], sameValue)
			MoveNodesBefore(n, header)
			jump.AddInput(header.Outputs()[0])
			jump.EraseBlock(0)
			c.addCarried(jump)
			n.Destroy()
		case prim.BreakStmt:
			jump := c.g.Create(prim.LoopContinuation, nil, 0).InsertAfter(n)
			jump.AddInput(c.never)
			c.addCarried(jump)
			n.Destroy()
		}
		n = next
	}
}

func sameValue(v *ir.Value) *ir.Value { return v }

func (c *continuations) addCarried(jump *ir.Node) {
	for _, out := range c.loop.Blocks()[0].Outputs() {
		load := c.g.Clone(out.Node(), sameValue).InsertBefore(jump)
		jump.AddInput(load.Output())
	}
}

func MoveNodesBefore(n *ir.Node, b *ir.Block) {
	for m := b.First(); m != nil; m = b.First() {
		m.MoveBefore(n)
	}
}

// inlineLoopConditions moves the condition in the second block of each loop to where it is
// evaluated: before the loop and at the end of its body.
func inlineLoopConditions(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			inlineLoopConditions(inner)
		}
		if n.Kind() != prim.Loop {
			continue
		}
		body, cond := n.Blocks()[0], n.Blocks()[1]
		first := n.AddBlock()
		first.CloneFrom(cond, sameValue)
		MoveNodesBefore(n, first)
		n.InsertInput(1, first.Outputs()[0])
		n.EraseBlock(2)
		MoveNodesBefore(body.ReturnNode(), cond)
		body.InsertOutput(0, cond.Outputs()[0])
		n.EraseBlock(1)
	}
}

// eraser connects every load to the store that reaches it and removes both.
type eraser struct {
	g     *ir.Graph
	scope *scope[*ir.Value]
}

func (x *eraser) block(b *ir.Block) {
	x.scope = x.scope.push()
	for n := b.First(); n != nil; {
		next := n.Next()
		switch n.Kind() {
		case prim.Store:
			x.scope.set(n.StringAttr("name"), n.Input(0))
			n.Destroy()
		case prim.Load:
			v, ok := x.scope.find(n.StringAttr("name"))
			if !ok {
				panic("no store reaches the load of " + n.StringAttr("name"))
			}
			n.Output().ReplaceAllUsesWith(v)
			n.Destroy()
		case prim.ComprehensionScope:
			x.block(n.Blocks()[0])
			MoveNodesBefore(n, n.Blocks()[0])
			n.Destroy()
		default:
			for _, inner := range n.Blocks() {
				x.block(inner)
			}
		}
		n = next
	}
	x.scope = x.scope.parent
}

// EraseDiscarded removes what was emitted only to find out what it is.
func EraseDiscarded(b *ir.Block) {
	for n := b.First(); n != nil; {
		next := n.Next()
		if n.Kind() == prim.DiscardedScope {
			n.Destroy()
		} else {
			for _, inner := range n.Blocks() {
				EraseDiscarded(inner)
			}
		}
		n = next
	}
}

// EraseListLiterals replaces the empty list literals that nothing gave a type by lists of tensors.
func EraseListLiterals(b *ir.Block) {
	b.Walk(func(n *ir.Node) {
		if n.Kind() != prim.EmptyListLiteral {
			return
		}
		if n.Output().HasUses() {
			list := b.Graph().CreateList(types.Tensor, nil).InsertBefore(n)
			n.Output().ReplaceAllUsesWith(list.Output())
		}
		n.Destroy()
	})
}

// MeaningfulName reports whether a variable's name is worth giving to a value: it is not made up.
func MeaningfulName(name string) bool {
	if name == "" || name[0] == '$' {
		return false
	}
	if name[0] != '_' {
		return true
	}
	for i := 1; i < len(name); i++ {
		if name[i] < '0' || name[i] > '9' {
			return true
		}
	}
	return false
}
