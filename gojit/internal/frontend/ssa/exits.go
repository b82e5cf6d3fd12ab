package ssa

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// transformExits removes prim::LoopContinuation and then prim::ReturnStmt: what follows a node
// that may leave its block is guarded by an if on whether it has left, and the values that it
// leaves with become outputs.
func transformExits(g *ir.Graph) {
	wrapEnterExit(g.Block())
	newExitTransformer(g, prim.LoopContinuation).block(g.Block())
	newExitTransformer(g, prim.ReturnStmt).block(g.Block())
	unwrapEnterExit(g.Block()) // before ifs are copied: whether control has left is computed in the body of a prim::With and used behind it
	inlineConsecutiveIfs(g.Block())
}

// exitStatus says whether a block is left by an exit.
type exitStatus uint8

const (
	exitsNever exitStatus = iota
	exitsMaybe
	exitsAlways
	exitsByException
)

// exit is whether control has left, as a value, and the values that it leaves with.
type exit struct {
	has    *ir.Value
	values []*ir.Value
}

type exitTransformer struct {
	g                     *ir.Graph
	kind                  string // of the exits that are removed
	target                *ir.Block
	always, never, throws *ir.Value
	unit                  map[types.Type]*ir.Value // a prim::Uninitialized of each type
}

func newExitTransformer(g *ir.Graph, kind string) *exitTransformer {
	t := &exitTransformer{g: g, kind: kind, unit: map[types.Type]*ir.Value{}}
	front := g.Block().First()
	if front == nil {
		front = g.Block().ReturnNode()
	}
	old := g.SetInsertPoint(front)
	t.always = g.Constant(value.Bool(true), source.Range{})
	t.never = g.Constant(value.Bool(false), source.Range{})
	g.SetInsertPoint(old)
	t.throws = t.unitValue(types.Bool) // never read: whoever sets it has thrown
	return t
}

func (t *exitTransformer) unitValue(typ types.Type) *ir.Value {
	if v := t.unit[typ]; v != nil {
		return v
	}
	v := t.g.CreateUninitialized(typ).InsertAfter(t.g.Block().ParamNode()).Output()
	t.unit[typ] = v
	return v
}

func (t *exitTransformer) unitValues(like []*ir.Value) []*ir.Value {
	vs := make([]*ir.Value, len(like))
	for i, v := range like {
		vs[i] = t.unitValue(v.Type())
	}
	return vs
}

func (t *exitTransformer) status(x exit) exitStatus {
	switch x.has {
	case t.always:
		return exitsAlways
	case t.never:
		return exitsNever
	case t.throws:
		return exitsByException
	}
	return exitsMaybe
}

func (t *exitTransformer) wont() exit { return exit{has: t.never} }

func (t *exitTransformer) block(b *ir.Block) exit {
	outer := t.target
	owner := b.Owner()
	switch {
	case t.kind == prim.LoopContinuation:
		if owner != nil && owner.Kind() == prim.Loop {
			t.target = b
		}
	case owner == nil || owner.Is(prim.Closure):
		t.target = b
	}
	x := t.wont()
	for n := b.First(); n != nil; {
		next := n.Next()
		switch n.Kind() {
		case prim.RaiseException:
			x = exit{has: t.throws}
		case prim.ReturnStmt, prim.LoopContinuation:
			if n.Kind() == t.kind {
				x = exit{t.always, append([]*ir.Value{}, n.Inputs()...)}
				n.Destroy()
			}
		case prim.If:
			x = t.ifNode(n)
		case prim.With:
			x = t.withNode(n)
		case prim.Closure:
			t.block(n.Blocks()[0])
		case prim.Loop:
			x = t.loopNode(n)
		}
		status := t.status(x)
		if status == exitsAlways || status == exitsByException {
			t.deleteFrom(b, next)
			break
		}
		if status == exitsMaybe {
			if next != nil {
				x = t.guard(b, x, next)
			}
			break
		}
		n = next
	}
	if t.target == b {
		switch t.status(x) {
		case exitsMaybe:
			n := t.g.Create(prim.If, nil, 0).InsertBefore(b.ReturnNode())
			n.AddBlock()
			n.AddBlock()
			n.AddInput(x.has)
			t.addIfOutputs(n, x.values, b.Outputs())
			replaceOutputs(b, n.Outputs())
		case exitsAlways:
			replaceOutputs(b, x.values)
		}
		x = t.wont()
	}
	t.target = outer
	return x
}

func replaceOutputs(b *ir.Block, vs []*ir.Value) {
	for len(b.Outputs()) > 0 {
		b.EraseOutput(0)
	}
	for _, v := range vs {
		b.AddOutput(v)
	}
}

