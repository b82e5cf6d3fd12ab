package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gradFunctions are about what is recorded for gradients and the gradients.
var gradFunctions = []function{
	{schema: "grad_enabled() -> bool", run: gradEnabled},
	{schema: "set_grad_enabled(bool on) -> None", run: setGradEnabled},
	{schema: "begin_casting(bool cuda, bool enabled, int dtype) -> None", doc: "Begins an autocast of operators on CUDA devices, or on the CPU.", run: beginCasting},
	{schema: "end_casting() -> None", run: endCasting},
	{schema: "set_casting(bool cuda, bool enabled) -> None", run: func(c *call) error { c.thread.mode.SetCasting(castKind(c), c.argBool(1)); c.none(); return nil }},
	{schema: "set_cast_type(bool cuda, int dtype) -> None", run: func(c *call) error {
		c.thread.mode.SetCastType(castKind(c), tensor.DType(c.argInt(1)))
		c.none()
		return nil
	}},
	{schema: "cast_type(bool cuda) -> int", doc: "The smaller type of autocasts.", run: func(c *call) error {
		d, _ := c.thread.mode.Casting(castKind(c))
		return c.value(value.Int(int64(d)))
	}},
	{schema: "set_cast_cache(bool enabled) -> None", run: func(c *call) error { c.thread.mode.SetCastCache(c.argBool(0)); c.none(); return nil }},
	{schema: "set_compiler_casts(bool enabled) -> None", run: setting(func(s *exec.Settings, on bool) { s.CompilerCasts = on })},
	{schema: "casting(bool cuda) -> any", doc: "The type that operators cast to, None where they do not.", run: castingOf},
	{schema: "forget_casts() -> None", run: forgetCasts},
	{schema: "inference_mode() -> bool", run: inferenceMode},
	{schema: "set_inference_mode(bool on) -> None", run: setInferenceMode},
	{schema: "enter_forward() -> None", run: enterForward},
	{schema: "exit_forward() -> None", run: exitForward},
	{schema: "in_forward() -> bool", run: inForward},
	{schema: "set_forward_enabled(bool on) -> bool", run: setForwardEnabled},
	{schema: "make_dual(Tensor primal, Tensor tangent) -> Tensor", run: makeDual},
	{schema: "unpack_dual(Tensor dual) -> tuple", run: unpackDual},
	{schema: "set_tangent(Tensor self, Tensor tangent) -> None", run: setTangent},
	{schema: "tensor_grad(Tensor self) -> any", run: tensorGrad},
	{schema: "tensor_base(Tensor self) -> any", run: tensorBase},
	{schema: "tensor_output_number(Tensor self) -> int", run: tensorOutputNumber},
	{schema: "tensor_set_grad(Tensor self, any grad) -> None", run: tensorSetGrad},
	{schema: "tensor_is_leaf(Tensor self) -> bool", run: tensorIsLeaf},
	{schema: "tensor_grad_fn(Tensor self) -> any", run: tensorGradFn},
	{schema: "tensor_retain_grad(Tensor self) -> None", run: tensorRetainGrad},
	{schema: "tensor_retains_grad(Tensor self) -> bool", run: tensorRetainsGrad},
	{schema: "tensor_register_hook(Tensor self, object hook) -> function", run: tensorRegisterHook},
	{schema: "record_function(str name, list inputs, list outputs, list written, object backward, object context) -> None", run: recordFunction},
}

func gradEnabled(c *call) error {
	c.bool(c.thread.mode.GradEnabled())
	return nil
}

func setGradEnabled(c *call) error {
	c.thread.mode.SetGradEnabled(c.argBool(0))
	c.none()
	return nil
}

// castKind returns the kind of devices that the first argument tells.
func castKind(c *call) autograd.CastKind {
	if c.argBool(0) {
		return autograd.CastCUDA
	}
	return autograd.CastCPU
}

func beginCasting(c *call) error {
	c.thread.mode.BeginCasting(castKind(c), c.argBool(1), tensor.DType(c.argInt(2)))
	c.none()
	return nil
}

func endCasting(c *call) error {
	c.thread.mode.EndCasting()
	c.none()
	return nil
}

func castingOf(c *call) error {
	d, enabled := c.thread.mode.Casting(castKind(c))
	if !enabled {
		c.none()
		return nil
	}
	return c.value(value.Int(int64(d)))
}

func forgetCasts(c *call) error {
	c.thread.mode.ForgetCasts()
	c.none()
	return nil
}

func inferenceMode(c *call) error {
	c.bool(c.thread.mode.Inference())
	return nil
}

func setInferenceMode(c *call) error {
	c.thread.mode.SetInference(c.argBool(0))
	c.none()
	return nil
}

func enterForward(c *call) error {
	c.none()
	return autograd.EnterForward()
}

func exitForward(c *call) error {
	c.none()
	return autograd.ExitForward()
}

func inForward(c *call) error {
	c.bool(autograd.InForward())
	return nil
}

func setForwardEnabled(c *call) error {
	c.bool(c.thread.mode.SetForward(c.argBool(0)))
	return nil
}

// makeDual replies a view of a tensor with a tangent.
func makeDual(c *call) error {
	c.arg(0).keep()
	c.arg(1).keep()
	linkOperators()
	t, err := c.thread.mode.MakeDual(c.argTensor(0), c.argTensor(1))
	if err != nil {
		return err
	}
	return c.value(value.OfTensor(t))
}

