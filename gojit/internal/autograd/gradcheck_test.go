package autograd_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestMain(m *testing.M) {
	if err := ops.Register(append(prim.Families(), aten.Operators(), autograd.Operators)...); err != nil {
		panic(err)
	}
	composite.Link() // derivatives that are made of others
	m.Run()
}

// random returns a tensor of doubles between low and high that requires a gradient.
func random(low, high float64, shape ...int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	data := make([]float64, n)
	for i := range data {
		seed = seed*6364136223846793005 + 1442695040888963407
		data[i] = low + (high-low)*float64(seed>>40)/float64(1<<24)
	}
	t, err := tensor.FromSlice(data, shape...)
	if err != nil {
		panic(err)
	}
	if err := t.SetRequiresGrad(true); err != nil {
		panic(err)
	}
	return t
}

var seed uint64 = 1

func longs(data ...int64) *tensor.Tensor {
	t, err := tensor.FromSlice(data, len(data))
	if err != nil {
		panic(err)
	}
	return t
}

func grid(rows int, data ...int64) *tensor.Tensor {
	t, err := tensor.FromSlice(data, rows, len(data)/rows)
	if err != nil {
		panic(err)
	}
	return t
}

func bools(data ...bool) *tensor.Tensor {
	t, err := tensor.FromSlice(data, len(data))
	if err != nil {
		panic(err)
	}
	return t
}

func floats(xs ...float64) value.Value {
	l := value.NewList(types.Float)
	for _, x := range xs {
		l.Items = append(l.Items, value.Float(x))
	}
	return value.OfList(l)
}

func toValue(a any) value.Value {
	if v, ok := a.(value.Value); ok {
		return v
	}
	items, ok := a.([]any)
	if !ok {
		v, ok := value.From(a)
		if !ok {
			panic(fmt.Sprintf("%T", a))
		}
		return v
	}
	l := value.NewList(types.NewOptional(types.Tensor))
	for _, x := range items {
		l.Items = append(l.Items, toValue(x))
	}
	return value.OfList(l)
}

