package autograd

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// plan is how an operator is recorded.
type plan struct {
	passes    bool // it is not recorded
	writes    bool // its first argument
	likened   bool // only its first argument has a gradient
	saves     bool // the gradient of one argument needs another
	blind     bool // the derivative does without the elements of the first argument
	blindFor0 bool // so does that of the first argument, but not that of the second
	hasOut    bool
	views     bool // a result is a view of an argument, as its schema says
	backward  derivative
	decompose decomposition
	// conjugates says that complex gradients are conjugated before and after backward.
	conjugates bool
}

var plans sync.Map // of *plan by *ops.Operator

// unrecordedNames are operators that give tensors without a gradient or change what the tape knows.
var unrecordedNames = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`detach detach_ requires_grad_ set_ resize_ resize_as_ data zeros_like ones_like empty_like
		full_like rand_like randn_like randint_like new_zeros new_ones new_full new_empty multinomial result_type
		is_leaf output_nr retain_grad backward grad _backward argmax argmin argsort nonzero isnan isinf isfinite
		allclose equal lift lift_fresh special_airy_ai special_spherical_bessel_j0 special_modified_bessel_k0 special_modified_bessel_k1
		special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 new_empty_strided empty_strided bucketize searchsorted histc`) {
		unrecordedNames["aten::"+name] = true
	}
	for _, name := range strings.Fields(`chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h
		hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p`) {
		unrecordedNames["aten::special_"+name] = true
		unrecordedNames["aten::special_shifted_"+name] = true
	}
	unrecordedNames["prim::data"] = true
	unrecordedNames["aten::view.dtype"] = true // other numbers in the same bits
	unrecordedNames["autograd::grad"] = true
}

// products are operators that save one argument for the gradient of another.
var products = map[string]bool{}

func init() {
	for _, name := range strings.Fields("mul.Tensor div.Tensor pow.Tensor_Tensor mm bmm matmul mv dot linear addmm baddbmm conv1d conv2d conv3d") {
		products[name] = true
	}
}

// blind are operators with an overload that writes its first argument, whose derivatives do without what was there before.
var blind = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Scalar div.Scalar neg exp expm1 sqrt rsqrt reciprocal tanh sigmoid
		relu masked_fill.Scalar masked_fill.Tensor lerp.Scalar addcmul addcdiv fill.Scalar fill.Tensor zero copy index_put _index_put_impl
		index_add scatter.src scatter.value scatter_add tril triu`) {
		blind[name] = true
	}
}

// isBlind reports whether a node that writes its first argument needs no copy of it.
func (p *plan) isBlind(args []value.Value) bool {
	return p.backward != nil && !args[0].Tensor().Dispatches() && (p.blind || p.blindFor0 && !anyRequiresGrad(args[1:]))
}

// likened names operators whose arguments after the first only give a shape or a type.
var likened = map[string]bool{
	"aten::view_as": true, "aten::reshape_as": true, "aten::expand_as": true, "aten::type_as": true, "aten::to.other": true,
}

func planOf(op *ops.Operator) *plan {
	if p, ok := plans.Load(op); ok {
		return p.(*plan)
	}
	s := op.Schema()
	p := &plan{likened: likened[s.Name]}
	takes, gives := false, false
	for i := range s.Arguments {
		a := &s.Arguments[i]
		takes = takes || mentionsTensor(a.Type)
		p.hasOut = p.hasOut || a.IsOut()
		p.writes = p.writes || i == 0 && !a.KwargOnly && a.Alias != nil && a.Alias.IsWrite
	}
	for i := range s.Returns {
		gives = gives || mentionsTensor(s.Returns[i].Type)
		p.views = p.views || s.Returns[i].Alias != nil
	}
	p.passes = !takes || !gives || unrecordedNames[s.Name] || unrecordedNames[s.Name+"."+s.Overload]
	name := functionalName(s, p.writes)
	p.backward, p.decompose = derivatives[name], decompositions[name]
	p.saves = products[name]
	p.blind, p.blindFor0 = blind[name], name == "mul.Tensor" || name == "div.Tensor"
	p.conjugates = !asWritten[name]
	if p.backward != nil {
		p.decompose = nil
	}
	if as := p.decompose; as != nil && op.Check != nil {
		p.decompose = func(e Emitter, args []value.Value) []value.Value {
			succeed(op.Check(args))
			return as(e, args)
		}
	}
	plans.Store(op, p)
	return p
}

func mentionsTensor(t types.Type) bool {
	return t.Kind() == types.KindTensor || slices.ContainsFunc(types.Contained(t), mentionsTensor)
}

// functionalNames are those that do not follow from the name of the overload that writes.
var functionalNames = map[string]string{
	"ldexp_.": "ldexp.Tensor", "pow_.Scalar": "pow.Tensor_Scalar", "pow_.Tensor": "pow.Tensor_Tensor",
	"float_power_.Scalar": "float_power.Tensor_Scalar", "float_power_.Tensor": "float_power.Tensor_Tensor",
	"xlogy_.Scalar_Other": "xlogy.Scalar_Other", "transpose_.": "transpose.int", "squeeze_.dim": "squeeze.dim",
}

// functionalName returns the name without its namespace of the overload that computes the same without writing.
func functionalName(s *schema.FunctionSchema, writes bool) string {
	name := strings.TrimPrefix(s.Name, "aten::")
	if functional, ok := functionalNames[name+"."+s.Overload]; ok {
		return functional
	}
	if writes {
		name = strings.TrimSuffix(name, "_")
	}
	if s.Overload != "" {
		name += "." + s.Overload
	}
	return name
}

// Modal reports whether the mode matters to an operator: the others need not go through OperationOf.
func Modal(op *ops.Operator) bool {
	return modal[op.Name] != nil || !planOf(op).passes || slices.ContainsFunc(op.Schema().Returns, func(r schema.Argument) bool { return mentionsTensor(r.Type) })
}

// Kind tells how the gradient of an operator is found: "d" by a derivative of its own, "c" from what it is
// made of, "" not at all.
func Kind(op *ops.Operator) string {
	switch p := planOf(op); {
	case p.passes:
		return ""
	case p.backward != nil:
		return "d"
	case p.decompose != nil:
		return "c"
	}
	return ""
}
