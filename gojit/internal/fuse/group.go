package fuse

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/plan"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// mostNumbers is how many numbers a group takes.
const mostNumbers = 8

// disabled says that all nodes run one by one.
var disabled atomic.Bool

// SetEnabled says whether groups run as kernels, for the whole process. They do until it is called.
func SetEnabled(on bool) { disabled.Store(!on) }

// Group makes the operation that runs a group as one kernel.
func Group(n *ir.Node) interp.Attempt {
	r := &runner{node: n}
	if plan.IsRegion(n) {
		return plan.Attempt(n, false, r.tell)
	}
	for _, v := range n.Inputs() {
		r.tensors = append(r.tensors, v.Type().Kind() == types.KindTensor)
	}
	body := n.Blocks()[0]
	r.nodes, r.results = body.Nodes(), body.Outputs()
	if last := body.Last(); last != nil && isReduction(last) && last.Input(0).Node().Block() == body {
		return newReducer(r, last).run
	}
	return r.run
}

// runner runs the elementwise nodes of a group. Its kernels are made when types are met for the first time.
type runner struct {
	node    *ir.Node
	nodes   []*ir.Node
	results []*ir.Value
	tensors []bool                   // which inputs are tensors; the others are numbers
	known   kept[uint64, aten.Fused] // by types

	recorded kept[recordedKey, recorded]
	reducer  *reducer // that runs these nodes, or nil
}

// kinds is what a kernel is made for: element types and kinds of numbers, and the tensors through which gradients go.
type kinds struct {
	types uint64
	needs uint32
}

// sorted puts the arguments behind tensors and numbers, which have room for them. ok is false where kernels cannot read them.
func (r *runner) sorted(m *autograd.Mode, args []value.Value, tensors []*tensor.Tensor, numbers []tensor.Scalar) (
	_ []*tensor.Tensor, _ []tensor.Scalar, k kinds, ok bool) {
	k.types = uint64(tensor.DefaultDType())
	for i, isTensor := range r.tensors {
		switch v := args[i]; {
		case isTensor:
			recorded, ok := plain(m, v)
			if !ok {
				if !v.IsTensor() || v.Tensor().Device().Type != tensor.Meta {
					r.tell("a tangent or another mode goes through them, or a tensor is not on the CPU")
				}
				return nil, nil, k, false
			}
			t := v.Tensor()
			if recorded {
				k.needs |= 1 << len(tensors)
			}
			tensors = append(tensors, t)
			k.types = k.types<<6 | uint64(t.DType())<<1
			if t.Dim() == 0 {
				k.types |= 1
			}
		case v.IsInt():
			numbers = append(numbers, tensor.Int(v.Int()))
			k.types = k.types<<1 | 1
		default:
			numbers = append(numbers, tensor.Float(v.Float()))
			k.types <<= 1
		}
	}
	return tensors, numbers, k, true
}

func (r *runner) run(m *autograd.Mode, args, out []value.Value) bool {
	var tensorRoom [aten.MostFused]*tensor.Tensor
	var numberRoom [mostNumbers]tensor.Scalar
	if disabled.Load() {
		return false
	}
	tensors, numbers, k, ok := r.sorted(m, args, tensorRoom[:0], numberRoom[:0])
	return ok && r.runOn(m, k, tensors, numbers, out)
}

// runOn runs the elementwise nodes.
func (r *runner) runOn(m *autograd.Mode, k kinds, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	if k.needs != 0 {
		return r.runRecorded(m, k, tensors, numbers, out)
	}
	fused, ok := r.known.find(k.types)
	if !ok {
		fused = r.make(k.types, tensors, numbers)
	}
	if fused == nil {
		return false
	}
	var results [aten.MostFused]*tensor.Tensor
	if !fused.Run(tensors, numbers, results[:len(out)]) {
		r.tell("their shapes or layouts are of more than two kinds")
		return false
	}
	for i := range out {
		out[i] = value.OfTensor(results[i])
	}
	return true
}

// tell notes why the nodes run one by one, for Explain and the log.
func (r *runner) tell(why string) {
	keep(r.node.Range, why)
	if logging {
		logf("%s: the nodes run one by one: %s", r.node.Range, why)
	}
}

