// Package autodiff differentiates graphs: it makes of a graph one that computes the same and gives out what the second one
// needs, which computes the gradients of its inputs from those of its outputs.
//
// What the derivatives of operators are stands in their records (ops.Def), over handles: on the tape they run operators, here they add
// nodes, so that a gradient is a graph like any other. Package autograd differentiates what has run; this one knows no sizes.
package autodiff

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Gradient is a graph that has been differentiated.
type Gradient = exec.Gradient

// Kinds of nodes in the graphs of gradients. A gradient that is zero everywhere is undefined, and undefined gradients make others
// undefined.
const (
	gradOfKind = prim.GradOf       // has a block that computes gradients from its inputs, unless all of these are undefined
	addKind    = prim.AutogradAdd  // adds gradients
	zeroKind   = prim.AutogradZero // an undefined gradient
)

// Differentiate differentiates a graph without control flow. It fails where the gradient of an operator's output is needed that has no
// derivative here.
func Differentiate(g *ir.Graph) (*Gradient, error) {
	d := &differentiation{
		f: g.Copy(), df: ir.NewGraph(), types: map[*ir.Value]types.Type{}, inner: map[*ir.Value]*ir.Value{}, grads: map[*ir.Value]*ir.Value{},
		active: map[*ir.Value]bool{}, sizes: map[*ir.Value]*ir.Value{},
	}
	d.result = &Gradient{F: d.f, DF: d.df, FRealOutputs: len(d.f.Outputs())}
	d.activate()
	d.seed()
	for _, n := range slices.Backward(d.f.Block().Nodes()) {
		if err := d.node(n); err != nil {
			return nil, err
		}
	}
	d.giveGradients()
	d.capture()
	passes.DCE(d.f)
	passes.DCE(d.df)
	d.forgetGradients()
	return d.result, nil
}

// differentiation is the state of one Differentiate.
type differentiation struct {
	f, df  *ir.Graph
	result *Gradient
	types  map[*ir.Value]types.Type // of the values of f, as they were
	active map[*ir.Value]bool       // values of f whose gradients are wanted
	grads  map[*ir.Value]*ir.Value  // in df, by values of f
	inner  map[*ir.Value]*ir.Value  // what stands for values of f in df
	sizes  map[*ir.Value]*ir.Value  // of values of f
	behind *ir.Node                 // of f, the one behind that which is being differentiated
}

// activate finds out which values' gradients are wanted: those that depend on inputs that may require some.
func (d *differentiation) activate() {
	note := func(v *ir.Value, is bool) {
		d.types[v] = v.Type()
		d.active[v] = is && isDifferentiable(v.Type())
	}
	for _, v := range d.f.Inputs() {
		note(v, true)
	}
	for n := d.f.Block().First(); n != nil; n = n.Next() {
		depends := d.dependsOnActive(n)
		for _, v := range n.Outputs() {
			note(v, depends)
		}
	}
}

// dependsOnActive reports whether a node, or one in its blocks, uses a value whose gradient is wanted.
func (d *differentiation) dependsOnActive(n *ir.Node) bool {
	uses := slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return d.active[v] })
	for _, b := range n.Blocks() {
		uses = uses || slices.ContainsFunc(b.Outputs(), func(v *ir.Value) bool { return d.active[v] })
		b.Walk(func(m *ir.Node) {
			uses = uses || slices.ContainsFunc(m.Inputs(), func(v *ir.Value) bool { return d.active[v] })
		})
	}
	return uses
}

// seed makes the parameters of df that are gradients of outputs.
func (d *differentiation) seed() {
	for i, v := range d.f.Outputs() {
		if !d.active[v] {
			continue
		}
		given := d.df.AddInput("").SetType(d.types[v])
		d.result.DFInputVJPs = append(d.result.DFInputVJPs, i)
		d.accumulate(v, given)
	}
}

// accumulate adds to the gradient of a value of f.
func (d *differentiation) accumulate(v, grad *ir.Value) {
	if before := d.grads[v]; before != nil {
		grad = d.df.InsertNode(d.df.Create(addKind, []*ir.Value{before, grad}, 1)).Output()
	}
	d.grads[v] = grad
}

