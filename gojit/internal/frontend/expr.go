package frontend

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// emitExpr emits an expression as a value of the graph. hint, if not nil, is the type that the
// context expects.
func (e *Emitter) emitExpr(expr syntax.Expr, hint types.Type) *ir.Value {
	parallel.Look() // programs may be long
	e.pending = expr.Range
	v := e.emitSugared(expr, 1, hint).AsValue(e, expr.Range)
	if hint != nil && hint.Kind() == types.KindAny && v.Type().Kind() != types.KindAny {
		v = e.g.InsertNode(e.g.CreateUncheckedCast(v, hint)).Output()
	}
	return v
}

// emitSugared emits an expression. binders is the number of variables that the result is unpacked
// into.
func (e *Emitter) emitSugared(expr syntax.Expr, binders int, hint types.Type) SugaredValue {
	switch expr.Kind {
	case syntax.KindVar:
		name := syntax.AsVar(expr).Name()
		return e.lookUp(name.Name(), name.Range, true)
	case syntax.KindSelect:
		s := syntax.AsSelect(expr)
		return e.emitSugared(s.Value(), 1, nil).Attr(e, s.Range, s.Selector().Name())
	case syntax.KindApply:
		return e.emitApply(syntax.AsApply(expr), binders, hint)
	case syntax.KindSubscript:
		return e.emitSubscript(syntax.AsSubscript(expr), hint)
	}
	return simple{e.emitSimple(expr, hint)}
}

// binary names, for each operator, its builtin and the method that classes define for it.
var binary = map[syntax.Kind]struct{ builtin, method string }{
	syntax.KindAdd: {aten.Add, "__add__"}, syntax.KindSub: {aten.Sub, "__sub__"},
	syntax.KindMul: {aten.Mul, "__mul__"}, syntax.KindDiv: {aten.Div, "__truediv__"},
	syntax.KindFloorDiv: {aten.Floordiv, "__floordiv__"}, syntax.KindMod: {aten.Remainder, "__mod__"},
	syntax.KindMatMul: {aten.Matmul, "__matmul__"}, syntax.KindPow: {aten.Pow, "__pow__"},
	syntax.KindLShift: {aten.Lshift, "__lshift__"}, syntax.KindRShift: {aten.Rshift, "__rshift__"},
	syntax.KindBitAnd: {aten.And, "__and__"}, syntax.KindBitOr: {aten.Or, "__or__"},
	syntax.KindBitXor: {aten.Xor, "__xor__"}, syntax.KindEq: {aten.Eq, "__eq__"},
	syntax.KindNe: {aten.Ne, "__ne__"}, syntax.KindLt: {aten.Lt, "__lt__"},
	syntax.KindLe: {aten.Le, "__le__"}, syntax.KindGt: {aten.Gt, "__gt__"},
	syntax.KindGe: {aten.Ge, "__ge__"}, syntax.KindIn: {aten.Contains, "__contains__"},
}

func (e *Emitter) emitSimple(expr syntax.Expr, hint types.Type) *ir.Value {
	if op, ok := binary[expr.Kind]; ok {
		return e.emitBinary(expr, op.builtin, op.method)
	}
	switch expr.Kind {
	case syntax.KindIs, syntax.KindIsNot, syntax.KindAnd, syntax.KindOr, syntax.KindNot:
		return e.emitCond(expr).value
	case syntax.KindUnaryMinus:
		if x := syntax.AsUnaryOp(expr).Operand(); e.o.FromText && x.Kind == syntax.KindConst {
			return e.emitConst(syntax.NewConst(x.Range, "-"+syntax.AsConst(x).Text))
		}
		return e.emitUnary(expr, "__neg__", aten.Neg)
	case syntax.KindInvert:
		return e.emitUnary(expr, "__invert__", aten.BitwiseNot)
	case syntax.KindStarred:
		fail(expr.Range, "Unexpected starred expansion. File a bug report")
	case syntax.KindConst:
		return e.emitConst(syntax.AsConst(expr))
	case syntax.KindTrue:
		return e.g.Constant(value.Bool(true), expr.Range)
	case syntax.KindFalse:
		return e.g.Constant(value.Bool(false), expr.Range)
	case syntax.KindNone:
		return e.g.Constant(value.None, expr.Range)
	case syntax.KindTernaryIf:
		return e.emitTernary(syntax.AsTernaryIf(expr), hint)
	case syntax.KindStringLiteral:
		return e.g.Constant(value.Str(syntax.AsStringLiteral(expr).Value()), expr.Range)
	case syntax.KindListLiteral:
		return e.emitListLiteral(syntax.AsListLiteral(expr), hint)
	case syntax.KindTupleLiteral:
		return e.emitTupleLiteral(syntax.AsTupleLiteral(expr), hint)
	case syntax.KindDictLiteral:
		return e.emitDictLiteral(syntax.AsDictLiteral(expr), hint)
	case syntax.KindListComp:
		return e.emitListComp(syntax.AsListComp(expr), hint)
	case syntax.KindDictComp:
		return e.emitDictComp(syntax.AsDictComp(expr), hint)
	}
	fail(expr.Range, "Cannot emit expr for: (%s)\n", expressionName(expr.Kind))
	return nil
}

