package plan

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// region runs the group of a node.
type region struct {
	program *program
	exact   bool
	images  []bool // which inputs are images: what is not the weight of anything
	tell    func(why string)
	room    sync.Pool // of *execution

	mu    sync.Mutex
	known atomic.Pointer[[]planned]
	plans map[string]*Plan // by their texts
}

// planned is the plan for some shapes of the inputs, nil where there is none.
type planned struct {
	shapes [][]int
	plan   *Plan
}

// mostPlanned bounds the shapes whose plans a region knows at once; finding a plan out again takes tens of microseconds.
const mostPlanned = 16

// planFor returns the plan for the tensors of a run, nil where there is none.
func (r *region) planFor(x *execution) *Plan {
	if known := r.known.Load(); known != nil {
		for i := range *known {
			if (*known)[i].isFor(x) {
				return (*known)[i].plan
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.program
	made := planned{shapes: make([][]int, p.inputs)}
	for i, t := range x.values[:p.inputs] {
		if t != nil {
			made.shapes[i] = slices.Clone(t.Shape())
		}
	}
	if shapes, err := p.shapesOf(x.values); err == nil {
		made.plan = p.build(shapes, r.exact)
		text := made.plan.String()
		if same := r.plans[text]; same != nil {
			made.plan = same
		} else if len(r.plans) < mostPlanned {
			r.plans[text] = made.plan
		}
	}
	all := []planned{made}
	if known := r.known.Load(); known != nil {
		all = append(all, (*known)[:min(len(*known), mostPlanned-1)]...)
	}
	r.known.Store(&all)
	return made.plan
}

// isFor reports whether the tensors of a run have the shapes of a plan.
func (p *planned) isFor(x *execution) bool {
	for i, shape := range p.shapes {
		t := x.values[i]
		if (t == nil) != (shape == nil) || t != nil && !tensor.SameShape(t.Shape(), shape) {
			return false
		}
	}
	return true
}

// execution is one run of a plan.
type execution struct {
	values []*tensor.Tensor
	own    []bool // of values: tensors that this run has made
}

// Attempt makes the operation that runs a region, nil where it has no plan. tell hears why a call ran the nodes one by one. Where the weights
// of all convolutions are constants, as in frozen modules, those of 3 by 3 may take fewer multiplications at an error up to 2e-5 of the
// largest result.
func Attempt(n *ir.Node, tell func(why string)) interp.Attempt {
	p, ok := newProgram(n)
	if !ok {
		tell("a result may be the tensor of another one or of an argument, which a plan does not keep so")
		return nil
	}
	r := &region{program: p, exact: !p.hasConstantWeights(), images: make([]bool, p.inputs), tell: tell, plans: map[string]*Plan{}}
	for i := range p.nodes {
		for k, v := range p.nodes[i].refs {
			if v >= 0 && v < p.inputs && (k == 0 || p.nodes[i].kind == pointwise) {
				r.images[v] = true
			}
		}
	}
	r.room.New = func() any { return &execution{values: make([]*tensor.Tensor, p.values), own: make([]bool, p.values)} }
	return r.run
}

// run is an interp.Attempt.
func (r *region) run(m *autograd.Mode, args, out []value.Value) bool {
	if m.IsCasting() {
		r.tell("autocast is on")
		return false
	}
	x := r.room.Get().(*execution)
	defer r.recycle(x)
	last, known := false, false
	for i, v := range args {
		if !v.IsTensor() {
			continue // None for an optional tensor
		}
		t := v.Tensor()
		recorded, ok := m.Groups(t)
		if recorded || !ok || t.Device().Type != tensor.CPU || t.IsSparse() {
			r.tell("a gradient is wanted, or a tensor is none of plain elements on the CPU")
			return false
		}
		x.values[i] = t
		if !r.images[i] {
			continue
		}
		if t.DType() != tensor.Float32 || t.Dim() != 4 || t.Numel() == 0 {
			r.tell("an image is not one of float32 in four dimensions")
			return false
		}
		isLast := !t.IsContiguous() && t.IsContiguousFormat(tensor.ChannelsLast)
		if known && isLast != last {
			r.tell("images lie in different ways")
			return false
		}
		last, known = isLast, true
	}
	for i, t := range r.program.constants {
		if recorded, ok := m.Groups(t); recorded || !ok {
			r.tell("a gradient is wanted")
			return false
		}
		x.values[r.program.inputs+i] = t
	}
	plan := r.planFor(x)
	if plan == nil {
		r.tell("the shapes are none that plans take")
		return false
	}
	if err := r.compute(plan, x, last, out); err != nil {
		r.tell("others may write the weights unseen, or they are none that plans take")
		clear(out)
		return false
	}
	return true
}

// compute runs the steps.
func (r *region) compute(plan *Plan, x *execution, last bool, out []value.Value) (err error) {
	for i, isImage := range r.images {
		if t := x.values[i]; isImage && t != nil && !t.IsContiguousFormat(tensor.ChannelsLast) {
			if x.values[i], err = t.Clone(tensor.ChannelsLast); err != nil {
				return err
			}
			x.own[i] = true
		}
	}
	for i, s := range plan.steps {
		if err := s.run(x); err != nil {
			return err
		}
		x.own[s.gives()] = true
		for _, v := range plan.free[i] {
			x.release(v)
		}
	}
	for i, v := range r.program.outputs {
		t := x.values[v]
		if !last && !t.IsContiguous() {
			if t, err = t.Clone(tensor.ContiguousFormat); err != nil {
				return err
			}
		} else {
			shown := contiguousAs(t, last)
			if shown == t {
				x.values[v], x.own[v] = nil, false
			}
			t = shown
		}
		out[i] = value.OfTensor(t)
	}
	return nil
}

// contiguousAs returns an image that lies as both formats would have it, with the strides of one of them.
func contiguousAs(t *tensor.Tensor, last bool) *tensor.Tensor {
	if last || !t.IsContiguous() {
		return t
	}
	strides, step := make([]int, t.Dim()), 1
	for d := t.Dim() - 1; d >= 0; d-- {
		strides[d] = step
		step *= max(t.Size(d), 1)
	}
	v, err := tensor.FromStorage(t.Storage(), 0, t.Shape(), strides, t.DType())
	if err != nil {
		return t
	}
	return v
}

// release gives the memory of a value back.
func (x *execution) release(v int) {
	if x.own[v] && x.values[v] != nil {
		x.values[v].Release()
		x.values[v], x.own[v] = nil, false
	}
}

// recycle gives back what a run still has.
func (r *region) recycle(x *execution) {
	for v := range x.values {
		x.release(v)
	}
	clear(x.values)
	clear(x.own)
	r.room.Put(x)
}