// deleteFrom removes the nodes from n to the end of the block: they cannot be reached.
func (t *exitTransformer) deleteFrom(b *ir.Block, n *ir.Node) {
	if n == nil {
		return
	}
	for last := b.Last(); ; last = b.Last() {
		for _, out := range last.Outputs() {
			if out.HasUses() {
				out.ReplaceAllUsesWith(t.unitValue(out.Type()))
			}
		}
		done := last == n
		last.Destroy()
		if done {
			return
		}
	}
}

func (t *exitTransformer) loopNode(n *ir.Node) exit {
	body := n.Blocks()[0]
	x := t.block(body)
	if s := t.status(x); s == exitsNever || s == exitsByException {
		return t.wont()
	}
	again := t.g.Create(prim.If, nil, 0).InsertBefore(body.ReturnNode())
	again.AddInput(x.has)
	again.AddBlock().AddOutput(t.never)
	again.AddBlock().AddOutput(body.Outputs()[0])
	cond := again.AddOutput().SetType(types.Bool)
	body.EraseOutput(0)
	body.InsertOutput(0, cond)

	n.AddInput(t.never)
	body.AddInput("").SetType(types.Bool)
	body.AddOutput(x.has)
	has := n.AddOutput().SetType(types.Bool)
	for _, v := range x.values {
		n.AddInput(t.unitValue(v.Type()))
		n.AddOutput().SetType(v.Type())
		body.AddInput("").SetType(v.Type())
		body.AddOutput(v)
	}
	outs := n.Outputs()
	return exit{has, append([]*ir.Value{}, outs[len(outs)-len(x.values):]...)}
}

// withNode makes what the body of a prim::With leaves with outputs of it: a later guard in the body may move what computes it.
func (t *exitTransformer) withNode(n *ir.Node) exit {
	body := n.Blocks()[0]
	x := t.block(body)
	out := func(v *ir.Value) *ir.Value {
		body.AddOutput(v)
		return n.AddTransientOutput().SetType(v.Type())
	}
	if t.status(x) == exitsMaybe {
		x.has = out(x.has)
	}
	values := make([]*ir.Value, len(x.values))
	for i, v := range x.values {
		values[i] = out(v)
	}
	return exit{x.has, values}
}

func ifStatus(yes, no exitStatus) exitStatus {
	switch {
	case yes == exitsByException:
		return no
	case no == exitsByException:
		return yes
	case yes == exitsNever && no == exitsNever:
		return exitsNever
	case yes == exitsAlways && no == exitsAlways:
		return exitsAlways
	}
	return exitsMaybe
}

func (t *exitTransformer) ifNode(n *ir.Node) exit {
	yes, no := t.block(n.Blocks()[0]), t.block(n.Blocks()[1])
	yesStatus, noStatus := t.status(yes), t.status(no)
	status := ifStatus(yesStatus, noStatus)
	switch status {
	case exitsByException:
		return exit{has: t.throws}
	case exitsNever:
		return t.wont()
	}
	if yesStatus == exitsNever || yesStatus == exitsByException {
		yes.values = t.unitValues(no.values)
	} else if noStatus == exitsNever || noStatus == exitsByException {
		no.values = t.unitValues(yes.values)
	}
	has := t.always
	if status != exitsAlways {
		t.addIfOutputs(n, []*ir.Value{yes.has}, []*ir.Value{no.has})
		has = n.Outputs()[len(n.Outputs())-1]
	}
	t.addIfOutputs(n, yes.values, no.values)
	outs := n.Outputs()
	return exit{has, append([]*ir.Value{}, outs[len(outs)-len(yes.values):]...)}
}

func (t *exitTransformer) addIfOutputs(n *ir.Node, yes, no []*ir.Value) {
	for _, v := range yes {
		n.Blocks()[0].AddOutput(v)
	}
	for _, v := range no {
		n.Blocks()[1].AddOutput(v)
	}
	for i := range yes {
		n.AddOutput().SetType(types.Unify(yes[i].Type(), no[i].Type(), true, nil))
	}
}

// guard moves the nodes from n to the end of the block into the else branch of an if on whether
// control has left.
func (t *exitTransformer) guard(b *ir.Block, x exit, n *ir.Node) exit {
	guard := t.g.Create(prim.If, nil, 0).InsertBefore(n)
	guard.AddInput(x.has)
	left, stayed := guard.AddBlock(), guard.AddBlock()
	for n != nil {
		next := n.Next()
		n.MoveBefore(stayed.ReturnNode())
		n = next
	}
	units := t.unitValues(b.Outputs())
	for i, out := range b.Outputs() {
		left.AddOutput(units[i])
		stayed.AddOutput(out)
		guard.AddOutput().SetType(out.Type())
	}
	replaceOutputs(b, guard.Outputs())
	t.g.Create(t.kind, x.values, 0).InsertBefore(left.ReturnNode())
	return t.ifNode(guard)
}