func (e *Emitter) emitBinary(expr syntax.Expr, builtin, method string) *ir.Value {
	b := syntax.AsBinOp(expr)
	var left *ir.Value // where it has been emitted
	if expr.Kind == syntax.KindMod {
		// The left side tells formatting from arithmetic.
		s, keep := e.probe(b.LHS(), nil)
		lhs := s.AsValue(e, b.LHS().Range)
		if e.mustKeep() {
			keep()
			left = lhs
		}
		if lhs.Type().Kind() == types.KindString {
			return e.emitFormat(expr.Range, b, left)
		}
	}
	args := e.operands(b, left)
	if expr.Kind == syntax.KindIn {
		args[0], args[1] = args[1], args[0]
	}
	if builtin == aten.Add && args[0].Type().Kind() == types.KindTuple && args[1].Type().Kind() == types.KindTuple {
		items := append([]*ir.Value{}, e.g.UnpackTuple(args[0].Value(e.g))...)
		items = append(items, e.g.UnpackTuple(args[1].Value(e.g))...)
		return e.g.InsertNode(e.g.CreateTuple(items, nil)).Output()
	}
	return newMagic(method, builtin).Call(e, expr.Range, args, nil, 0).AsValue(e, expr.Range)
}

// operands emits the operands of a binary operator; left is the first one where it has been emitted.
func (e *Emitter) operands(b syntax.BinOp, left *ir.Value) []ir.Argument {
	if left == nil {
		return e.namedValues([]syntax.Expr{b.LHS(), b.RHS()}, false)
	}
	return append([]ir.Argument{ir.ArgAt(left, b.LHS().Range)}, e.namedValues([]syntax.Expr{b.RHS()}, false)...)
}

// emitFormat emits "..." % values.
func (e *Emitter) emitFormat(at source.Range, b syntax.BinOp, left *ir.Value) *ir.Value {
	var inputs []*ir.Value
	for _, a := range e.operands(b, left) {
		inputs = append(inputs, a.Value(e.g))
	}
	n := e.g.Create(aten.PercentFormat, inputs, 1).SetRange(at)
	n.Output().SetType(types.Str)
	return e.g.InsertNode(n).Output()
}

// emitUnary emits a unary operator and folds it where the operand is a constant.
func (e *Emitter) emitUnary(expr syntax.Expr, method, builtin string) *ir.Value {
	args := e.namedValues([]syntax.Expr{syntax.AsUnaryOp(expr).Operand()}, false)
	v := newMagic(method, builtin).Call(e, expr.Range, args, nil, 0).AsValue(e, expr.Range)
	if v.Node().Kind() != builtin {
		return v
	}
	out, ok := passes.RunConstantNode(v.Node())
	if !ok {
		return v
	}
	return e.g.Constant(out[0], expr.Range)
}

// atFront runs insert with the insertion point at the beginning of the graph.
func (e *Emitter) atFront(insert func() *ir.Value) *ir.Value {
	front := e.g.Block().First()
	if front == nil {
		front = e.g.Block().ReturnNode()
	}
	old := e.g.SetInsertPoint(front)
	v := insert()
	e.g.SetInsertPoint(old)
	return v
}

func materialize[T comparable](e *Emitter, known map[T]*ir.Value, key T, v value.Value, at source.Range) *ir.Value {
	if c := known[key]; c != nil {
		return c
	}
	c := e.atFront(func() *ir.Value { return e.g.Constant(v, at) })
	known[key] = c
	return c
}

// intConstant returns the constant i, one per graph.
func (e *Emitter) intConstant(i int64, at source.Range) *ir.Value {
	return materialize(e, e.ints, i, value.Int(i), at)
}

