package trace

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Given says that a number among the arguments of a call came from a tensor.
type Given struct {
	Argument int
	Item     int // in the list that the argument is; -1 where it is the number itself
	Kind     types.Kind
	Tensor   *tensor.Tensor
}

// stash holds the values of the graph that numbers came from.
type stash map[[2]int]*ir.Value

func (s stash) number(argument int) *ir.Value { return s[[2]int{argument, -1}] }

func (s stash) item(argument, item int) *ir.Value { return s[[2]int{argument, item}] }

// numberOperators turn a tensor into a number.
var numberOperators = map[types.Kind]struct {
	name string
	t    types.Type
}{
	types.KindInt: {aten.Int, types.Int}, types.KindSymInt: {aten.Int, types.Int},
	types.KindFloat: {aten.Float, types.Float}, types.KindNumber: {aten.ScalarImplicit, types.Number},
}

// stash adds the conversions of tensors to numbers, each behind what made its tensor.
func (r *Recorder) stash(given []Given) stash {
	if len(given) == 0 {
		return nil
	}
	s := stash{}
	for _, g := range given {
		v, known := r.values[g.Tensor]
		operator, ok := numberOperators[g.Kind]
		if !known || !ok {
			continue
		}
		if !v.HasName() && r.host != nil {
			v.SetName(r.host.Name(g.Tensor))
		}
		n := r.g.Create(operator.name, []*ir.Value{v}, 1)
		n.Output().SetType(operator.t)
		s[[2]int{g.Argument, g.Item}] = n.InsertAfter(v.Node()).Output()
	}
	return s
}

// Size records that the program asked for the size of a dimension and returns a tensor for it.
func (r *Recorder) Size(t *tensor.Tensor, dim int) (*tensor.Tensor, error) {
	place := r.place()
	in, err := r.tensor(t, place)
	if err != nil {
		return nil, err
	}
	d := r.g.Constant(value.Int(int64(dim)), place)
	n := r.g.InsertNode(r.g.Create(aten.Size, []*ir.Value{in, d}, 1).SetRange(place))
	if dim < 0 {
		dim += t.Dim()
	}
	return r.numberTensor(n.Output(), t.Size(dim)), nil
}

// Numel records that the program asked for the number of elements and returns a tensor for it.
func (r *Recorder) Numel(t *tensor.Tensor) (*tensor.Tensor, error) {
	place := r.place()
	in, err := r.tensor(t, place)
	if err != nil {
		return nil, err
	}
	n := r.g.InsertNode(r.g.Create(aten.Numel, []*ir.Value{in}, 1).SetRange(place))
	return r.numberTensor(n.Output(), t.Numel()), nil
}

func (r *Recorder) numberTensor(number *ir.Value, n int) *tensor.Tensor {
	number.SetType(types.Int)
	t := tensor.FromScalar(tensor.Int(int64(n)), tensor.Int64)
	dims := 0
	made := r.g.InsertNode(r.g.Create(prim.NumToTensor, []*ir.Value{number}, 1)).Output()
	made.SetType(&types.TensorInfo{DType: tensor.Int64.String(), Device: t.Device().String(), Dims: &dims, Sizes: []int{}})
	r.values[t] = made
	return t
}

// floatTensor is numberTensor for a float.
func (r *Recorder) floatTensor(number *ir.Value, x float64) *tensor.Tensor {
	number.SetType(types.Float)
	t := tensor.FromScalar(tensor.Float(x), tensor.Float64)
	made := r.g.InsertNode(r.g.Create(prim.NumToTensor, []*ir.Value{number}, 1)).Output()
	r.values[t] = made.SetType(TypeOf(t))
	return t
}

// Knows reports whether a tensor is a value of the graph, not a constant of the program.
func (r *Recorder) Knows(t *tensor.Tensor) bool { return r.values[t] != nil }

// completed returns the arguments with what Python's functions fill in for options that are not given: where a tensor is given, what the result is.
func completed(o *ops.Operator, args, given []value.Value) []value.Value {
	s := o.Schema()
	device, pin := s.ArgumentIndex("device"), s.ArgumentIndex("pin_memory")
	layout, dtype := s.ArgumentIndex("layout"), s.ArgumentIndex("dtype")
	if device < 0 || pin < 0 || layout < 0 || dtype < 0 || o.BaseName() == aten.To {
		return args
	}
	out := append([]value.Value{}, args...)
	fill := func(i int, v value.Value) {
		if out[i].IsNone() {
			out[i] = v
		}
	}
	fill(pin, value.Bool(false))
	if args[0].IsTensor() {
		t := given[0].Tensor()
		fill(dtype, value.Int(int64(t.DType())))
		fill(layout, value.Int(int64(t.Layout())))
		fill(device, value.OfDevice(t.ShownDevice()))
		return out
	}
	fill(device, value.OfDevice(tensor.NewDevice(tensor.CPU, -1)))
	return out
}

