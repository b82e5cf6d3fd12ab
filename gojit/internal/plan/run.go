package plan

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Region runs the group of a node.
type Region struct {
	program *program
	exact   bool
	tell    func(why string)
	cache   weightCache
	rooms   sync.Pool // of *given

	reasonsMu sync.Mutex
	reasons   []string // why calls ran the nodes one by one

	mu    sync.Mutex
	known atomic.Pointer[[]planned]
	last  atomic.Pointer[Plan]   // that a call ran
	times atomic.Pointer[timing] // nil where nobody asks
}

// planned is the plan for some arguments; where there is none, why.
type planned struct {
	key     uint64
	shapes  []argument
	numbers []value.Value
	plan    *Plan
	why     string
}

// argument is what plans depend on of a tensor.
type argument struct {
	shape, strides []int
	dtype          tensor.DType
	isThere        bool
}

// mostPlanned bounds the plans that a region keeps: those of the sizes that it met last.
const mostPlanned = 64

// NewRegion returns what runs a region, nil where it has no plan. Regions share weights; tell hears why a call, or every call, runs the nodes one by one. Where the weights
// of all convolutions are constants, as in frozen modules, those of 3 by 3 may take fewer multiplications at an error up to 2e-5 of the
// largest result.
func NewRegion(n *ir.Node, weights *Weights, tell func(why string)) *Region {
	p, why := newProgram(n)
	if p == nil {
		tell(why)
		return nil
	}
	r := &Region{program: p, exact: !p.hasConstantWeights(), cache: weightCache{all: weights}}
	r.tell = func(why string) { r.note(why); tell(why) }
	r.rooms.New = func() any {
		return &given{tensors: make([]*tensor.Tensor, p.inputs+len(p.constants)), numbers: make([]value.Value, p.inputs)}
	}
	return r
}

var _ interp.FastPath = (*Region)(nil).Run

// Run is an interp.FastPath.
func (r *Region) Run(m *autograd.Mode, args, out []value.Value) bool {
	in := r.rooms.Get().(*given)
	defer r.recycle(in)
	if why := r.read(m, args, in); why != "" {
		r.tell(why)
		return false
	}
	found := r.planFor(in)
	if found.plan == nil {
		r.tell(found.why)
		return false
	}
	x := found.plan.room.take(found.plan)
	defer found.plan.room.put(x)
	if err := x.run(m, in, out, r.times.Load()); err != nil {
		clear(out)
		r.tell(reasonOf(err))
		return false
	}
	r.last.Store(found.plan)
	return true
}

// read takes the arguments of a call; it returns why there is no plan for such, or "".
func (r *Region) read(m *autograd.Mode, args []value.Value, in *given) string {
	if m.IsCasting() {
		return "autocast is on"
	}
	for i, v := range args {
		if !v.IsTensor() {
			if v.Kind() == value.KindList && slices.ContainsFunc(v.List().Items, func(item value.Value) bool { return !item.IsTensor() || !isPlainTensor(m, item.Tensor()) }) {
				return notPlain
			}
			in.numbers[i] = v
			continue
		}
		if !isPlainTensor(m, v.Tensor()) {
			return notPlain
		}
		in.tensors[i] = v.Tensor()
	}
	for i, t := range r.program.constants {
		if recorded, ok := m.Groups(t); recorded || !ok {
			return "a gradient is wanted"
		}
		in.tensors[r.program.inputs+i] = t
	}
	return ""
}

const notPlain = "a gradient is wanted, or a tensor is none of plain elements on the CPU"

// isPlainTensor reports whether plans may read a tensor in a mode.
func isPlainTensor(m *autograd.Mode, t *tensor.Tensor) bool {
	recorded, ok := m.Groups(t)
	return ok && !recorded && t.Device().Type == tensor.CPU && !t.IsSparse() && t.Lengths() == nil
}

func (r *Region) recycle(in *given) {
	clear(in.tensors)
	clear(in.numbers)
	r.rooms.Put(in)
}

// reasonOf returns why a call was not planned.
func reasonOf(err error) string {
	var why unplanned
	if errors.As(err, &why) {
		return string(why)
	}
	return "an operator refuses its arguments: " + err.Error()
}

