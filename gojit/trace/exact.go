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

// BeginMap begins a map over tensors; items are the tensors that the program has for their items.
func (r *Recorder) BeginMap(over, items []*tensor.Tensor) error {
	place := r.place()
	n := r.g.Create(Map, nil, 0).SetRange(place)
	for _, t := range over {
		in, err := r.tensor(t, place)
		if err != nil {
			return err
		}
		n.AddInput(in)
	}
	r.g.InsertNode(n)
	b := n.AddBlock()
	for _, t := range items {
		r.values[t] = b.AddInput("").SetType(TypeOf(t))
	}
	r.g.SetInsertEnd(b)
	return nil
}

// EndBlock ends a block with its results. further begins the next block of the same node; else the node ends, and out are the tensors that
// the program has for its results. It fails where a result is none of the trace's.
func (r *Recorder) EndBlock(results []*tensor.Tensor, further bool, out []*tensor.Tensor) error {
	b := r.g.InsertPoint().Block()
	if b.Owner() == nil || b.Owner().Kind() != Map && b.Owner().Kind() != "prim::If" {
		return source.Errorf(source.RuntimeError, source.Range{}, "no control flow is being recorded")
	}
	for _, t := range results {
		v, err := r.tensor(t, r.place())
		if err != nil {
			return err
		}
		b.AddOutput(v)
	}
	n := b.Owner()
	if further {
		r.g.SetInsertEnd(n.AddBlock())
		return nil
	}
	if next := n.Next(); next != nil {
		r.g.SetInsertPoint(next)
	} else {
		r.g.SetInsertEnd(n.Block())
	}
	for _, t := range out {
		r.values[t] = n.AddOutput().SetType(TypeOf(t))
	}
	return nil
}
