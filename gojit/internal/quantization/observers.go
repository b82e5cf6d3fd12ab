package quantization

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// boundary is what a caller has to know of a block in which observers have been inserted.
type boundary struct {
	inputs, outputs []*value.Object // that they ask for, nil for none
	observed        []int           // the outputs that are observed within
}

// pending are the values of a block that are to be observed, in the order in which that was found.
type pending struct {
	values    []*ir.Value
	observers map[*ir.Value]*value.Object
	known     valueSet // those that are observed when the block runs
}

// isObserved reports whether a value is observed wherever it comes from.
func (ob *observation) isObserved(v *ir.Value, p *pending) bool { return p.known[v] || ob.observed[v] }

// record notes that a value is to be observed, or what an activation makes of it.
func (ob *observation) record(v *ir.Value, observer *value.Object, p *pending) {
	if to := ob.later[v]; to != nil {
		v = to
	}
	if p.observers[v] == nil {
		p.values = append(p.values, v)
	}
	p.observers[v] = observer
	p.known[v] = true
}

// insert inserts observers into a block of a method of self. known are values that are observed where the block runs. Inputs and outputs
// are observed outside, where the block is not the entry. A block that has been done is visited once more, because what its outputs are
// depends on known.
func (ob *observation) insert(b *ir.Block, self *value.Object, known valueSet, entry, inFunction bool) (*boundary, error) {
	at := &boundary{}
	outside := valueSet{}
	var err error
	if !entry {
		g := b.Graph()
		for _, vs := range [][]*ir.Value{g.Inputs(), g.Outputs()} {
			for _, v := range vs {
				outside[v] = true
			}
		}
		if at.inputs, err = ob.observersOf(b.Inputs()); err != nil {
			return nil, err
		}
		if at.outputs, err = ob.observersOf(b.Outputs()); err != nil {
			return nil, err
		}
	}
	p := &pending{observers: map[*ir.Value]*value.Object{}, known: known}
	for _, v := range b.Inputs() {
		if outside[v] {
			continue
		}
		observer, err := ob.observerOf(v)
		if err != nil {
			return nil, err
		}
		if observer != nil {
			ob.record(v, observer, p)
		}
	}
	for _, n := range b.Nodes() {
		if err := ob.visit(n, self, outside, p, inFunction); err != nil {
			return nil, err
		}
	}
	for i, v := range b.Outputs() {
		if ob.isObserved(v, p) {
			at.observed = append(at.observed, i)
		}
	}
	if ob.done[b] {
		return at, nil
	}
	ob.done[b] = true
	for i := len(p.values) - 1; i >= 0; i-- {
		if inFunction {
			return nil, failf("Inserting observers for user defined functions is not supported right now")
		}
		if err := ob.addObserver(p.values[i], self, p.observers[p.values[i]]); err != nil {
			return nil, err
		}
	}
	return at, nil
}

func (ob *observation) observersOf(vs []*ir.Value) ([]*value.Object, error) {
	found := make([]*value.Object, len(vs))
	for i, v := range vs {
		o, err := ob.observerOf(v)
		if err != nil {
			return nil, err
		}
		found[i] = o
	}
	return found, nil
}

// visit notes which values of a node are to be observed, after what is in its blocks or in what it calls.
func (ob *observation) visit(n *ir.Node, self *value.Object, outside valueSet, p *pending, inFunction bool) error {
	var err error
	if c, ok := invoked(self, n); ok {
		err = ob.visitCall(n, c, 0, outside, p, false)
	} else if n.Kind() == prim.CallMethod {
		return nil
	} else if f := calledFunction(n); f != nil {
		err = ob.visitCall(n, invocation{self, f}, 1, outside, p, true)
	} else if n.Kind() == prim.If {
		err = ob.visitBranches(n, self, outside, p, inFunction)
	} else if n.Kind() == prim.Loop {
		err = source.WarnOnce("prim::Loop is not yet supported in quantization, please make sure nothing needs to be quantized in the loop")
	}
	if err != nil {
		return err
	}
	for _, v := range n.Outputs() {
		ob.propagate(v, p)
		if outside[v] || ob.isObserved(v, p) {
			continue
		}
		observer, err := ob.observerOf(v)
		if err != nil {
			return err
		}
		if observer != nil && ob.isReached(n, p) {
			ob.record(v, observer, p)
		}
	}
	return nil
}

