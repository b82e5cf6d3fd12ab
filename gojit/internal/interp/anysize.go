package interp

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The layouts of a tensor, and of one of its dimensions where it has no layout as a whole.
const (
	layoutContiguous = "TENSOR_CONT"
	layoutChannels   = "TENSOR_CONT_CHANNELS_LAST"
	strideOne        = "S_ONE"       // the step is 1
	strideNext       = "S_CONT"      // the step goes over the dimension behind it
	strideFormer     = "S_TRAN_CONT" // the step goes over the dimension before it
	strideOwn        = "S_AS_ARG"    // any other step
)

// LayoutOf describes how a tensor of given sizes and strides lies: as a whole, or each of its dimensions.
func LayoutOf(sizes, strides []int) []string {
	switch {
	case slices.Equal(strides, stridesInOrder(sizes, inOrder(len(sizes)))):
		return []string{layoutContiguous}
	case len(sizes) == 4 && slices.Equal(strides, stridesInOrder(sizes, []int{0, 2, 3, 1})):
		return []string{layoutChannels}
	}
	layout := make([]string, len(sizes))
	for i, s := range strides {
		switch {
		case s == 1:
			layout[i] = strideOne
		case i+1 < len(sizes) && s == strides[i+1]*sizes[i+1]:
			layout[i] = strideNext
		case i > 0 && s == strides[i-1]*sizes[i-1]:
			layout[i] = strideFormer
		default:
			layout[i] = strideOwn
		}
	}
	return layout
}

func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// stridesInOrder are the strides of a tensor whose dimensions lie in an order, the last one closest.
func stridesInOrder(sizes, order []int) []int {
	strides, step := make([]int, len(sizes)), 1
	for _, d := range slices.Backward(order) {
		strides[d] = step
		step *= max(sizes[d], 1)
	}
	return strides
}

// anySizeGuard lowers prim::TensorExprDynamicGuard: whether tensors are of element types and numbers of dimensions as types say, equal symbols are
// equal sizes of at least two, and each tensor lies as its description says.
func (l *lowering) anySizeGuard(n *ir.Node, dead []*ir.Value) error {
	expected, layouts := n.TypesAttr("types"), layoutsOf(n)
	if len(expected) != len(n.Inputs()) || len(layouts) != len(expected) || len(n.Outputs()) != 1 {
		return source.Errorf(source.RuntimeError, n.Range, "prim::TensorExprDynamicGuard has %d types and %d layouts for %d inputs", len(expected), len(layouts), len(n.Inputs()))
	}
	run := func(m *autograd.Mode, args, out []value.Value) error {
		var room [8]symbolSize
		known := room[:0]
		all := true
		for i, v := range args {
			t, ok := expected[i].(*types.TensorInfo)
			all = all && ok && v.IsTensor() && isOfAnySize(v.Tensor(), t, m.GradEnabled()) && liesAs(v.Tensor(), layouts[i])
			if all {
				known, all = sizesAgree(known, t.Sizes, v.Tensor().Shape())
			}
		}
		out[0] = value.Bool(all)
		return nil
	}
	l.call(opCallIn, &site{runIn: run}, n, n.Inputs(), dead)
	return nil
}

// layoutsOf are the descriptions of layouts that the attribute of a guard has.
func layoutsOf(n *ir.Node) (layouts [][]string) {
	a, _ := n.Attr("striding_inputs_desc")
	v, ok := a.(value.Value)
	if !ok || v.Kind() != value.KindList {
		return nil
	}
	for _, item := range v.List().Items {
		var words []string
		if item.Kind() != value.KindList {
			return nil
		}
		for _, w := range item.List().Items {
			words = append(words, w.Str())
		}
		layouts = append(layouts, words)
	}
	return layouts
}

// isOfAnySize reports whether a tensor is all that a type says, symbols for sizes aside.
func isOfAnySize(t *tensor.Tensor, want *types.TensorInfo, gradients bool) bool {
	if t.DType().String() != want.DType || t.Device().String() != want.Device || t.IsSparse() || t.Dim() != len(want.Sizes) {
		return false
	}
	for i, size := range want.Sizes {
		if size >= 0 && size != t.Size(i) {
			return false
		}
	}
	return want.RequiresGrad == nil || *want.RequiresGrad == (gradients && t.RequiresGrad())
}

// symbolSize is the size that a symbol has in a call.
type symbolSize struct{ symbol, size int }

// sizesAgree reports whether the sizes of a tensor are those that its type's symbols have already, and adds those of others.
func sizesAgree(known []symbolSize, symbols, sizes []int) ([]symbolSize, bool) {
	for i, s := range symbols {
		if s >= -1 {
			continue
		}
		if sizes[i] < 2 {
			return known, false
		}
		at := slices.IndexFunc(known, func(k symbolSize) bool { return k.symbol == s })
		switch {
		case at < 0:
			known = append(known, symbolSize{s, sizes[i]})
		case known[at].size != sizes[i]:
			return known, false
		}
	}
	return known, true
}

// liesAs reports whether a tensor lies as words say: one for the whole tensor or for each of its dimensions.
func liesAs(t *tensor.Tensor, words []string) bool {
	return slices.Equal(LayoutOf(t.Shape(), t.Strides()), words)
}