func (e *Emitter) emitConst(c syntax.Const) *ir.Value {
	switch {
	case c.IsInt():
		i, err := c.Int()
		check(err)
		return e.intConstant(i, c.Range)
	case c.IsComplex():
		z, err := c.Complex()
		check(err)
		return materialize(e, e.complexes, z, value.Complex(z), c.Range)
	}
	f, err := c.Float()
	check(err)
	return materialize(e, e.floats, f, value.Float(f), c.Range)
}

// namedValues emits expressions as arguments; with unpack, starred ones are spread.
func (e *Emitter) namedValues(exprs []syntax.Expr, unpack bool) []ir.Argument {
	args := make([]ir.Argument, 0, len(exprs))
	for _, x := range exprs {
		if unpack && x.Kind == syntax.KindStarred {
			for _, item := range e.emitSugared(syntax.AsStarred(x).Expr(), 1, nil).AsTuple(e, x.Range, -1) {
				args = append(args, ir.ArgAt(item.AsValue(e, x.Range), x.Range))
			}
			continue
		}
		args = append(args, ir.ArgAt(e.emitExpr(x, nil), x.Range))
	}
	return args
}

func (e *Emitter) values(exprs []syntax.Expr, unpack bool) []*ir.Value {
	args := e.namedValues(exprs, unpack)
	vs := make([]*ir.Value, len(args))
	for i, a := range args {
		vs[i] = a.Value(e.g)
	}
	return vs
}

func typesOf(vs []*ir.Value) []types.Type {
	ts := make([]types.Type, len(vs))
	for i, v := range vs {
		ts[i] = v.Type()
	}
	return ts
}

func (e *Emitter) emitTupleLiteral(l syntax.TupleLiteral, hint types.Type) *ir.Value {
	want, _ := hintMember(hint, types.KindTuple).(*types.Tuple)
	var vs []*ir.Value
	for i, x := range l.Inputs() {
		if x.Kind == syntax.KindStarred || want == nil || i >= len(want.Elems) || len(want.Elems) != len(l.Inputs()) {
			vs = append(vs, e.values([]syntax.Expr{x}, true)...)
			continue
		}
		vs = append(vs, e.emitExpr(x, nonAny(want.Elems[i])))
	}
	return e.g.InsertNode(e.g.CreateTuple(vs, nil)).Output()
}

func nonAny(t types.Type) types.Type {
	if t.Kind() == types.KindAny {
		return nil
	}
	return t
}

// hintMember returns the alternative of a hint that is of a kind, nil where there is none.
func hintMember(hint types.Type, kind types.Kind) types.Type {
	if hint == nil {
		return nil
	}
	for _, m := range types.Members(hint) {
		if m.Kind() == kind {
			return m
		}
	}
	return nil
}

func (e *Emitter) emitListLiteral(l syntax.ListLiteral, hint types.Type) *ir.Value {
	vs := e.values(l.Inputs(), true)
	if len(vs) == 0 && hint == nil {
		n := e.g.InsertNode(e.g.Create(prim.EmptyListLiteral, nil, 1))
		return n.Output().SetType(types.NewList(types.Tensor))
	}
	var elem types.Type
	candidates := hinted(l.Range, hint, types.KindList, "List")
	switch {
	case len(candidates) == 1:
		elem = candidates[0].(*types.List).Elem
	case len(candidates) > 1 && len(vs) == 0:
		failEmpty(l.Range, hint, "list", "List")
	case len(candidates) > 1:
		elem = listCandidate(l.Range, hint, candidates, types.UnifyAll(typesOf(vs), true, nil)).Elem
	}
	if len(vs) > 0 {
		unified := types.UnifyAll(typesOf(vs), true, elem)
		if elem == nil {
			elem = unified
		} else if !types.IsSubtype(unified, elem) {
			failNoted([]string{mixedNote("List", unified)}, l.Range, "List type annotation `%s` did not match the types of the given list elements, which were unified to %s", types.Repr(types.NewList(elem)), types.Repr(unified))
		}
	}
	if elem == nil {
		elem = types.Tensor
	}
	if t, ok := elem.(*types.TensorInfo); ok && t.Inferred {
		elem = types.Tensor
	}
	v := e.g.InsertNode(e.g.CreateList(elem, vs)).Output()
	return e.castToUnion(v, hint)
}

