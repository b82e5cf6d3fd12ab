package interp

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Who owns a tensor
//
// A tensor that an operator of the code has made is temporary (tensor.IsTemporary) as long as registers have it and nobody else: one, or several where
// an operator has given what it was given. It goes with moves from register to register, into calls and out of them. When the last of its registers is
// read for the last time, or dropped, it is given back.
// What might let others have it ends that: a container, an attribute, a fork, an operator that may keep it. Then the
// collector has it. Views are tensors of their own, which share the count of their storage; what the tape needs, its nodes hold.

// ownership is what the site of an operator does for tensors.
type ownership struct {
	makes   bool    // outputs that are tensors are new, unless they are among the inputs
	unused  bool    // nothing reads the output
	lists   bool    // so are those in outputs that are lists, which the next node takes apart
	reads   []int32 // inputs that the operator reads and lets go of
	escapes []int32 // inputs that others may have afterwards
	gathers []gathered
}

// gathered is an input that is a list made for this operator alone: which of its elements nothing else reads any more.
type gathered struct {
	input int32
	moved []bool
}

// owned finds out what the operator of n does with tensors, nil where it has to do with none.
func (l *lowering) owned(n *ir.Node) *ownership {
	var o ownership
	op := n.Operator()
	s := op.Schema()
	isKnown := l.tensorOperator(n) != nil && plain(s) && !writesContainer(s)
	for i, v := range n.Inputs() {
		switch {
		case !mayHoldTensor(v.Type()):
		case !isKnown || s.IsVarret || i >= len(s.Arguments):
			o.escapes = append(o.escapes, int32(i))
		case isTensor(s.Arguments[i].Type):
			o.reads = append(o.reads, int32(i))
		default:
			if moved := l.gathered[v]; moved != nil {
				o.gathers = append(o.gathers, gathered{int32(i), moved})
			}
		}
	}
	if isKnown {
		for _, v := range n.Outputs() {
			o.makes = o.makes || v.Type().Kind() == types.KindTensor
			o.unused = len(n.Outputs()) == 1 && !v.HasUses()
			o.lists = o.lists || v.Type().Kind() == types.KindList && isTakenApart(v)
		}
	}
	if !o.makes && !o.lists && len(o.reads)+len(o.escapes)+len(o.gathers) == 0 {
		return nil
	}
	return &o
}

// escaping is the ownership of what may keep all its inputs.
func escaping(vs []*ir.Value) *ownership {
	var o ownership
	for i, v := range vs {
		if mayHoldTensor(v.Type()) {
			o.escapes = append(o.escapes, int32(i))
		}
	}
	if o.escapes == nil {
		return nil
	}
	return &o
}

// areTakenApart reports whether all that becomes of those among some values that are tuples is that prim::TupleUnpack takes them apart.
func areTakenApart(vs []*ir.Value) bool {
	return !slices.ContainsFunc(vs, func(v *ir.Value) bool {
		return v.Type().Kind() != types.KindTensor && mayHoldTensor(v.Type()) && !isUnpackedHere(v)
	})
}

// isUnpackedHere reports whether the only use of v is a prim::TupleUnpack in the block that makes v, which runs as often.
func isUnpackedHere(v *ir.Value) bool {
	uses := v.Uses()
	return len(uses) == 1 && uses[0].User.Is(prim.TupleUnpack) && uses[0].User.Block() == v.Node().Block()
}

// tensorOperator returns the operator of package aten that runs n, nil where something else does.
func (l *lowering) tensorOperator(n *ir.Node) *ops.Operator {
	if !strings.HasPrefix(n.Kind(), "aten::") || nodeLowerings[n.Kind()] != nil || l.options.Runners[n.Kind()] != nil {
		return nil
	}
	return n.Operator()
}

// isTensor reports whether t is Tensor or Optional[Tensor].
func isTensor(t types.Type) bool {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	return t.Kind() == types.KindTensor
}

// mayHoldTensor reports whether a value of type t may be a tensor.
func mayHoldTensor(t types.Type) bool {
	switch t.Kind() {
	case types.KindInt, types.KindFloat, types.KindBool, types.KindNumber, types.KindComplex, types.KindString, types.KindDevice, types.KindNone,
		types.KindGenerator, types.KindFunction, types.KindEnum:
		return false
	}
	return true
}

