package tensors

import (
	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gradFunctions are about what is recorded for gradients and the gradients.
var gradFunctions = []abi.Function{
	{Schema: "grad_enabled() -> bool", Run: gradEnabled},
	{Schema: "set_grad_enabled(bool on) -> None", Run: setGradEnabled},
	{Schema: "begin_casting(bool cuda, bool enabled, int dtype) -> None", Doc: "Begins an autocast of operators on CUDA devices, or on the CPU.", Run: beginCasting},
	{Schema: "end_casting() -> None", Run: endCasting},
	{Schema: "set_casting(bool cuda, bool enabled) -> None", Run: func(c *abi.Call) error { c.Thread.Mode.SetCasting(castKind(c), c.ArgBool(1)); c.None(); return nil }},
	{Schema: "set_cast_type(bool cuda, int dtype) -> None", Run: func(c *abi.Call) error {
		c.Thread.Mode.SetCastType(castKind(c), tensor.DType(c.ArgInt(1)))
		c.None()
		return nil
	}},
	{Schema: "cast_type(bool cuda) -> int", Doc: "The smaller type of autocasts.", Run: func(c *abi.Call) error {
		d, _ := c.Thread.Mode.Casting(castKind(c))
		return c.Value(value.Int(int64(d)))
	}},
	{Schema: "set_cast_cache(bool enabled) -> None", Run: func(c *abi.Call) error { c.Thread.Mode.SetCastCache(c.ArgBool(0)); c.None(); return nil }},
	{Schema: "casting(bool cuda) -> any", Doc: "The type that operators cast to, None where they do not.", Run: castingOf},
	{Schema: "forget_casts() -> None", Run: forgetCasts},
	{Schema: "inference_mode() -> bool", Run: inferenceMode},
	{Schema: "set_inference_mode(bool on) -> None", Run: setInferenceMode},
	{Schema: "enter_forward() -> None", Run: enterForward},
	{Schema: "exit_forward() -> None", Run: exitForward},
	{Schema: "in_forward() -> bool", Run: inForward},
	{Schema: "set_forward_enabled(bool on) -> bool", Run: setForwardEnabled},
	{Schema: "make_dual(Tensor primal, Tensor tangent) -> Tensor", Run: makeDual},
	{Schema: "unpack_dual(Tensor dual) -> tuple", Run: unpackDual},
	{Schema: "set_tangent(Tensor self, Tensor tangent) -> None", Run: setTangent},
	{Schema: "tensor_grad(Tensor self) -> any", Run: tensorGrad},
	{Schema: "tensor_base(Tensor self) -> any", Run: tensorBase},
	{Schema: "tensor_output_number(Tensor self) -> int", Run: tensorOutputNumber},
	{Schema: "tensor_set_grad(Tensor self, any grad) -> None", Run: tensorSetGrad},
	{Schema: "tensor_is_leaf(Tensor self) -> bool", Run: tensorIsLeaf},
	{Schema: "tensor_grad_fn(Tensor self) -> any", Run: tensorGradFn},
	{Schema: "tensor_retain_grad(Tensor self) -> None", Run: tensorRetainGrad},
	{Schema: "tensor_retains_grad(Tensor self) -> bool", Run: tensorRetainsGrad},
	{Schema: "tensor_register_hook(Tensor self, object hook) -> function", Run: tensorRegisterHook},
	{Schema: "record_function(str name, list inputs, list outputs, list written, object backward, object context) -> None", Run: recordFunction},
}

func gradEnabled(c *abi.Call) error {
	c.Bool(c.Thread.Mode.GradEnabled())
	return nil
}

func setGradEnabled(c *abi.Call) error {
	c.Thread.Mode.SetGradEnabled(c.ArgBool(0))
	c.None()
	return nil
}

// castKind returns the kind of devices that the first argument tells.
func castKind(c *abi.Call) autograd.CastKind {
	if c.ArgBool(0) {
		return autograd.CastCUDA
	}
	return autograd.CastCPU
}

func beginCasting(c *abi.Call) error {
	c.Thread.Mode.BeginCasting(castKind(c), c.ArgBool(1), tensor.DType(c.ArgInt(2)))
	c.None()
	return nil
}

func endCasting(c *abi.Call) error {
	c.Thread.Mode.EndCasting()
	c.None()
	return nil
}

func castingOf(c *abi.Call) error {
	d, enabled := c.Thread.Mode.Casting(castKind(c))
	if !enabled {
		c.None()
		return nil
	}
	return c.Value(value.Int(int64(d)))
}

func forgetCasts(c *abi.Call) error {
	c.Thread.Mode.ForgetCasts()
	c.None()
	return nil
}

func inferenceMode(c *abi.Call) error {
	c.Bool(c.Thread.Mode.Inference())
	return nil
}

func setInferenceMode(c *abi.Call) error {
	c.Thread.Mode.SetInference(c.ArgBool(0))
	c.None()
	return nil
}

func enterForward(c *abi.Call) error {
	c.None()
	return autograd.EnterForward()
}

func exitForward(c *abi.Call) error {
	c.None()
	return autograd.ExitForward()
}

func inForward(c *abi.Call) error {
	c.Bool(autograd.InForward())
	return nil
}

func setForwardEnabled(c *abi.Call) error {
	c.Bool(c.Thread.Mode.SetForward(c.ArgBool(0)))
	return nil
}

// makeDual replies a view of a tensor with a tangent.
func makeDual(c *abi.Call) error {
	c.Arg(0).Keep()
	c.Arg(1).Keep()
	gojit.LinkOperators()
	t, err := c.Thread.Mode.MakeDual(c.ArgTensor(0), c.ArgTensor(1))
	if err != nil {
		return err
	}
	return c.Value(value.OfTensor(t))
}

// unpackDual replies a view of a tensor without the tangent, and the tangent or None.
func unpackDual(c *abi.Call) error {
	c.Arg(0).Keep()
	t := c.ArgTensor(0)
	v := autograd.Tangent(t)
	var err error
	if v != nil {
		if t, err = c.Thread.Mode.Primal(t); err != nil {
			return err
		}
	}
	c.Open(abi.KindTuple, 2)
	if err := c.Value(value.OfTensor(t)); err != nil || v == nil {
		c.None()
		return err
	}
	c.KeptTensor(v)
	return nil
}

// setTangent gives a result of a custom function its tangent.
func setTangent(c *abi.Call) error {
	c.Arg(0).Keep()
	c.Arg(1).Keep()
	autograd.SetTangent(c.ArgTensor(0), c.ArgTensor(1))
	c.None()
	return nil
}

// tensorGrad replies the gradient of a leaf, or None.
func tensorGrad(c *abi.Call) error {
	t := c.ArgTensor(0)
	if g := autograd.Grad(t); g != nil {
		c.Tensor(g)
		return nil
	}
	c.None()
	if !t.IsLeaf() && !autograd.RetainsGrad(t) {
		return abi.Host.Invoke("warn_no_grad", 0, nil, nil)
	}
	return nil
}

// tensorBase replies the tensor that a view shows, None where the tensor is no view.
func tensorBase(c *abi.Call) error {
	if b := c.ArgTensor(0).Base(); b != nil {
		c.KeptTensor(b)
	} else {
		c.None()
	}
	return nil
}

// tensorOutputNumber replies which of its node's outputs the tensor is.
func tensorOutputNumber(c *abi.Call) error {
	c.Int(autograd.OutputNumber(c.ArgTensor(0)))
	return nil
}

func tensorSetGrad(c *abi.Call) error {
	w := c.Arg(1)
	g := w.Tensor()
	switch {
	case g != nil && g == c.ArgTensor(0):
		return abi.RuntimeErrorf("can't assign Variable as its own grad")
	case g == nil && w.Kind() != abi.KindNone:
		return abi.TypeErrorf("assigned grad expected to be a Tensor or None but got grad of type%s", w.KindName())
	}
	c.None()
	return autograd.SetGrad(c.ArgTensor(0), g)
}

func tensorIsLeaf(c *abi.Call) error {
	c.Bool(c.ArgTensor(0).IsLeaf())
	return nil
}

// tensorGradFn replies the node that made the tensor, or None for a leaf.
func tensorGradFn(c *abi.Call) error {
	gradNode(&c.Writer, autograd.NodeOf(c.ArgTensor(0)))
	return nil
}

func tensorRetainGrad(c *abi.Call) error {
	c.None()
	return autograd.RetainGrad(c.ArgTensor(0))
}

func tensorRetainsGrad(c *abi.Call) error {
	c.Bool(autograd.RetainsGrad(c.ArgTensor(0)))
	return nil
}

// removal is what Python calls to remove a hook.
type removal struct{ remove func() }

// CallableName implements abi.Callable.
func (r removal) CallableName() string { return "remove" }

// Call implements abi.Callable.
func (r removal) Call(c *abi.Call) error {
	r.remove()
	c.None()
	return nil
}

// tensorRegisterHook has a Python callable see the gradient; calling the reply removes it.
func tensorRegisterHook(c *abi.Call) error {
	f := c.ArgObject(1)
	remove, err := autograd.AddHook(c.ArgTensor(0), func(m *autograd.Mode, g *tensor.Tensor) (changed *tensor.Tensor, err error) {
		err = abi.InMode(m, func() error {
			return f.Invoke("", 1, func(w *abi.Writer) { w.KeptTensor(g) }, func(w *abi.Word) error {
				if changed = w.Tensor(); changed == nil && w.Kind() != abi.KindNone {
					return abi.TypeErrorf("hooks must return None or a Tensor, not %s", w.KindName())
				}
				if changed != nil {
					w.Keep()
				}
				return nil
			})
		})
		return changed, err
	})
	if err != nil {
		return err
	}
	c.Function(removal{remove})
	return nil
}

// tensorsOrNone reads a list of tensors and Nones.
func tensorsOrNone(list *abi.Word) ([]*tensor.Tensor, error) {
	var ts []*tensor.Tensor
	for _, x := range list.Fields() {
		t := x.Tensor()
		if t == nil && x.Kind() != abi.KindNone {
			return nil, abi.TypeErrorf("expected a Tensor or None, not a %s", x.KindName())
		}
		if t != nil {
			x.Keep()
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// recordFunction records what a torch.autograd.Function has computed. backward is called with the
// node, and the gradients.
func recordFunction(c *abi.Call) error {
	inputs, err := tensorsOrNone(c.Arg(1))
	if err != nil {
		return err
	}
	outputs, err := tensorsOrNone(c.Arg(2))
	if err != nil {
		return err
	}
	f := autograd.Custom{Name: c.ArgString(0), Inputs: inputs, Outputs: outputs, Context: c.ArgObject(5)}
	for _, x := range c.Arg(3).Fields() {
		f.Written = append(f.Written, x.Bool())
	}
	target := c.ArgObject(4)
	f.Backward = func(m *autograd.Mode, n *autograd.Node, grads []*tensor.Tensor) (given []*tensor.Tensor, err error) {
		err = abi.InMode(m, func() error {
			return target.Invoke("", 2, func(w *abi.Writer) {
				gradNode(w, n)
				optionalTensors(w, grads)
			}, func(w *abi.Word) error {
				given, err = tensorsOrNone(w)
				return err
			})
		})
		return given, err
	}
	c.None()
	return c.Thread.Mode.Record(f)
}
