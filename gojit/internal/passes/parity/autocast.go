package parity

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Autocast writes the casts of the autocasts of a graph, whose calls are inlined, as nodes: what operators take becomes the smaller type
// or float32, as autograd.CompiledPrecision says. It reports whether there were any. It fails where it cannot be seen
// whether an autocast is enabled.
//
//	%_ = prim::Enter(%autocast)              %_ = prim::Enter(%autocast)
//	%y = aten::exp(%x)                 ->    %f = aten::_autocast_to_full_precision(%x, %false, %true)
//	%e = prim::Exit(%autocast)               %y = aten::exp(%f) ...
func Autocast(g *ir.Graph) (changed bool, err error) {
	p := &autocast{g: g}
	err = p.block(g.Block())
	return p.changed, err
}

type autocast struct {
	g       *ir.Graph
	nested  []casts
	changed bool
}

// casts is what an autocast says, with those around it.
type casts struct {
	object        *ir.Value
	cuda, cpu     bool
	onCUDA, onCPU tensor.DType
}

func (p *autocast) current() casts {
	if n := len(p.nested); n > 0 {
		return p.nested[n-1]
	}
	return casts{onCUDA: tensor.Float16, onCPU: tensor.BFloat16}
}

func (p *autocast) block(b *ir.Block) error {
	for n := b.First(); n != nil; n = n.Next() {
		if err := p.node(n); err != nil {
			return err
		}
		for _, inner := range n.Blocks() {
			if err := p.block(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *autocast) node(n *ir.Node) error {
	switch {
	case n.Kind() == prim.Enter && isAutocast(n.Input(0).Type()):
		found, err := p.enter(n)
		p.nested = append(p.nested, found)
		return err
	case n.Kind() == prim.Exit && len(p.nested) > 0 && p.current().object == n.Input(0):
		p.nested = p.nested[:len(p.nested)-1]
	case p.current().cpu || p.current().cuda:
		p.cast(n)
	}
	return nil
}

// isAutocast reports whether t is the class of torch.autocast, torch.cpu.amp.autocast or torch.cuda.amp.autocast.
func isAutocast(t types.Type) bool {
	class, ok := t.(*types.Class)
	return ok && strings.HasPrefix(class.Name, "__torch__.torch.") && strings.HasSuffix(class.Name, "amp.autocast_mode.autocast")
}

// enter reads what the attributes of the autocast that n enters are set to.
func (p *autocast) enter(n *ir.Node) (casts, error) {
	found := p.current()
	found.object = n.Input(0)
	if found.object.Node().Kind() != prim.CreateObject {
		return found, source.Errorf(source.RuntimeError, n.Range, "Unsupported autocast syntax")
	}
	attributes := map[string]value.Value{}
	for _, u := range found.object.Uses() {
		if u.User.Kind() != prim.SetAttr || u.Index != 0 {
			continue
		}
		name := u.User.StringAttr("name")
		if name != "_enabled" && name != "device" && name != "fast_dtype" {
			continue
		}
		c, ok := settled(u.User.Input(1))
		if !ok {
			return found, source.Errorf(source.RuntimeError, n.Range, "Autocast %s argument must be a constant", strings.TrimPrefix(name, "fast_"))
		}
		attributes[name] = c
	}
	enabled, device, lower := attributes["_enabled"], attributes["device"], attributes["fast_dtype"]
	switch {
	case enabled.Kind() != value.KindBool:
		return found, source.Errorf(source.RuntimeError, n.Range, "Autocast missing _enabled attribute")
	case device.Kind() != value.KindString:
		return found, source.Errorf(source.RuntimeError, n.Range, "Autocast missing device attribute")
	case !lower.IsInt():
		return found, source.Errorf(source.RuntimeError, n.Range, "Autocast has invalid fast_dtype attribute")
	}
	switch device.Str() {
	case "cpu":
		found.cpu, found.onCPU = enabled.Bool(), tensor.DType(lower.Int())
	case "cuda":
		found.cuda, found.onCUDA = enabled.Bool(), tensor.DType(lower.Int())
	default:
		return found, source.Errorf(source.RuntimeError, n.Range, "unrecognized device for autocast pass: %s", device.Str())
	}
	return found, nil
}

// settled returns the value that v always has: it is a constant, follows from constants, or is chosen by one.
func settled(v *ir.Value) (c value.Value, ok bool) {
	if c, ok = v.Constant(); ok {
		return c, true
	}
	switch n := v.Node(); {
	case n.Kind() == prim.UncheckedCast:
		return settled(n.Input(0))
	case n.Kind() == prim.If:
		condition, ok := settled(n.Input(0))
		if !ok || condition.Kind() != value.KindBool {
			return value.None, false
		}
		chosen := n.Blocks()[1]
		if condition.Bool() {
			chosen = n.Blocks()[0]
		}
		return settled(chosen.Outputs()[v.Offset()])
	case n.Operator() != nil && !n.Operator().HasSideEffects():
		if out, ok := passes.RunConstantNode(n); ok {
			return out[v.Offset()], true
		}
	}
	return value.None, false
}

// cast casts what n takes.
func (p *autocast) cast(n *ir.Node) {
	o := n.Operator()
	if o == nil || o.Schema().IsMutable() {
		return
	}
	c := p.current()
	precision := autograd.CompiledPrecision(n.Kind())
	if on, ok := autograd.CompiledPrecisionOnCUDA(n.Kind()); ok && c.cuda {
		precision, c.cpu = on, false
	}
	kind := aten.AutocastToFullPrecision
	switch precision {
	case autograd.AnyPrecision:
		return
	case autograd.ReducedPrecision:
		kind = aten.AutocastToReducedPrecision
	case autograd.PromotedPrecision:
		if !slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return autograd.MayBeFloat32(v.Type()) }) {
			return
		}
	case autograd.AccumulatedPrecision:
		if at := o.Schema().ArgumentIndex("dtype"); at < 0 || !n.Input(at).MustBeNone() {
			return
		}
	}
	made := map[*ir.Value]*ir.Value{}
	for i, v := range slices.Clone(n.Inputs()) {
		if i >= len(o.Schema().Arguments) || !autograd.TakesCast(o.Schema().Arguments[i].Type) || v.Type().Kind() != types.KindTensor || v.Node().Kind() == kind {
			continue
		}
		if made[v] == nil {
			made[v] = p.insert(kind, v, n, c)
		}
		n.ReplaceInput(i, made[v])
	}
}

// insert puts a cast of v before n.
func (p *autocast) insert(kind string, v *ir.Value, n *ir.Node, c casts) *ir.Value {
	old := p.g.SetInsertPoint(n)
	defer p.g.SetInsertPoint(old)
	inputs := []*ir.Value{v, p.g.Constant(value.Bool(c.cuda), source.Range{}), p.g.Constant(value.Bool(c.cpu), source.Range{})}
	if kind == aten.AutocastToReducedPrecision {
		inputs = append(inputs, p.g.Constant(value.Int(int64(c.onCUDA)), source.Range{}), p.g.Constant(value.Int(int64(c.onCPU)), source.Range{}))
	}
	p.changed = true
	return p.g.InsertNode(p.g.Create(kind, inputs, 1).SetRange(n.Range)).Output()
}
