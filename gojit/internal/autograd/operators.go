package autograd

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Operators are those by which programs differentiate and change the mode.
var Operators = func() []ops.Operator {
	all := make([]ops.Operator, len(modeOperators))
	for i, o := range modeOperators {
		all[i] = ops.Operator{Name: o.name, Run: func(args, out []value.Value) error { return o.run(new(Mode), args, out) }}
	}
	return all
}()

// readsMode are the operators that read or change the mode themselves, by their names.
var readsMode = func() map[string]Operation {
	all := make(map[string]Operation, len(modeOperators))
	for _, o := range modeOperators {
		name, _, _ := strings.Cut(o.name, "(")
		all[name] = o.run
	}
	return all
}()

var modeOperators = []struct {
	name string // or the schema of one that is not in the table of schemas
	run  Operation
}{
	{aten.IsGradEnabled, func(m *Mode, args, out []value.Value) error {
		out[0] = value.Bool(m.GradEnabled())
		return nil
	}},
	{aten.SetGradEnabled, func(m *Mode, args, out []value.Value) error {
		m.SetGradEnabled(args[0].Bool())
		return nil
	}},
	{prim.Grad, func(_ *Mode, args, out []value.Value) error {
		if g := Grad(args[0].Tensor()); g != nil {
			out[0] = value.OfTensor(g)
		}
		return nil
	}},
	{aten.RetainsGrad, func(_ *Mode, args, out []value.Value) error {
		out[0] = value.Bool(RetainsGrad(args[0].Tensor()))
		return nil
	}},
	{aten.NoGradFill_, withoutGrad("aten::fill_.Scalar")},
	{aten.NoGradNormal_, withoutGrad(aten.Normal_, value.None)},
	{aten.NoGradUniform_, withoutGrad(aten.Uniform_, value.None)},
	{aten.NoGradZero_, withoutGrad(aten.Zero_)},
	{aten.NoGradEmbeddingRenorm_, withoutGrad(aten.EmbeddingRenorm_)},
	{aten.IsAutocastCpuEnabled, func(m *Mode, args, out []value.Value) error {
		_, enabled := m.Casting(CastCPU)
		out[0] = value.Bool(enabled)
		return nil
	}},
	{aten.IsAutocastEnabled, func(m *Mode, args, out []value.Value) error {
		_, enabled := m.Casting(CastCUDA)
		out[0] = value.Bool(enabled)
		return nil
	}},
	{"aten::get_autocast_dtype(str device_type) -> ScalarType # asks_mode | The number of the element type to which an autocast on a kind of devices casts.", func(m *Mode, args, out []value.Value) error {
		kind := CastCPU
		switch device := args[0].Str(); device {
		case "cpu":
		case "cuda":
			kind = CastCUDA
		default:
			return errorf("autocast knows the types of devices cpu and cuda, but got %q", device)
		}
		lower, _ := m.Casting(kind)
		out[0] = value.Int(int64(lower))
		return nil
	}},
	{"profiler::_record_function_enter", beginNamed},
	{"profiler::_record_function_exit", endNamed},
	{aten.RetainGrad, func(m *Mode, args, out []value.Value) error { return RetainGrad(args[0].Tensor()) }},
	{aten.Backward, func(m *Mode, args, out []value.Value) error {
		return m.Backward([]*tensor.Tensor{args[0].Tensor()}, tensorsOf(args[1]), optionsOf(args[2], args[3]))
	}},
	{"aten::backward.TensorList", func(m *Mode, args, out []value.Value) error {
		return m.Backward(tensorsOf(args[0]), tensorsOf(args[1]), optionsOf(args[2], args[3]))
	}},
	{aten.Grad, func(m *Mode, args, out []value.Value) error {
		o := optionsOf(args[3], args[4])
		o.AllowUnused = args[5].Bool()
		grads, err := m.Gradients(tensorsOf(args[0]), tensorsOf(args[1]), tensorsOf(args[2]), o)
		if err != nil {
			return err
		}
		out[0] = value.OfList(value.OptionalTensors(grads))
		return nil
	}},
}

// withoutGrad is an operator that runs another one, with further arguments, without recording it: it writes leaves too.
func withoutGrad(name string, further ...value.Value) Operation {
	return func(m *Mode, args, out []value.Value) error {
		defer func(off bool) { m.off = off }(m.off)
		m.off = true
		return m.Run(ops.Find(name), slices.Concat(args, further), out)
	}
}

// tensorsOf returns the tensors of a list, of one tensor or of None.
func tensorsOf(v value.Value) []*tensor.Tensor {
	if v.IsTensor() {
		return []*tensor.Tensor{v.Tensor()}
	}
	if v.IsNone() {
		return nil
	}
	items := v.List().Items
	ts := make([]*tensor.Tensor, len(items))
	for i, x := range items {
		if x.IsTensor() {
			ts[i] = x.Tensor()
		}
	}
	return ts
}

func optionsOf(retain, create value.Value) Options {
	o := Options{CreateGraph: create.Bool(), RetainGraph: create.Bool()}
	if !retain.IsNone() {
		o.RetainGraph = retain.Bool()
	}
	return o
}
