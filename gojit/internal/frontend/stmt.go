package frontend

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func (e *Emitter) emitStatements(stmts []syntax.Stmt) {
	for _, s := range stmts {
		e.emitStatement(s)
		if e.exits[e.env.block] && !e.jumps[e.env.block] {
			return // what follows cannot be reached; behind break and continue PyTorch still looks at it
		}
	}
}

func (e *Emitter) emitStatement(s syntax.Stmt) {
	parallel.Look() // programs may be long
	e.pending = s.Range
	switch s.Kind {
	case syntax.KindIf:
		e.emitIf(syntax.AsIf(s))
	case syntax.KindWhile:
		e.emitWhile(syntax.AsWhile(s))
	case syntax.KindFor:
		e.emitFor(syntax.AsFor(s))
	case syntax.KindAssign:
		e.emitAssign(syntax.AsAssign(s))
	case syntax.KindAugAssign:
		e.emitAugAssign(syntax.AsAugAssign(s))
	case syntax.KindExprStmt:
		e.emitSugared(syntax.AsExprStmt(s).Expr(), 0, nil)
	case syntax.KindRaise:
		e.emitRaise(syntax.AsRaise(s))
	case syntax.KindAssert:
		e.emitAssert(syntax.AsAssert(s))
	case syntax.KindReturn:
		e.emitReturn(syntax.AsReturn(s))
	case syntax.KindContinue:
		e.emitJump(s, prim.ContinueStmt, "Continue")
	case syntax.KindBreak:
		e.emitJump(s, prim.BreakStmt, "Break")
	case syntax.KindPass:
	case syntax.KindDef:
		e.emitInner(syntax.AsDef(s))
	case syntax.KindDelete:
		for _, t := range syntax.AsDelete(s).Targets() {
			e.emitDelete(t)
		}
	case syntax.KindWith:
		e.emitWith(syntax.AsWith(s))
	default:
		fail(s.Range, "Unrecognized statement kind %s", s.Kind)
	}
}

func (e *Emitter) emitReturn(s syntax.Return) {
	want := e.declaredReturn
	actual := e.emitExpr(s.Expr(), want)
	if want != nil {
		if !(types.IsSubtype(actual.Type(), types.Tensor) && actual.Type().Kind() == types.KindNone) {
			actual = ir.ConvertTo(e.g, s.Range, want, actual, true)
		}
		if !types.IsSubtype(actual.Type(), want) {
			fail(s.Range, "Return value was annotated as having type %s but is actually of type %s", types.Repr(want), types.Repr(actual.Type()))
		}
	} else {
		want = e.mergedReturn
		if want == nil {
			want = actual.Type()
		}
		merged := types.Unify(want, actual.Type(), false, nil)
		if merged == nil {
			fail(s.Range, "Previous return statement returned a value of type %s but this return statement returns a value of type %s", types.Repr(want), types.Repr(actual.Type()))
		}
		want = merged
	}
	e.mergedReturn = want
	if want.Kind() == types.KindAny && actual.Type().Kind() != types.KindAny {
		actual = e.g.InsertNode(e.g.CreateUncheckedCast(actual, want)).Output()
	}
	e.g.InsertNode(e.g.Create(prim.ReturnStmt, []*ir.Value{actual}, 0))
	e.exits[e.env.block] = true
}

func (e *Emitter) emitJump(s syntax.Stmt, kind, word string) {
	if e.loop == inUnrolledLoop {
		fail(s.Range, "Because we emit iteration over modulelists or tuples as unrolled loops, we do not support break or continue inside the body of these loops")
	}
	if e.loop == notInLoop {
		fail(s.Range, "SyntaxError: '%s' outside loop", strings.ToLower(word))
	}
	n := e.g.Create(kind, nil, 0).SetRange(s.Range)
	e.exits[e.env.block], e.jumps[e.env.block] = true, true
	e.g.InsertNode(n)
}

func (e *Emitter) emitRaise(s syntax.Raise) {
	var message, class *ir.Value
	switch x := e.emitSugared(s.Expr(), 1, nil).(type) {
	case *exceptionMessage:
		message, class = x.message, x.class
	case *exceptionValue:
		message = e.g.Constant(value.Str(""), s.Range)
	default:
		fail(s.Range, "exceptions must derive from BaseException")
	}
	if message.Type().Kind() != types.KindString {
		message = e.Insert(source.Range{}, aten.Str, message)
	}
	if class != nil {
		e.Insert(s.Range, prim.RaiseException, message, class)
	} else {
		e.Insert(s.Range, prim.RaiseException, message)
	}
	e.exits[e.env.block] = true
}

