package bind

import (
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
		if !s.Arguments[i].IsOut() && mentionsTensor(realType(&s.Arguments[i])) {
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
func (o fillOptions) bind(c *call, name string, arg *Word) bool {
	if name == "requires_grad" {
		return o != nil
	}
	p, ok := o[name]
	if !ok || !accepts(arg, p.written, p.ListSize, true, false) {
		return false
	}
	c.filled = append(c.filled, filled{name, arg})
	return true
}

// filled is an option that a call gives.
type filled struct {
	name string
	arg  *Word
}

// check fails where an option says something else than what the tensor is.
func (o fillOptions) check(c *call, t *tensor.Tensor) error {
	for _, f := range c.filled {
		p := o[f.name]
		v, err := toValue(f.arg, p.written, p.ListSize)
		if err != nil {
			return err
		}
		if v.IsNone() {
			continue
		}
		switch f.name {
		case "dtype":
			if d := tensor.DType(v.Int()); d != t.DType() {
				return runtimeErrorf("dtype %s does not match dtype of out parameter (%s)", d.CppName(), t.DType().CppName())
			}
		case "device":
			if d := v.Device(); d.Type != t.Device().Type {
				return runtimeErrorf("device type %s does not match device type of out parameter (%s)", d, t.Device())
			}
		}
	}
	return nil
}
