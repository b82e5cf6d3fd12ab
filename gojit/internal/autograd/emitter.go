package autograd

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Emitter runs or emits an operator by name.
type Emitter = ops.Emitter

// emitter runs operators now, in a mode.
type emitter struct {
	mode *Mode
	made map[*tensor.Tensor]bool // by operators; nil where that is not tracked
}

// tracking returns an emitter that knows what its operators make, unless others may have that too.
func (m *Mode) tracking() *emitter {
	e := &emitter{mode: m}
	if m.dispatcher == nil && !m.IsCasting() && !InForward() && !m.inference {
		e.made = map[*tensor.Tensor]bool{}
	}
	return e
}

// giveUp gives up what operators made and is not among the results.
func (e *emitter) giveUp(results []value.Value) {
	for t := range e.made {
		if !isArgument(results, t) {
			t.GiveUp()
		}
	}
}

// unrecorded is an emitter that records nothing.
func unrecorded() *emitter { return &emitter{mode: &Mode{off: true, noTangent: true}} }

// Emit implements Emitter; name has no namespace, defaults are filled in.
func (e *emitter) Emit(name string, args ...value.Value) []value.Value {
	op := ops.Find("aten::" + name)
	if op == nil || op.Run == nil {
		fail("a derivative needs the operator aten::%s, which is not implemented", name)
	}
	s := op.Schema()
	for i := len(args); i < len(s.Arguments); i++ {
		if !s.Arguments[i].HasDefault {
			fail("a derivative calls aten::%s without its argument '%s'", name, s.Arguments[i].Name)
		}
		args = append(args, s.Arguments[i].Default)
	}
	out := make([]value.Value, len(s.Returns))
	succeed(e.mode.Run(op, args, out))
	if e.made != nil {
		eachTensor(out, func(t *tensor.Tensor) bool {
			if !isArgument(args, t) {
				e.made[t] = true
			}
			return true
		})
	}
	return out
}

// IsTape reports whether the tape alone sees what operators run: no mode, class or transformation of the host does.
func (e *emitter) IsTape() bool { return e.made != nil }

// Unrecorded returns an emitter that records nothing.
func (e *emitter) Unrecorded() Emitter { return unrecorded() }

// Casts reports whether an autocast casts what is emitted.
func (e *emitter) Casts() bool { return e.mode.IsCasting() }

// do emits an operator with Go values for arguments and returns its first result.
func do(e Emitter, name string, args ...any) *tensor.Tensor { return ops.Do(e, name, args...) }

// derivative computes the gradients of a node's inputs from those of its outputs.
type derivative func(c *gradient)

// gradient is one call of a derivative.
type gradient struct {
	Emitter
	node  *Node
	grads []*tensor.Tensor   // of the outputs, nil: zero
	given [][]*tensor.Tensor // of the inputs, by argument and element

	owns func(t *tensor.Tensor) bool // reports whether nobody else has a gradient; nil: nobody knows
	// defers keeps the factors of an input's gradient for later, and reports whether it did; nil: they are multiplied.
	defers    func(in *input, left, right *tensor.Tensor) bool
	usedSaved bool                    // a saved tensor was read
	read      map[slot]bool           // what was read, where that is asked for
	unpacked  map[slot]*tensor.Tensor // what hooks gave back
}

// Do runs an operator and returns its first result.
func (c *gradient) do(name string, args ...any) *tensor.Tensor { return do(c, name, args...) }

// Emit implements Emitter: operators that take no tensors make theirs on the device of the gradients.
func (c *gradient) Emit(name string, args ...value.Value) []value.Value {
	if tensor.DevicesInUse() {
		if op := ops.Find("aten::" + name); op != nil {
			args = ops.Placed(op, args, c.device())
		}
	}
	return c.Emitter.Emit(name, args...)
}

// device is that of the gradients that are there.
func (c *gradient) device() tensor.Device {
	for _, g := range c.grads {
		if g != nil && g.OnDevice() {
			return g.Device()
		}
	}
	return tensor.Device{}
}

// Concrete implements ops.Engine.
func (c *gradient) Concrete() ops.Concrete { return c }

func asTensor(r ops.Ref) *tensor.Tensor {
	t, _ := r.(*tensor.Tensor)
	return t
}

// Grad returns the gradient of an output, zeros where none came.
func (c *gradient) Grad(i int) ops.Ref { return c.gradOf(i) }

// g returns the gradient of the first output.
func (c *gradient) g() *tensor.Tensor { return c.gradOf(0) }

func (c *gradient) gradOf(i int) *tensor.Tensor {
	if c.grads[i] == nil {
		o := c.node.outputs[i]
		c.grads[i] = c.Zeros(o.shape, o.dtype)
	}
	return c.grads[i]
}

// Grads implements ops.Concrete.
func (c *gradient) Grads() []*tensor.Tensor { return c.grads }

