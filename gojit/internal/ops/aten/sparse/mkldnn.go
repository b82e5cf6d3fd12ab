package sparse

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A tensor in the layout _mkldnn is opaque: in PyTorch its elements lie as oneDNN wants them, and only what oneDNN computes can be done with it. Here it
// has the elements of another tensor. The operators that know it run as ever, on these.

// How an operator takes tensors in the layout _mkldnn, as the fact "mkldnn" of its schema says; others do not take them.
const (
	opaqueAll   = "all"   // all tensors must be in it, and the results are
	opaqueMoved = "moved" // so they must, and the results do not share elements with the first tensor
	opaqueInput = "input" // the first tensor must be in it, and the results are
	opaqueFirst = "first" // the results are in the layout of the first tensor, whatever the others are in
)

// opaqueRecords are the operators that do with such a tensor what they do with no other.
var opaqueRecords = []ops.Def{
	{Name: "to_dense", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return source.Must(elementwise.To(elements(c.Tensor(0)), c.DtypeOr(1, c.Tensor(0).DType())).Clone(tensor.ContiguousFormat))
	})},
	{Name: "to_dense_backward", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return opaqueLike(c.Tensor(1), c.Tensor(0)) })},
	{Name: "to_mkldnn_backward", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return elementwise.To(elements(c.Tensor(0)), c.Tensor(1).DType())
	})},
	{Name: "to.dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return opaqueTo(c.Tensor(0), c.DtypeOr(1, c.Tensor(0).DType()), c.Bool(3))
	})},
	{Name: "to.prim_dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return opaqueTo(c.Tensor(0), c.DtypeOr(1, c.Tensor(0).DType()), c.Bool(3))
	})},
	{Name: "to.dtype_layout", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return opaqueTo(c.Tensor(0), c.DtypeOr(1, c.Tensor(0).DType()), c.Bool(6))
	})},
	{Name: "contiguous", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return c.Tensor(0) })},
	{Name: "cpu", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return c.Tensor(0) })},
	{Name: "view", Sparse: sparseRunning(func(define.Call) {
		source.Check(false, "Currently Mkldnn tensor does not support view. Change to use reshape instead")
	})},
	{Name: "empty_like", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return views.Opaque(define.Zeros(c.Tensor(0).Shape(), c.Tensor(0).DType()))
	})},
}

// opaqueForms are those of opaqueRecords by name.
var opaqueForms = sync.OnceValue(func() map[string]sparseForm {
	all := map[string]sparseForm{}
	for i := range opaqueRecords {
		all[opaqueRecords[i].Name] = opaqueRecords[i].Sparse
	}
	return all
})

// mkldnnFamily are the operators that make such tensors, and those that are for them alone.
var mkldnnFamily = []define.Definition{
	define.Giving("to_mkldnn", func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		source.Check(t.DType() == tensor.Float32 || t.DType() == tensor.BFloat16, "dense_to_mkldnn expects float or bfloat16 tensor input")
		dtype := c.DtypeOr(1, t.DType())
		return views.Opaque(source.Must(elementwise.To(t, dtype).Clone(tensor.ContiguousFormat)))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("to_mkldnn_backward", c.G(), c.In(0))) })}),
	define.Giving("to_mkldnn_backward", func(c define.Call) *tensor.Tensor { return c.Tensor(0) }),
	opaqueOnly("mkldnn_linear", "mkldnn_linear: input needs to be mkldnn layout", define.Emitting("linear")),
	opaqueOnly("mkldnn_max_pool2d", needsOpaque, define.Emitting("max_pool2d")),
	opaqueOnly("mkldnn_max_pool3d", needsOpaque, define.Emitting("max_pool3d")),
	opaqueOnly("mkldnn_adaptive_avg_pool2d", needsOpaque, define.Emitting("adaptive_avg_pool2d")),
	opaqueOnly("_mkldnn_reshape", needsOpaque, define.Emitting("reshape")),
	opaqueOnly("_mkldnn_transpose", needsOpaque, define.Emitting("transpose.int")),
	opaqueOnly("mkldnn_reorder_conv2d_weight", needsOpaque, reordered),
	opaqueOnly("mkldnn_reorder_conv3d_weight", needsOpaque, reordered),
	define.Decomposed("mkldnn_convolution", composeConvolution).With(ops.Def{Decomp: composeConvolution, Tags: ops.AnyLayout}),
}