func (e *Emitter) emitAssert(s syntax.Assert) {
	cond := e.emitCond(s.Test())
	message := s.Message()
	if message == nil {
		message = syntax.NewStringLiteral(s.Range, "").Tree
	}
	callee := syntax.NewVar(syntax.NewIdent(s.Range, "AssertionError"))
	call := syntax.NewApply(s.Range, callee.Tree, []syntax.Expr{message}, nil)
	raise := syntax.NewRaise(s.Range, call.Tree)
	e.emitIfElse(s.Range, cond, nil, []syntax.Stmt{raise.Tree})
}

func (e *Emitter) emitAssign(s syntax.Assign) {
	if len(s.LHSList()) == 1 {
		e.emitSingleAssign(s)
		return
	}
	name := e.temporary("$tmp_assign_")
	rhs := s.RHS()
	e.env.setSugared(rhs.Range, name, e.emitSugared(rhs, 1, nil), nil)
	temporary := syntax.NewVar(syntax.NewIdent(rhs.Range, name))
	for _, lhs := range s.LHSList() {
		e.emitSingleAssign(syntax.NewAssign(s.Range, []syntax.Expr{lhs}, temporary.Tree, nil))
	}
}

func (e *Emitter) emitSingleAssign(s syntax.Assign) {
	lhs, rhs := s.LHS(), s.RHS()
	if rhs == nil {
		fail(s.Range, "Expected RHS for assignment")
	}
	switch lhs.Kind {
	case syntax.KindVar:
		var t types.Type
		if s.Type() != nil {
			t = e.typeOf(s.Type())
		}
		v := syntax.AsVar(lhs)
		e.env.setSugared(v.Range, v.Name().Name(), e.emitSugared(rhs, 1, t), t)
	case syntax.KindTupleLiteral:
		e.emitTupleAssign(syntax.AsTupleLiteral(lhs), rhs)
	case syntax.KindSelect:
		var hint types.Type
		if s.Type() != nil {
			hint = e.typeOf(s.Type())
		}
		target := syntax.AsSelect(lhs)
		object := e.emitSugared(target.Value(), 1, nil)
		x := e.emitSugared(rhs, 1, hint).AsValue(e, rhs.Range)
		object.SetAttr(e, s.Range, target.Selector().Name(), x)
	case syntax.KindSubscript:
		e.emitSubscriptAssign(s.Range, syntax.AsSubscript(lhs), ir.ArgAt(e.emitExpr(rhs, nil), rhs.Range))
	default:
		fail(lhs.Range, "unexpected expression on left-hand side of assignment")
	}
}

// checkTargets checks the left-hand side of an unpacking and reports whether it has a star.
func (e *Emitter) checkTargets(targets []syntax.Expr, at source.Range) bool {
	normal, starred := 0, 0
	for _, t := range targets {
		switch t.Kind {
		case syntax.KindVar, syntax.KindTupleLiteral, syntax.KindSelect:
			normal++
		case syntax.KindStarred:
			starred++
		case syntax.KindSubscript:
			normal++
		default:
			fail(t.Range, "lhs of assignment must be a variable, subscript, or starred expression")
		}
	}
	if starred > 1 {
		fail(at, "Only one starred expression is allowed on the lhs")
	}
	if starred > 0 && normal == 0 {
		fail(at, "A Starred expression may only appear on the lhs within the presence of another non-starred expression")
	}
	return starred > 0
}

func (e *Emitter) emitTupleAssign(t syntax.TupleLiteral, rhs syntax.Expr) {
	binders := len(t.Inputs())
	starred := e.checkTargets(t.Inputs(), t.Range)
	if starred {
		binders--
	}
	e.assignTuple(t, e.emitSugared(rhs, binders, nil), rhs.Range, binders, starred)
}

func (e *Emitter) assignTuple(t syntax.TupleLiteral, rhs SugaredValue, at source.Range, binders int, starred bool) {
	hint := binders
	if starred {
		hint = -1
	}
	outputs := rhs.AsTuple(e, at, hint)
	if len(outputs) < binders {
		least := ""
		if starred {
			least = "at least "
		}
		fail(t.Range, "need %s%d values to unpack but found only %d", least, binders, len(outputs))
	}
	if len(outputs) > binders && !starred {
		fail(t.Range, "too many values to unpack: need %d but found %d", binders, len(outputs))
	}
	e.assignAll(t.Inputs(), outputs, at, binders)
}