// hinted returns the alternatives of a hint that are containers of a kind, none where there is no hint. A hint without such fails.
func hinted(at source.Range, hint types.Type, kind types.Kind, what string) (candidates []types.Type) {
	if o, ok := hint.(*types.Optional); ok {
		hint = o.Elem
	}
	if hint == nil || hint.Kind() == types.KindAny {
		return nil
	}
	for _, m := range types.Members(hint) {
		if m.Kind() == kind {
			candidates = append(candidates, m)
		}
	}
	if len(candidates) == 0 && hint.Kind() == types.KindUnion {
		fail(at, "Expected an Union type annotation with an inner %s type, but got %s", what, types.Repr(hint))
	}
	if len(candidates) == 0 {
		fail(at, "Expected an annotation of type %s but got %s", what, types.Repr(hint))
	}
	return candidates
}

func failEmpty(at source.Range, hint types.Type, literal, what string) {
	fail(at, "Cannot assign an empty %s to a variable annotated to be type %s because there are multiple possible %s type candidates in the Union annotation", literal, types.Repr(hint), what)
}

// listCandidate returns the alternative of a union that holds elements of a type.
func listCandidate(at source.Range, hint types.Type, candidates []types.Type, elem types.Type) *types.List {
	for _, c := range candidates {
		if list := c.(*types.List); types.IsSubtype(elem, list.Elem) {
			return list
		}
	}
	fail(at, "Union type annotation `%s` can hold %s, but none of those types match the types of the given list elements, which were unified to %s", types.Repr(hint), orList(candidates), types.Repr(elem))
	return nil
}

// dictCandidate returns the alternative of a union that holds keys and values of two types.
func dictCandidate(at source.Range, hint types.Type, candidates []types.Type, key, elem types.Type) *types.Dict {
	for _, c := range candidates {
		if d := c.(*types.Dict); types.IsSubtype(key, d.Key) && types.IsSubtype(elem, d.Value) {
			return d
		}
	}
	fail(at, "Union type annotation `%s` can hold %s, but none of those dict types can hold the types of the given keys and values, which were unified to Dict[%s, %s", types.Repr(hint), orList(candidates), types.Repr(key), types.Repr(elem))
	return nil
}

