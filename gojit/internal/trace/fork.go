package trace

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A fork is a forked call that is running. What it writes and makes is known inside alone: outside, tensors are the values that they were.
type fork struct {
	node   *ir.Node
	scopes int // those that were open when the call began
	former []formerValue
}

// formerValue is the value that a tensor was when a forked call gave it another; nil where it was none.
type formerValue struct {
	tensor *tensor.Tensor
	value  *ir.Value
}

// become makes a tensor a value of the graph until the forked call that is running ends.
func (r *Recorder) become(t *tensor.Tensor, v *ir.Value) {
	if n := len(r.forks); n > 0 {
		r.forks[n-1].former = append(r.forks[n-1].former, formerValue{t, r.values[t]})
	}
	r.values[t] = v
}

// BeginFork begins a forked call; what follows is recorded as its body.
func (r *Recorder) BeginFork() {
	n := r.g.InsertNode(r.g.Create(tracedFork, nil, 1))
	r.g.SetInsertEnd(n.AddBlock())
	r.forks = append(r.forks, &fork{node: n, scopes: len(r.scopes)})
}

// EndFork ends the forked call that began last, and returns the future of its result. It fails on a result that a trace cannot follow.
func (r *Recorder) EndFork(result value.Value) (*value.Future, error) {
	if len(r.forks) == 0 || len(r.scopes) != r.forks[len(r.forks)-1].scopes {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "no forked call is being traced")
	}
	f := r.forks[len(r.forks)-1]
	out, err := r.forkResult(result)
	if err != nil {
		return nil, err
	}
	f.node.Blocks()[0].AddOutput(out)
	r.leaveFork()
	future := value.NewFuture(value.TypeOf(result))
	future.Complete(result, nil)
	r.futures[future] = f.node.Output().SetType(&types.Future{Elem: out.Type()})
	return future, nil
}

// DropFork ends the forked call that began last without a result: it has failed. The trace has nothing of it.
func (r *Recorder) DropFork() {
	if n := len(r.forks); n > 0 {
		node := r.forks[n-1].node
		r.leaveFork()
		node.Destroy()
	}
}

// leaveFork goes on behind the forked call that began last.
func (r *Recorder) leaveFork() {
	f := r.forks[len(r.forks)-1]
	r.forks = r.forks[:len(r.forks)-1]
	for i := len(f.former) - 1; i >= 0; i-- {
		r.restore(f.former[i])
	}
	if next := f.node.Next(); next != nil {
		r.g.SetInsertPoint(next)
	} else {
		r.g.SetInsertEnd(f.node.Block())
	}
}

// forkResult returns the value of what a forked call returned.
func (r *Recorder) forkResult(result value.Value) (*ir.Value, error) {
	if result.IsNone() {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "Tracer cannot set value trace for type None. Supported types are tensor, tensor list, and tuple of tensors.")
	}
	if err := checkTraced(result); err != nil {
		return nil, err
	}
	return r.valueOf(result, source.Range{})
}

func (r *Recorder) restore(f formerValue) {
	if f.value != nil {
		r.values[f.tensor] = f.value
		return
	}
	delete(r.values, f.tensor)
	if r.hidden == nil {
		r.hidden = map[*tensor.Tensor]bool{}
	}
	r.hidden[f.tensor] = true
}

// sees reports whether what is recorded now may use a value: no forked call that it was made in has ended.
func (r *Recorder) sees(v *ir.Value) bool {
	around := map[*ir.Block]bool{}
	for b := r.g.InsertPoint().Block(); ; b = b.Owner().Block() {
		around[b] = true
		if b.Owner() == nil {
			break
		}
	}
	for b := v.Node().Block(); !around[b]; b = b.Owner().Block() {
		if b.Owner().Kind() == tracedFork {
			return false
		}
	}
	return true
}

// liftRegions makes the blocks of forwards methods, and those of forked calls the bodies of forks.
func (r *Recorder) liftRegions() {
	graphs := map[*ir.Node]*ir.Graph{}
	blocksToGraphs(r.g.Block(), graphs)
	r.callMethods(r.g, graphs)
}

// forkBody makes the graph of a forked call a body: what LowerSimpleTuples and the like do for functions is done for it here.
func (r *Recorder) forkBody(n *ir.Node, graphs map[*ir.Node]*ir.Graph) {
	body := graphs[n]
	r.callMethods(body, graphs)
	passes.LowerSimpleTuples(body)
	dropDeadWrites(body)
	passes.NormalizeOps(body)
	graphs[n] = body.Copy() // with numbers of its own
}

// callFork makes the node of a forked call a prim::fork.
func callFork(n *ir.Node, body *ir.Graph) {
	fork := n.Graph().Create(prim.Fork, n.Inputs(), 1).SetRange(n.Range).SetAttr("Subgraph", body).InsertBefore(n)
	fork.Output().SetType(n.Output().Type())
	n.Output().ReplaceAllUsesWith(fork.Output())
	n.Destroy()
}