// inlineConsecutiveIfs joins an if with the next where the outcome of the second is known in each
// branch of the first.
func inlineConsecutiveIfs(b *ir.Block) {
	for n := b.First(); n != nil; {
		for _, inner := range n.Blocks() {
			inlineConsecutiveIfs(inner)
		}
		if !joinIfs(n) {
			n = n.Next()
		}
	}
}

func joinIfs(first *ir.Node) bool {
	second := first.Next()
	if second == nil || first.Kind() != prim.If || second.Kind() != prim.If {
		return false
	}
	cond := second.Input(0)
	if cond.Node() != first {
		return false
	}
	var outcome [2]bool
	for i, b := range first.Blocks() {
		c, ok := b.Outputs()[cond.Offset()].Constant()
		if !ok {
			return false
		}
		outcome[i] = c.Bool()
	}
	if outcome[0] == outcome[1] {
		return false
	}
	for i, b := range first.Blocks() {
		taken := second.Blocks()[1]
		if outcome[i] {
			taken = second.Blocks()[0]
		}
		outputs := append([]*ir.Value{}, b.Outputs()...)
		b.CloneFrom(taken, func(v *ir.Value) *ir.Value {
			if v.Node() == first {
				return outputs[v.Offset()]
			}
			return v
		})
	}
	for _, out := range second.Outputs() {
		joined := first.AddOutput().CopyMetadata(out)
		out.ReplaceAllUsesWith(joined)
	}
	second.Destroy()
	return true
}

// wrapEnterExit puts what stands between a prim::Enter and its prim::Exit into the block of a
// prim::With, so that an exit from between stays between.
func wrapEnterExit(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			wrapEnterExit(inner)
		}
		if n.Kind() != prim.Enter {
			continue
		}
		end := matchingExit(n)
		if end == nil {
			continue
		}
		with := b.Graph().Create(prim.With, nil, 0).InsertAfter(n)
		body, tail := with.AddBlock(), with.AddBlock()
		for m := with.Next(); m != end; {
			next := m.Next()
			m.MoveBefore(body.ReturnNode())
			m = next
		}
		end.MoveBefore(tail.ReturnNode())
		wrapEnterExit(body)
		addWithOutputs(with, body)
		n = with
	}
}

// addWithOutputs makes the values that the body of a prim::With computes for what follows outputs of it: a guard in the body may
// move what computes them.
func addWithOutputs(with *ir.Node, body *ir.Block) {
	for n := body.First(); n != nil; n = n.Next() {
		for _, v := range n.Outputs() {
			var outside []ir.Use
			for _, use := range v.Uses() {
				if !liesIn(use.User, body) {
					outside = append(outside, use)
				}
			}
			if len(outside) == 0 {
				continue
			}
			body.AddOutput(v)
			out := with.AddTransientOutput().SetType(v.Type())
			for _, use := range outside {
				use.User.ReplaceInput(use.Index, out)
			}
		}
	}
}

// liesIn reports whether a node is in a block or in one inside.
func liesIn(n *ir.Node, b *ir.Block) bool {
	for n != nil {
		at := n.Block()
		if at == b {
			return true
		}
		n = at.Owner()
	}
	return false
}

func matchingExit(enter *ir.Node) *ir.Node {
	depth := 0
	for n := enter.Next(); n != nil; n = n.Next() {
		switch n.Kind() {
		case prim.Enter:
			depth++
		case prim.Exit:
			if depth == 0 {
				return n
			}
			depth--
		}
	}
	return nil
}

// unwrapEnterExit undoes wrapEnterExit.
func unwrapEnterExit(b *ir.Block) {
	for n := b.First(); n != nil; {
		for _, inner := range n.Blocks() {
			unwrapEnterExit(inner)
		}
		next := n.Next()
		if n.Kind() == prim.With {
			body := n.Blocks()[0]
			for i, out := range n.Outputs() {
				out.ReplaceAllUsesWith(body.Outputs()[i])
			}
			replaceOutputs(body, nil)
			MoveNodesBefore(n, n.Blocks()[0])
			MoveNodesBefore(n, n.Blocks()[1])
			n.Destroy()
		}
		n = next
	}
}
