package trace

import (
	"torchjit/gojit/ir"
	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
	"torchjit/gojit/types"
	"torchjit/gojit/value"
)

// The kinds of nodes that an exact trace has beside operators.
const (
	// Guard is where the program has made a Python value of its input; the attribute "what" says which.
	Guard = "export::guard"
	// Map has a block that is applied to the items of its inputs.
	Map = "export::map"
)

// Bind adds an input of an exact trace. A tensor is the one that the program has; anything else is no part of the trace.
func (r *Recorder) Bind(name string, v value.Value) *ir.Value {
	in := r.g.AddInput(name)
	r.examples = append(r.examples, v)
	if v.IsTensor() {
		in.SetType(TypeOf(v.Tensor()))
		if r.values[v.Tensor()] == nil {
			r.values[v.Tensor()] = in
		}
	}
	return in
}

// Example returns what Bind was given for an input.
func (r *Recorder) Example(i int) value.Value { return r.examples[i] }

// lift makes a tensor from outside an input.
func (r *Recorder) lift(t *tensor.Tensor) *ir.Value {
	r.Lifted = append(r.Lifted, t)
	v := r.g.AddInput("").SetType(TypeOf(t))
	r.values[t] = v
	return v
}

// Observe records that the program makes a Python value of a tensor.
func (r *Recorder) Observe(t *tensor.Tensor, what string) {
	if v := r.values[t]; v != nil {
		r.g.InsertNode(r.g.Create(Guard, []*ir.Value{v}, 0).SetRange(r.place()).SetAttr("what", what))
	}
}

// FinishExact ends an exact trace with what the program returns, and returns the graph.
func (r *Recorder) FinishExact(results []value.Value) (*ir.Graph, error) {
	for _, x := range results {
		v, err := r.valueOf(x, r.place())
		if err != nil {
			return nil, err
		}
		r.g.AddOutput(v)
	}
	return r.g, ir.Verify(r.g)
}

// BeginIf begins a condition by a tensor, and its first block.
func (r *Recorder) BeginIf(predicate *tensor.Tensor) error {
	place := r.place()
	in, err := r.tensor(predicate, place)
	if err != nil {
		return err
	}
	truth := r.g.InsertNode(r.g.Create("aten::Bool", []*ir.Value{in}, 1).SetRange(place)).Output().SetType(types.Bool)
	n := r.g.InsertNode(r.g.Create("prim::If", []*ir.Value{truth}, 0).SetRange(place))
	r.g.SetInsertEnd(n.AddBlock())
	return nil
}

// BeginMap begins a map over the first dimension of tensors, and returns the tensors that the program has for their items.
func (r *Recorder) BeginMap(over []*tensor.Tensor) (items []*tensor.Tensor, err error) {
	place := r.place()
	n := r.g.Create(Map, nil, 0).SetRange(place)
	for _, t := range over {
		in, err := r.tensor(t, place)
		if err != nil {
			return nil, err
		}
		n.AddInput(in)
		item, err := t.Select(0, 0)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	r.g.InsertNode(n)
	b := n.AddBlock()
	for _, t := range items {
		r.values[t] = b.AddInput("").SetType(TypeOf(t))
	}
	r.g.SetInsertEnd(b)
	return items, nil
}

// EndBlock ends a block with its results. further begins the next block of the same node; else the node ends, and the tensors that the
// program has for its results are returned.
func (r *Recorder) EndBlock(results []*tensor.Tensor, further bool) (out []*tensor.Tensor, err error) {
	b := r.g.InsertPoint().Block()
	if b.Owner() == nil || b.Owner().Kind() != Map && b.Owner().Kind() != "prim::If" {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "no control flow is being recorded")
	}
	for _, t := range results {
		v, err := r.tensor(t, r.place())
		if err != nil {
			return nil, err
		}
		b.AddOutput(v)
	}
	n := b.Owner()
	if further {
		r.g.SetInsertEnd(n.AddBlock())
		return nil, nil
	}
	if next := n.Next(); next != nil {
		r.g.SetInsertPoint(next)
	} else {
		r.g.SetInsertEnd(n.Block())
	}
	for _, t := range results {
		own := t.Detach()
		if n.Kind() == Map {
			shape := append([]int{r.mapped(n)}, t.Shape()...)
			if own, err = tensor.Zeros(shape, t.DType()); err != nil {
				return nil, err
			}
		}
		r.values[own] = n.AddOutput().SetType(TypeOf(own))
		out = append(out, own)
	}
	return out, nil
}

// mapped is the number of items that a map goes over.
func (r *Recorder) mapped(n *ir.Node) int {
	if t, ok := n.Input(0).Type().(*types.TensorInfo); ok && len(t.Sizes) > 0 {
		return t.Sizes[0]
	}
	return 1
}

// Element records that the program makes an integer of a tensor's only element, and returns the tensor that the program has for it;
// nil where the element is no integer of the trace.
func (r *Recorder) Element(t *tensor.Tensor) *tensor.Tensor {
	v := r.values[t]
	if v == nil || !t.DType().IsIntegral() || t.Numel() != 1 {
		return nil
	}
	s, err := t.Item()
	if err != nil {
		return nil
	}
	n := r.g.InsertNode(r.g.Create("aten::Int", []*ir.Value{v}, 1).SetRange(r.place()))
	return r.numberTensor(n.Output(), int(s.Int64()))
}
