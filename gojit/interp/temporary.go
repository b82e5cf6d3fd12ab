package interp

import (
	"strings"

	"torchjit/gojit/ir"
	"torchjit/gojit/ops"
	"torchjit/gojit/schema"
	"torchjit/gojit/types"
	"torchjit/gojit/value"
)

// ownership is what an operator's site does for tensors that only operators see: their memory is
// reused after the last one has read them.
type ownership struct {
	result bool    // the output is such a tensor
	reads  []int32 // the inputs that are
}

// owned finds the tensors among the inputs and the output of n that only operators see.
func (l *lowering) owned(n *ir.Node) *ownership {
	var o ownership
	if len(n.Outputs()) == 1 {
		o.result = l.isTemporary(n.Output())
	}
	for i, v := range n.Inputs() {
		if l.isTemporary(v) {
			o.reads = append(o.reads, int32(i))
		}
	}
	if !o.result && o.reads == nil {
		return nil
	}
	return &o
}

// isTemporary reports whether v is a tensor that an operator makes and that only operators read,
// which neither keep it nor show its memory in what they give.
func (l *lowering) isTemporary(v *ir.Value) bool {
	if len(v.Uses()) == 0 || !l.makesTensor(v.Node()) {
		return false
	}
	for _, u := range v.Uses() {
		if u.User.Kind() == GroupKind {
			continue
		}
		op := l.tensorOperator(u.User)
		if op == nil || !onlyReads(op.Schema(), u.Index) {
			return false
		}
	}
	return true
}

// makesTensor reports whether n makes tensors that nobody else has.
func (l *lowering) makesTensor(n *ir.Node) bool {
	if n.Kind() == GroupKind {
		return true
	}
	op := l.tensorOperator(n)
	if op == nil || len(n.Outputs()) != 1 {
		return false
	}
	r := op.Schema().Returns
	return r[0].Alias == nil && r[0].Type.Kind() == types.KindTensor && plain(op.Schema())
}

// tensorOperator returns the operator of package aten that runs n, nil where something else does.
func (l *lowering) tensorOperator(n *ir.Node) *ops.Operator {
	if !strings.HasPrefix(n.Kind(), "aten::") || nodeLowerings[n.Kind()] != nil || l.machine.Runners[n.Kind()] != nil {
		return nil
	}
	return n.Operator()
}

// plain reports whether an operator takes nothing that can hold tensors but lists: of what it returns
// one can see then whether it was an argument.
func plain(s *schema.FunctionSchema) bool {
	for i := range s.Arguments {
		t := s.Arguments[i].Type
		if o, ok := t.(*types.Optional); ok {
			t = o.Elem
		}
		switch t.Kind() {
		case types.KindTensor, types.KindList, types.KindInt, types.KindFloat, types.KindBool, types.KindNumber, types.KindComplex,
			types.KindString, types.KindDevice, types.KindNone, types.KindGenerator:
		default:
			return false
		}
	}
	return true
}

// onlyReads reports whether an operator's argument is a tensor that is not part of its results.
func onlyReads(s *schema.FunctionSchema, argument int) bool {
	if argument >= len(s.Arguments) || s.IsVarret {
		return false
	}
	a := &s.Arguments[argument]
	t := a.Type
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if a.Alias != nil || t.Kind() != types.KindTensor {
		return false
	}
	for i := range s.Returns {
		switch s.Returns[i].Type.Kind() {
		case types.KindTensor, types.KindInt, types.KindFloat, types.KindBool, types.KindNumber:
		default:
			return false
		}
	}
	return true
}

// settle gives the memory of what was read for the last time back, and marks the output. An operator
// may return an argument without saying so: then somebody else has it.
func (o *ownership) settle(inputs []input, args, out []value.Value) {
	for _, i := range o.reads {
		if !args[i].IsTensor() {
			continue
		}
		t := args[i].Tensor()
		switch {
		case !t.IsTemporary():
		case isAmong(args[i], out):
			t.UnmarkTemporary()
		case inputs[i].move:
			t.Release()
		}
	}
	if o.result && out[0].IsTensor() && !isAmong(out[0], args) {
		out[0].Tensor().MarkTemporary()
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
