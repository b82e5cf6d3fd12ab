package frontend

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func (e *Emitter) emitSubscript(s syntax.Subscript, hint types.Type) SugaredValue {
	base := e.emitSugared(s.Value(), 1, nil)
	subscripts := s.Subscripts()
	at, baseAt := e.subscriptRange(s), s.Value().Range
	if len(subscripts) != 1 {
		return simple{e.emitMultiDim(at, base.AsValue(e, baseAt), subscripts)}
	}
	if subscripts[0].Kind == syntax.KindSliceExpr {
		return simple{e.emitBasicSlice(at, e.sliceable(base, baseAt), syntax.AsSliceExpr(subscripts[0]))}
	}
	v := asSimple(base)
	if v != nil && types.IsSubtype(v.Type(), types.Tensor) {
		if s := e.probeSlice(subscripts[0]); s != nil {
			return simple{e.emitBoundsSlice(at, v, e.g.Constant(value.Int(0), at), s)}
		}
		return simple{e.emitMultiDim(at, v, subscripts)}
	}
	switch base.(type) {
	case *hostObject, *rangeValue, *iterableTree:
		base.AsValue(e, baseAt) // fails
	}
	e.pending = subscripts[0].Range
	sugared := e.emitSugared(subscripts[0], 1, nil)
	if s, ok := sugared.(*sliceValue); ok {
		return simple{e.emitBoundsSlice(at, e.sliceable(base, baseAt), nil, s)}
	}
	index := sugared.AsValue(e, baseAt)
	if v != nil && v.Type().Kind() == types.KindTuple {
		return simple{e.emitTupleIndex(at, v, index)}
	}
	return base.GetItem(e, at, index, hint)
}

// subscriptRange is where a subscript stands: in source text up to its bracket.
func (e *Emitter) subscriptRange(s syntax.Subscript) source.Range {
	at := s.Range
	if !e.o.FromText || at.Text == nil {
		return at
	}
	if end := closingBracket(at.Text.Body, s.Value().Range.End); end > 0 {
		at.End = end
	}
	return at
}

// closingBracket returns the offset behind the bracket that closes the first one from an offset on, 0 where there is none.
func closingBracket(text string, from int) int {
	depth := 0
	var quote byte
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '(' || c == '{':
			depth++
		case c == ']' || c == ')' || c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '\n' && depth == 0:
			return 0
		}
	}
	return 0
}

// sliceable returns the value that slices of base are taken of: a tuple of the elements where they are known now.
func (e *Emitter) sliceable(base SugaredValue, at source.Range) *ir.Value {
	if m, ok := base.(*moduleValue); ok {
		base = m.elements(e, at)
	}
	if _, static := base.StaticLen(); static {
		return (&TupleValue{Items: base.AsTuple(e, at, -1)}).AsValue(e, at)
	}
	return base.AsValue(e, at)
}

func (e *Emitter) emitTupleIndex(at source.Range, tuple, index *ir.Value) *ir.Value {
	elems := tuple.Type().(*types.Tuple).Elems
	if index.Type().Kind() != types.KindInt {
		fail(at, "tuple index must be an integer")
	}
	c, known := index.Constant()
	if !known {
		if len(elems) == 0 || !allEqual(elems) {
			fail(at, "Cannot index into a %s with a non-integer literal because we cannot resolve the output type", types.Repr(tuple.Type()))
		}
		return e.g.InsertNode(e.g.CreateTupleIndex(tuple, index, elems[0])).Output()
	}
	i := int(c.Int())
	if i < 0 {
		i += len(elems)
	}
	if i < 0 || i >= len(elems) {
		fail(at, "Tuple index out of range. Tuple is length %d and index is %d", len(elems), c.Int())
	}
	return e.g.InsertNode(e.g.CreateTupleIndex(tuple, index, elems[i])).Output()
}

func allEqual(ts []types.Type) bool {
	for _, t := range ts[1:] {
		if !types.Equal(t, ts[0]) {
			return false
		}
	}
	return true
}

func (e *Emitter) emitBasicSlice(at source.Range, v *ir.Value, s syntax.SliceExpr) *ir.Value {
	var dim *ir.Value
	if types.IsSubtype(v.Type(), types.Tensor) {
		dim = e.g.Constant(value.Int(0), at)
	}
	return e.emitSlice(at, v, dim, s)
}

// emitSlice emits x[start:end:step]; dim is the dimension of a tensor, nil for other containers.
func (e *Emitter) emitSlice(at source.Range, v, dim *ir.Value, s syntax.SliceExpr) *ir.Value {
	bound := func(x syntax.Expr) *ir.Value {
		if x == nil {
			return nil
		}
		return e.emitExpr(x, nil)
	}
	return e.emitBoundsSlice(at, v, dim, &sliceValue{start: bound(s.Start()), end: bound(s.End()), step: bound(s.Step())})
}