// plain reports whether v is a tensor that kernels read as it is, and whether what is computed from it is recorded.
func plain(m *autograd.Mode, v value.Value) (recorded, ok bool) {
	if !v.IsTensor() || v.Tensor().Device().Type != tensor.CPU || m.IsCasting() {
		return false, false
	}
	return m.Groups(v.Tensor())
}

// make finds out whether the group is one kernel for given types, and keeps the answer.
func (r *runner) make(key uint64, tensors []*tensor.Tensor, numbers []tensor.Scalar) *aten.Fused {
	fused, full := r.known.add(key, func() *aten.Fused {
		fused, err := r.fuse(tensors, numbers)
		if err != nil {
			r.tell(err.Error())
			return nil
		}
		return fused
	})
	if full {
		r.tell("there are too many combinations of types")
	}
	return fused
}

// fuse makes the kernel.
func (r *runner) fuse(tensors []*tensor.Tensor, numbers []tensor.Scalar) (fused *aten.Fused, err error) {
	err = r.recordTwice(tensors, numbers, func(a, b recording) error {
		fused, err = a.Fuse(len(tensors), a.results, a.numbers, b.Recorder, b.numbers)
		return err
	})
	return fused, err
}

// recordTwice records the nodes with numbers that differ, and gives both recordings to make.
func (r *runner) recordTwice(tensors []*tensor.Tensor, numbers []tensor.Scalar, make func(a, b recording) error) error {
	first, second := likeNumbers(numbers, 1000003, 7), likeNumbers(numbers, 2000029, 11)
	a, results, err := r.record(tensors, first)
	defer a.Close()
	if err != nil {
		return err
	}
	b, _, err := r.record(tensors, second)
	defer b.Close()
	if err != nil {
		return err
	}
	return make(recording{a, results, first}, recording{b, nil, second})
}

// recording is the nodes run on tensors without data.
type recording struct {
	*aten.Recorder
	results []*tensor.Tensor
	numbers []tensor.Scalar
}

// likeNumbers returns numbers of the same kinds that nothing computes by chance.
func likeNumbers(numbers []tensor.Scalar, from, step int64) []tensor.Scalar {
	var like []tensor.Scalar
	for i, n := range numbers {
		x := from + int64(i)*step
		if n.Kind == tensor.IntScalar {
			like = append(like, tensor.Int(x))
		} else {
			like = append(like, tensor.Float(float64(x)+0.25))
		}
	}
	return like
}

// record runs the nodes of the group on tensors without data.
func (r *runner) record(tensors []*tensor.Tensor, numbers []tensor.Scalar) (*aten.Recorder, []*tensor.Tensor, error) {
	rec := aten.NewRecorder()
	var inputs []*tensor.Tensor
	for _, t := range tensors {
		in, err := rec.Input(t.DType(), t.Dim() == 0)
		if err != nil {
			return rec, nil, err
		}
		inputs = append(inputs, in)
	}
	env := r.environment(inputs, numbers)
	for _, n := range r.nodes {
		t, err := rec.Apply(n.Operator(), arguments(env, n))
		if err != nil {
			return rec, nil, err
		}
		env[n.Output()] = value.OfTensor(t)
	}
	var results []*tensor.Tensor
	for _, v := range r.results {
		results = append(results, env[v].Tensor())
	}
	return rec, results, nil
}

// environment says what the inputs of the group are.
func (r *runner) environment(tensors []*tensor.Tensor, numbers []tensor.Scalar) map[*ir.Value]value.Value {
	env := map[*ir.Value]value.Value{}
	for i, v := range r.node.Inputs() {
		switch {
		case r.tensors[i]:
			env[v], tensors = value.OfTensor(tensors[0]), tensors[1:]
		case numbers[0].Kind == tensor.IntScalar:
			env[v], numbers = value.Int(numbers[0].Int64()), numbers[1:]
		default:
			env[v], numbers = value.Float(numbers[0].Float64()), numbers[1:]
		}
	}
	return env
}

// arguments are the values of a node's inputs.
func arguments(env map[*ir.Value]value.Value, n *ir.Node) []value.Value {
	args := make([]value.Value, len(n.Inputs()))
	for i, v := range n.Inputs() {
		arg, ok := env[v]
		if !ok {
			arg, _ = v.Constant()
		}
		args[i] = arg
	}
	return args
}