func (c *gradient) find(argument, element int) *input {
	for i := range c.node.inputs {
		if in := &c.node.inputs[i]; in.argument == argument && in.element == element {
			return in
		}
	}
	return nil
}

// Needs reports whether the gradient of an argument, or of an element of it, is asked for.
func (c *gradient) Needs(argument int) bool {
	for i := range c.node.inputs {
		if in := &c.node.inputs[i]; in.argument == argument && in.edge.node != nil {
			return true
		}
	}
	return false
}

// Reading says that a saved tensor is read. It fails where they are let go.
func (c *gradient) Reading() {
	c.usedSaved = true
	if c.node.unread {
		succeed(errReleased)
	}
}

// checkReads fails where a slot that the record of the operator leaves out is read.
func (c *gradient) checkReads(spared bool) {
	if spared {
		panic("autograd: the derivative of " + c.node.op + " reads what its record says that it does not")
	}
}

// In returns a saved tensor argument, nil for None. It fails where it was written since.
func (c *gradient) In(argument int) ops.Ref {
	c.Reading()
	c.checkReads(c.node.reads.Spares(argument))
	v := c.node.args[argument]
	if !v.IsTensor() {
		return nil
	}
	return c.saved(slot{argument: argument, element: -1}, v.Tensor())
}

// saved returns the tensor of a slot, in which t is. It fails where that was written since.
func (c *gradient) saved(at slot, t *tensor.Tensor) *tensor.Tensor {
	c.note(at, true)
	if unpacked, ok := c.unpacked[at]; ok {
		return unpacked
	}
	if in := c.find(at.argument, at.element); in != nil {
		checkSaved(t, in.version, edgeOfMaker(t))
	}
	return t
}

// edgeOfMaker returns the node that made t, if it is known.
func edgeOfMaker(t *tensor.Tensor) edge {
	if n := NodeOf(t); n != nil {
		return edgeOf(t)
	}
	return edge{}
}

// List returns a saved list of tensors, nil for None among them.
func (c *gradient) List(argument int) []*tensor.Tensor {
	c.Reading()
	c.checkReads(c.node.reads.Spares(argument))
	var ts []*tensor.Tensor
	for j, v := range c.node.args[argument].List().Items {
		if !v.IsTensor() {
			ts = append(ts, nil)
			continue
		}
		ts = append(ts, c.saved(slot{argument: argument, element: j}, v.Tensor()))
	}
	return ts
}

// Out returns a saved output.
func (c *gradient) Out(i int) ops.Ref {
	c.Reading()
	c.checkReads(c.node.reads.SparesResult(i))
	at, t := slot{output: true, argument: i, element: -1}, c.node.out[i].Tensor()
	c.note(at, true)
	if unpacked, ok := c.unpacked[at]; ok {
		return unpacked
	}
	checkSaved(t, c.node.outputs[i].version, edge{c.node, i})
	return t
}

// checkSaved fails where a saved tensor was written since, or where nobody counts its writes.
func checkSaved(t *tensor.Tensor, version int, made edge) {
	if t.IsInference() {
		fail("%s", errSavedInference)
	}
	if t.Version() == version {
		return
	}
	maker := ""
	if made.node != nil {
		maker = fmt.Sprintf(", which is output %d of %s,", made.index, made.node.name)
	}
	hint := "enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True)."
	if anomaly.Load() != nil {
		hint = "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was changed in there or anywhere later. Good luck!"
	}
	fail("one of the variables needed for gradient computation has been modified by an inplace operation: [torch.%s %s]%s is at version %d; expected version %d instead. Hint: %s",
		t.DType().TensorClass(), tensor.FormatShape(t.Shape()), maker, t.Version(), version, hint)
}

// CheckVersion fails where a tensor that was saved has been written since.
func CheckVersion(t *tensor.Tensor, version int) (err error) {
	defer source.Catch(&err)
	checkSaved(t, version, edge{})
	return nil
}

// Sizes returns the shape of a tensor argument, whatever happened to it since.
func (c *gradient) Sizes(argument int) any { return c.find(argument, -1).shape }

// Geometry implements ops.Concrete.
func (c *gradient) Geometry(argument, element int) ([]int, tensor.DType) {
	in := c.find(argument, element)
	return in.shape, in.dtype
}

// IsComplex implements ops.Engine.
func (c *gradient) IsComplex(t ops.Ref) bool { return t.(*tensor.Tensor).DType().IsComplex() }

// Dim implements ops.Engine.
func (c *gradient) Dim(t ops.Ref) (int, bool) { return t.(*tensor.Tensor).Dim(), true }

// Arg returns an argument; of a tensor only the layout may be used.
func (c *gradient) Arg(i int) any {
	c.note(slot{argument: i, element: -1}, false)
	return c.node.args[i]
}