func (e *Emitter) assignAll(targets []syntax.Expr, outputs []SugaredValue, at source.Range, binders int) {
	i := 0
	for _, target := range targets {
		switch target.Kind {
		case syntax.KindSubscript:
			e.emitSubscriptAssign(at, syntax.AsSubscript(target), ir.ArgAt(outputs[i].AsValue(e, at), at))
			i++
		case syntax.KindVar:
			e.env.setSugared(target.Range, syntax.AsVar(target).Name().Name(), outputs[i], nil)
			i++
		case syntax.KindStarred:
			v := syntax.AsStarred(target).Expr()
			if v.Kind != syntax.KindVar {
				fail(v.Range, "Cannot pack a tuple into a non-variable")
			}
			matched := len(outputs) - binders
			items := make([]*ir.Value, matched)
			for k := range items {
				items[k] = outputs[i+k].AsValue(e, target.Range)
			}
			e.env.set(v.Range, syntax.AsVar(v).Name().Name(), e.g.InsertNode(e.g.CreateTuple(items, nil)).Output())
			i += matched
		case syntax.KindTupleLiteral:
			inner := syntax.AsTupleLiteral(target)
			n := len(inner.Inputs())
			starred := e.checkTargets(inner.Inputs(), inner.Range)
			if starred {
				n--
			}
			e.assignTuple(inner, outputs[i], at, n, starred)
			i++
		case syntax.KindSelect:
			s := syntax.AsSelect(target)
			object := e.emitSugared(s.Value(), 1, nil)
			object.SetAttr(e, s.Range, s.Selector().Name(), outputs[i].AsValue(e, at))
			i++
		default:
			fail(target.Range, "unexpected expression on left-hand side of assignment")
		}
	}
}

// augmented names the operators of augmented assignments to tensors and lists.
var augmented = map[syntax.Kind]string{
	syntax.KindAdd: aten.Add_, syntax.KindSub: aten.Sub_, syntax.KindMul: aten.Mul_, syntax.KindDiv: aten.Div_, syntax.KindMod: aten.Fmod_,
	syntax.KindBitOr: aten.BitwiseOr, syntax.KindBitAnd: aten.BitwiseAnd, syntax.KindBitXor: aten.BitwiseXor,
	syntax.KindLShift: aten.Lshift, syntax.KindRShift: aten.Rshift, syntax.KindPow: aten.Pow,
}

func augmentedOp(s syntax.AugAssign, t types.Type) string {
	switch {
	case types.IsSubtype(t, types.Tensor) || t.Kind() == types.KindList:
		return augmented[s.Op()]
	case s.Op() == syntax.KindMod: // of Python it would be a remainder
		return aten.Fmod
	}
	return binary[s.Op()].builtin
}

func (e *Emitter) emitAugAssign(s syntax.AugAssign) {
	switch s.LHS().Kind {
	case syntax.KindVar:
		v := syntax.AsVar(s.LHS())
		e.env.set(v.Range, v.Name().Name(), e.augmentedValue(s, e.emitExpr(s.LHS(), nil)))
	case syntax.KindSelect:
		target := syntax.AsSelect(s.LHS())
		object := e.emitSugared(target.Value(), 1, nil)
		old := object.Attr(e, target.Range, target.Selector().Name()).AsValue(e, target.Range)
		object.SetAttr(e, s.Range, target.Selector().Name(), e.augmentedValue(s, old))
	case syntax.KindSubscript:
		e.emitAugSubscript(s)
	default:
		fail(s.LHS().Range, "unexpected expression on left-hand side of augmented assignment")
	}
}

func (e *Emitter) augmentedValue(s syntax.AugAssign, lhs *ir.Value) *ir.Value {
	class, ok := lhs.Type().(*types.Class)
	if !ok {
		rhs := e.emitExpr(s.RHS(), nil)
		return e.callBuiltin(s.Range, augmentedOp(s, lhs.Type()), []ir.Argument{ir.ArgAt(lhs, s.LHS().Range), ir.ArgAt(rhs, s.RHS().Range)}, nil, nil)
	}
	rhs := e.emitExpr(s.RHS(), nil)
	word := strings.Trim(binary[s.Op()].method, "_")
	name := "__i" + word + "__"
	if class.FindMethod(name) == nil {
		name = "__" + word + "__"
		if class.FindMethod(name) == nil {
			fail(s.Range, "Cannot emit inplace op on %s since it does not define an __i%s__ or __%s__ method", class.Annotation(nil), word, word)
		}
	}
	return newMethod(lhs, name).Call(e, s.Range, []ir.Argument{ir.Arg(rhs)}, nil, 0).AsValue(e, s.Range)
}

func (e *Emitter) emitAugSubscript(s syntax.AugAssign) {
	lhs := syntax.AsSubscript(s.LHS())
	container := e.emitExpr(lhs.Value(), nil)
	op := augmentedOp(s, container.Type())
	if !types.IsSubtype(container.Type(), types.Tensor) {
		e.emitAugElement(s, lhs, container)
		return
	}
	sliced, indices := e.emitIntAndSliceIndexing(lhs.Range, container, lhs.Subscripts())
	target := ir.ArgAt(sliced, lhs.Range)
	rhs := ir.ArgAt(e.emitExpr(s.RHS(), nil), s.RHS().Range)
	if len(indices) == 0 {
		e.callBuiltin(s.Range, op, []ir.Argument{rhs}, nil, &target)
		return
	}
	list := e.g.InsertNode(e.g.CreateList(types.NewOptional(types.Tensor), indices)).Output()
	old := ir.Arg(e.Insert(s.Range, aten.Index, sliced, list))
	result := e.callBuiltin(s.Range, op, []ir.Argument{rhs}, nil, &old)
	e.Insert(s.Range, aten.IndexPut_, sliced, list, result)
}