// node adds the gradients of a node's inputs.
func (d *differentiation) node(n *ir.Node) error {
	given := slices.ContainsFunc(n.Outputs(), func(v *ir.Value) bool { return d.grads[v] != nil })
	if n.Kind() == passes.PartsKind && given && d.dependsOnActive(n) {
		return d.parts(n)
	}
	o := n.Operator()
	if !given || !d.dependsOnActive(n) || o != nil && o.Has(ops.Grouped) && o.Has(ops.Constant|ops.NotDifferentiable) {
		return nil
	}
	if d.behind = n.Next(); d.behind == nil {
		d.behind = d.f.Block().ReturnNode()
	}
	saving := d.saving(n)
	if !isSymbolic(saving.Operator()) {
		return source.Errorf(source.RuntimeError, n.Range, "differentiation of %s is not supported, or it is missing necessary type information", n.Kind())
	}
	return d.applyRecord(saving, n.Kind(), len(n.Outputs()))
}

// parts adds the gradient of the tensor of which a node gives the parts: theirs, one behind the other.
func (d *differentiation) parts(n *ir.Node) error {
	var given []*ir.Value
	for _, v := range n.Outputs() {
		if d.grads[v] == nil {
			return source.Errorf(source.RuntimeError, n.Range, "differentiation of %s is not supported where a part is not used", n.Kind())
		}
		given = append(given, d.grads[v])
	}
	dim, _ := n.Attr("dim")
	along, _ := dim.(int64)
	grad := d.df.InsertNode(d.df.Create(gradOfKind, given, 1).SetAttr("name", n.Kind()))
	d.df.SetInsertEnd(grad.AddBlock())
	list := d.df.InsertNode(d.df.Create(prim.ListConstruct, given, 1))
	list.Output().SetType(types.NewList(types.Tensor))
	at := d.df.Constant(value.Int(along), n.Range)
	joined := d.df.InsertNode(d.df.Create(aten.Cat, []*ir.Value{list.Output(), at}, 1))
	grad.Blocks()[0].AddOutput(joined.Output().SetType(types.Tensor))
	d.df.SetInsertEnd(d.df.Block())
	d.accumulate(n.Input(0), grad.Output())
	return nil
}

// saving puts the operator that gives what the derivative reads besides in the place of a node whose record names one, and returns the node
// that is to be differentiated.
func (d *differentiation) saving(n *ir.Node) *ir.Node {
	if n.Operator() == nil || n.Operator().Def().Saving == "" || !n.Operator().IsFunctional() {
		return n
	}
	o := ops.Find("aten::" + n.Operator().Def().Saving)
	s := d.f.Create(o.BaseName(), n.Inputs()[:len(o.Schema().Arguments)], len(o.Schema().Returns)).SetRange(n.Range).InsertBefore(n)
	for i, v := range s.Outputs() {
		v.SetType(o.Schema().Returns[i].Type)
		d.types[v] = v.Type()
	}
	for i, was := range n.Outputs() {
		is := s.Outputs()[i].CopyMetadata(was)
		d.types[is], d.active[is] = d.types[was], d.active[was]
		for _, known := range []map[*ir.Value]*ir.Value{d.grads, d.inner, d.sizes} {
			if v := known[was]; v != nil {
				known[is] = v
				delete(known, was)
			}
		}
		was.ReplaceAllUsesWith(is)
	}
	return s
}

// refineNumbers gives what is computed from numbers the types that it has now that these are known.
func refineNumbers(b *ir.Block) {
	b.Walk(func(n *ir.Node) {
		o := n.Operator()
		if o == nil || len(n.Outputs()) != 1 || len(o.Schema().Returns) != 1 || n.Output().Type().Kind() != types.KindNumber {
			return
		}
		switch t := o.Schema().Returns[0].Type; t.Kind() {
		case types.KindInt, types.KindFloat, types.KindComplex:
			n.Output().SetType(t)
		}
	})
}

// lookup returns what stands in df for a value of f: a constant like it, or a parameter.
func (d *differentiation) lookup(v *ir.Value) *ir.Value {
	if d.inner[v] == nil {
		if v.Node().Kind() == prim.Constant {
			d.inner[v] = d.df.Block().Prepend(d.df.Clone(v.Node(), nil)).Output()
		} else {
			d.inner[v] = d.df.AddInput("").SetType(v.Type())
			if v.HasName() {
				d.inner[v].SetName(v.BaseName())
			}
		}
	}
	return d.inner[v]
}