// emitBoundsSlice is emitSlice with bounds that have been emitted, nil where there are none.
func (e *Emitter) emitBoundsSlice(at source.Range, v, dim *ir.Value, s *sliceValue) *ir.Value {
	start, end, step := s.start, s.end, s.step
	if v.Type().Kind() == types.KindTuple {
		return e.emitTupleSlice(at, v, start, end, step)
	}
	args := []ir.Argument{ir.ArgAt(v, at)}
	if dim != nil {
		args = append(args, ir.Arg(dim))
	}
	if step == nil {
		step = e.g.Constant(value.Int(1), at)
	}
	for _, b := range []*ir.Value{start, end} {
		if b == nil {
			args = append(args, ir.ConstArg(value.None))
		} else {
			args = append(args, ir.Arg(b))
		}
	}
	return e.insertArgs(at, aten.Slice, args, ir.ArgAt(step, at).Named("step"))
}

func (e *Emitter) emitTupleSlice(at source.Range, tuple, start, end, step *ir.Value) *ir.Value {
	n := len(tuple.Type().(*types.Tuple).Elems)
	read := func(v *ir.Value, missing int) int {
		if v == nil {
			return missing
		}
		c, ok := v.Constant()
		if !ok || !c.IsInt() {
			fail(at, "tuple slice indices must be integer constants")
		}
		return int(c.Int())
	}
	by := read(step, 1)
	if by == 0 {
		fail(at, "slice step cannot be zero")
	}
	low, high := 0, n
	if by < 0 {
		low, high = n-1, -n-1
	}
	clamp := func(i int) int {
		if i < 0 {
			i += n
		}
		if by < 0 {
			return min(max(i, -1), n-1)
		}
		return min(max(i, 0), n)
	}
	from, to := clamp(read(start, low)), clamp(read(end, high))
	elems := tuple.Type().(*types.Tuple).Elems
	var picked []*ir.Value
	for i := from; by > 0 && i < to || by < 0 && i > to; i += by {
		index := e.g.Constant(value.Int(int64(i)), source.Range{})
		picked = append(picked, e.g.InsertNode(e.g.CreateTupleIndex(tuple, index, elems[i])).Output())
	}
	return e.g.InsertNode(e.g.CreateTuple(picked, nil)).Output()
}

func (e *Emitter) emitMultiDim(at source.Range, v *ir.Value, subscripts []syntax.Expr) *ir.Value {
	if !types.IsSubtype(v.Type(), types.Tensor) {
		fail(at, "Unsupported operation: attempted to use multidimensional indexing on a non-tensor type")
	}
	sliced, indices := e.emitIntAndSliceIndexing(at, v, subscripts)
	if len(indices) == 0 {
		return sliced
	}
	list := e.g.InsertNode(e.g.CreateList(types.NewOptional(types.Tensor), indices)).Output()
	return e.Insert(at, aten.Index, sliced, list)
}

// subscript is one index of a tensor with the dimension that it applies to.
type subscript struct {
	expr  syntax.Expr
	dim   int
	index *ir.Value   // nil for a slice and an ellipsis
	slice *sliceValue // a slice object
}

// emitIntAndSliceIndexing applies the indices that are ints, slices and None, and returns the
// result with the list of those that are tensors, nil entries filled with None. An index behind an
// ellipsis counts its dimension from the end.
func (e *Emitter) emitIntAndSliceIndexing(at source.Range, v *ir.Value, exprs []syntax.Expr) (*ir.Value, []*ir.Value) {
	subs := make([]subscript, len(exprs))
	i, dim := 0, 0
	for ; i < len(exprs) && exprs[i].Kind != syntax.KindDots; i++ {
		dim = e.emitIndex(at, &subs[i], exprs[i], dim, false)
	}
	rdim := -1
	for k := len(exprs) - 1; k > i; k-- {
		if exprs[k].Kind == syntax.KindDots {
			fail(at, "An index can only have a single ellipsis ('...')")
		}
		rdim = e.emitIndex(at, &subs[k], exprs[k], rdim, true)
	}
	var tensors []*ir.Value
	for k, s := range subs {
		if k == i && i < len(exprs) {
			continue
		}
		dim := func() *ir.Value { return e.g.Constant(value.Int(int64(s.dim)), at) }
		switch {
		case s.slice != nil:
			v = e.emitBoundsSlice(at, v, dim(), s.slice)
		case s.index == nil:
			v = e.emitSlice(at, v, dim(), syntax.AsSliceExpr(s.expr))
		case s.index.Type().Kind() == types.KindNone:
			v = e.Insert(at, aten.Unsqueeze, v, dim())
		case s.index.Type().Kind() == types.KindInt:
			v = e.Insert(at, aten.Select, v, dim(), s.index)
		default:
			for len(tensors) <= s.dim {
				tensors = append(tensors, nil)
			}
			tensors[s.dim] = s.index
		}
	}
	for k := range tensors {
		if tensors[k] == nil {
			tensors[k] = e.g.InsertNode(e.g.CreateNone()).Output()
		}
	}
	return v, tensors
}

