package quantization

import (
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/kinds/quantized"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Fuse replaces operators between roundings by those that compute with integers.
func Fuse(g *ir.Graph, mode Mode) {
	var roundings []*ir.Node
	for _, n := range passes.NodesOf(g) {
		switch {
		case mode == Dynamic && n.Kind() == aten.Linear:
			fuseDynamic(n)
		case n.Kind() == aten.QuantizePerTensor:
			roundings = append(roundings, n)
		}
	}
	slices.SortStableFunc(roundings, func(a, b *ir.Node) int { return rank(a) - rank(b) })
	for _, n := range roundings {
		f := &fusion{g: g, quant: n}
		f.find()
	}
	dropUnused(g)
}

// rank says when a rounding is looked at: some operators are replaced after all others, in the order that stands behind their schemas. What is
// replaced later stands earlier where the inputs are the same.
func rank(quant *ir.Node) int {
	n := quant.Input(0).Node()
	late, isLate := ops.FactOf(n.Kind(), "int8_late")
	at, _ := strconv.Atoi(late)
	if !isLate || binary.has(n) && !isScalar(n.Input(1)) {
		return 0
	}
	if u := quant.Output().Uses(); binary.has(n) && len(u) == 1 && u[0].User.Is(aten.Relu, aten.Relu_) {
		return 2*at + 2
	}
	return 2*at + 1
}

// fusion is a rounding with the operator whose result it rounds, and perhaps a relu between them.
type fusion struct {
	g          *ir.Graph
	quant      *ir.Node
	relu, node *ir.Node
}

// find replaces the operator and the rounding by one operator where there is one.
func (f *fusion) find() {
	v := f.quant.Input(0)
	if n := v.Node(); n.Is(aten.Relu, aten.Relu_) && isAlone(v) {
		f.relu = n
		v = n.Input(0)
	}
	f.node = v.Node()
	if !isAlone(v) || !is(f.node, "int8_fused") {
		return
	}
	switch in := f.node.Inputs(); {
	case layerOf(f.node.Kind()) != "":
		f.layer()
	case binary.has(f.node):
		f.binary()
	case f.node.Kind() == aten.BatchNorm:
		f.replace(quantized.BatchNorm, quantized.BatchNormRelu, 0, in[1], in[2], in[3], in[4], in[7])
	case f.relu != nil:
	case f.keepsParameters():
		f.general()
	case f.node.Is(aten.Elu, aten.Elu_):
		f.withParametersFirst()
	default:
		f.other()
	}
}

// other replaces operators that have nothing in common with others.
func (f *fusion) other() {
	in := f.node.Inputs()
	switch {
	case f.node.Kind() == aten.Cat:
		f.replace(quantized.Cat, "", 0, in[1])
	case f.node.Kind() == aten.InstanceNorm:
		f.replace(quantized.InstanceNorm, "", 0, in[1], in[2], in[7])
	case is(f.node, "int8_computing") && f.node.Has(ops.ThroughNumbers):
		f.throughNumbers()
	}
}

// throughNumbers replaces an operator by its quantized form, whose arguments have the same names.
func (f *fusion) throughNumbers() {
	name := "quantized" + strings.TrimSuffix(f.node.Kind()[len("aten"):], "_")
	taken := f.node.Operator().Schema()
	var rest []*ir.Value
	for _, a := range ops.Overloads(name)[0].Schema().Arguments[1:] {
		if i := taken.ArgumentIndex(a.Name); i >= 0 {
			rest = append(rest, f.node.Input(i))
		}
	}
	f.replace(name, "", 0, rest...)
}

// isAlone reports whether a value is used once, in the block of its node.
func isAlone(v *ir.Value) bool {
	return len(v.Uses()) == 1 && v.Uses()[0].User.Block() == v.Node().Block()
}

// layerOf returns the name of the operator with packed weights for another, "" where there is none.
func layerOf(kind string) string {
	for _, p := range packed {
		if p.operator == kind {
			return p.prefix
		}
	}
	return ""
}

// integersOf returns what a dequantized value is made of, nil for others.
func integersOf(v *ir.Value) *ir.Value {
	if v.Node().Kind() != aten.Dequantize {
		return nil
	}
	return v.Node().Input(0)
}

// packedOf returns the packed weight that the inputs of a layer are unpacked from, nil where they are not.
func packedOf(n *ir.Node, unpack string) *ir.Value {
	w := n.Input(1)
	if unpack != quantized.LinearUnpackFp16 {
		if w = integersOf(w); w == nil {
			return nil
		}
	}
	if w.Node().Kind() != unpack || n.Input(2).Node() != w.Node() {
		return nil
	}
	return w.Node().Input(0)
}

func (f *fusion) layer() {
	name := layerOf(f.node.Kind())
	p := packedOf(f.node, name+"_unpack")
	if p == nil {
		return
	}
	withRelu := name + "_relu"
	if f.node.Is(aten.ConvTranspose1d, aten.ConvTranspose2d) {
		withRelu = ""
	}
	f.replace(name, withRelu, 0, p)
}

// replace puts an operator in the place of the fusion: it takes the integers of the first input, the rest, scale and zero point.
func (f *fusion) replace(name, withRelu string, first int, rest ...*ir.Value) {
	x := integersOf(f.node.Input(first))
	if f.relu != nil {
		name = withRelu
	}
	if x == nil || name == "" {
		return
	}
	f.put(name, append(append([]*ir.Value{x}, rest...), f.quant.Inputs()[1:3]...))
}

// put puts an operator in the place of the rounding.
func (f *fusion) put(kind string, inputs []*ir.Value) *ir.Node {
	needed := slices.Clone(inputs)
	if slices.Contains(inputs, f.quant.Input(1)) {
		needed = append(needed, f.quant.Inputs()[1:]...)
	}
	for _, v := range f.node.Inputs() {
		if !is(v.Node(), "int8_scaffold") && !isUnpacking(v.Node()) {
			needed = append(needed, v)
		}
	}
	n := f.g.Create(kind, inputs, 1)
	if at := f.lastOf(needed); f.mayMove(at, needed) {
		n.InsertAfter(at)
	} else {
		n.InsertBefore(f.quant)
	}
	n.Output().SetType(f.quant.Output().Type())
	f.quant.Output().ReplaceAllUsesWith(n.Output())
	f.quant.Destroy()
	for _, m := range []*ir.Node{f.relu, f.node} {
		if m != nil && !m.Output().HasUses() {
			m.Destroy()
		}
	}
	return n
}

// lastOf returns the last node of the block that makes one of the values.
func (f *fusion) lastOf(needed []*ir.Value) *ir.Node {
	var last *ir.Node
	for _, v := range needed {
		if n := v.Node(); n.Block() == f.quant.Block() && n.Kind() != prim.Param && (last == nil || last.IsBefore(n)) {
			last = n
		}
	}
	if last == nil {
		return f.quant.Block().ParamNode()
	}
	return last
}

// mayMove reports whether nothing behind a node and before the rounding may write what is needed.
func (f *fusion) mayMove(from *ir.Node, needed []*ir.Value) bool {
	for _, v := range needed {
		if v.Type().Kind() == types.KindList && v.Node().Kind() != prim.Constant {
			return false
		}
	}
	safe := true
	for n := from.Next(); n != nil && n != f.quant; n = n.Next() {
		safe = safe && !writesOne(n, needed)
		for _, b := range n.Blocks() {
			b.Walk(func(m *ir.Node) { safe = safe && !writesOne(m, needed) })
		}
	}
	return safe
}

// writesOne reports whether a node writes one of some values in place.
func writesOne(n *ir.Node, vs []*ir.Value) bool {
	return strings.HasSuffix(n.Kind(), "_") && len(n.Inputs()) > 0 && slices.Contains(vs, n.Input(0))
}

// binary replaces a sum or a product.
func (f *fusion) binary() {
	name := quantized.Mul
	if f.node.Is(aten.Add, aten.Add_) {
		name = quantized.Add
		if alpha, ok := f.node.Input(2).Constant(); !ok || !isOne(alpha) {
			return
		}
	}
	if y := integersOf(f.node.Input(1)); y != nil {
		f.replace(name, name+"_relu", 0, y)
		return
	}
	x := integersOf(f.node.Input(0))
	if x == nil || f.relu != nil || !isScalar(f.node.Input(1)) || !f.keepsParameters() {
		return
	}
	made := f.put(name+"_scalar", []*ir.Value{x, f.node.Input(1)})
	if u := made.Output().Uses(); len(u) == 1 && u[0].User.Is(aten.Relu, aten.Relu_) && u[0].User.Block() == made.Block() {
		relu := f.g.Create(name+"_scalar_relu", made.Inputs(), 1).InsertAfter(made)
		u[0].User.Output().ReplaceAllUsesWith(relu.Output())
		u[0].User.Destroy()
		made.Destroy()
	}
}

func isOne(v value.Value) bool {
	return v.Kind() == value.KindInt && v.Int() == 1 || v.Kind() == value.KindFloat && v.Float() == 1
}

// withParametersFirst replaces an operator whose numbers stand behind scale and zero point.
func (f *fusion) withParametersFirst() {
	x := integersOf(f.node.Input(0))
	if x == nil {
		return
	}
	inputs := append([]*ir.Value{x}, f.quant.Inputs()[1:3]...)
	f.put(quantized.Elu, append(inputs, f.node.Inputs()[1:]...))
}

// keepsParameters reports whether the rounding is with the parameters of the first input, or those that the operator always has.
func (f *fusion) keepsParameters() bool {
	x := integersOf(f.node.Input(0))
	if x == nil {
		return false
	}
	if fixed := fixedParameters(f.node); fixed != nil {
		for i, p := range fixed {
			if c, ok := f.quant.Input(i + 1).Constant(); !ok || !value.EqualConstants(c, p) {
				return false
			}
		}
		return true
	}
	return keepsScale(f.node) && roundsLike(f.quant, x)
}

// roundsLike reports whether a rounding is with the scale, zero point and type of a value.
func roundsLike(quant *ir.Node, x *ir.Value) bool {
	for i, kind := range []string{aten.QScale, aten.QZeroPoint, prim.Dtype} {
		if n := quant.Input(i + 1).Node(); n.Kind() != kind || n.Input(0) != x {
			return false
		}
	}
	return true
}

// general replaces an operator by itself, over integers. Limits are no longer rounded.
func (f *fusion) general() {
	x := integersOf(f.node.Input(0))
	inputs := append([]*ir.Value{x}, f.node.Inputs()[1:]...)
	if limited.has(f.node) {
		for i := 1; i < 3; i++ {
			if limit := limitOf(inputs[i], x); limit != nil {
				inputs[i] = limit
			}
		}
	}
	f.put(f.node.Kind(), inputs)
}

// limitOf returns the number that roundLimit has rounded.
func limitOf(v, x *ir.Value) *ir.Value {
	if v.Node().Kind() != aten.Item {
		return nil
	}
	q := integersOf(v.Node().Input(0))
	if q == nil || q.Node().Kind() != aten.QuantizePerTensor || !roundsLike(q.Node(), x) {
		return nil
	}
	number := q.Node().Input(0).Node()
	if number.Kind() != aten.ScalarTensor {
		return nil
	}
	return number.Input(0)
}

// fuseDynamic replaces a linear layer whose input is rounded by its own range, or whose weight is of float16.
//
//	%s, %z = aten::_choose_qparams_per_tensor(%x, %reduce)
//	%q = aten::quantize_per_tensor(%x, %s, %z, %t)            %y = quantized::linear_dynamic(%x, %p, %reduce)
//	%d = aten::dequantize(%q)                           ->
//	%y = aten::linear(%d, %w, %b)
func fuseDynamic(n *ir.Node) {
	kind, inputs := quantized.LinearDynamicFp16, []*ir.Value(nil)
	if p := packedOf(n, quantized.LinearUnpackFp16); p != nil {
		inputs = []*ir.Value{n.Input(0), p}
	} else if p := packedOf(n, quantized.LinearUnpack); p != nil {
		quant, choose := chosen(n.Input(0).Node())
		if choose == nil {
			return
		}
		kind, inputs = quantized.LinearDynamic, []*ir.Value{quant.Input(0), p, choose.Input(1)}
	} else {
		return
	}
	made := n.Graph().Create(kind, inputs, 1).InsertBefore(n)
	n.Output().ReplaceAllUsesWith(made.Output().SetType(types.Tensor))
	n.Destroy()
}

// dropUnused removes what has no use any more of what fusion takes away, users first.
func dropUnused(g *ir.Graph) {
	for _, n := range slices.Backward(passes.NodesOf(g)) {
		if (is(n, "int8_scaffold") || isUnpacking(n)) && !slices.ContainsFunc(n.Outputs(), (*ir.Value).HasUses) {
			n.Destroy()
		}
	}
}

func isUnpacking(n *ir.Node) bool {
	return slices.ContainsFunc(packed, func(p struct{ operator, prefix, parameters, pack string }) bool {
		return n.Kind() == p.prefix+"_unpack"
	})
}