// orList names types: A, B or C.
func orList(ts []types.Type) string {
	texts := make([]string, len(ts))
	for i, t := range ts {
		texts[i] = types.Repr(t)
	}
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

// castToUnion gives a container that was made for a union its annotated type.
func (e *Emitter) castToUnion(v *ir.Value, hint types.Type) *ir.Value {
	if hint != nil && hint.Kind() == types.KindUnion {
		return e.g.InsertNode(e.g.CreateUncheckedCast(v, hint)).Output()
	}
	return v
}

func (e *Emitter) emitDictLiteral(d syntax.DictLiteral, hint types.Type) *ir.Value {
	var keys, vals []*ir.Value
	for i := range d.Keys() {
		keys = append(keys, e.emitExpr(d.Keys()[i], nil))
		vals = append(vals, e.emitExpr(d.Values()[i], nil))
	}
	var key, elem types.Type = types.Str, types.Tensor
	var want *types.Dict
	candidates := hinted(d.Range, hint, types.KindDict, "Dict")
	if len(candidates) == 1 {
		want = candidates[0].(*types.Dict)
		key, elem = want.Key, want.Value
	} else if len(candidates) > 1 && len(keys) == 0 {
		failEmpty(d.Range, hint, "dict", "Dict")
	}
	if len(keys) > 0 {
		k := keys[0].Type()
		for i, next := range keys[1:] {
			unified := types.Unify(k, next.Type(), false, nil)
			if unified == nil {
				fail(d.Keys()[i+1].Range, "Dict keys must contain only a single type. Expected: %s but found %s instead", types.Repr(k), types.Repr(next.Type()))
			}
			k = unified
		}
		v := types.UnifyAll(typesOf(vals), true, elemHint(want))
		switch {
		case len(candidates) > 1:
			want = dictCandidate(d.Range, hint, candidates, k, v)
			key, elem = want.Key, want.Value
		case want == nil:
			checkKey(k)
			key, elem = k, v
		case !types.IsSubtype(k, key):
			fail(d.Range, "Type annotation was inferred to be %sbut the type of keys given by the dict literal is %s", types.Repr(want), types.Repr(k))
		case !types.IsSubtype(v, elem):
			fail(d.Range, "Type annotation was inferred to be `%s`, but the type of values given by the dict literal is %s", types.Repr(want), types.Repr(v))
		}
	}
	v := e.g.InsertNode(e.g.CreateDict(key, elem, keys, vals)).Output()
	return e.castToUnion(v, hint)
}

func elemHint(d *types.Dict) types.Type {
	if d == nil {
		return nil
	}
	return d.Value
}

// emitComprehension emits the loop of a comprehension in a scope of its own.
func (e *Emitter) emitComprehension(at source.Range, target, iter syntax.Expr, body func()) {
	n := e.g.InsertNode(e.g.Create(prim.ComprehensionScope, nil, 0)).SetRange(at)
	b := n.AddBlock()
	e.pushFrame(b)
	old := e.g.SetInsertEnd(b)
	e.emitIteration([]syntax.Expr{target}, []syntax.Expr{iter}, at, func() {
		e.comprehensions++
		defer func() { e.comprehensions-- }()
		body()
	})
	e.g.SetInsertPoint(old)
	e.popFrame()
}

func (e *Emitter) emitListComp(c syntax.ListComp, hint types.Type) *ir.Value {
	list := e.g.InsertNode(e.g.CreateList(types.Tensor, nil)).Output()
	var want *types.List
	candidates := hinted(c.Range, hint, types.KindList, "List")
	if len(candidates) == 1 {
		want = candidates[0].(*types.List)
		list.SetType(want)
	}
	set := want != nil
	e.emitComprehension(c.Range, c.Target(), c.Iter(), func() {
		item := e.emitExpr(c.Elt(), nil)
		if !set && len(candidates) > 1 {
			want = listCandidate(c.Range, hint, candidates, item.Type())
			list.SetType(want)
			set = true
		}
		if !set {
			list.SetType(types.NewList(types.Unshaped(item.Type())))
			set = true
		}
		elem := list.Type().(*types.List).Elem
		if want != nil && !types.IsSubtype(item.Type(), elem) {
			fail(c.Range, "List type annotation `%s` did not match the types of the given list elements, which were unified to %s", types.Repr(want), types.Repr(item.Type()))
		}
		if unified := types.Unify(elem, item.Type(), true, nil); want == nil && !types.IsSubtype(unified, elem) {
			failNoted([]string{mixedNote("List", unified)}, c.Range, "List type annotation `%s` did not match the types of the given list elements, which were unified to %s", types.Repr(list.Type()), types.Repr(unified))
		}
		self := ir.ArgAt(list, c.Range)
		e.callBuiltin(c.Range, aten.Append, []ir.Argument{ir.ArgAt(item, c.Range)}, nil, &self)
	})
	return list
}

func (e *Emitter) emitDictComp(c syntax.DictComp, hint types.Type) *ir.Value {
	n := e.g.InsertNode(e.g.CreateDict(types.Str, types.Tensor, nil, nil))
	dict := n.Output()
	var want *types.Dict
	candidates := hinted(c.Range, hint, types.KindDict, "Dict")
	if len(candidates) == 1 {
		want = candidates[0].(*types.Dict)
		dict.SetType(want)
	}
	set := want != nil
	e.emitComprehension(c.Range, c.Target(), c.Iter(), func() {
		k := e.emitExpr(c.Key(), nil)
		v := e.emitExpr(c.Value(), nil)
		if !set && len(candidates) > 1 {
			want = dictCandidate(c.Range, hint, candidates, k.Type(), v.Type())
			dict.SetType(want)
			set = true
		}
		if !set {
			checkKey(k.Type())
			dict.SetType(types.NewDict(k.Type(), v.Type()))
			set = true
		}
		if made := dict.Type().(*types.Dict); want == nil && !types.IsSubtype(k.Type(), made.Key) {
			fail(c.Range, "Dicts may only contain homogeneous keys. Expected dict comprehension to generate type %s, but got %s", types.Repr(made.Key), types.Repr(k.Type()))
		}
		if want != nil && !types.IsSubtype(k.Type(), want.Key) {
			fail(c.Range, "Dict type annotation `%s` did not match the type of an actual key type `%s`", types.Repr(want), types.Repr(k.Type()))
		}
		if want != nil && !types.IsSubtype(v.Type(), want.Value) {
			fail(c.Range, "Dict type annotation `%s` did not match the type of an actual value type `%s`", types.Repr(want), types.Repr(v.Type()))
		}
		e.insertArgs(c.Range, aten.SetItem, []ir.Argument{ir.Arg(dict), ir.Arg(k), ir.Arg(v)})
	})
	return dict
}