// emitIndex emits one index that applies to dimension dim and returns the dimension of the next.
func (e *Emitter) emitIndex(at source.Range, s *subscript, expr syntax.Expr, dim int, reverse bool) int {
	s.expr, s.dim = expr, dim
	next, same := dim+1, dim
	if reverse {
		next = dim - 1
	}
	if expr.Kind == syntax.KindSliceExpr {
		return next
	}
	var hint types.Type
	if expr.Kind == syntax.KindNone {
		hint = types.None
	}
	if s.slice = e.probeSlice(expr); s.slice != nil {
		return next
	}
	e.pending = expr.Range
	sugared := e.emitSugared(expr, 1, hint)
	if s.slice, _ = sugared.(*sliceValue); s.slice != nil {
		return next
	}
	index := sugared.AsValue(e, expr.Range)
	if index.Type().Kind() == types.KindList {
		index = e.insertArgs(source.Range{}, aten.Tensor, []ir.Argument{ir.Arg(index)}, ir.ConstArg(value.Int(4)).Named("dtype"))
	}
	s.index = index
	switch {
	case index.Type().Kind() == types.KindNone:
		if reverse {
			return same
		}
		return dim + 1
	case index.Type().Kind() == types.KindInt:
		if reverse {
			return dim - 1
		}
		return same
	case types.IsSubtype(index.Type(), types.NewOptional(types.Tensor)):
		if reverse {
			fail(at, "Ellipses followed by tensor indexing is currently not supported")
		}
		return dim + 1
	}
	fail(at, "Unsupported operation: indexing tensor with unsupported index type '%s'. Only ints, slices, lists and tensors are supported", types.Repr(index.Type()))
	return 0
}

func (e *Emitter) emitSubscriptAssign(at source.Range, lhs syntax.Subscript, rhs ir.Argument) {
	base := e.emitExpr(lhs.Value(), nil)
	if types.IsSubtype(base.Type(), types.Tensor) {
		sliced, indices := e.emitIntAndSliceIndexing(lhs.Range, base, lhs.Subscripts())
		x := e.scalarToTensor(rhs, sliced)
		if len(indices) == 0 {
			e.Insert(at, aten.Copy_, sliced, x)
			return
		}
		list := e.g.InsertNode(e.g.CreateList(types.NewOptional(types.Tensor), indices)).Output()
		e.Insert(at, aten.IndexPut_, sliced, list, x)
		return
	}
	subscripts := lhs.Subscripts()
	if len(subscripts) != 1 || subscripts[0].Kind == syntax.KindSliceExpr {
		fail(subscripts[0].Range, "Sliced expression not yet supported for subscripted assignment. File a bug if you want this")
	}
	if types.IsSubtype(base.Type(), types.AnyTuple) {
		fail(lhs.Range, "%s does not support subscripted assignment", types.Repr(base.Type()))
	}
	args := []ir.Argument{ir.ArgAt(base, lhs.Value().Range), ir.ArgAt(e.emitExpr(subscripts[0], nil), lhs.Range), rhs}
	newMagic("__setitem__", aten.SetItem).Call(e, at, args, nil, 0)
}

// scalarToTensor makes a number a tensor of the type and on the device of like.
func (e *Emitter) scalarToTensor(x ir.Argument, like *ir.Value) *ir.Value {
	switch x.Type().Kind() {
	case types.KindNumber, types.KindInt, types.KindBool, types.KindFloat, types.KindComplex:
		dtype := e.Insert(source.Range{}, prim.Dtype, like)
		device := e.Insert(source.Range{}, prim.Device, like)
		return e.insertArgs(source.Range{}, aten.Tensor, []ir.Argument{x}, ir.Arg(dtype).Named("dtype"), ir.Arg(device).Named("device"))
	}
	return x.Value(e.g)
}

// tensorItem is __getitem__ of a tensor.
type tensorItem struct {
	NotFirstClass
	self *ir.Value
}

// Call implements SugaredValue.
func (t *tensorItem) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	if len(args) != 1 || len(kwargs) > 0 {
		fail(at, "__getitem__ expected exactly 1 arguments, got %d", len(args)+len(kwargs))
	}
	index := args[0].Value(e.g)
	if index.Type().Kind() == types.KindInt {
		return simple{e.Insert(at, aten.Select, t.self, e.g.Constant(value.Int(0), at), index)}
	}
	if !types.IsSubtype(index.Type(), types.NewOptional(types.Tensor)) {
		fail(at, "Expected a list element that subtypes 'Optional[Tensor]' but got an element of type '%s'", types.Repr(index.Type()))
	}
	list := e.g.InsertNode(e.g.CreateList(types.NewOptional(types.Tensor), []*ir.Value{index})).Output()
	return simple{e.Insert(at, aten.Index, t.self, list)}
}
