package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// PropagateDTypes gives the results of operators the element types that follow from those of their tensors, whose
// numbers of dimensions have to be known. It reports whether a type
// was learned.
func PropagateDTypes(g *ir.Graph) bool {
	p := propagation{ask: dtypeOf, part: func(t *types.TensorInfo) *string { return &t.DType }}
	return p.graph(g)
}

// PropagateDevices gives the results of operators the device that their tensors are on. Tensors without dimensions on
// the CPU go with others. It reports whether a device was learned.
func PropagateDevices(g *ir.Graph) bool {
	p := propagation{ask: deviceOf, part: func(t *types.TensorInfo) *string { return &t.Device }, clears: true}
	return p.graph(g)
}

// propagation says something of tensors, in the order of the nodes, and of a loop until its body teaches nothing.
type propagation struct {
	ask  func(n *ir.Node) []string         // what a node's results are, "" where that is not known
	part func(t *types.TensorInfo) *string // where a type says it
	told map[*ir.Value]bool
	// clears says that what a result was before is forgotten where the operator's tensors do not say it.
	clears bool
}

// graph reports whether a tensor was told something.
func (p *propagation) graph(g *ir.Graph) bool {
	p.told = map[*ir.Value]bool{}
	p.block(g.Block())
	return len(p.told) > 0
}

// say teaches a tensor of which nothing is known what it is.
func (p *propagation) say(v *ir.Value, what string) {
	if what == "" || p.said(v) != "" || v.Type().Kind() != types.KindTensor {
		return
	}
	p.told[v] = true
	p.set(v, what)
}

func (p *propagation) set(v *ir.Value, what string) {
	t := *v.Type().(*types.TensorInfo)
	*p.part(&t) = what
	v.SetType(&t)
}

// takeBack makes a tensor one of which nothing is known, unless that was known before.
func (p *propagation) takeBack(v *ir.Value) bool {
	if !p.told[v] {
		return false
	}
	delete(p.told, v)
	p.set(v, "")
	return true
}

// said is what is known of a value, "" where nothing is.
func (p *propagation) said(v *ir.Value) string {
	if t, ok := v.Type().(*types.TensorInfo); ok {
		return *p.part(t)
	}
	return ""
}

func (p *propagation) block(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		switch n.Kind() {
		case prim.If:
			p.branches(n)
		case prim.Loop:
			p.loop(n)
		case prim.Constant:
		default:
			p.node(n)
		}
	}
}

func (p *propagation) node(n *ir.Node) {
	for _, inner := range n.Blocks() {
		p.block(inner)
	}
	for i, what := range p.ask(n) {
		out := n.Outputs()[i]
		if what == "" && p.clears && p.said(out) != "" {
			p.set(out, "")
		}
		p.say(out, what)
	}
}

func (p *propagation) branches(n *ir.Node) {
	yes, no := n.Blocks()[0], n.Blocks()[1]
	p.block(yes)
	p.block(no)
	for i, out := range n.Outputs() {
		if what := p.said(yes.Outputs()[i]); what == p.said(no.Outputs()[i]) {
			p.say(out, what)
		}
	}
}

// loop takes what the loop begins with for what it carries, and takes that back where the body gives something else on.
func (p *propagation) loop(n *ir.Node) {
	body := n.Blocks()[0]
	carried, next := body.Inputs()[1:], body.Outputs()[1:]
	for i, v := range carried {
		p.say(v, p.said(n.Input(i+2)))
	}
	for again := true; again; {
		p.block(body)
		again = false
		for i, v := range carried {
			if p.said(next[i]) != p.said(v) {
				again = p.takeBack(v) || again
			}
		}
		if again {
			p.forget(body)
		}
	}
	for i, out := range n.Outputs() {
		p.say(out, p.said(carried[i]))
	}
}

// forget takes back what the nodes of a block were told.
func (p *propagation) forget(b *ir.Block) {
	b.Walk(func(n *ir.Node) {
		for _, v := range n.Outputs() {
			p.takeBack(v)
		}
	})
}