// visitCall inserts observers into what a node calls, and notes arguments and results to be observed. offset is the index of the first
// argument.
func (ob *observation) visitCall(n *ir.Node, c invocation, offset int, outside valueSet, p *pending, inFunction bool) error {
	g := c.method.Graph()
	known := valueSet{}
	for i, v := range g.Inputs() {
		if ob.isObserved(n.Input(i+offset), p) {
			known[v] = true
		}
	}
	at, err := ob.insert(g.Block(), c.module, known, false, inFunction)
	if err != nil {
		return err
	}
	for _, i := range at.observed {
		p.known[n.Outputs()[i]] = true
	}
	ob.recordAll(n.Inputs()[offset:], at.inputs, outside, p)
	ob.recordAll(n.Outputs(), at.outputs, outside, p)
	return nil
}

// recordAll notes values to be observed as those inside ask for.
func (ob *observation) recordAll(vs []*ir.Value, observers []*value.Object, outside valueSet, p *pending) {
	for i, v := range vs {
		if i < len(observers) && observers[i] != nil && !outside[v] && !ob.isObserved(v, p) {
			ob.record(v, observers[i], p)
		}
	}
}

// visitBranches is visitCall for the branches of a prim::If, whose results are observed in both or in neither.
func (ob *observation) visitBranches(n *ir.Node, self *value.Object, outside valueSet, p *pending, inFunction bool) error {
	text := n.Text(true)
	var all []*boundary
	for _, b := range slices.Backward(n.Blocks()) {
		known := valueSet{}
		for v := range p.known {
			known[v] = true
		}
		at, err := ob.insert(b, self, known, false, inFunction)
		if err != nil {
			return err
		}
		if !raises(b) {
			all = append(all, at)
		}
	}
	if len(all) == 0 {
		return nil
	}
	state := func(at *boundary) []bool {
		s := make([]bool, len(n.Outputs()))
		for _, i := range at.observed {
			s[i] = true
		}
		return s
	}
	first := state(all[0])
	for _, at := range all[1:] {
		for i, is := range state(at) {
			if is != first[i] {
				return failf("branches for `if` should return values that are observed consistently, if node:%s", text)
			}
		}
	}
	for _, i := range all[0].observed {
		p.known[n.Outputs()[i]] = true
	}
	for _, at := range all {
		ob.recordAll(n.Outputs(), at.outputs, outside, p)
	}
	return nil
}

// propagate notes that a value is observed where all that it passes through is.
func (ob *observation) propagate(v *ir.Value, p *pending) {
	from := ob.through[v]
	if ob.isObserved(v, p) || len(from) == 0 {
		return
	}
	for _, x := range from {
		if !ob.isObserved(x, p) {
			return
		}
	}
	ob.observed[v] = true
}

// isReached reports whether a node that is quantized only with its inputs has them observed.
func (ob *observation) isReached(n *ir.Node, p *pending) bool {
	for _, v := range n.Outputs() {
		for _, u := range v.Uses() {
			if usesQuantized(u, ob.mode) {
				return true
			}
		}
	}
	switch {
	case joining.has(n):
		return ob.isObserved(n.Input(0), p)
	case binary.has(n):
		return ob.isObserved(n.Input(0), p) && ob.isObserved(n.Input(1), p)
	}
	return true
}

// noteLater notes the results of layers, sums and products that nothing but a relu uses: not they are observed, but what it makes of them.
func (ob *observation) noteLater(self *value.Object, g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if !isRelu(self, n) {
			return
		}
		v := reluInput(n)
		if len(v.Uses()) == 1 && isLayer(self, v.Node()) {
			ob.later[v] = n.Output()
		}
	})
}

// isRelu reports whether a node applies relu: the module, the function or the operator.
func isRelu(self *value.Object, n *ir.Node) bool {
	if name, ok := functionOf(n); ok {
		return name == "relu"
	}
	if c, ok := invoked(self, n); ok {
		return freeze.IsLibraryClass(c.module.Class, "activation", "ReLU")
	}
	return n.Is(aten.Relu, aten.Relu_)
}

func reluInput(n *ir.Node) *ir.Value {
	if n.Is(aten.Relu, aten.Relu_) {
		return n.Input(0)
	}
	return n.Input(1)
}

// layers are the modules that have relus as parts, by the files that they are in.
var layers = [][2]string{
	{"linear", "Linear"}, {"conv", "Conv1d"}, {"conv", "Conv2d"}, {"conv", "Conv3d"}, {"batchnorm", "BatchNorm2d"}, {"batchnorm", "BatchNorm3d"},
}

// isLayer reports whether a node applies what has a relu as part when it computes with integers.
func isLayer(self *value.Object, n *ir.Node) bool {
	if c, ok := invoked(self, n); ok {
		for _, l := range layers {
			if freeze.IsLibraryClass(c.module.Class, l[0], l[1]) {
				return true
			}
		}
	}
	return n.Kind() == aten.Linear || is(n, "int8_binary")
}