func run(t *testing.T, name string, args []value.Value) []value.Value {
	t.Helper()
	op := ops.Find("aten::" + name)
	if op == nil {
		t.Fatalf("there is no operator %s", name)
	}
	for i := len(args); i < len(op.Schema().Arguments); i++ {
		args = append(args, op.Schema().Arguments[i].Default)
	}
	out := make([]value.Value, len(op.Schema().Returns))
	if err := new(autograd.Mode).Run(op, args, out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// weighted sums all differentiable results with fixed weights.
func weighted(t *testing.T, out []value.Value) *tensor.Tensor {
	var sum *tensor.Tensor
	var add func(v value.Value)
	add = func(v value.Value) {
		if v.Kind() == value.KindList {
			for _, x := range v.List().Items {
				add(x)
			}
		}
		if !v.IsTensor() || v.Tensor().DType() != tensor.Float64 {
			return
		}
		n := v.Tensor().Numel()
		w := make([]float64, n)
		for i := range w {
			w[i] = 1 + math.Sin(float64(3*i+1))
		}
		weights, _ := tensor.FromSlice(w, v.Tensor().Shape()...)
		part := run(t, "sum", []value.Value{run(t, "mul.Tensor", []value.Value{v, value.OfTensor(weights)})[0]})[0]
		if sum != nil {
			part = run(t, "add.Tensor", []value.Value{value.OfTensor(sum), part})[0]
		}
		sum = part.Tensor()
	}
	for _, v := range out {
		add(v)
	}
	return sum
}

// TestDerivatives compares each derivative with finite differences.
func TestDerivatives(t *testing.T) {
	x, y := func() *tensor.Tensor { return random(-1, 1, 2, 3) }, func() *tensor.Tensor { return random(0.5, 2, 2, 3) }
	image := func() *tensor.Tensor { return random(-1, 1, 2, 4, 6, 5) }
	cases := []struct {
		name string
		args []any
	}{
		{"add.Tensor", []any{x(), random(-1, 1, 3), 2}}, {"sub.Tensor", []any{x(), random(-1, 1, 2, 1), 3}}, {"rsub.Scalar", []any{x(), 2, 3}},
		{"mul.Tensor", []any{x(), random(-1, 1, 3)}}, {"div.Tensor", []any{x(), random(1, 2)}}, {"neg", []any{x()}},
		{"exp", []any{x()}}, {"exp2", []any{x()}}, {"expm1", []any{x()}}, {"log", []any{y()}}, {"log2", []any{y()}}, {"log10", []any{y()}}, {"log1p", []any{y()}},
		{"sqrt", []any{y()}}, {"rsqrt", []any{y()}}, {"square", []any{x()}}, {"reciprocal", []any{y()}},
		{"sin", []any{x()}}, {"cos", []any{x()}}, {"tan", []any{x()}}, {"asin", []any{random(-0.8, 0.8, 4)}}, {"acos", []any{random(-0.8, 0.8, 4)}}, {"atan", []any{x()}},
		{"sinh", []any{x()}}, {"cosh", []any{x()}}, {"tanh", []any{x()}}, {"asinh", []any{x()}}, {"acosh", []any{random(1.5, 3, 4)}}, {"atanh", []any{random(-0.8, 0.8, 4)}},
		{"erf", []any{x()}}, {"erfc", []any{x()}}, {"sigmoid", []any{x()}}, {"abs", []any{x()}}, {"pow.Tensor_Scalar", []any{y(), 3}}, {"pow.Tensor_Tensor", []any{y(), x()}}, {"pow.Scalar", []any{2, x()}},
		{"relu", []any{x()}}, {"relu6", []any{x()}}, {"hardtanh", []any{x(), -0.5, 0.5}}, {"hardsigmoid", []any{x()}}, {"hardswish", []any{random(-4, 4, 9)}},
		{"leaky_relu", []any{x(), 0.1}}, {"elu", []any{x(), 1.5}}, {"selu", []any{x()}}, {"celu", []any{x(), 1.5}}, {"silu", []any{x()}}, {"mish", []any{x()}},
		{"gelu", []any{x()}}, {"gelu", []any{x(), "tanh"}}, {"softplus", []any{x(), 2.0}}, {"log_sigmoid", []any{x()}}, {"prelu", []any{x(), random(0, 1, 3)}}, {"prelu", []any{x(), random(0, 1, 1)}},
		{"threshold", []any{x(), 0.2, 0.1}}, {"clamp", []any{x(), -0.5, 0.5}}, {"clamp_min", []any{x(), 0.1}}, {"clamp_max", []any{x(), 0.1}},
		{"maximum", []any{x(), random(-1, 1, 3)}}, {"minimum", []any{x(), x()}}, {"where.self", []any{bools(true, false, true), x(), random(0, 1, 1)}},
		{"masked_fill.Scalar", []any{x(), bools(true, false, true), 2.0}}, {"masked_fill.Tensor", []any{x(), bools(true, false, true), random(0, 1)}},
		{"atan2", []any{x(), y()}}, {"lerp.Scalar", []any{x(), y(), 0.3}}, {"addcmul", []any{x(), y(), x(), 2.0}}, {"addcdiv", []any{x(), x(), y(), 2.0}},
		{"clone", []any{x()}}, {"glu", []any{random(-1, 1, 3, 4)}},

		{"reshape", []any{x(), []int{3, -1}}}, {"view", []any{x(), []int{6}}}, {"flatten.using_ints", []any{image(), 1}}, {"squeeze", []any{random(0, 1, 2, 1, 3)}}, {"squeeze.dim", []any{random(0, 1, 2, 1), 1}},
		{"unsqueeze", []any{x(), 1}}, {"expand", []any{random(0, 1, 2, 1), []int{4, 2, 3}}}, {"t", []any{x()}}, {"transpose.int", []any{image(), 1, -1}}, {"permute", []any{image(), []int{2, 0, -1, 1}}},
		{"select.int", []any{x(), 1, -1}}, {"slice.Tensor", []any{x(), 1, 0, 3, 2}}, {"narrow", []any{x(), 1, 1, 2}}, {"split.Tensor", []any{x(), 2, 1}}, {"split_with_sizes", []any{x(), []int{1, 2}, 1}}, {"chunk", []any{x(), 2, 1}}, {"unbind.int", []any{x(), 1}},
		{"cat", []any{[]*tensor.Tensor{x(), random(0, 1, 2, 1)}, 1}}, {"stack", []any{[]*tensor.Tensor{x(), x()}, -1}},
		{"index.Tensor", []any{x(), []any{nil, longs(0, 2, 2)}}}, {"index_put", []any{x(), []any{nil, longs(0, 2)}, random(0, 1, 2, 2)}}, {"index_put", []any{x(), []any{longs(0, 0)}, random(0, 1, 3), true}},
		{"gather", []any{x(), 1, grid(2, 0, 2, 2, 1)}}, {"index_select", []any{x(), 1, longs(2, 2, 0)}}, {"masked_select", []any{x(), bools(true, false, true)}},
		{"scatter_add", []any{x(), 1, grid(2, 0, 2, 2, 1), random(0, 1, 2, 2)}}, {"scatter.src", []any{x(), 1, grid(2, 0, 2, 0, 1), random(0, 1, 2, 2)}}, {"index_add", []any{x(), 1, longs(0, 2), random(0, 1, 2, 2), 2}},
		{"flip", []any{x(), []int{1}}}, {"roll", []any{x(), []int{1}, []int{1}}}, {"tril", []any{x()}}, {"triu", []any{x(), 1}}, {"repeat", []any{x(), []int{2, 1, 3}}}, {"constant_pad_nd", []any{x(), []int{1, -1}, 0.5}},
		{"diagonal", []any{x(), 1}}, {"unfold", []any{x(), 1, 2, 1}},

		{"sum", []any{x()}}, {"sum.dim_IntList", []any{x(), []int{-1}}}, {"mean", []any{x()}}, {"mean.dim", []any{x(), []int{0}, true}}, {"max", []any{x()}}, {"min", []any{x()}}, {"max.dim", []any{x(), 1}}, {"min.dim", []any{x(), 0, true}},
		{"amax", []any{x(), []int{1}}}, {"amin", []any{x()}}, {"topk", []any{x(), 2}}, {"sort", []any{x()}}, {"kthvalue", []any{x(), 2}}, {"var", []any{x()}}, {"var.dim", []any{x(), []int{1}, false}}, {"var.correction", []any{x(), []int{1}, 0}}, {"std", []any{x()}}, {"std.dim", []any{x(), []int{1}}},
		{"norm.Scalar", []any{x()}}, {"norm.ScalarOpt_dim", []any{x(), 3, []int{1}}}, {"linalg_vector_norm", []any{x(), 1, []int{1}}}, {"logsumexp", []any{x(), []int{1}}}, {"prod", []any{x()}}, {"prod.dim_int", []any{x(), 1}}, {"cumsum", []any{x(), 1}}, {"logcumsumexp", []any{x(), 1}}, {"trace", []any{x()}},
		{"softmax.int", []any{x(), 1}}, {"log_softmax.int", []any{x(), 0}},

		{"mm", []any{x(), random(0, 1, 3, 2)}}, {"bmm", []any{random(0, 1, 2, 2, 3), random(0, 1, 2, 3, 2)}}, {"matmul", []any{random(0, 1, 2, 2, 3), random(0, 1, 3, 2)}}, {"matmul", []any{random(0, 1, 3), random(0, 1, 2, 3, 2)}}, {"matmul", []any{x(), random(0, 1, 3)}}, {"dot", []any{random(0, 1, 3), random(0, 1, 3)}}, {"mv", []any{x(), random(0, 1, 3)}},
		{"addmm", []any{random(0, 1, 2), x(), random(0, 1, 3, 2), 2, 3}}, {"baddbmm", []any{random(0, 1, 2, 2, 2), random(0, 1, 2, 2, 3), random(0, 1, 2, 3, 2), 2, 3}}, {"addmv", []any{random(0, 1, 2), x(), random(0, 1, 3)}}, {"addr", []any{x(), random(0, 1, 2), random(0, 1, 3)}}, {"outer", []any{random(0, 1, 2), random(0, 1, 3)}},
		{"linear", []any{random(0, 1, 2, 4, 3), random(0, 1, 2, 3), random(0, 1, 2)}},
		{"lerp.Tensor", []any{x(), y(), y()}}, {"hypot", []any{x(), y()}}, {"logaddexp", []any{x(), y()}}, {"clip", []any{x(), -0.5, 0.5}},
		{"pad", []any{image(), []int{1, 2, 2, 1}, "reflect"}}, {"pad", []any{x(), []int{1, 2}, "constant", 3.0}}, {"pixel_shuffle", []any{image(), 2}}, {"pad", []any{image(), []int{-1, 2, 2, -1}, "replicate"}}, {"pad", []any{image(), []int{1, 0, 2, -1}, "reflect"}}, {"pad", []any{image(), []int{1, 1, 0, 2}, "circular"}},
		{"rot90", []any{x(), 3, []int{0, 1}}}, {"fliplr", []any{x()}}, {"channel_shuffle", []any{image(), 2}}, {"movedim.int", []any{image(), 0, 2}}, {"diag", []any{x(), 1}}, {"repeat_interleave.self_int", []any{x(), 2, 1}},
		{"upsample_nearest2d.vec", []any{image(), []int{9, 10}}}, {"im2col", []any{image(), []int{2, 2}, []int{1, 1}, []int{1, 1}, []int{1, 1}}}, {"take", []any{x(), longs(0, 5, 5)}}, {"movedim.int", []any{image(), 0, 2}}, {"atleast_3d", []any{x()}},
		{"einsum", []any{"...i,ij", []*tensor.Tensor{random(0, 1, 2, 2, 3), random(0, 1, 3, 2)}}}, {"einsum", []any{"...ij,...jk->...ik", []*tensor.Tensor{random(0, 1, 2, 2, 3), random(0, 1, 3, 2)}}},
		{"einsum", []any{"iij->j", []*tensor.Tensor{random(0, 1, 2, 2, 3)}}}, {"einsum", []any{"ii,...i->...", []*tensor.Tensor{random(0, 1, 2, 2), random(0, 1, 3, 2)}}}, {"einsum", []any{"...i->i", []*tensor.Tensor{x()}}},
		{"einsum", []any{"ij,kj", []*tensor.Tensor{x(), x()}}}, {"einsum", []any{"ab,bc,d->ca", []*tensor.Tensor{x(), random(0, 1, 3, 2), random(0, 1, 2)}}}, {"einsum", []any{"bij,bjk->ik", []*tensor.Tensor{random(0, 1, 2, 2, 3), random(0, 1, 2, 3, 2)}}},
		{"conv1d", []any{random(0, 1, 2, 4, 7), random(0, 1, 6, 2, 3), random(0, 1, 6), []int{2}, []int{1}, []int{2}, 2}},
		{"conv2d", []any{image(), random(0, 1, 2, 4, 3, 2), nil, []int{2, 1}, []int{1, 0}, []int{1, 2}}}, {"conv2d", []any{random(0, 1, 4, 6, 5), random(0, 1, 4, 1, 3, 3), nil, []int{2, 2}, []int{1, 1}, []int{1, 1}, 4}},
		{"conv2d.padding", []any{image(), random(0, 1, 2, 4, 3, 2), nil, []int{1, 1}, "same"}}, {"conv3d", []any{random(0, 1, 1, 2, 3, 4, 3), random(0, 1, 2, 2, 2, 2, 2)}},
		{"conv_transpose2d.input", []any{image(), random(0, 1, 4, 1, 3, 2), random(0, 1, 2), []int{2, 1}, []int{1, 0}, []int{1, 0}, 2}},
		{"max_pool2d", []any{image(), []int{2, 2}}}, {"max_pool1d", []any{random(0, 1, 2, 3, 6), []int{3}, []int{1}, []int{1}}}, {"avg_pool2d", []any{image(), []int{3, 2}, []int{2, 1}, []int{1, 0}, true, false}}, {"avg_pool2d", []any{image(), []int{2, 2}, []int{}, []int{1, 1}, false, true, 3}}, {"avg_pool1d", []any{random(0, 1, 2, 3, 6), []int{2}}},
		{"adaptive_avg_pool2d", []any{image(), []int{4, 2}}}, {"adaptive_max_pool2d", []any{image(), []int{4, 2}}},
		{"embedding", []any{random(0, 1, 4, 3), longs(1, 3, 3, 0)}},
		{"batch_norm", []any{image(), random(0, 1, 4), random(0, 1, 4), nil, nil, true, 0.1, 1e-5, false}}, {"layer_norm", []any{image(), []int{6, 5}, random(0, 1, 6, 5), random(0, 1, 6, 5)}}, {"group_norm", []any{image(), 2, random(0, 1, 4), random(0, 1, 4)}}, {"instance_norm", []any{image(), nil, nil, nil, nil, true, 0.1, 1e-5, false}},
		{"cdist", []any{random(0, 1, 3, 2), random(1, 2, 4, 2), 3.0}}, {"cdist", []any{random(0, 1, 27, 2), random(1, 2, 2, 2), 2.0}}, {"pdist", []any{random(0, 1, 4, 3)}},
		{"grid_sampler", []any{random(0, 1, 1, 2, 3, 3), random(-0.6, 0.6, 1, 2, 2, 2), 0, 0, false}}, {"grid_sampler", []any{random(0, 1, 1, 1, 3, 3, 3), random(-0.6, 0.6, 1, 2, 1, 2, 3), 0, 1, true}},
		{"mse_loss", []any{x(), y()}}, {"l1_loss", []any{x(), y(), 2}}, {"smooth_l1_loss", []any{x(), y(), 0, 0.7}}, {"huber_loss", []any{x(), y(), 1, 0.7}},
		{"binary_cross_entropy", []any{random(0.1, 0.9, 4), random(0.1, 0.9, 4)}}, {"binary_cross_entropy_with_logits", []any{x(), y(), nil, random(1, 2, 3).Detach()}}, {"kl_div", []any{x(), random(0.1, 0.9, 2, 3)}}, {"kl_div", []any{x(), x(), 2, true}},
		{"nll_loss", []any{random(-1, 0, 3, 4), longs(1, 3, 2), nil, 1, 3}}, {"cross_entropy_loss", []any{random(-1, 1, 3, 4), longs(1, 3, 0), nil, 1, 0, 0.1}}, {"cross_entropy_loss", []any{random(-1, 1, 3, 4), random(0, 1, 3, 4)}}, {"cross_entropy_loss", []any{random(-1, 1, 2, 3, 2), grid(2, 0, 1, 2, 2), nil, 0}},
		{"_scaled_dot_product_attention", []any{random(-1, 1, 2, 3, 4), random(-1, 1, 2, 3, 4), random(-1, 1, 2, 3, 4), nil, 0.0, true, true}}, {"cosine_similarity", []any{x(), y()}},
		{"lstm.input", []any{random(-1, 1, 3, 2, 2), []*tensor.Tensor{random(-1, 1, 2, 2, 2), random(-1, 1, 2, 2, 2)}, lstmWeights(2, 2, 4, 2), true, 1, 0.0, true, true, false}},
		{"gru.input", []any{random(-1, 1, 2, 3, 2), random(-1, 1, 1, 2, 2), lstmWeights(2, 2, 3, 1), true, 1, 0.0, true, false, true}}, {"lstm_cell", []any{random(-1, 1, 2, 2), []*tensor.Tensor{random(-1, 1, 2, 2), random(-1, 1, 2, 2)}, random(-1, 1, 8, 2), random(-1, 1, 8, 2), random(-1, 1, 8), random(-1, 1, 8)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { checkDerivative(t, c.name, c.args) })
	}
}

// checkDerivative compares the gradients of an operator with finite differences.
func checkDerivative(t *testing.T, name string, list []any) {
	args := make([]value.Value, len(list))
	var leaves []*tensor.Tensor
	for i, a := range list {
		args[i] = toValue(a)
		leaves = append(leaves, leavesOf(args[i])...)
	}
	grads, err := new(autograd.Mode).Gradients([]*tensor.Tensor{weighted(t, run(t, name, args))}, leaves, nil, autograd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, leaf := range leaves {
		compare(t, name, args, i, leaf, grads[i])
	}
}

func lstmWeights(in, hidden, gates, directions int) (ts []*tensor.Tensor) {
	for range directions {
		ts = append(ts, random(-1, 1, gates*hidden, in), random(-1, 1, gates*hidden, hidden), random(-1, 1, gates*hidden), random(-1, 1, gates*hidden))
	}
	return ts
}

func leavesOf(v value.Value) (leaves []*tensor.Tensor) {
	switch {
	case v.IsTensor() && v.Tensor().RequiresGrad():
		return []*tensor.Tensor{v.Tensor()}
	case v.Kind() == value.KindList:
		for _, x := range v.List().Items {
			leaves = append(leaves, leavesOf(x)...)
		}
	}
	return leaves
}

// compare checks a gradient against the difference of the results at both sides of each element.
func compare(t *testing.T, name string, args []value.Value, i int, leaf, grad *tensor.Tensor) {
	t.Helper()
	if !tensor.SameShape(leaf.Shape(), grad.Shape()) {
		t.Fatalf("gradient %d has shape %v, not %v", i, grad.Shape(), leaf.Shape())
	}
	plain, err := grad.Contiguous()
	if err != nil {
		t.Fatal(err)
	}
	data, got := tensor.Data[float64](leaf), tensor.Data[float64](plain)
	const step = 1e-5
	for k := 0; k < len(data); k += 1 + len(data)/12 {
		old := data[k]
		at := func(x float64) float64 {
			data[k] = x
			return weighted(t, run(t, name, args)).At().Float64()
		}
		want := (at(old+step) - at(old-step)) / (2 * step)
		data[k] = old
		if d := math.Abs(want - got[k]); !(d <= 1e-5*(1+math.Abs(want))) {
			t.Errorf("gradient %d at %d is %v, differences give %v", i, k, got[k], want)
			return
		}
	}
}

// TestWrites checks gradients through writes in place, also through views.
func TestWrites(t *testing.T) {
	v := func(x any) value.Value { return toValue(x) }
	programs := map[string]func(x *tensor.Tensor) value.Value{
		"a view of fresh memory": func(x *tensor.Tensor) value.Value {
			base := run(t, "zeros", []value.Value{v([]int{2, 3}), v(7)})[0]
			row := run(t, "select.int", []value.Value{base, v(0), v(1)})[0]
			run(t, "copy_", []value.Value{row, run(t, "sin", []value.Value{v(x)})[0]})
			return run(t, "mul.Tensor", []value.Value{base, base})[0]
		},
		"a base whose view is used": func(x *tensor.Tensor) value.Value {
			base := run(t, "mul.Scalar", []value.Value{v(x), v(2)})[0]
			part := run(t, "slice.Tensor", []value.Value{base, v(0), v(1), v(3)})[0]
			run(t, "mul_.Tensor", []value.Value{base, v(x)})
			return run(t, "exp", []value.Value{part})[0]
		},
		"a view whose sibling is used": func(x *tensor.Tensor) value.Value {
			base := run(t, "mul.Scalar", []value.Value{v(x), v(2)})[0]
			turned := run(t, "flip", []value.Value{base, v([]int{0})})[0]
			all := run(t, "view", []value.Value{base, v([]int{3, 1})})[0]
			first := run(t, "select.int", []value.Value{base, v(0), v(0)})[0]
			run(t, "mul_.Tensor", []value.Value{first, run(t, "select.int", []value.Value{turned, v(0), v(0)})[0]})
			return run(t, "mul.Tensor", []value.Value{all, all})[0]
		},
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			x := random(0.5, 1.5, 3)
			sum := func() *tensor.Tensor { return weighted(t, []value.Value{program(x)}) }
			if err := new(autograd.Mode).Backward([]*tensor.Tensor{sum()}, nil, autograd.Options{}); err != nil {
				t.Fatal(err)
			}
			data, got := tensor.Data[float64](x), tensor.Data[float64](autograd.Grad(x))
			for k, old := range data {
				data[k] = old + 1e-5
				high := sum().At().Float64()
				data[k] = old - 1e-5
				want := (high - sum().At().Float64()) / 2e-5
				data[k] = old
				if math.Abs(want-got[k]) > 1e-5 {
					t.Errorf("the gradient at %d is %v, differences give %v", k, got[k], want)
				}
			}
		})
	}
}

// TestFailures checks what cannot be differentiated.
func TestFailures(t *testing.T) {
	backward := func(v value.Value) error {
		return new(autograd.Mode).Backward([]*tensor.Tensor{v.Tensor()}, nil, autograd.Options{})
	}
	for want, program := range map[string]func(x value.Value) error{
		"backward through the graph a second time": func(x value.Value) error {
			y := run(t, "sum", run(t, "exp", []value.Value{x}))[0]
			if err := backward(y); err != nil {
				return err
			}
			return backward(y)
		},
		"modified by an inplace operation": func(x value.Value) error {
			a := run(t, "exp", []value.Value{x})[0]
			y := run(t, "sum", run(t, "mul.Tensor", []value.Value{a, a}))[0]
			run(t, "add_.Scalar", []value.Value{a, value.Int(1)})
			return backward(y)
		},
		"only for scalar outputs": func(x value.Value) error { return backward(run(t, "exp", []value.Value{x})[0]) },
		"derivative for aten::unique_dim is not implemented": func(x value.Value) error {
			return backward(run(t, "sum", run(t, "unique_dim", []value.Value{x, value.Int(0)})[:1])[0])
		},
		"a leaf Variable that requires grad": func(x value.Value) error {
			return new(autograd.Mode).Run(ops.Find("aten::exp_"), []value.Value{x}, make([]value.Value, 1))
		},
		"don't support automatic differentiation": func(x value.Value) error {
			return new(autograd.Mode).Run(ops.Find("aten::exp.out"), []value.Value{x, x}, make([]value.Value, 1))
		},
		"does not require grad": func(x value.Value) error { return backward(run(t, "sum", run(t, "detach", []value.Value{x}))[0]) },
	} {
		err := program(value.OfTensor(random(0.5, 1, 3)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
