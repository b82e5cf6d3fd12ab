package pt2archive

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// translationOf is how a call of PyTorch 2 becomes calls of other operators here, nil where the operator is here.
func translationOf(target string) func(s *scope, n *node) {
	switch target {
	case "torch.ops.aten.squeeze.dims":
		return (*scope).squeeze
	case "torch.ops.aten._native_batch_norm_legit.no_stats":
		return (*scope).normWithoutStatistics
	case "torch.ops.aten._assert_async.msg":
		return (*scope).assertion
	case "torch.sym_float":
		return (*scope).floatOfSize
	case "torch.ops.higher_order.wrap_with_set_grad_enabled":
		return (*scope).withGradEnabled
	}
	return nil
}

const squeezeDim = "aten::squeeze.dim"

// squeeze is a squeeze of several dimensions: one after the other, the last one first.
func (s *scope) squeeze(n *node) {
	call := &exportir.Node{Op: exportir.CallFunction, Target: squeezeDim, Meta: s.place(n.Metadata)}
	s.giveArguments(call, n.Inputs)
	if len(call.Args) != 2 || call.Args[0].Kind != exportir.NodeArgument {
		source.Throw(exportir.Violation("it does not squeeze dimensions of a tensor"))
	}
	val := s.meaning(call.Args[0].Text)
	var dims []int
	for _, d := range call.Args[1].Items {
		dim := int(d.Int)
		if dim < 0 {
			dim += len(val.Sizes)
		}
		if d.Kind != exportir.IntArgument || val.Kind != exportir.TensorValue || dim < 0 || dim >= len(val.Sizes) {
			source.Throw(exportir.Violation("it squeezes a dimension that is not there"))
		}
		dims = append(dims, dim)
	}
	slices.Sort(dims)
	dims = slices.Compact(dims)
	x := call.Args[0]
	for i, dim := range slices.Backward(dims) {
		step := *call
		step.Args = []exportir.Argument{x, exportir.OfInt(int64(dim))}
		if i == 0 {
			s.addCall(&step, n)
			return
		}
		without := *val // a dimension of one element; others stay
		if size := val.Sizes[dim]; size.IsConstant() && size.Const == 1 {
			without.Sizes, without.Strides = slices.Delete(slices.Clone(val.Sizes), dim, dim+1), nil
		}
		val = &without
		step.Name, step.Meta.Val = fmt.Sprintf("%s_without_%d", valueName(n.Outputs[0]), dim), val
		s.add(&step)
		x = exportir.Ref(step.Name)
	}
	step := *call
	step.Target, step.Args = aten.Alias, call.Args[:1]
	s.addCall(&step, n)
}

// normWithoutStatistics is a batch norm without statistics of its own: these are None.
func (s *scope) normWithoutStatistics(n *node) {
	s.call(n, aten.NativeBatchNorm)
}

// floatOfSize is a size as a float: divided by one.
func (s *scope) floatOfSize(n *node) {
	call := &exportir.Node{Op: exportir.CallFunction, Target: "operator::truediv", Meta: s.place(n.Metadata)}
	s.giveArguments(call, n.Inputs)
	call.Args = append(call.Args, exportir.OfInt(1))
	s.addCall(call, n)
}

// assertion is an assertion of an element, whose message has no place here.
func (s *scope) assertion(n *node) {
	n.Inputs = slices.DeleteFunc(n.Inputs, func(a namedArgument) bool { return a.Name == "assert_msg" })
	s.call(n, aten.AssertAsync)
}
