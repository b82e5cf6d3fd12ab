package autograd

import (
	"math"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// reshaped gives the gradient the shape of the argument.
func reshaped(c *gradient) { c.give(0, c.do("reshape", c.g(), c.shape(0))) }

func wrap(dim, n int) int {
	if dim < 0 {
		dim += max(n, 1)
	}
	return dim
}

func transposed(c *gradient) { c.give(0, c.do("transpose.int", c.g(), c.int(1), c.int(2))) }

// joined gives the concatenated gradients of parts along a dimension; parts without one are zero.
func joined(c *gradient) {
	dim := 0
	if last := len(c.node.args) - 1; last >= 2 {
		dim = c.int(last)
	}
	parts := make([]tensors, len(c.grads))
	for i := range parts {
		parts[i] = c.gradOf(i)
	}
	c.give(0, c.do("cat", parts, dim))
}

func catGrad(c *gradient) {
	n := c.g().Dim()
	dim := wrap(c.int(1), n)
	start := 0
	for j := range c.arg(0).List().Items {
		in := c.find(0, j)
		if len(in.shape) == 1 && in.shape[0] == 0 && n != 1 {
			c.giveAt(0, j, c.zerosAs(in.shape, in.dtype))
			continue
		}
		c.giveAt(0, j, c.do("slice.Tensor", c.g(), dim, start, start+in.shape[dim], 1))
		start += in.shape[dim]
	}
}

func stackGrad(c *gradient) {
	for j := range c.arg(0).List().Items {
		c.giveAt(0, j, c.do("select.int", c.g(), wrap(c.int(1), c.g().Dim()), j))
	}
}

func indexGrad(c *gradient) {
	c.give(0, c.into("index_put", c.zerosOf(0), optionals(c.list(1)), c.g(), true))
}

func indexPutGrad(c *gradient) {
	indices := optionals(c.list(1))
	g := c.g()
	if !c.bool(3) {
		c.give(0, c.do("index_put", g, indices, must(tensor.Zeros(nil, g.DType())), false))
	} else {
		c.give(0, g)
	}
	c.give(2, c.do("index.Tensor", g, indices))
}

var viewDerivatives = map[string]derivative{
	"view": reshaped, "reshape": reshaped, "_unsafe_view": reshaped, "_reshape_alias": reshaped, "view_as": reshaped, "reshape_as": reshaped,
	"flatten.using_ints": reshaped, "unflatten.int": reshaped, "ravel": reshaped,
	"squeeze": reshaped, "squeeze.dim": reshaped, "unsqueeze": reshaped,
	"expand": func(c *gradient) { c.give(0, c.sumTo(c.g(), c.shape(0))) }, "expand_as": func(c *gradient) { c.give(0, c.sumTo(c.g(), c.shape(0))) },
	"broadcast_to":  func(c *gradient) { c.give(0, c.sumTo(c.g(), c.shape(0))) },
	"t":             func(c *gradient) { c.give(0, c.do("t", c.g())) },
	"numpy_T":       func(c *gradient) { c.give(0, c.do("numpy_T", c.g())) },
	"transpose.int": transposed, "swapaxes": transposed, "swapdims": transposed,
	"permute": func(c *gradient) {
		dims := c.ints(1)
		back := make([]int, len(dims))
		for i, d := range dims {
			back[wrap(d, len(dims))] = i
		}
		c.give(0, c.do("permute", c.g(), back))
	},
	"select.int": func(c *gradient) {
		c.give(0, c.do("select_backward", c.g(), c.shape(0), c.int(1), c.int(2)))
	},
	"slice.Tensor": func(c *gradient) {
		start, end := 0, math.MaxInt64
		if !c.isNone(2) {
			start = c.int(2)
		}
		if !c.isNone(3) {
			end = c.int(3)
		}
		c.give(0, c.do("slice_backward", c.g(), c.shape(0), c.int(1), start, end, c.int(4)))
	},
	"narrow": func(c *gradient) {
		start := wrap(c.int(2), c.shape(0)[wrap(c.int(1), len(c.shape(0)))])
		c.give(0, c.do("slice_backward", c.g(), c.shape(0), c.int(1), start, start+c.int(3), 1))
	},
	"split.Tensor": joined, "split_with_sizes": joined, "chunk": joined, "split.sizes": joined, "tensor_split.sections": joined,
	"unsafe_split.Tensor": joined, "unsafe_split_with_sizes": joined, "unsafe_chunk": joined,
	"unbind.int": func(c *gradient) {
		parts := make([]tensors, len(c.grads))
		for i := range parts {
			parts[i] = c.gradOf(i)
		}
		c.give(0, c.do("stack", parts, c.int(1)))
	},
	"cat": catGrad, "concat": catGrad, "concatenate": catGrad, "stack": stackGrad,
	"index.Tensor": indexGrad, "index.Tensor_hacked_twin": indexGrad, "index_put.hacked_twin": indexPutGrad, "index_put": indexPutGrad, "_index_put_impl": indexPutGrad,
	"gather":       func(c *gradient) { c.give(0, c.into("scatter_add", c.zerosOf(0), c.int(1), c.in(2), c.g())) },
	"index_select": func(c *gradient) { c.give(0, c.into("index_add", c.zerosOf(0), c.int(1), c.in(2), c.g())) },
	"masked_select": func(c *gradient) {
		all := c.zerosAs(must(tensor.Broadcast(c.shape(0), c.in(1).Shape())), c.g().DType())
		c.give(0, c.do("masked_scatter", all, c.in(1), c.g()))
	},
	"scatter_add": func(c *gradient) {
		c.give(0, c.g())
		c.give(3, c.do("gather", c.g(), c.int(1), c.in(2)))
	},
	"scatter.src": func(c *gradient) {
		c.give(0, c.do("scatter.value", c.g(), c.int(1), c.in(2), 0))
		c.give(3, c.do("gather", c.g(), c.int(1), c.in(2)))
	},
	"scatter.value": func(c *gradient) { c.give(0, c.do("scatter.value", c.g(), c.int(1), c.in(2), 0)) },
	"index_add": func(c *gradient) {
		c.give(0, c.g())
		c.give(3, c.do("mul.Scalar", c.do("index_select", c.g(), c.int(1), c.in(2)), c.arg(4)))
	},
	"flip": func(c *gradient) { c.give(0, c.do("flip", c.g(), c.arg(1))) },
	"roll": func(c *gradient) {
		back := c.ints(1)
		for i := range back {
			back[i] = -back[i]
		}
		c.give(0, c.do("roll", c.g(), back, c.arg(2)))
	},
	"tril": func(c *gradient) { c.give(0, c.do("tril", c.g(), c.arg(1))) },
	"triu": func(c *gradient) { c.give(0, c.do("triu", c.g(), c.arg(1))) },
	"repeat": func(c *gradient) {
		shape := c.shape(0)
		repeats := c.ints(1)
		split, sums := []int{}, []int{}
		lead := len(repeats) - len(shape)
		for i, r := range repeats {
			sums = append(sums, len(split))
			split = append(split, r)
			if i >= lead {
				split = append(split, shape[i-lead])
			}
		}
		c.give(0, c.do("reshape", c.do("sum.dim_IntList", c.do("reshape", c.g(), split), sums, false), shape))
	},
	"diagonal": func(c *gradient) {
		c.give(0, c.do("diagonal_backward", c.g(), c.shape(0), c.arg(1), c.arg(2), c.arg(3)))
	},
	"select_backward":   func(c *gradient) { c.give(0, c.do("select.int", c.g(), c.arg(2), c.arg(3))) },
	"slice_backward":    func(c *gradient) { c.give(0, c.do("slice.Tensor", c.g(), c.arg(2), c.arg(3), c.arg(4), c.arg(5))) },
	"diagonal_backward": func(c *gradient) { c.give(0, c.do("diagonal", c.g(), c.arg(2), c.arg(3), c.arg(4))) },
	"unfold": func(c *gradient) {
		places := c.do("unfold", c.do("reshape", c.do("arange", numel(c.shape(0))), c.shape(0)), c.arg(1), c.arg(2), c.arg(3))
		flat := c.into("index_add", c.zerosAs([]int{numel(c.shape(0))}, c.g().DType()), 0, c.do("reshape", places, []int{-1}), c.do("reshape", c.g(), []int{-1}))
		c.give(0, c.do("reshape", flat, c.shape(0)))
	},
	"as_strided": asStridedGrad, "as_strided_copy": asStridedGrad, "as_strided_scatter": asStridedScatterGrad,
}

// copyDerivatives are those of the views that give copies.
func copyDerivatives() map[string]derivative {
	family := map[string]derivative{}
	identity := func(c *gradient) { c.give(0, c.g()) }
	family["alias_copy"], family["_conj_copy"] = identity, conjugateGrad
	family["view_as_real_copy"], family["view_as_complex_copy"] = complexDerivatives["view_as_real"], complexDerivatives["view_as_complex"]
	for name, view := range map[string]string{
		"expand_copy": "expand", "permute_copy": "permute", "select_copy.int": "select.int",
		"slice_copy.Tensor": "slice.Tensor", "split_copy.Tensor": "split.Tensor", "split_with_sizes_copy": "split_with_sizes",
		"squeeze_copy": "squeeze", "squeeze_copy.dim": "squeeze.dim", "t_copy": "t", "transpose_copy.int": "transpose.int",
		"unbind_copy.int": "unbind.int", "unfold_copy": "unfold", "unsqueeze_copy": "unsqueeze", "view_copy": "view",
		"_reshape_alias_copy": "_reshape_alias", "diagonal_copy": "diagonal",
	} {
		if d := viewDerivatives[view]; d != nil {
			family[name] = d
		}
	}
	for _, name := range []string{"lift_fresh_copy", "resolve_conj", "resolve_neg", "dequantize.self"} {
		family[name] = identity
	}
	return family
}

func numel(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}