// dtypeOf is the element type of a node's tensor: that of its tensors where the record says so, else what its operator gives for tensors of one
// element. An operator that takes more than tensors and numbers, or that gives more than one tensor, is not asked, as in PyTorch.
func dtypeOf(n *ir.Node) []string {
	o := n.Operator()
	if o == nil || len(n.Outputs()) != 1 {
		return nil
	}
	if o.Has(ops.SameElementType) {
		return commonDType(n)
	}
	if o.Run == nil || o.Schema().IsVararg || o.Schema().IsVarret || n.HasSideEffects() || n.IsNondeterministic() {
		return nil
	}
	for _, element := range []int64{1, 0} { // which may be divisors, or places
		if dtype := dtypeOfRun(n, o, element); dtype != "" {
			return []string{dtype}
		}
	}
	return nil
}

// dtypeOfRun is the element type of what an operator gives for tensors of one element, "" where it cannot be run.
func dtypeOfRun(n *ir.Node, o *ops.Operator, element int64) string {
	args := make([]value.Value, len(n.Inputs()))
	hasTensors := false
	for i, v := range n.Inputs() {
		arg, ok := standIn(v, element)
		if _, isConstant := v.Constant(); !ok || !isConstant && o.Schema().Arguments[i].Name == "dtype" {
			return ""
		}
		args[i] = arg
		hasTensors = hasTensors || arg.IsTensor()
	}
	if !hasTensors {
		return ""
	}
	results, ok := passes.RunOperator(o, args, 1)
	if !ok || !results[0].IsTensor() {
		return ""
	}
	return results[0].Tensor().DType().String()
}

// commonDType is the element type of a node's first tensor, unless another has a different one.
func commonDType(n *ir.Node) []string {
	found := ""
	for i, v := range n.Inputs() {
		t, ok := v.Type().(*types.TensorInfo)
		switch {
		case i == 0 && (!ok || t.DType == ""):
			return nil
		case !ok || t.DType == "":
			continue
		case found != "" && found != t.DType:
			return nil
		}
		found = t.DType
	}
	return []string{found}
}

// standIn is a tensor or a number that an operator can be run on instead of one that is not known.
func standIn(v *ir.Value, element int64) (value.Value, bool) {
	c, isConstant := v.Constant()
	switch v.Type().Kind() {
	case types.KindInt, types.KindFloat:
		switch {
		case isConstant:
			return c, true
		case v.Type().Kind() == types.KindInt:
			return value.Int(1), true
		}
		return value.Float(1), true
	}
	t, ok := v.Type().(*types.TensorInfo)
	if !ok {
		return value.None, false
	}
	if isConstant {
		return c, true
	}
	d, ok := tensor.ParseDType(t.DType)
	if !ok || t.Dims == nil && t.Sizes == nil {
		return value.None, false
	}
	dims := len(t.Sizes)
	if t.Sizes == nil {
		dims = *t.Dims
	}
	made, err := tensor.Full(slices.Repeat([]int{1}, dims), tensor.Int(element), d)
	return value.OfTensor(made), err == nil
}

// deviceOf is the device that a node says, or the one of its tensors.
func deviceOf(n *ir.Node) []string {
	device := ""
	switch n.Kind() {
	case aten.Cpu:
		device = "cpu"
	case aten.Cuda:
		device = "cuda"
	case aten.TypeAs:
		if t, ok := n.Input(1).Type().(*types.TensorInfo); ok {
			device = t.Device
		}
	default:
		o := n.Operator()
		if o == nil {
			return nil
		}
		if at := o.Schema().ArgumentIndex("device"); at >= 0 && at < len(n.Inputs()) && !n.Input(at).MustBeNone() {
			if c, ok := n.Input(at).Constant(); ok && c.Kind() == value.KindDevice {
				device = c.Device().String()
			}
			break
		}
		device = commonDevice(n)
	}
	return slices.Repeat([]string{device}, len(n.Outputs()))
}

// commonDevice is the device of a node's tensors, "" where one has none or they differ.
func commonDevice(n *ir.Node) string {
	found, onCPU := "", false
	for _, v := range n.Inputs() {
		t, ok := v.Type().(*types.TensorInfo)
		switch {
		case !ok:
			continue
		case t.Device == "":
			return ""
		case t.Device == "cpu" && t.Sizes != nil && len(t.Sizes) == 0:
			onCPU = true
			continue
		case found != "" && found != t.Device:
			return ""
		}
		found = t.Device
	}
	if found == "" && onCPU {
		return "cpu"
	}
	return found
}
