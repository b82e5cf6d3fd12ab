package aten

import "strings"

// elementwiseNames are the overloads that apply one expression to each element of their tensors, as far as their
// arguments let them.
var elementwiseNames = func() map[string]bool {
	names := map[string]bool{}
	add := func(overloads ...string) {
		for _, name := range overloads {
			names["aten::"+name] = true
		}
	}
	for _, u := range unaryExpressions {
		add(u.names...)
	}
	for _, e := range binaryExpressions {
		add(e.overloads...)
	}
	for _, a := range activationExpressions {
		add(a.name)
	}
	add("add.Tensor", "add.Scalar", "sub.Tensor", "sub.Scalar", "subtract.Tensor", "subtract.Scalar", "rsub.Tensor", "rsub.Scalar",
		"neg", "negative", "relu", "gelu", "clamp", "clamp.Tensor", "clip", "clamp_min", "clamp_min.Tensor", "clamp_max", "clamp_max.Tensor",
		"pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar", "div.Tensor_mode", "div.Scalar_mode", "addcmul", "addcdiv",
		"lerp.Scalar", "lerp.Tensor", "logit", "nan_to_num", "bitwise_not")
	for name := range names {
		if strings.HasPrefix(name, "aten::__") {
			delete(names, name)
		}
	}
	return names
}()

// IsElementwise reports whether an overload, such as "aten::add.Tensor", applies one expression to each element of
// its tensors.
func IsElementwise(name string) bool { return elementwiseNames[name] }