// unpackDual replies a view of a tensor without the tangent, and the tangent or None.
func unpackDual(c *call) error {
	c.arg(0).keep()
	t := c.argTensor(0)
	v := autograd.Tangent(t)
	var err error
	if v != nil {
		if t, err = c.thread.mode.Primal(t); err != nil {
			return err
		}
	}
	c.open(kindTuple, 2)
	if err := c.value(value.OfTensor(t)); err != nil || v == nil {
		c.none()
		return err
	}
	c.keptTensor(v)
	return nil
}

// setTangent gives a result of a custom function its tangent.
func setTangent(c *call) error {
	c.arg(0).keep()
	c.arg(1).keep()
	autograd.SetTangent(c.argTensor(0), c.argTensor(1))
	c.none()
	return nil
}

// tensorGrad replies the gradient of a leaf, or None.
func tensorGrad(c *call) error {
	t := c.argTensor(0)
	if g := autograd.Grad(t); g != nil {
		c.tensor(g)
		return nil
	}
	c.none()
	if !t.IsLeaf() && !autograd.RetainsGrad(t) {
		return host.invoke("warn_no_grad", 0, nil, nil)
	}
	return nil
}

// tensorBase replies the tensor that a view shows, None where the tensor is no view.
func tensorBase(c *call) error {
	if b := c.argTensor(0).Base(); b != nil {
		c.keptTensor(b)
	} else {
		c.none()
	}
	return nil
}

// tensorOutputNumber replies which of its node's outputs the tensor is.
func tensorOutputNumber(c *call) error {
	c.int(autograd.OutputNumber(c.argTensor(0)))
	return nil
}

func tensorSetGrad(c *call) error {
	w := c.arg(1)
	g := w.tensor()
	switch {
	case g != nil && g == c.argTensor(0):
		return runtimeErrorf("can't assign Variable as its own grad")
	case g == nil && w.kind() != kindNone:
		return typeErrorf("assigned grad expected to be a Tensor or None but got grad of type%s", w.kindName())
	}
	c.none()
	return autograd.SetGrad(c.argTensor(0), g)
}

func tensorIsLeaf(c *call) error {
	c.bool(c.argTensor(0).IsLeaf())
	return nil
}

// tensorGradFn replies the node that made the tensor, or None for a leaf.
func tensorGradFn(c *call) error {
	c.gradNode(autograd.NodeOf(c.argTensor(0)))
	return nil
}

func tensorRetainGrad(c *call) error {
	c.none()
	return autograd.RetainGrad(c.argTensor(0))
}

func tensorRetainsGrad(c *call) error {
	c.bool(autograd.RetainsGrad(c.argTensor(0)))
	return nil
}

// removal is what Python calls to remove a hook.
type removal struct{ remove func() }

func (r removal) callableName() string { return "remove" }

func (r removal) call(c *call) error {
	r.remove()
	c.none()
	return nil
}

// tensorRegisterHook has a Python callable see the gradient; calling the reply removes it.
func tensorRegisterHook(c *call) error {
	f := c.argObject(1)
	remove, err := autograd.AddHook(c.argTensor(0), func(m *autograd.Mode, g *tensor.Tensor) (changed *tensor.Tensor, err error) {
		err = inMode(m, func() error {
			return f.invoke("", 1, func(w *writer) { w.keptTensor(g) }, func(w *Word) error {
				if changed = w.tensor(); changed == nil && w.kind() != kindNone {
					return typeErrorf("hooks must return None or a Tensor, not %s", w.kindName())
				}
				if changed != nil {
					w.keep()
				}
				return nil
			})
		})
		return changed, err
	})
	if err != nil {
		return err
	}
	c.function(removal{remove})
	return nil
}

// tensorsOrNone reads a list of tensors and Nones.
func tensorsOrNone(list *Word) ([]*tensor.Tensor, error) {
	var ts []*tensor.Tensor
	for _, x := range list.fields() {
		t := x.tensor()
		if t == nil && x.kind() != kindNone {
			return nil, typeErrorf("expected a Tensor or None, not a %s", x.kindName())
		}
		if t != nil {
			x.keep()
		}
		ts = append(ts, t)
	}
	return ts, nil
}

// recordFunction records what a torch.autograd.Function has computed. backward is called with the
// node, and the gradients.
func recordFunction(c *call) error {
	inputs, err := tensorsOrNone(c.arg(1))
	if err != nil {
		return err
	}
	outputs, err := tensorsOrNone(c.arg(2))
	if err != nil {
		return err
	}
	f := autograd.Custom{Name: c.argString(0), Inputs: inputs, Outputs: outputs, Context: c.argObject(5)}
	for _, x := range c.arg(3).fields() {
		f.Written = append(f.Written, x.bool())
	}
	target := c.argObject(4)
	f.Backward = func(m *autograd.Mode, n *autograd.Node, grads []*tensor.Tensor) (given []*tensor.Tensor, err error) {
		err = inMode(m, func() error {
			return target.invoke("", 2, func(w *writer) {
				w.gradNode(n)
				w.optionalTensors(grads)
			}, func(w *Word) error {
				given, err = tensorsOrNone(w)
				return err
			})
		})
		return given, err
	}
	c.none()
	return c.thread.mode.Record(f)
}
