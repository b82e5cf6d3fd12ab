package quantization

import (
	"fmt"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Quantize returns a copy of a module in whose method, and what that calls, each observer is replaced by a rounding to integers and back.
// What the observers have learned is attributes of the modules, called by the value. The calls of the method are inlined, and the
// roundings moved to where operators use their results. It fails where an observer has no calculate_qparams.
//
//	%y = prim::CallMethod[name="forward"](%_observer_0, %x)   ->   %x_scale_0 = prim::GetAttr[name="x_scale_0"](%self), and so on
//	                                                               %x.quant = aten::quantize_per_tensor(%x, %x_scale_0, %x_zero_point_0, %x_scalar_type_0)
//	                                                               %x.dequant.0 = aten::dequantize(%x.quant)
func Quantize(module *value.Object, name string, o Options) (*value.Object, error) {
	copied, err := freeze.CloneModuleWith(module, freeze.CloneOptions{Mangle: o.Mangle, CopyTensors: !o.InPlace})
	if err != nil {
		return nil, err
	}
	f, err := method(copied.Root, name)
	if err != nil {
		return nil, err
	}
	q := &quantizer{options: o, modules: copied.Modules, observed: map[*ir.Graph][]*observed{}, finished: map[*value.Object]bool{}}
	entry := invocation{copied.Root, f}
	if o.Mode == Dynamic {
		if err := q.runWeightObservers(entry, map[*value.Object]bool{}); err != nil {
			return nil, err
		}
	}
	if err := q.run(entry); err != nil {
		return nil, err
	}
	q.fill()
	q.removeObservers()
	for _, m := range copied.Modules {
		swapLinear(m)
	}
	return copied.Root, propagateQuantization(f.Graph(), o.Debug)
}

type quantizer struct {
	options  Options
	modules  []*value.Object
	observed map[*ir.Graph][]*observed
	finished map[*value.Object]bool // modules that have their attributes
}

// observed is a call of an observer with the names of the attributes for what it has learned.
type observed struct {
	call       *ir.Node
	original   *ir.Value
	parameters []string
}

// learned is one of the things that an observer has learned.
type learned struct {
	suffix string
	value  value.Value
}

// observerName returns the attribute whose forward a node calls where that is an observer.
func observerName(n *ir.Node) (string, bool) {
	if n.Kind() != prim.CallMethod || n.StringAttr("name") != "forward" || n.Input(0).Node().Kind() != prim.GetAttr {
		return "", false
	}
	name := n.Input(0).Node().StringAttr("name")
	return name, strings.Contains(name, "_observer_")
}

// observerCalls lists the calls of observers in a graph.
func observerCalls(g *ir.Graph) []*ir.Node {
	return slices.DeleteFunc(passes.NodesOf(g), func(n *ir.Node) bool {
		_, ok := observerName(n)
		return !ok || !isTensor(n.Output())
	})
}

// run replaces the observers in a method and what it calls.
func (q *quantizer) run(c invocation) error {
	g := c.method.Graph()
	for _, inside := range invocations(c.module, g) {
		if err := q.run(inside); err != nil {
			return err
		}
	}
	known, ok := q.observed[g]
	if ok {
		for _, o := range known {
			if _, err := q.learn(c.module, o); err != nil {
				return err
			}
		}
		q.finished[c.module] = true
		return nil
	}
	for _, n := range observerCalls(g) {
		o := &observed{call: n, original: n.Input(1)}
		n.Output().ReplaceAllUsesWith(o.original)
		known = append(known, o)
	}
	q.observed[g] = known
	for _, o := range known {
		learned, err := q.learn(c.module, o)
		if err != nil {
			return err
		}
		q.insert(c.module, o, learned)
	}
	q.finished[c.module] = true
	return nil
}

// learn gives a module what its observer has learned as attributes.
func (q *quantizer) learn(m *value.Object, o *observed) ([]learned, error) {
	observer, err := observerAt(m, o.call)
	if err != nil {
		return nil, err
	}
	found, err := q.parameters(observer)
	if err != nil {
		return nil, err
	}
	if o.parameters == nil {
		for _, p := range found {
			name := ""
			for i := 0; name == "" || m.Class.AttributeIndex(name) >= 0; i++ {
				name = fmt.Sprintf("%s%s_%d", o.original.Name(), p.suffix, i)
			}
			m.Class.AddAttribute(types.Attribute{Name: name, Type: value.TypeOf(p.value)})
			o.parameters = append(o.parameters, name)
		}
	}
	for i, p := range found {
		m.SetAttr(o.parameters[i], p.value)
	}
	return found, nil
}

func observerAt(m *value.Object, call *ir.Node) (*value.Object, error) {
	name, _ := observerName(call)
	v, ok := m.Attr(name)
	if !ok || v.Kind() != value.KindObject {
		return nil, failf("%s has no observer %s", m.Class.Name, name)
	}
	return v.Object(), nil
}

// parameters returns what an observer has learned: scale and zero point, of each channel where it tells them apart, and the element type.
// An observer that keeps no range knows the type alone, and one of float16 nothing.
func (q *quantizer) parameters(observer *value.Object) ([]learned, error) {
	dtype, ok := readAttribute(observer, "dtype")
	if !ok {
		return nil, failf("the observer %s has no dtype", observer.Class.Name)
	}
	if isPlaceholder(observer) {
		if isHalf(observer) {
			return nil, nil
		}
		return []learned{{"_scalar_type", dtype}}, nil
	}
	if isHalf(observer) {
		return nil, nil
	}
	f, err := method(observer, "calculate_qparams")
	if err != nil {
		return nil, err
	}
	result, err := q.options.Call(f, value.OfObject(observer))
	if err != nil {
		return nil, err
	}
	if result.Kind() != value.KindTuple || len(result.Tuple().Items) != 2 {
		return nil, failf("calculate_qparams of %s gives %s, expected a scale and a zero point", observer.Class.Name, value.TypeOf(result))
	}
	scale, zero := result.Tuple().Items[0], result.Tuple().Items[1]
	if !scale.IsTensor() || !zero.IsTensor() {
		return nil, failf("calculate_qparams of %s gives %s, expected two tensors", observer.Class.Name, value.TypeOf(result))
	}
	if axis, ok := channelAxis(observer); ok {
		scales, zeros, err := channelParameters(scale.Tensor(), zero.Tensor(), observer)
		return []learned{{"_scale", scales}, {"_zero_point", zeros}, {"_axis", axis}, {"_scalar_type", dtype}}, err
	}
	s, err := scale.Tensor().Item()
	if err != nil {
		return nil, err
	}
	z, err := zero.Tensor().Item()
	if err != nil {
		return nil, err
	}
	return []learned{{"_scale", value.Float(s.Float64())}, {"_zero_point", value.Int(z.Int64())}, {"_scalar_type", dtype}}, nil
}

func isPlaceholder(observer *value.Object) bool {
	return freeze.IsClassNamed(observer.Class, "PlaceholderObserver")
}

// insert puts the rounding of a value behind its observer.
func (q *quantizer) insert(m *value.Object, o *observed, found []learned) {
	g := o.call.Graph()
	old := g.SetInsertPoint(o.call.Next())
	if o.call.Next() == nil {
		g.SetInsertPoint(o.call.Block().ReturnNode())
	}
	defer g.SetInsertPoint(old)
	observer, _ := observerAt(m, o.call)
	var quantized *ir.Value
	switch {
	case q.options.Mode == Dynamic && isHalf(observer):
		if !isWeight(o.original) {
			return
		}
		n := g.InsertNode(g.Create(aten.SaturateWeightToFp16, []*ir.Value{o.original}, 1))
		replaceBehind(o.original, n.Output())
		return
	case len(found) == 0:
		return
	}
	self := g.Inputs()[0]
	inputs := []*ir.Value{o.original}
	for i, p := range found {
		get := g.InsertNode(g.CreateGetAttr(self, o.parameters[i]))
		get.Output().SetName(o.parameters[i])
		if p.value.IsTensor() {
			get.Output().SetType(value.CompleteType(p.value.Tensor()))
		}
		inputs = append(inputs, get.Output())
	}
	if len(found) == 1 { // each call chooses its own scale
		name := o.call.Output().Name()
		reduced := g.Constant(value.Bool(true), source.Range{})
		quantized = insertChosen(g, o.original, reduced, inputs[1], name)
		replaceBehind(o.original, insertDequantize(g, quantized, o.original, name, 0))
		return
	}
	kind, name := aten.QuantizePerTensor, o.original.Name()
	if len(found) == 4 {
		kind = aten.QuantizePerChannel
	}
	quantized = g.InsertNode(g.Create(kind, inputs, 1)).Output().SetName(name + ".quant")
	rounded := insertDequantize(g, quantized, o.original, name, 0)
	replaceBehind(o.original, rounded)
}

// insertDequantize inserts an aten::dequantize of a value with the type of the one that it stands for.
func insertDequantize(g *ir.Graph, quantized, original *ir.Value, name string, id int) *ir.Value {
	out := g.InsertNode(g.Create(aten.Dequantize, []*ir.Value{quantized}, 1)).Output()
	return out.SetType(original.Type()).SetName(fmt.Sprintf("%s.dequant.%d", name, id))
}

// replaceBehind has what follows the node of other use it for v.
func replaceBehind(v, other *ir.Value) {
	for _, u := range slices.Clone(v.Uses()) {
		if other.Node().IsBefore(u.User) {
			u.User.ReplaceInput(u.Index, other)
		}
	}
}

// fill gives modules that no method calls the attributes that others of their classes have.
func (q *quantizer) fill() {
	for _, m := range q.modules {
		if q.finished[m] || len(m.Slots) == len(m.Class.Attributes) {
			continue
		}
		for _, other := range q.modules {
			if other.Class == m.Class && len(other.Slots) == len(m.Class.Attributes) {
				for i := len(m.Slots); i < len(other.Slots); i++ {
					m.SetAttr(m.Class.Attributes[i].Name, other.Slots[i])
				}
				break
			}
		}
	}
}

// removeObservers takes the observers out of the modules and their graphs.
func (q *quantizer) removeObservers() {
	unwanted := map[*types.Class]map[string]bool{}
	for g, all := range q.observed {
		class, ok := g.Inputs()[0].Type().(*types.Class)
		if !ok {
			continue
		}
		for _, o := range all {
			if unwanted[class] == nil {
				unwanted[class] = map[string]bool{}
			}
			name, _ := observerName(o.call)
			unwanted[class][name] = true
			get := o.call.Input(0).Node()
			o.call.Destroy()
			if !get.Output().HasUses() {
				get.Destroy()
			}
		}
	}
	for class, names := range unwanted {
		var kept []types.Attribute
		for _, m := range q.modules {
			if m.Class == class {
				m.Slots = withoutSlots(m, names)
			}
		}
		for _, a := range class.Attributes {
			if !names[a.Name] {
				kept = append(kept, a)
			}
		}
		class.Attributes = kept
	}
}

// withoutSlots returns what the attributes of a module hold, apart from those that are named.
func withoutSlots(m *value.Object, names map[string]bool) []value.Value {
	var kept []value.Value
	for i, v := range m.Slots {
		if !names[m.Class.Attributes[i].Name] {
			kept = append(kept, v)
		}
	}
	return kept
}