// Arguments implements ops.Concrete.
func (c *gradient) Arguments() []value.Value { return c.node.args }

// Results implements ops.Concrete.
func (c *gradient) Results() []value.Value { return c.node.out }

// Operator implements ops.Concrete.
func (c *gradient) Operator() string { return c.node.op }

// IsNone implements ops.Engine.
func (c *gradient) IsNone(i int) any { return c.node.args[i].IsNone() }

// Number returns a number argument.
func (c *gradient) Number(i int) any {
	switch v := c.node.args[i]; v.Kind() {
	case value.KindInt, value.KindBool:
		return value.Float(float64(v.Int()))
	case value.KindFloat, value.KindComplex:
		return v
	case value.KindTensor:
		c.Reading()
		return value.Float(must(v.Tensor().Item()).Float64())
	}
	fail("the derivative of %s is implemented for real numbers, not for a %s", c.node.op, c.node.args[i].Kind())
	return nil
}

// Calculate implements ops.Engine: here all numbers are known.
func (c *gradient) Calculate(operator string, _ ...any) any {
	panic("autograd: a number of " + c.node.op + " is not known for " + operator)
}

// MakeList implements ops.Engine: here all numbers are known.
func (c *gradient) MakeList(...any) any {
	panic("autograd: a number of " + c.node.op + " is not known")
}

// If implements ops.Engine: here all truth values are known.
func (c *gradient) If(any, func() any, func() any) any {
	panic("autograd: a truth value of " + c.node.op + " is not known")
}

// Add implements ops.Engine, for engines without Concrete.
func (c *gradient) Add(operator string, _ []any) []ops.Ref {
	panic("autograd: the derivative of " + c.node.op + " is not run but written down by " + operator)
}

// Give sets the gradient of an argument; a broadcast is undone later.
func (c *gradient) Give(argument int, g ops.Ref) {
	t, _ := g.(*tensor.Tensor)
	c.GiveElement(argument, -1, t)
}

// GiveElement implements ops.Concrete.
func (c *gradient) GiveElement(argument, element int, g *tensor.Tensor) {
	for len(c.given) < len(c.node.inputs) {
		c.given = append(c.given, nil)
	}
	for i := range c.node.inputs {
		if in := &c.node.inputs[i]; in.argument == argument && in.element == element && in.edge.node != nil {
			c.given[i] = []*tensor.Tensor{c.fit(g, in)}
		}
	}
}

// conj conjugates complex numbers and gives others as they are.
func (c *gradient) conj(t *tensor.Tensor) *tensor.Tensor {
	if t == nil || !t.DType().IsComplex() {
		return t
	}
	return c.do("conj_physical", t)
}

// Records implements ops.Concrete.
func (c *gradient) Records() bool {
	e, ok := c.Emitter.(*emitter)
	return !ok || e.mode.records()
}

// Unrecorded implements ops.Concrete.
func (c *gradient) Unrecorded() Emitter { return unrecorded() }

// fit sums g over what was broadcast and gives it the type of the input, on its device.
func (c *gradient) fit(g *tensor.Tensor, in *input) *tensor.Tensor {
	if g != nil && !tensor.SameShape(g.Shape(), in.shape) {
		if e, ok := c.Emitter.(BackwardEmitter); ok {
			g = e.SumTo(g, c.node.args[in.argument].Tensor())
		} else {
			g = c.SumTo(g, in.shape)
		}
	}
	if g != nil && g.DType() != in.dtype {
		if g.DType().IsComplex() && !in.dtype.IsComplex() {
			g = c.do("real", g)
		}
		g = c.do("to.dtype", g, in.dtype)
	}
	if g != nil && in.isPlaced && placeOf(g) != in.device && !g.IsHollow() {
		g = c.do("_to_copy", g, in.dtype, nil, value.OfDevice(in.device))
	}
	return g
}

// SumTo sums g over the dimensions along which shape was broadcast.
func (c *gradient) SumTo(g *tensor.Tensor, shape []int) *tensor.Tensor {
	var dims []int
	lead := g.Dim() - len(shape)
	if lead < 0 {
		return c.do("expand", g, shape)
	}
	for d := range g.Dim() {
		if d < lead || shape[d-lead] == 1 && g.Size(d) != 1 {
			dims = append(dims, d)
		}
	}
	if len(dims) > 0 {
		g = c.do("sum.dim_IntList", g, dims, true)
	}
	return c.do("reshape", g, shape)
}

// isComplexNode reports whether a complex tensor goes into n or comes out of it.
func (n *Node) isComplexNode() bool {
	return slices.ContainsFunc(n.inputs, func(in input) bool { return in.dtype.IsComplex() }) ||
		slices.ContainsFunc(n.outputs, func(o geometry) bool { return o.dtype.IsComplex() })
}