// plain reports whether an operator takes and gives nothing that can hold tensors but lists: of what it returns
// one can see then whether it was an argument.
func plain(s *schema.FunctionSchema) bool {
	isPlain := func(t types.Type) bool {
		if o, ok := t.(*types.Optional); ok {
			t = o.Elem
		}
		if list, ok := t.(*types.List); ok {
			t = list.Elem
			if o, ok := t.(*types.Optional); ok {
				t = o.Elem
			}
		}
		return t.Kind() == types.KindTensor || !mayHoldTensor(t)
	}
	return !slices.ContainsFunc(s.Arguments, func(a schema.Argument) bool { return !isPlain(a.Type) }) &&
		!slices.ContainsFunc(s.Returns, func(a schema.Argument) bool { return !isPlain(a.Type) })
}

// writesContainer reports whether an operator changes a list that it is given.
func writesContainer(s *schema.FunctionSchema) bool {
	return slices.ContainsFunc(s.Arguments, func(a schema.Argument) bool {
		return a.Type.Kind() == types.KindList && a.Alias != nil && a.Alias.IsWrite
	})
}

// isTakenApart reports whether the only use of a list of tensors is the prim::ListUnpack right behind what makes it.
func isTakenApart(v *ir.Value) bool {
	uses := v.Uses()
	return len(uses) == 1 && uses[0].User.Is(prim.ListUnpack) && following(v.Node()) == uses[0].User
}

// following returns the node behind n that does something else than to make a constant or a list.
func following(n *ir.Node) *ir.Node {
	for n = n.Next(); n != nil && n.Is(prim.Constant, prim.ListConstruct); n = n.Next() {
	}
	return n
}

// isHandedOn reports whether the only thing that becomes of a tuple is that prim::TupleUnpack takes it apart, or that the graph returns it: by itself, in
// another such tuple, or as what a branch gives. What happens to it happens once for each tuple that is made.
func isHandedOn(v *ir.Value) bool {
	uses := v.Uses()
	if len(uses) != 1 {
		return false
	}
	user, block := uses[0].User, v.Node().Block()
	if user.Block() == block {
		switch {
		case user.Is(prim.TupleUnpack):
			return true
		case user.Is(prim.TupleConstruct):
			return isHandedOn(user.Output())
		}
	}
	owner := user.Block().Owner()
	if user != user.Block().ReturnNode() || user.Block() != block && (owner == nil || owner.Block() != block) {
		return false
	}
	return owner == nil || owner.Is(prim.If) && isHandedOn(owner.Outputs()[uses[0].Index])
}

// isGathered reports whether a list is made for the operator behind it alone, which reads it.
func (l *lowering) isGathered(v *ir.Value) bool {
	uses := v.Uses()
	if len(uses) != 1 || following(v.Node()) != uses[0].User {
		return false
	}
	op := l.tensorOperator(uses[0].User)
	return op != nil && plain(op.Schema()) && !writesContainer(op.Schema()) && !op.Schema().IsVarret && uses[0].Index < len(op.Schema().Arguments) &&
		!returnsList(op.Schema())
}

func returnsList(s *schema.FunctionSchema) bool {
	return slices.ContainsFunc(s.Returns, func(a schema.Argument) bool { return a.Type.Kind() == types.KindList })
}

