package ops

import "github.com/torchjit/torchjit/gojit/internal/types"

// sideEffects names the operators that do something besides computing and writing.
var sideEffects = map[string]bool{
	"aten::warn": true, "aten::save": true, "aten::manual_seed": true, "aten::wait": true,
	"prim::Print": true, "prim::RaiseException": true,
	"profiler::_record_function_enter": true, "profiler::_record_function_exit": true,
	"profiler::_record_function_enter_new": true, "aten::seed": true, "aten::initial_seed": true,
	"prim::AddStatValue": true, "prim::TimePoint": true, "aten::_assert_async": true, "aten::_assert_scalar": true,
	"aten::set_grad_enabled": true, "aten::is_grad_enabled": true, "prim::CallFunction": true, "prim::CallMethod": true,
}

// random names the operators that draw random numbers without taking a generator.
var random = map[string]bool{
	"aten::dropout": true, "aten::_fused_dropout": true, "aten::_standard_gamma": true,
	"aten::rand": true, "aten::rand_like": true, "aten::randint": true, "aten::randint_like": true,
	"aten::randn": true, "aten::randn_like": true, "aten::randperm": true, "aten::feature_dropout": true,
	"aten::alpha_dropout": true, "aten::feature_alpha_dropout": true, "aten::native_dropout": true, "aten::_no_grad_normal_": true, "aten::_no_grad_uniform_": true,
}

func isRandom(o *Operator) bool {
	if random[o.BaseName()] {
		return true
	}
	for _, a := range o.Schema().Arguments {
		t := a.Type
		if opt, ok := t.(*types.Optional); ok {
			t = opt.Elem
		}
		if t.Kind() == types.KindGenerator {
			return true
		}
	}
	return false
}

// dependent names the operators whose results' shapes or numbers follow from elements of their arguments.
var dependent = map[string]bool{
	"aten::nonzero": true, "aten::nonzero_numpy": true, "aten::argwhere": true, "aten::masked_select": true, "aten::item": true, "aten::_local_scalar_dense": true,
	"aten::Int": true, "aten::Float": true, "aten::Bool": true, "aten::Complex": true, "aten::IntImplicit": true, "aten::FloatImplicit": true,
	"aten::ComplexImplicit": true, "aten::ScalarImplicit": true, "aten::is_nonzero": true, "aten::equal": true, "aten::allclose": true, "aten::unique_dim": true, "aten::_unique2": true,
	"aten::_unique": true, "aten::unique_consecutive": true, "aten::unique_dim_consecutive": true, "aten::bincount": true,
	"aten::tolist": true, "prim::tolist": true,
}

// DependsOnElements reports whether the shapes or numbers that an operator gives follow from the elements of its
// arguments, so that they are not known where those are not.
func DependsOnElements(base string) bool { return dependent[base] }