// decomposed are the ways in which operators are recorded as others, by what stands behind their schemas.
var decomposed = map[string]func(r *Recorder, o *ops.Operator, args, out []value.Value) bool{
	"convolution": convolution, "lstm_steps": lstmCell, "gru_steps": gruCell, "rnn_steps": rnnCell, "conjugate": conjugate,
}

// conjugate records nothing where the conjugate of real numbers is asked for: that is the tensor itself.
func conjugate(r *Recorder, _ *ops.Operator, args, out []value.Value) bool {
	target := ops.Find(aten.LazyConj)
	if target == nil || args[0].Tensor() == out[0].Tensor() {
		return target != nil
	}
	return r.record(target, args, out, nil) == nil
}

// convolution records a convolution as aten::_convolution; an input without a batch gets one of size 1.
func convolution(r *Recorder, o *ops.Operator, args, out []value.Value) bool {
	target := ops.Find(aten.Convolution)
	s := o.Schema()
	at := func(name string, otherwise value.Value) value.Value {
		if i := s.ArgumentIndex(name); i >= 0 && i < len(args) {
			return args[i]
		}
		return otherwise
	}
	padding := at("padding", value.None)
	byMode := padding.Kind() == value.KindString
	if byMode {
		target = ops.Find(aten.ConvolutionMode)
	}
	if target == nil {
		return false
	}
	weight := args[1].Tensor()
	dims := weight.Dim() - 2
	full := func(x value.Value, otherwise int64) value.Value {
		l := value.NewList(types.Int)
		for i := range dims {
			switch {
			case x.Kind() != value.KindList:
				l.Items = append(l.Items, value.Int(otherwise))
			case len(x.List().Items) == 1:
				l.Items = append(l.Items, x.List().Items[0])
			default:
				l.Items = append(l.Items, x.List().Items[i])
			}
		}
		return value.OfList(l)
	}
	transposed := len(o.BaseName()) > len("aten::conv_transpose") && o.BaseName()[:len("aten::conv_transpose")] == "aten::conv_transpose"
	x := args[0]
	batched := x.Tensor().Dim() == dims+2
	if !batched {
		unsqueezed, err := x.Tensor().Unsqueeze(0)
		if err != nil {
			return false
		}
		r.view(aten.Unsqueeze, x, unsqueezed)
		x = value.OfTensor(unsqueezed)
	}
	result := out
	if !batched {
		wide, err := out[0].Tensor().Unsqueeze(0)
		if err != nil {
			return false
		}
		result = []value.Value{value.OfTensor(wide)}
	}
	stride, dilation, groups := full(at("stride", value.None), 1), full(at("dilation", value.None), 1), at("groups", value.Int(1))
	recorded := []value.Value{x, args[1], at("bias", value.None), stride, padding, dilation, groups}
	if !byMode {
		recorded = []value.Value{x, args[1], at("bias", value.None), stride, full(padding, 0), dilation, at("transposed", value.Bool(transposed)),
			full(at("output_padding", value.None), 0), groups, value.Bool(false), value.Bool(false), value.Bool(true), value.Bool(true)}
	}
	err := r.record(target, recorded, result, nil)
	if v := r.values[result[0].Tensor()]; err == nil && v != nil && !byMode {
		v.SetType(withGrad(v.Type(), false)) // the gradient is recorded outside of aten::_convolution
	}
	if err == nil && !batched {
		r.view("aten::squeeze.dim", result[0], out[0].Tensor())
	}
	return err == nil
}

// view records an operator whose arguments are a tensor and dimension 0.
func (r *Recorder) view(name string, x value.Value, out *tensor.Tensor) {
	if o := ops.Find(name); o != nil {
		_ = r.record(o, []value.Value{x, value.Int(0)}, []value.Value{value.OfTensor(out)}, nil)
	}
}

// withGrad is the type of a tensor of which a gradient is asked, or is not.
func withGrad(t types.Type, on bool) types.Type {
	info, ok := t.(*types.TensorInfo)
	if !ok {
		return t
	}
	own := *info
	own.RequiresGrad = &on
	return &own
}
