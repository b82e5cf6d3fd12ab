package operators

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// fillOptions are the parameters that a function which makes tensors has from Python besides out=: torch.zeros(2, dtype=d, out=t). They
// must say what the tensor is.
type fillOptions map[string]parameter

// fillOptionsOf returns those of the overload that writes a function's result into out=, nil where it takes tensors.
func fillOptionsOf(s *schema.FunctionSchema) fillOptions {
	for i := range s.Arguments {
		if !s.Arguments[i].IsOut() && abi.MentionsTensor(abi.RealType(&s.Arguments[i])) {
			return nil
		}
	}
	for _, o := range ops.Overloads(s.Name) {
		made := o.Schema()
		if made.ArgumentIndex("dtype") < 0 || made.ArgumentIndex("device") < 0 {
			continue
		}
		options := fillOptions{}
		for _, name := range []string{"dtype", "layout", "device", "pin_memory"} {
			if i := made.ArgumentIndex(name); i >= 0 && s.ArgumentIndex(name) < 0 {
				options[name] = newParameter(&made.Arguments[i])
			}
		}
		return options
	}
	return nil
}

// bind keeps an option for check. It reports whether name is one and takes the argument.
func (o fillOptions) bind(c *abi.Call, name string, arg *abi.Word) bool {
	if name == "requires_grad" {
		return o != nil
	}
	p, ok := o[name]
	if !ok || !abi.Accepts(arg, p.written, p.ListSize, true, false) {
		return false
	}
	c.Filled = append(c.Filled, abi.Filled{Name: name, Arg: arg})
	return true
}

// check fails where an option says something else than what the tensor is.
func (o fillOptions) check(c *abi.Call, t *tensor.Tensor) error {
	for _, f := range c.Filled {
		p := o[f.Name]
		v, err := abi.ToValue(f.Arg, p.written, p.ListSize)
		if err != nil {
			return err
		}
		if v.IsNone() {
			continue
		}
		switch f.Name {
		case "dtype":
			if d := tensor.DType(v.Int()); d != t.DType() {
				return abi.RuntimeErrorf("dtype %s does not match dtype of out parameter (%s)", d.CppName(), t.DType().CppName())
			}
		case "device":
			if d := v.Device(); d.Type != t.Device().Type {
				return abi.RuntimeErrorf("device type %s does not match device type of out parameter (%s)", d, t.Device())
			}
		}
	}
	return nil
}