func (e *Emitter) emitAugElement(s syntax.AugAssign, lhs syntax.Subscript, container *ir.Value) {
	t := container.Type()
	if len(lhs.Subscripts()) != 1 {
		fail(lhs.Range, "Sliced expression not yet supported for %s augmented assignment. File a bug if you want this", t.Annotation(nil))
	}
	elem := t // of a dictionary it is the container that decides: its elements are replaced
	switch t := t.(type) {
	case *types.List:
		elem = t.Elem
	case *types.Dict:
	default:
		fail(lhs.Range, "%s does not support augmented assignment.", t.Annotation(nil))
	}
	index := e.emitExpr(lhs.Subscripts()[0], nil)
	rhs := e.emitExpr(s.RHS(), nil)
	old := e.Insert(s.Range, aten.Getitem, container, index)
	result := e.Insert(s.Range, augmentedOp(s, elem), old, rhs)
	e.Insert(s.Range, aten.SetItem, container, index, result)
}

func (e *Emitter) emitDelete(target syntax.Expr) {
	switch target.Kind {
	case syntax.KindVar:
		name := syntax.AsVar(target).Name().Name()
		if !e.env.knows(name) {
			fail(target.Range, "undefined value %s", name)
		}
		e.env.remove(name)
	case syntax.KindSubscript:
		s := syntax.AsSubscript(target)
		if s.Subscripts()[0].Kind == syntax.KindSliceExpr {
			fail(target.Range, "del statements only support deletion at a single index, slicing is not supported (see https://github.com/pytorch/pytorch/issues/31430)")
		}
		object := e.emitSugared(s.Value(), 1, nil)
		index := e.emitExpr(s.Subscripts()[0], nil)
		x := object.AsValue(e, s.Value().Range)
		if class, ok := x.Type().(*types.Class); ok {
			if class.FindMethod("__delitem__") == nil {
				fail(target.Range, "Class does not define __delitem__")
			}
			newMethod(x, "__delitem__").Call(e, target.Range, []ir.Argument{ir.Arg(index)}, nil, 0)
			return
		}
		if k := x.Type().Kind(); k != types.KindList && k != types.KindDict {
			fail(target.Range, "del statements are only supported for deleting list and dict items and variables")
		}
		e.g.InsertNode(e.g.Create(aten.Delete, []*ir.Value{x, index}, 0)).SetRange(target.Range)
	default:
		fail(target.Range, "del statements are only supported for deleting list and dict items and variables")
	}
}

func (e *Emitter) emitWith(s syntax.With) {
	var entered []*ir.Value
	for _, item := range s.Items() {
		expr := item.Target()
		object := e.emitExpr(expr, nil)
		n := e.g.InsertNode(e.g.Create(prim.Enter, []*ir.Value{object}, 1))
		entered = append(entered, object)
		class, ok := object.Type().(*types.Class)
		if !ok {
			fail(expr.Range, "With item expression must return an object")
		}
		enter, exit := class.FindMethod("__enter__"), class.FindMethod("__exit__")
		if enter == nil || exit == nil {
			fail(expr.Range, "Object returned by with item expression does not define __enter__ and __exit__ methods")
		}
		e.checkEnterExit(expr.Range, enter.(*ir.Function), exit.(*ir.Function))
		n.Output().SetType(enter.(*ir.Function).Schema.Returns[0].Type)
		if v := item.Var(); v != nil {
			e.env.set(v.Range, syntax.AsVar(v).Name().Name(), n.Output())
		}
	}
	e.emitStatements(s.Body())
	for i := len(entered) - 1; i >= 0; i-- {
		e.g.InsertNode(e.g.Create(prim.Exit, []*ir.Value{entered[i]}, 1))
	}
}

func (e *Emitter) checkEnterExit(at source.Range, enter, exit *ir.Function) {
	for _, f := range []*ir.Function{enter, exit} {
		_, err := f.EnsureDefinedWithin()
		check(err)
	}
	if n := len(enter.Schema.Arguments); n != 1 {
		fail(at, "__enter__ must have only one argument and one return value")
	}
	args := exit.Schema.Arguments
	if len(args) != 4 {
		fail(at, "__exit__ must have four arguments")
	}
	for i, a := range args[1:] {
		if a.Type.Kind() != types.KindAny {
			fail(at, "argument %d of __exit__ must have Any type; TorchScript does not currently support passing exception type, value, or traceback to the __exit__ function.", i+1)
		}
	}
}
