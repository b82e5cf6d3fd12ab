package trace

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The kinds of nodes that an exact trace has beside operators.
const (
	// Operator is the attribute of conditions that are calls of cond.
	Operator = "operator"
	// Detached is the attribute of calls whose results no gradient goes through.
	Detached = "detached"
	// Guard is where the program has made a Python value of its input; the attribute "what" says which.
	Guard = "export::guard"
	// Check is where the program says that its input, a truth value, holds.
	Check = "export::check"
	// Map has a block that is applied to the items of its inputs.
	Map = "export::map"
	// While has a block that tells whether there is another turn, and one that a turn is; both take what the node is given.
	While = "export::while"
	// Scan has a block that is applied to what it has given and to the items of its inputs; the attribute "carried" says how many inputs
	// are given on.
	Scan = "export::scan"
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

// Check records that the program says that a truth value holds. It fails where that does not hold now.
func (r *Recorder) Check(t *tensor.Tensor, message string) error {
	v := r.values[t]
	if v == nil || t.Numel() != 1 {
		return source.Errorf(source.TypeError, source.Range{},
			"cond must be a bool, but got a tensor that no sizes or numbers of the program tell")
	}
	s, err := t.Item()
	if err != nil {
		return err
	}
	if s.Float64() == 0 {
		return source.Errorf(source.RuntimeError, source.Range{}, "%s", message)
	}
	r.g.InsertNode(r.g.Create(Check, []*ir.Value{v}, 0).SetRange(r.place()))
	return nil
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
	truth := r.g.InsertNode(r.g.Create(aten.Bool, []*ir.Value{in}, 1).SetRange(place)).Output().SetType(types.Bool)
	n := r.g.InsertNode(r.g.Create(prim.If, []*ir.Value{truth}, 0).SetRange(place).SetAttr(Operator, int64(1)))
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

// BeginWhile begins a loop by elements, and its first block, and returns the tensors that the program has in that for what it is given.
func (r *Recorder) BeginWhile(carried []*tensor.Tensor) ([]*tensor.Tensor, error) {
	n, err := r.control(While, carried)
	if err != nil {
		return nil, err
	}
	return r.beginBlock(n, carried)
}

// BeginScan begins a scan over the first dimension of tensors, and returns the tensors that the program has for what it carries and for
// the items.
func (r *Recorder) BeginScan(carried, over []*tensor.Tensor) ([]*tensor.Tensor, error) {
	n, err := r.control(Scan, append(slices.Clip(carried), over...))
	if err != nil {
		return nil, err
	}
	n.SetAttr("carried", int64(len(carried)))
	items := slices.Clone(carried)
	for _, t := range over {
		item, err := t.Select(0, 0)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return r.beginBlock(n, items)
}

// control adds a node of control flow.
func (r *Recorder) control(kind string, given []*tensor.Tensor) (*ir.Node, error) {
	place := r.place()
	n := r.g.Create(kind, nil, 0).SetRange(place)
	for _, t := range given {
		in, err := r.tensor(t, place)
		if err != nil {
			return nil, err
		}
		n.AddInput(in)
	}
	return r.g.InsertNode(n), nil
}

// beginBlock begins a block that takes tensors like the given ones, which it returns.
func (r *Recorder) beginBlock(n *ir.Node, like []*tensor.Tensor) ([]*tensor.Tensor, error) {
	b := n.AddBlock()
	var own []*tensor.Tensor
	for _, t := range like {
		copied, err := t.Detach().Clone(tensor.PreserveFormat)
		if err != nil {
			return nil, err
		}
		r.values[copied] = b.AddInput("").SetType(TypeOf(copied))
		own = append(own, copied)
	}
	r.g.SetInsertEnd(b)
	r.taken = own
	return own, nil
}

// EndBlock ends a block with its results. further begins the next block of the same node, and the tensors that the program has in that are
// returned; else the node ends, and those that it has for the results of the node.
func (r *Recorder) EndBlock(results []*tensor.Tensor, further bool) (out []*tensor.Tensor, err error) {
	b := r.g.InsertPoint().Block()
	if b.Owner() == nil || !slices.Contains([]string{Map, While, Scan, prim.If}, b.Owner().Kind()) {
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
	switch {
	case further && n.Kind() == While:
		return r.beginBlock(n, r.taken)
	case further:
		r.g.SetInsertEnd(n.AddBlock())
		return nil, nil
	}
	if next := n.Next(); next != nil {
		r.g.SetInsertPoint(next)
	} else {
		r.g.SetInsertEnd(n.Block())
	}
	for i, t := range results {
		own := t.Detach()
		if n.Kind() == Map || n.Kind() == Scan && i >= Carried(n) {
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

// mapped is the number of items that a map or a scan goes over.
func (r *Recorder) mapped(n *ir.Node) int {
	if t, ok := n.Input(len(n.Inputs()) - 1).Type().(*types.TensorInfo); ok && len(t.Sizes) > 0 {
		return t.Sizes[0]
	}
	return 1
}

// Element records that the program makes a number of a tensor's only element, and returns the tensor that the program has for it;
// nil where the element is no integer or float of the trace.
func (r *Recorder) Element(t *tensor.Tensor) *tensor.Tensor {
	v := r.values[t]
	if v == nil || !t.DType().IsIntegral() && !t.DType().IsFloating() || t.Numel() != 1 {
		return nil
	}
	s, err := t.Item()
	if err != nil {
		return nil
	}
	r.FixedSizes = false // the sizes of what follows may be this number
	kind := aten.Int
	if t.DType().IsFloating() {
		kind = aten.Float
	}
	n := r.g.InsertNode(r.g.Create(kind, []*ir.Value{v}, 1).SetRange(r.place()))
	if t.DType().IsFloating() {
		return r.floatTensor(n.Output(), s.Float64())
	}
	return r.numberTensor(n.Output(), int(s.Int64()))
}

// Carried returns how many results of a turn of a scan the next one takes.
func Carried(scan *ir.Node) int {
	v, _ := scan.Attr("carried")
	n, _ := v.(int64)
	return int(n)
}