// settle gives back what an operator has read for the last time, and notes what it has made.
func (o *ownership) settle(s *stack, inputs []input, args, out []value.Value) {
	s.escape(args, o.escapes)
	if o.unused && isAmong(out[0], args) {
		out[0] = value.None // of an operator in place: the register of the input has it
	}
	for _, i := range o.reads {
		if !args[i].IsTensor() || !args[i].Tensor().IsTemporary() {
			continue
		}
		switch t := args[i].Tensor(); {
		case isAmong(args[i], out):
			switch {
			case len(out) != 1 || !out[0].IsTensor():
				t.UnmarkTemporary()
			case !inputs[i].move: // two registers have it
				t.AddRegisters(1)
			}
		case inputs[i].move:
			autograd.Drop(t)
		}
	}
	for _, g := range o.gathers {
		if args[g.input].Kind() == value.KindList {
			dropGathered(args[g.input].List().Items, g.moved, out)
		}
	}
	if !o.makes && !o.lists {
		return
	}
	for i, v := range out {
		switch {
		case v.IsTensor() && o.makes:
			if !isAmong(v, args) && !isAmong(v, out[:i]) {
				v.Tensor().MarkTemporary()
			}
		case v.Kind() == value.KindList && o.lists:
			items := v.List().Items
			for k, item := range items {
				if item.IsTensor() && !isAmong(item, args) && !isAmong(item, items[:k]) {
					item.Tensor().MarkTemporary()
				}
			}
		}
	}
}

// dropGathered gives back the elements of a list that was made for an operator which has run.
func dropGathered(items []value.Value, moved []bool, out []value.Value) {
	for k, item := range items {
		if k >= len(moved) || !moved[k] || !item.IsTensor() || !item.Tensor().IsTemporary() {
			continue
		}
		if isAmong(item, out) {
			item.Tensor().UnmarkTemporary()
		} else {
			autograd.Drop(item.Tensor())
		}
	}
}

// escape says of the tensors among some of the arguments that others may have them from now on.
func (s *stack) escape(args []value.Value, which []int32) {
	for _, i := range which {
		s.escapeOne(args[i])
	}
}

func (s *stack) escapeOne(v value.Value) {
	switch {
	case !v.IsTensor():
	case v.Tensor().IsTemporary():
		v.Tensor().UnmarkTemporary()
	default:
		s.escaped++ // maybe one that a caller lends
	}
}

// share says that one more register has a value.
func (s *stack) share(v value.Value) {
	switch {
	case !v.IsTensor():
	case v.Tensor().IsTemporary():
		v.Tensor().AddRegisters(1)
	default:
		s.escaped++
	}
}

// escapeAll is escape of all arguments.
func (s *stack) escapeAll(args []value.Value) []value.Value {
	for _, v := range args {
		s.escapeOne(v)
	}
	return args
}

// escapeInto is escape of the elements of a new container, but of those that go on with it.
func (s *stack) escapeInto(site *site, args []value.Value) []value.Value {
	for i, v := range args {
		if goesOn := site.gives && site.inputs[i].move && v.IsTensor() && v.Tensor().IsTemporary(); !goesOn && !site.lends {
			s.escapeOne(v)
		}
	}
	return args
}

// dropValue gives back what a register has that nothing reads any more.
func dropValue(v value.Value) {
	if v.IsTensor() && v.Tensor().IsTemporary() {
		autograd.Drop(v.Tensor())
	}
}

// Temporaries adds the tensors of a result that nobody but the caller has, in tuples too, to made.
func Temporaries(v value.Value, made []*tensor.Tensor) []*tensor.Tensor {
	switch {
	case v.IsTensor():
		if v.Tensor().IsTemporary() {
			made = append(made, v.Tensor())
		}
	case v.Kind() == value.KindTuple:
		for _, item := range v.Tuple().Items {
			made = Temporaries(item, made)
		}
	}
	return made
}

// keepTuples says of the tensors in tuples that more than the tuple may have them.
func keepTuples(results []value.Value) {
	for _, v := range results {
		if v.Kind() == value.KindTuple {
			keepResults(v.Tuple().Items)
		}
	}
}

// keepResults says that others than the caller may have the tensors of results.
func keepResults(out []value.Value) {
	for _, v := range out {
		for _, t := range Temporaries(v, nil) {
			t.UnmarkTemporary()
		}
	}
}

// isAmong reports whether the tensor v is one of the values or of the elements of a list among them.
func isAmong(v value.Value, values []value.Value) bool {
	for _, x := range values {
		switch x.Kind() {
		case value.KindTensor:
			if x.Tensor() == v.Tensor() {
				return true
			}
		case value.KindList:
			if isAmong(v, x.List().Items) {
				return true
			}
		}
	}
	return false
}