// planFor returns the plan for the arguments of a call, or why there is none.
func (r *Region) planFor(in *given) *planned {
	key := r.keyOf(in)
	if found := r.find(key, in); found != nil {
		return found
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.find(key, in); found != nil {
		return found
	}
	made := planned{key: key, shapes: make([]argument, r.program.inputs), numbers: slices.Clone(in.numbers)}
	for i, t := range in.tensors[:r.program.inputs] {
		if t != nil {
			made.shapes[i] = argument{slices.Clone(t.Shape()), slices.Clone(t.Strides()), t.DType(), true}
		}
	}
	for i, v := range made.numbers {
		if v.Kind() == value.KindList { // of which only the length counts
			made.numbers[i] = value.Int(int64(len(v.List().Items)))
		}
	}
	plan, err := r.program.plan(*in, r.exact, &r.cache)
	if made.plan = plan; err != nil {
		made.plan, made.why = nil, reasonOf(err)
	}
	all := []planned{made}
	if known := r.known.Load(); known != nil {
		all = append(all, (*known)[:min(len(*known), mostPlanned-1)]...)
	}
	r.known.Store(&all)
	return &all[0]
}

// find returns what is known for the arguments of a call, nil where nothing is.
func (r *Region) find(key uint64, in *given) *planned {
	known := r.known.Load()
	if known == nil {
		return nil
	}
	for i := range *known {
		if p := &(*known)[i]; p.key == key && p.isFor(in) {
			return p
		}
	}
	return nil
}

// keyOf mixes what plans depend on of the arguments of a call.
func (r *Region) keyOf(in *given) uint64 {
	key := uint64(14695981039346656037)
	mix := func(n int) { key = (key ^ uint64(n)) * 1099511628211 }
	for i, t := range in.tensors[:r.program.inputs] {
		if t == nil {
			if v := in.numbers[i]; v.IsInt() {
				mix(int(v.Int()))
			}
			continue
		}
		for d, n := range t.Shape() {
			mix(n)
			mix(t.Strides()[d])
		}
	}
	return key
}

// isFor reports whether the arguments of a call are those that a plan was made for.
func (p *planned) isFor(in *given) bool {
	for i := range p.shapes {
		a, t := &p.shapes[i], in.tensors[i]
		switch {
		case (t != nil) != a.isThere:
			return false
		case t == nil:
			if !sameNumber(in.numbers[i], p.numbers[i]) {
				return false
			}
		case t.DType() != a.dtype || !tensor.SameShape(t.Shape(), a.shape) || !tensor.SameShape(t.Strides(), a.strides):
			return false
		}
	}
	return true
}

// sameNumber reports whether an argument that is no tensor is one that a plan was made for.
func sameNumber(a, b value.Value) bool {
	switch {
	case a.Kind() == value.KindList:
		return b.IsInt() && int(b.Int()) == len(a.List().Items)
	case a.Kind() != b.Kind():
		return false
	case a.IsInt():
		return a.Int() == b.Int()
	case a.IsBool():
		return a.Bool() == b.Bool()
	case a.IsFloat():
		return a.Float() == b.Float()
	}
	return a.IsNone()
}

// frame is one run of a plan: its values as tensors. Frames are used again.
type frame struct {
	plan     *Plan
	given    *given // of the call
	arena    tensor.Arena
	values   []*tensor.Tensor // nil for what is no tensor
	targeted []int            // values that are views of what a call brings, or of its results
	step     int              // that runs
	packed   []*packed        // the weights that were made of what the call brings, by slot: in the order in which steps read them
	ahead    conv.Ahead       // of them, what the running step fetches
	operands [tensor.MaxOperands]*tensor.Tensor
	rowRoom  [6]launch.Row
}

// framePool keeps frames of a plan.
type framePool struct{ pool sync.Pool }

func (f *framePool) take(p *Plan) *frame {
	if x, ok := f.pool.Get().(*frame); ok {
		return x
	}
	return newFrame(p)
}

func (f *framePool) put(x *frame) { f.pool.Put(x) }

func newFrame(p *Plan) *frame {
	x := &frame{plan: p, values: make([]*tensor.Tensor, len(p.facts)), packed: make([]*packed, p.weights)}
	for v := range p.facts {
		f := &p.facts[v]
		if f.logical == nil || p.program.isGiven(v) || p.isResultInPlace(v) {
			continue
		}
		t := f.physical
		if p.isBrought(f.root) {
			x.values[v] = x.arena.Tensor(0, t.Shape(), t.Strides(), t.DType())
			x.targeted = append(x.targeted, v)
			continue
		}
		if at := p.memory.offsets[f.root]; at >= 0 {
			x.values[v] = x.arena.Tensor(at/t.DType().Size()+t.Offset(), t.Shape(), t.Strides(), t.DType())
		}
	}
	return x
}

// isBrought reports whether the memory of a value comes with a call, or leaves with its result.
func (p *Plan) isBrought(v int) bool { return p.program.isGiven(v) || p.isResultInPlace(v) }

// run computes the results.
func (x *frame) run(m *autograd.Mode, in *given, out []value.Value, times *timing) (err error) {
	p := x.plan
	if err := x.arena.Open(p.memory.size); err != nil {
		return err
	}
	defer x.end(&err)
	x.given = in
	copy(x.values, in.tensors)
	for _, s := range p.packing { // where weights cannot be packed, no step runs
		if x.packed[s.slot], err = s.packedFor(x); err != nil {
			return err
		}
	}
	for _, r := range p.results {
		if !r.isCopied {
			if x.values[r.value], err = tensor.EmptyStrided(r.shape, r.strides, r.dtype); err != nil {
				return err
			}
		}
	}
	for _, v := range x.targeted {
		f := &p.facts[v]
		x.values[v].Target(x.values[f.root], f.physical.Offset()-p.facts[f.root].physical.Offset())
	}
	watched := times != nil || autograd.IsProfiling()
	for i, s := range p.steps {
		x.step = i
		if watched {
			err = x.runWatched(m, s, times)
		} else {
			err = s.run(x)
		}
		if err != nil {
			return err
		}
	}
	for i, r := range p.results {
		t := x.values[r.value]
		if r.isCopied {
			if t, err = tensor.EmptyStrided(r.shape, r.strides, r.dtype); err != nil {
				return err
			}
			if err := tensor.Copy(t, x.values[r.value]); err != nil {
				return err
			}
		}
		out[i] = value.OfTensor(t)
	}
	return nil
}

// end gives the memory of a run back, and that of its results where it failed.
func (x *frame) end(err *error) {
	p := x.plan
	for _, r := range p.results {
		if r.isCopied {
			continue
		}
		if t := x.values[r.value]; *err != nil && t != nil {
			t.Release()
		}
		x.values[r.value] = nil
	}
	for _, v := range x.targeted {
		x.values[v].Untarget()
	}
	clear(x.values[:p.program.inputs+len(p.program.constants)])
	clear(x.packed)
	x.given = nil
	x.arena.Close()
}

// behind returns the weights that are read next after those of a step, which fetches them; nil where there are none that a call brings.
func (x *frame) behind(s *convStep) *conv.Ahead {
	for _, p := range x.packed[s.slot+1:] {
		switch {
		case p == nil:
			continue
		case p.few != nil:
			x.ahead = conv.AheadOf(p.few.Packed())
		case p.plan != nil:
			x.ahead = p.plan.Weights()
		default: // those of channels are few
			continue
		}
		return &x.ahead
	}
	return nil
}

// room returns the memory that the running step needs besides its arguments and result.
func (x *frame) room() unsafe.Pointer {
	return x.arena.At(x.plan.memory.rooms[x.step])
}

// rows returns a list of rows, which is good until the next.
func (x *frame) rows(rows ...launch.Row) []launch.Row { return x.rowRoom[:copy(x.rowRoom[:], rows)] }

// floats returns the elements of a value from the first to the farthest one.
func (x *frame) floats(v int) []float32 { return tensor.Data[float32](x.values[v]) }
