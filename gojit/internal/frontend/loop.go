package frontend

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func (e *Emitter) emitWhile(s syntax.While) {
	cond := s.Cond()
	e.emitLoop(s.Range, func() { e.emitStatements(s.Body()) }, nil, nil, cond)
}

func (e *Emitter) emitFor(s syntax.For) {
	e.emitIteration(s.Targets(), s.Iters(), s.Range, func() { e.emitStatements(s.Body()) })
}

func (e *Emitter) emitIteration(targets, iters []syntax.Expr, at source.Range, body func()) {
	if len(iters) != 1 {
		fail(at, "List of iterables is not supported currently")
	}
	iterable := e.emitSugared(iters[0], 1, nil).Iter(e, at)
	if n, static := iterable.StaticLen(); static && iterable.Unrolled() {
		e.emitUnrolledLoop(at, body, iterable, n, targets)
		return
	}
	e.emitLoop(at, body, iterable, targets, nil)
}

// emitLoop emits a prim::Loop with its condition in a second block, which conversion to SSA moves
// before the loop and to the end of its body.
func (e *Emitter) emitLoop(at source.Range, body func(), iterable SugaredValue, targets []syntax.Expr, cond syntax.Expr) {
	var trips *ir.Value
	if iterable != nil {
		trips = iterable.Len(e, at)
	} else {
		trips = e.intConstant(math.MaxInt64, at)
	}
	n := e.g.InsertNode(e.g.Create(prim.Loop, nil, 0)).SetRange(at)
	bodyBlock, condBlock := n.AddBlock(), n.AddBlock()
	e.pushFrame(condBlock)
	var again *ir.Value
	if cond != nil {
		old := e.g.SetInsertEnd(condBlock)
		again = e.emitToBool(cond.Range, e.emitExpr(cond, nil))
		e.g.SetInsertPoint(old)
	} else {
		old := e.g.SetInsertPoint(n)
		again = e.g.Constant(value.Bool(true), at)
		e.g.SetInsertPoint(old)
	}
	condBlock.AddOutput(again)
	e.popFrame()
	n.AddInput(trips)

	oldLoop := e.loop
	e.loop = inLoop
	trip := bodyBlock.AddInput("").SetType(types.Int)
	e.pushFrame(bodyBlock)
	old := e.g.SetInsertEnd(bodyBlock)
	if iterable != nil {
		item := simple{iterable.GetItem(e, at, trip, nil).AsValue(e, at)}
		e.checkTargets(targets, at)
		if len(targets) > 1 {
			targets = []syntax.Expr{syntax.NewTupleLiteral(at, targets).Tree}
		}
		e.assignAll(targets, []SugaredValue{item}, at, 1)
	}
	body()
	e.g.SetInsertPoint(old)
	removed := e.popFrame().removed
	e.env.removeAll(removed)
	e.loop = oldLoop
}

func (e *Emitter) emitUnrolledLoop(at source.Range, body func(), iterable SugaredValue, n int, targets []syntax.Expr) {
	oldLoop := e.loop
	e.loop = inUnrolledLoop
	if len(targets) > 1 {
		targets = []syntax.Expr{syntax.NewTupleLiteral(at, targets).Tree}
	}
	for i := range n {
		index := e.intConstant(int64(i), at)
		e.assignAll(targets, []SugaredValue{iterable.GetItem(e, at, index, nil)}, at, 1)
		body()
		if e.exits[e.env.block] {
			break
		}
	}
	e.loop = oldLoop
}

// rangeValue is range(...).
type rangeValue struct {
	NotFirstClass
	start, end, step *ir.Value
	onlyEnd          bool
	static           int // -1: not known
}

func (e *Emitter) newRange(at source.Range, inputs []*ir.Value, static int) *rangeValue {
	for i, in := range inputs {
		if in.Type().Kind() != types.KindInt {
			fail(at, "all inputs of range must be ints, found %s in argument %d", types.Repr(in.Type()), i)
		}
	}
	r := &rangeValue{NotFirstClass: "range", static: static}
	switch len(inputs) {
	case 0:
		fail(at, "range expected at least 1 arguments, got 0")
	case 1:
		r.end, r.onlyEnd = inputs[0], true
		r.start = e.g.Constant(value.Int(0), at)
		r.step = e.g.Constant(value.Int(1), at)
	case 2:
		r.start, r.end = inputs[0], inputs[1]
		r.step = e.g.Constant(value.Int(1), at)
	case 3:
		r.start, r.end, r.step = inputs[0], inputs[1], inputs[2]
	default:
		fail(at, "range expected at most 3 arguments, got %d", len(inputs))
	}
	return r
}

func (r *rangeValue) Iter(*Emitter, source.Range) SugaredValue { return r }

func (r *rangeValue) StaticLen() (int, bool) { return max(r.static, 0), r.static >= 0 }

func (r *rangeValue) Len(e *Emitter, at source.Range) *ir.Value {
	if r.static >= 0 {
		return e.g.Constant(value.Int(int64(r.static)), at)
	}
	if r.onlyEnd {
		return r.end
	}
	return e.Insert(at, aten.RangeLength, r.start, r.end, r.step)
}

func (r *rangeValue) GetItem(e *Emitter, at source.Range, index *ir.Value, _ types.Type) SugaredValue {
	if r.onlyEnd {
		return simple{index}
	}
	return simple{e.Insert(at, aten.DeriveIndex, index, r.start, r.step)}
}

// iterableTree is zip(...) and enumerate(...): several iterables run through side by side.
type iterableTree struct {
	NotFirstClass
	children []SugaredValue
	static   int // length where all children have a static one, else -1
}

func (t *iterableTree) add(at source.Range, child SugaredValue) {
	n, static := child.StaticLen()
	static = static && child.Unrolled() || isRange(child) && static
	if len(t.children) == 0 {
		t.static = -1
		if static {
			t.static = n
		}
	} else {
		if static != (t.static >= 0) {
			fail(at, "Can not iterate over a module list or tuple with a value that does not have a statically determinable length\n")
		}
		if static {
			t.static = min(t.static, n)
		}
	}
	t.children = append(t.children, child)
}

func isRange(s SugaredValue) bool {
	_, ok := s.(*rangeValue)
	return ok
}

func (t *iterableTree) Iter(*Emitter, source.Range) SugaredValue { return t }
func (t *iterableTree) StaticLen() (int, bool)                   { return max(t.static, 0), t.static >= 0 }
func (t *iterableTree) Unrolled() bool                           { return t.static >= 0 }

func (t *iterableTree) leaves() []SugaredValue {
	var out []SugaredValue
	for _, c := range t.children {
		if inner, ok := c.(*iterableTree); ok {
			out = append(out, inner.leaves()...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

func (t *iterableTree) Len(e *Emitter, at source.Range) *ir.Value {
	var lengths []*ir.Value
	for _, leaf := range t.leaves() {
		lengths = append(lengths, leaf.Len(e, at))
	}
	list := e.g.InsertNode(e.g.CreateList(types.Int, lengths)).Output()
	return e.Insert(at, prim.Min, list)
}

func (t *iterableTree) GetItem(e *Emitter, at source.Range, index *ir.Value, _ types.Type) SugaredValue {
	items := make([]SugaredValue, len(t.children))
	for i, c := range t.children {
		items[i] = c.GetItem(e, at, index, nil)
	}
	return &TupleValue{Items: items}
}
