package fuse

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// mostNumbers is how many numbers a group takes.
const mostNumbers = 8

// Fuser is what the regions of one engine share.
type Fuser struct {
	disabled atomic.Bool // all nodes run one by one
	reasons  reasons
}

// SetEnabled says whether regions run as kernels. They do until it is called.
func (f *Fuser) SetEnabled(on bool) { f.disabled.Store(!on) }

// FastPath makes the operation that runs a region as one kernel.
func (f *Fuser) FastPath(n *ir.Node) interp.FastPath {
	r := &runner{fuser: f, node: n}
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
	fuser   *Fuser
	node    *ir.Node
	nodes   []*ir.Node
	results []*ir.Value
	tensors []bool                          // which inputs are tensors; the others are numbers
	known   kept[uint64, elementwise.Fused] // by types

	recorded kept[recordedKey, recorded]
	reducer  *reducer // that runs these nodes, or nil
}

// kinds is what a kernel is made for: element types and kinds of numbers, and the tensors through which gradients go.
type kinds struct {
	types uint64
	needs uint32
}

// reducer runs a group that ends with a reduction: as one kernel, or the elementwise nodes as one and the reduction behind it.
type reducer struct {
	*runner // of the elementwise nodes; its last result is what is reduced
	how     reduce.Reduction
	op      *ops.Operator
	operate autograd.Operation
	args    []value.Value                // of the reduction, but the first
	places  []int                        // which of the group's outputs the results are, the reduction's last
	reduced kept[uint64, reduce.Reduced] // by types
}

func newReducer(r *runner, n *ir.Node) *reducer {
	d := &reducer{runner: r, op: n.Operator(), operate: autograd.OperationOf(n.Operator())}
	r.reducer = d
	d.how.By, d.how.Mean = d.op.Def().Reduce, d.op.BaseName() == aten.Mean
	for i, a := range n.Operator().Schema().Arguments[1:] {
		c, _ := constant(n.Input(i + 1))
		d.args = append(d.args, c)
		switch {
		case a.Name == "keepdim":
			d.how.Keep = c.Bool()
		case a.Name == "dim" && !c.IsNone():
			for _, x := range c.List().Items {
				d.how.Dims = append(d.how.Dims, int(x.Int()))
			}
		}
	}
	var results []*ir.Value
	for i, v := range r.results {
		if v != n.Output() {
			results, d.places = append(results, v), append(d.places, i)
		}
	}
	d.places = append(d.places, slices.Index(r.results, n.Output()))
	r.nodes, r.results = r.nodes[:len(r.nodes)-1], append(results, n.Input(0))
	return d
}

// make finds out whether the group is one kernel for given types, and keeps the answer.
func (r *runner) make(key uint64, tensors []*tensor.Tensor, numbers []tensor.Scalar) *elementwise.Fused {
	fused, full := r.known.add(key, func() *elementwise.Fused {
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
func (r *runner) fuse(tensors []*tensor.Tensor, numbers []tensor.Scalar) (fused *elementwise.Fused, err error) {
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
	if err != nil {
		return err
	}
	defer a.Close()
	b, _, err := r.record(tensors, second)
	if err != nil {
		return err
	}
	defer b.Close()
	return make(recording{a, results, first}, recording{b, nil, second})
}

// recording is the nodes run on tensors without data.
type recording struct {
	*elementwise.Recorder
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
func (r *runner) record(tensors []*tensor.Tensor, numbers []tensor.Scalar) (rec *elementwise.Recorder, results []*tensor.Tensor, err error) {
	rec = elementwise.NewRecorder()
	defer func() {
		if err != nil {
			rec.Close()
		}
	}()
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

// makeReduced finds out whether the group is one kernel for given types, and keeps the answer.
func (d *reducer) makeReduced(key uint64, tensors []*tensor.Tensor, numbers []tensor.Scalar) *reduce.Reduced {
	reduced, _ := d.reduced.add(key, func() (reduced *reduce.Reduced) {
		err := d.recordTwice(tensors, numbers, func(a, b recording) error {
			f, err := a.Steps(len(tensors), a.numbers, b.Recorder, b.numbers)
			if err != nil {
				return err
			}
			var values []int
			for _, t := range a.results {
				v, ok := a.Number(t)
				if !ok || v < len(tensors) {
					return source.Errorf(source.RuntimeError, d.node.Range, "a result is not computed")
				}
				values = append(values, v)
			}
			last := len(values) - 1
			reduced, err = reduce.NewReduced(f, values[:last], values[last], d.how)
			return err
		})
		if err != nil {
			d.tell("the reduction runs alone: " + err.Error())
			return nil
		}
		return reduced
	})
	return reduced
}

// mostKinds bounds the keys of a kept.
const mostKinds = 16

// kept holds what was made for each of a few keys, combinations of types for example. To look something up takes no lock.
type kept[K comparable, V any] struct {
	mu  sync.Mutex
	all atomic.Pointer[[]keptValue[K, V]]
}

// keptValue is what was made for a key, nil where nothing can be.
type keptValue[K comparable, V any] struct {
	key  K
	made *V
}

// find returns what is kept for a key. ok is false where that is not known yet.
func (k *kept[K, V]) find(key K) (made *V, ok bool) {
	if all := k.all.Load(); all != nil {
		for i := range *all {
			if (*all)[i].key == key {
				return (*all)[i].made, true
			}
		}
	}
	return nil, false
}

// add makes what is kept for a key from now on, or returns what somebody else made meanwhile. full says that there are too many.
func (k *kept[K, V]) add(key K, make func() *V) (made *V, full bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if made, ok := k.find(key); ok {
		return made, false
	}
	var all []keptValue[K, V]
	if known := k.all.Load(); known != nil {
		all = append(all, *known...)
	}
	if len(all) == mostKinds {
		return nil, true
	}
	made = make()
	all = append(all, keptValue[K, V]{key, made})
	k.all.Store(&all)
	return made, false
}
