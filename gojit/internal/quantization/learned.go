package quantization

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Schemes that tell channels apart, by their numbers in Python.
const (
	channelAffine    = 1
	channelSymmetric = 3
	channelFloat     = 4 // zero points are no integers
)

// channelAxis returns the dimension whose indices are channels; ok is false where the observer does not tell them apart.
func channelAxis(observer *value.Object) (axis value.Value, ok bool) {
	scheme, ok := readAttribute(observer, "qscheme")
	if !ok || !slices.Contains([]int64{channelAffine, channelSymmetric, channelFloat}, scheme.Int()) {
		return axis, false
	}
	return readAttribute(observer, "ch_axis")
}

// channelParameters returns scales as float32 and zero points as int32.
func channelParameters(scales, zeros *tensor.Tensor, observer *value.Object) (scale, zero value.Value, err error) {
	if scheme, _ := readAttribute(observer, "qscheme"); scheme.Int() == channelFloat {
		return scale, zero, failf("weights of %s have zero points that are no integers: embeddings are not quantized", observer.Class.Name)
	}
	if scale, err = convert(scales, tensor.Float32); err == nil {
		zero, err = convert(zeros, tensor.Int32)
	}
	return scale, zero, err
}

func convert(t *tensor.Tensor, d tensor.DType) (value.Value, error) {
	o := ops.Find("aten::to.dtype")
	out := make([]value.Value, 1)
	err := o.Run([]value.Value{value.OfTensor(t), value.Int(int64(d)), value.Bool(false), value.Bool(false), value.None}, out)
	return out[0], err
}

// runWeightObservers shows observers of weights the weights, in a method and what it calls, as nothing else does where inputs are
// quantized by each call's range.
func (q *quantizer) runWeightObservers(c invocation, done map[*value.Object]bool) error {
	g := c.method.Graph()
	for _, inside := range invocations(c.module, g) {
		if err := q.runWeightObservers(inside, done); err != nil {
			return err
		}
	}
	for _, n := range observerCalls(g) {
		observer, err := observerAt(c.module, n)
		if err != nil {
			return err
		}
		if done[observer] || !isWeight(n.Output()) {
			continue
		}
		done[observer] = true
		weight, err := q.evaluate(c, n.Input(1))
		if err != nil {
			return err
		}
		f, err := method(observer, "forward")
		if err != nil {
			return err
		}
		if _, err := q.options.Call(f, value.OfObject(observer), weight); err != nil {
			return err
		}
	}
	return nil
}

// evaluate returns what a value in a method is. It fails where that depends on more than the module.
func (q *quantizer) evaluate(c invocation, v *ir.Value) (value.Value, error) {
	body := ir.NewGraph()
	self := c.method.Graph().Inputs()[0]
	made := map[*ir.Value]*ir.Value{self: body.AddInput("self").SetType(self.Type())}
	if err := copyOrigin(body, v, made); err != nil {
		return value.None, err
	}
	body.AddOutput(made[v])
	s := *c.method.Schema
	s.Arguments = s.Arguments[:1]
	f := ir.NewFunction(c.method.Name, &s, body)
	return q.options.Call(f, value.OfObject(c.module))
}

// copyOrigin copies into a graph what a value is made by.
func copyOrigin(g *ir.Graph, v *ir.Value, made map[*ir.Value]*ir.Value) error {
	if made[v] != nil {
		return nil
	}
	n := v.Node()
	if n.Kind() == prim.Param || len(n.Blocks()) > 0 {
		return failf("the weight %%%s is made of more than the attributes of the module", v.Name())
	}
	for _, in := range n.Inputs() {
		if err := copyOrigin(g, in, made); err != nil {
			return err
		}
	}
	c := g.InsertNode(g.Clone(n, func(x *ir.Value) *ir.Value { return made[x] }))
	for i, out := range n.Outputs() {
		made[out] = c.Outputs()[i]
	}
	return nil
}
