package autograd

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Emitter runs or emits an operator by name. Derivatives and decompositions use operators only
// through it. It panics with a *source.Error where the operator fails.
type Emitter interface {
	Emit(name string, args ...value.Value) []value.Value
}

// emitter runs operators now, in a mode.
type emitter struct {
	mode *Mode
	made map[*tensor.Tensor]bool // by operators; nil where that is not tracked
}

// tracking returns an emitter that knows what its operators make, unless others may have that too.
func (m *Mode) tracking() *emitter {
	e := &emitter{mode: m}
	if m.dispatcher == nil && m.casting == nil && !InForward() && !m.inference {
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
func unrecorded() *emitter { return &emitter{mode: &Mode{off: true, primal: true}} }

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

// do emits an operator with Go values for arguments and returns its first result.
func do(e Emitter, name string, args ...any) *tensor.Tensor {
	return emit(e, name, args...)[0].Tensor()
}

func emit(e Emitter, name string, args ...any) []value.Value {
	values := make([]value.Value, len(args))
	for i, a := range args {
		v, ok := value.From(a)
		if !ok {
			panic(fmt.Sprintf("a derivative calls %s with a %T", name, a))
		}
		values[i] = v
	}
	return e.Emit(name, values...)
}

// optionals makes the list of indices that index and index_put take.
func optionals(ts []*tensor.Tensor) value.Value {
	l := value.NewList(types.NewOptional(types.Tensor))
	for _, t := range ts {
		item, _ := value.From(t)
		l.Items = append(l.Items, item)
	}
	return value.OfList(l)
}

// derivative computes the gradients of a node's inputs from those of its outputs.
type derivative func(c *gradient)

// gradient is one call of a derivative.
type gradient struct {
	Emitter
	node  *Node
	grads []*tensor.Tensor   // of the outputs, nil: zero
	given [][]*tensor.Tensor // of the inputs, by argument and element

	isOwn     func(t *tensor.Tensor) bool // reports whether nobody else has a gradient; nil: nobody knows
	usedSaved bool                        // a saved tensor was read
	read      map[slot]bool               // what was read, where that is asked for
}

func (c *gradient) do(name string, args ...any) *tensor.Tensor { return do(c.Emitter, name, args...) }

// g returns the gradient of the first output.
func (c *gradient) g() *tensor.Tensor { return c.gradOf(0) }

// gradOf returns the gradient of an output, zeros where none came.
func (c *gradient) gradOf(i int) *tensor.Tensor {
	if c.grads[i] == nil {
		o := c.node.outputs[i]
		c.grads[i] = must(tensor.Zeros(o.shape, o.dtype))
	}
	return c.grads[i]
}

func (c *gradient) find(argument, element int) *input {
	for i := range c.node.inputs {
		if in := &c.node.inputs[i]; in.argument == argument && in.element == element {
			return in
		}
	}
	return nil
}

// needs reports whether the gradient of an argument, or of an element of it, is asked for.
func (c *gradient) needs(argument int) bool {
	for i := range c.node.inputs {
		if in := &c.node.inputs[i]; in.argument == argument && in.edge.node != nil {
			return true
		}
	}
	return false
}

// reading says that a saved tensor is read. It fails where they are let go.
func (c *gradient) reading() {
	c.usedSaved = true
	if c.node.unread {
		succeed(errReleased)
	}
}

// in returns a saved tensor argument, nil for None. It fails where it was written since.
func (c *gradient) in(argument int) *tensor.Tensor {
	c.reading()
	v := c.node.args[argument]
	if !v.IsTensor() {
		return nil
	}
	return c.saved(slot{argument: argument, element: -1}, v.Tensor())
}

// saved returns the tensor of a slot, in which t is. It fails where that was written since.
func (c *gradient) saved(at slot, t *tensor.Tensor) *tensor.Tensor {
	c.note(at, true)
	if unpacked, ok := c.unpack(at); ok {
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

// list returns a saved list of tensors, nil for None among them.
func (c *gradient) list(argument int) []*tensor.Tensor {
	c.reading()
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

// out returns a saved output.
func (c *gradient) out(i int) *tensor.Tensor {
	c.reading()
	at, t := slot{output: true, argument: i, element: -1}, c.node.out[i].Tensor()
	c.note(at, true)
	if unpacked, ok := c.unpack(at); ok {
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

// shape returns the shape of a tensor argument, whatever happened to it since.
func (c *gradient) shape(argument int) []int { return c.find(argument, -1).shape }

// arg returns an argument; of a tensor only the layout may be used.
func (c *gradient) arg(i int) value.Value {
	c.note(slot{argument: i, element: -1}, false)
	return c.node.args[i]
}

func (c *gradient) isNone(i int) bool { return c.node.args[i].IsNone() }
func (c *gradient) int(i int) int     { return int(c.node.args[i].Int()) }
func (c *gradient) bool(i int) bool   { return c.node.args[i].Bool() }

// float returns a number argument.
func (c *gradient) float(i int) float64 {
	switch v := c.node.args[i]; v.Kind() {
	case value.KindInt, value.KindBool:
		return float64(v.Int())
	case value.KindFloat:
		return v.Float()
	case value.KindTensor:
		c.reading()
		return must(v.Tensor().Item()).Float64()
	}
	fail("the derivative of %s is implemented for real numbers, not for a %s", c.node.op, c.node.args[i].Kind())
	return 0
}

// number returns a number argument as a complex one.
func (c *gradient) number(i int) complex128 {
	if v := c.node.args[i]; v.Kind() == value.KindComplex {
		return v.Complex()
	}
	return complex(c.float(i), 0)
}

// plain returns a complex number, as a real one where it is one.
func plain(z complex128) value.Value {
	if imag(z) == 0 {
		return value.Float(real(z))
	}
	return value.Complex(z)
}

func (c *gradient) ints(i int) []int {
	v := c.node.args[i]
	switch v.Kind() {
	case value.KindInt:
		return []int{int(v.Int())}
	case value.KindList:
		xs := make([]int, len(v.List().Items))
		for j, x := range v.List().Items {
			xs[j] = int(x.Int())
		}
		return xs
	}
	return nil
}

// give sets the gradient of an argument; a broadcast is undone later.
func (c *gradient) give(argument int, g *tensor.Tensor) { c.giveAt(argument, -1, g) }

func (c *gradient) giveAt(argument, element int, g *tensor.Tensor) {
	for len(c.given) < len(c.node.inputs) {
		c.given = append(c.given, nil)
	}
	for i := range c.node.inputs {
		if in := &c.node.inputs[i]; in.argument == argument && in.element == element && in.edge.node != nil {
			c.given[i] = []*tensor.Tensor{c.fit(g, in)}
		}
	}
}

// fit sums g over what was broadcast and gives it the type of the input.
func (c *gradient) fit(g *tensor.Tensor, in *input) *tensor.Tensor {
	if g != nil && !tensor.SameShape(g.Shape(), in.shape) {
		if e, ok := c.Emitter.(SketchEmitter); ok {
			g = e.SumTo(g, c.node.args[in.argument].Tensor())
		} else {
			g = c.sumTo(g, in.shape)
		}
	}
	if g != nil && g.DType() != in.dtype {
		if g.DType().IsComplex() && !in.dtype.IsComplex() {
			g = c.do("real", g)
		}
		g = c.do("to.dtype", g, in.dtype)
	}
	return g
}

// sumTo sums g over the dimensions along which shape was broadcast.
func (c *gradient) sumTo(g *tensor.Tensor, shape []int) *tensor.Tensor {
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
