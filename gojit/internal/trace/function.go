package trace

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tracedFunction is the kind of a node whose block records what a function of the host does that has a gradient of its own, while it runs.
const tracedFunction = "trace::function"

// HostFunction is a function of the host that a trace calls as a whole.
type HostFunction struct {
	Name, Module string
	Convention   string      // of its arguments, d for a tensor and c for what is not given again
	Constants    string      // the texts of the latter
	Target       value.Value // what is called with the tensors alone
}

// BeginFunction begins the call of a function that has a gradient of its own; what follows is recorded as its body. DropFork ends one that failed.
func (r *Recorder) BeginFunction(inputs []*tensor.Tensor) error {
	n := r.g.Create(tracedFunction, nil, 0).SetRange(r.place())
	for _, t := range inputs {
		v, err := r.tensor(t, n.Range)
		if err != nil {
			return err
		}
		n.AddInput(v)
	}
	r.g.InsertNode(n)
	r.g.SetInsertEnd(n.AddBlock())
	r.forks = append(r.forks, &fork{node: n, scopes: len(r.scopes)})
	return nil
}

// EndFunction makes the call that began last a prim::PythonOp, which calls the function again; its Subgraph has the operators that the function
// called, where these read nothing but its tensors.
func (r *Recorder) EndFunction(f HostFunction, results []*tensor.Tensor) error {
	if len(r.forks) == 0 || len(r.scopes) != r.forks[len(r.forks)-1].scopes {
		return source.Errorf(source.RuntimeError, source.Range{}, "no function is being traced")
	}
	running := r.forks[len(r.forks)-1]
	region := running.node
	inputs := slices.Clone(region.Inputs())
	inPlace := int64(0)
	var items []value.Value
	for _, t := range results {
		v, err := r.tensor(t, region.Range)
		if err != nil {
			return err
		}
		if slices.Contains(inputs, v) || slices.ContainsFunc(running.former, func(f formerValue) bool { return f.tensor == t && f.value != nil }) {
			inPlace = 1
		}
		region.Blocks()[0].AddOutput(v)
		items = append(items, value.OfTensor(t))
	}
	body := functionBody(region)
	r.leaveFork()
	n := r.g.Create(prim.PythonOp, inputs, 1).SetRange(region.Range).SetAttr("name", f.Name).SetAttr("target", f.Target)
	n.SetAttr("cconv", f.Convention).SetAttr("constants", f.Constants).SetAttr("inplace", inPlace).SetAttr("module", f.Module)
	if body != nil {
		n.SetAttr("Subgraph", body)
	}
	region.Destroy()
	r.g.InsertNode(n)
	for _, t := range results {
		delete(r.hidden, t)
	}
	if len(items) == 1 {
		r.setValue(items[0], n.Output().SetType(types.Tensor))
		return nil
	}
	result := &types.Tuple{}
	for _, t := range results {
		result.Elems = append(result.Elems, TypeOf(t))
	}
	r.setValue(value.OfTuple(value.NewTuple(items...)), n.Output().SetType(result))
	return nil
}

// functionBody makes a graph of a block that reads the inputs of its node; nil where it reads more, or has calls of modules in it.
func functionBody(region *ir.Node) *ir.Graph {
	g := ir.NewGraph()
	env := map[*ir.Value]*ir.Value{}
	for _, in := range region.Inputs() {
		if env[in] == nil {
			env[in] = g.AddInput("").CopyMetadata(in)
		} else {
			g.AddInput("").CopyMetadata(in)
		}
	}
	closed := !slices.ContainsFunc(region.Blocks()[0].Nodes(), isRegion)
	g.Block().CloneFrom(region.Blocks()[0], func(v *ir.Value) *ir.Value {
		if env[v] == nil {
			closed = false
			env[v] = g.AddInput("").CopyMetadata(v)
		}
		return env[v]
	})
	if !closed {
		return nil
	}
	return g
}