const needsOpaque = "itensor_from_mkldnn expects MKL-DNN tensor input"

// opaqueOnly is an operator that another one is, for a first tensor in the layout _mkldnn.
func opaqueOnly(name, otherwise string, as ops.Decomposition) define.Definition {
	checked := func(e ops.Emitter, a []value.Value) []value.Value {
		source.Check(a[0].Tensor().Layout() == tensor.MKLDNN, "%s", otherwise)
		return as(e, a)
	}
	return define.Decomposed(name, checked).With(ops.Def{Decomp: checked, Tags: ops.AnyLayout})
}

// reordered is a weight as a convolution wants it, which is as it is.
func reordered(e ops.Emitter, a []value.Value) []value.Value { return e.Emit("clone", a[0]) }

// composeConvolution is a convolution with its arguments in another order.
var composeConvolution = define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
	return x.Do("convolution", a[0].Tensor(), a[1], a[2], a[4], a[3], a[5], false, make([]int, len(a[3].List().Items)), a[6])
})

// elements returns what t has for elements.
func elements(t *tensor.Tensor) *tensor.Tensor {
	if t.Layout() == tensor.MKLDNN {
		return t.Sparse().Values
	}
	return t
}

// opaqueLike returns t in the layout _mkldnn where like is in it.
func opaqueLike(like, t *tensor.Tensor) *tensor.Tensor {
	if like.Layout() == tensor.MKLDNN && t.Layout() != tensor.MKLDNN {
		return views.Opaque(t)
	}
	return t
}

// opaqueTo returns t in another type, t itself where it has it and no copy is asked for.
func opaqueTo(t *tensor.Tensor, dtype tensor.DType, copied bool) *tensor.Tensor {
	if dtype == t.DType() && !copied {
		return t
	}
	if dtype != tensor.Float32 && dtype != tensor.BFloat16 {
		define.RefuseBackend("aten::empty_strided", "MkldnnCPU")
	}
	return views.Opaque(source.Must(source.Must(elements(t).To(dtype)).Clone(tensor.ContiguousFormat)))
}

// opaqueAmong reports whether a tensor in the layout _mkldnn is among the arguments.
func opaqueAmong(args []value.Value) bool {
	t := firstSparse(args)
	return t != nil && t.Layout() == tensor.MKLDNN
}

// runOpaque runs an operator with a tensor in the layout _mkldnn among its arguments.
func runOpaque(name string, body func(c define.Call), c define.Call) {
	unqualified := define.Unqualified(name)
	if form := opaqueForms()[unqualified]; form != nil {
		form(c.Args, c.Out)
		return
	}
	if form := sparseForms()[name]; form != nil && strings.HasPrefix(name, "prim::") {
		form(c.Args, c.Out)
		return
	}
	op := ops.Find(name)
	rule, ok := op.Fact("mkldnn")
	if !ok {
		if op.Def().Scalar != nil {
			source.Check(false, "unsupported tensor layout: Mkldnn")
		}
		define.RefuseBackend(name, "MkldnnCPU")
	}
	first := c.Tensor(0)
	args := slices.Clone(c.Args)
	for i, v := range args {
		if !v.IsTensor() {
			continue
		}
		t := v.Tensor()
		// a number that became a tensor has no layout
		number := t.Layout() == tensor.Strided && t.Dim() == 0
		source.Check(t.Layout() == tensor.MKLDNN || rule == opaqueFirst || rule == opaqueInput && i > 0 || number, needsOpaque)
		args[i] = value.OfTensor(elements(t))
	}
	if unqualified == "batch_norm" {
		source.Check(!args[1].IsNone() && !args[2].IsNone(), "mkldnn_batch_norm: currently mkldnn only support affine model")
	}
	body(define.Call{Args: args, Out: c.Out})
	for i, v := range c.Out {
		if !v.IsTensor() {
			continue
		}
		t := v.Tensor()
		switch {
		case t == elements(first) && strings.HasSuffix(op.BaseName(), "_"):
			c.Out[i] = c.Args[0]
			continue
		case rule == opaqueMoved || t == elements(first):
			t = source.Must(t.Clone(tensor.ContiguousFormat))
		}
		c.Out[i] = value.OfTensor(opaqueLike(first, t))
	}
}