// size returns the size of a value of f, known where the node that is being differentiated has run.
func (d *differentiation) size(v *ir.Value) (*ir.Value, error) {
	known := d.sizes[v]
	if known == nil {
		var err error
		known, err = d.insert(aten.Size, v)
		d.sizes[v] = known
		return known, err
	}
	if !known.Node().IsBefore(d.behind) {
		known.Node().MoveBefore(d.behind)
	}
	return known, nil
}

// change returns the size of a value of f if it is not that of n's output.
func (d *differentiation) change(v *ir.Value, n *ir.Node) (*ir.Value, error) {
	before, err := d.size(v)
	if err != nil {
		return nil, err
	}
	after, err := d.size(n.Outputs()[0])
	if err != nil {
		return nil, err
	}
	return d.insert(aten.SizeIfNotEqual, before, after)
}

// insert puts an operator into f behind the node that is being differentiated.
func (d *differentiation) insert(kind string, inputs ...*ir.Value) (*ir.Value, error) {
	old := d.f.SetInsertPoint(d.behind)
	defer d.f.SetInsertPoint(old)
	arguments := make([]ir.Argument, len(inputs))
	for i, v := range inputs {
		arguments[i] = ir.Arg(v)
	}
	v, err := d.f.Insert(kind, arguments...)
	if err == nil {
		d.types[v] = v.Type()
	}
	return v, err
}

// giveGradients has df return the gradients of the inputs of f.
func (d *differentiation) giveGradients() {
	var grads []*ir.Value
	var elems []types.Type
	for i, v := range d.f.Inputs() {
		if d.active[v] && d.grads[v] != nil {
			grads, elems = append(grads, d.grads[v]), append(elems, d.grads[v].Type())
			d.result.DFOutputVJPs = append(d.result.DFOutputVJPs, i)
		}
	}
	tuple := d.df.InsertNode(d.df.CreateTuple(grads, types.NewTuple(elems...)))
	d.df.AddOutput(tuple.Output())
}

// capture has f give out the values that df uses, and puts the parameters of df into their order.
func (d *differentiation) capture() {
	var order []int
	for i := range d.result.DFInputVJPs {
		order = append(order, i)
	}
	used := func(v *ir.Value) bool {
		in := d.inner[v]
		if in == nil || in.Node() != d.df.Block().ParamNode() {
			return false
		}
		order = append(order, in.Offset())
		return true
	}
	for i, v := range d.f.Inputs() {
		if used(v) {
			d.result.DFInputCapturedInputs = append(d.result.DFInputCapturedInputs, i)
		}
	}
	for n := d.f.Block().First(); n != nil; n = n.Next() {
		for _, v := range n.Outputs() {
			if !used(v) {
				continue
			}
			at := slices.Index(d.f.Outputs(), v)
			if at < 0 {
				at = d.f.AddOutput(v)
			}
			d.result.DFInputCapturedOutputs = append(d.result.DFInputCapturedOutputs, at)
		}
	}
	d.df.Block().ParamNode().PermuteOutputs(order)
}

// forgetGradients notes in f that what its nodes use requires no gradients there: these are computed by df.
func (d *differentiation) forgetGradients() {
	no := false
	for n := d.f.Block().First(); n != nil; n = n.Next() {
		for _, v := range n.Inputs() {
			if t, ok := v.Type().(*types.TensorInfo); ok {
				c := *t
				c.RequiresGrad = &no
				v.SetType(&c)
			}
		}
	}
}

// isDifferentiable reports whether values of a type may have gradients: tensors and lists of them whose type does not deny it.
func isDifferentiable(t types.Type) bool {
	switch t := t.(type) {
	case *types.TensorInfo:
		return t.RequiresGrad == nil || *t.RequiresGrad
	case *types.List:
		return t.Elem.Kind() == types.KindTensor
	case *types.Optional:
		return t.Elem.Kind() == types.KindTensor
	}
	return false
}
