package passes

import (
	"strconv"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Peephole replaces nodes whose outcome is seen from the nodes beside them. It reports whether it
// changed anything.
//
//	%y = aten::mul(%x, 1)                 -- %x, where the two may share memory
//	%b = aten::__is__(%x, None)           -- False, where %x is no Optional
//	%n = aten::dim(%c)                    -- 4, where %c comes from aten::conv2d
//	%v = prim::unchecked_unwrap_optional(%x) -- %x, where it is no Optional
func Peephole(g *ir.Graph) bool { return peephole(g, true) }

// PeepholeWithoutShapes is Peephole that does not look at what tensor types say of sizes.
func PeepholeWithoutShapes(g *ir.Graph) bool { return peephole(g, false) }

func peephole(g *ir.Graph, shapes bool) bool {
	p := &peepholes{g: g, db: alias.Analyze(g, alias.Options{}), shapes: shapes}
	g.Block().Walk(func(n *ir.Node) {
		moved, none := constantsRight(n), noneOutputs(n)
		definite, condition := refineOutputs(n), conditionOutputs(n)
		p.changed = p.changed || moved || none || definite || condition
		if replacement := p.replacement(n); replacement != nil && replacement != n.Output() {
			n.Output().ReplaceAllUsesWith(replacement)
			p.changed = true
		}
	})
	p.changed = listIdioms(g, p.db) || p.changed
	if p.changed {
		DCE(g)
	}
	return p.changed
}

// noneOutputs makes what can only be None a constant, such as an attribute of a module.
func noneOutputs(n *ir.Node) bool {
	if n.Is(prim.Constant) {
		return false
	}
	changed := false
	for _, out := range n.Outputs() {
		if out.Type().Kind() == types.KindNone && len(out.Uses()) > 0 {
			g := n.Graph()
			old := g.SetInsertPoint(n)
			out.ReplaceAllUsesWith(g.Constant(value.None, source.Range{}))
			g.SetInsertPoint(old)
			changed = true
		}
	}
	return changed
}

// refineOutputs gives an output of an If that may be None, and that neither branch makes of what may be, the type that both branches share.
//
//	%o : Tensor? = prim::If(%c)   -- becomes %o : Tensor, where both branches give a Tensor
func refineOutputs(n *ir.Node) bool {
	if n.Kind() != prim.If {
		return false
	}
	changed := false
	for i, out := range n.Outputs() {
		yes, no := n.Blocks()[0].Outputs()[i].Type(), n.Blocks()[1].Outputs()[i].Type()
		if out.Type().Kind() != types.KindOptional || yes.Kind() == types.KindOptional || no.Kind() == types.KindOptional {
			continue
		}
		if t := sharedType(yes, no); t != nil && !types.Equal(t, out.Type()) {
			out.SetType(t)
			changed = true
		}
	}
	return changed
}

// sharedType is types.Unify without unions, which knows of two tensors what both types say.
func sharedType(a, b types.Type) types.Type {
	x, ok := a.(*types.TensorInfo)
	y, ok2 := b.(*types.TensorInfo)
	if ok && ok2 {
		return x.Common(y)
	}
	return types.Unify(a, b, false, nil)
}

type peepholes struct {
	g       *ir.Graph
	db      *alias.Db
	shapes  bool
	changed bool
}

// replacement returns what stands for the only output of n, nil where nothing does.
func (p *peepholes) replacement(n *ir.Node) *ir.Value {
	if len(n.Outputs()) != 1 || !n.Output().HasUses() {
		return nil
	}
	switch n.Kind() {
	case aten.Is, aten.Isnot:
		return p.identity(n)
	case prim.UncheckedUnwrapOptional, aten.UnwrapOptional:
		if t := n.Input(0).Type(); t.Kind() != types.KindOptional && t.Kind() != types.KindNone && t.Kind() != types.KindUnion {
			return n.Input(0)
		}
	case prim.UncheckedCast:
		if types.Equal(n.Input(0).Type(), n.Output().Type()) {
			return n.Input(0)
		}
	case aten.Int:
		if types.Equal(n.Input(0).Type(), n.Output().Type()) {
			return n.Input(0)
		}
	case aten.Eq, aten.Ne:
		return p.sameValue(n)
	case aten.Getitem:
		return p.dictItem(n)
	case aten.Len:
		return p.length(n)
	case aten.Transpose:
		return p.twice(n)
	case aten.T: // a view of the same memory in the same way, whatever is written
		if made := n.Input(0).Node(); made.Kind() == aten.T {
			return made.Input(0)
		}
	case aten.Floordiv:
		if n.Input(0).Type().Kind() == types.KindInt && n.Input(1).Type().Kind() == types.KindInt && isNumber(n.Input(1), 1) {
			return n.Input(0)
		}
	case aten.GradSumToSize:
		return p.sumToSize(n)
	case prim.IfThenElse:
		if c, known := n.Input(0).Constant(); known && c.IsBool() {
			return chosen(n, c.Bool())
		}
	case aten.Dim:
		return p.dim(n)
	}
	switch o := n.Operator(); {
	case o.Has(ops.NeutralZero):
		return p.arithmetic(n, 0)
	case o.Has(ops.NeutralOne):
		return p.arithmetic(n, 1)
	case o.Has(ops.ToNumber) && n.Kind() != aten.Bool:
		if made := n.Input(0).Node(); made.Kind() == prim.NumToTensor && types.Equal(made.Input(0).Type(), n.Output().Type()) {
			return made.Input(0)
		}
	}
	if p.shapes {
		return p.shape(n)
	}
	return nil
}

// chosen returns what a prim::IfThenElse gives, nil where that is of another type.
func chosen(n *ir.Node, isFirst bool) *ir.Value {
	v := n.Input(2)
	if isFirst {
		v = n.Input(1)
	}
	if !types.Equal(v.Type(), n.Output().Type()) {
		return nil
	}
	return v
}

func (p *peepholes) constant(n *ir.Node, v value.Value) *ir.Value {
	old := p.g.SetInsertPoint(n)
	defer p.g.SetInsertPoint(old)
	return p.g.Constant(v, source.Range{})
}

// identity decides a comparison with None by the types.
func (p *peepholes) identity(n *ir.Node) *ir.Value {
	a, b := n.Input(0).Type(), n.Input(1).Type()
	is := n.Kind() == aten.Is
	if a.Kind() == types.KindNone {
		a, b = b, a
	}
	if b.Kind() != types.KindNone || types.IsSubtype(types.None, a) || a.Kind() == types.KindAny || a.Kind() == types.KindVar {
		return nil
	}
	return p.constant(n, value.Bool(!is))
}

// sameValue decides a comparison of an int or a bool, or of a list of them, with itself.
func (p *peepholes) sameValue(n *ir.Node) *ir.Value {
	if len(n.Inputs()) != 2 || n.Input(0) != n.Input(1) {
		return nil
	}
	t := n.Input(0).Type()
	if list, ok := t.(*types.List); ok {
		t = list.Elem
	}
	switch t.Kind() {
	case types.KindInt, types.KindBool:
		return p.constant(n, value.Bool(n.Kind() == aten.Eq))
	}
	return nil
}

// entriesOf returns the constant keys and the values of a dictionary that never changes.
func (p *peepholes) entriesOf(v *ir.Value) (keys []value.Value, items []*ir.Value, ok bool) {
	n := v.Node()
	if n.Kind() != prim.DictConstruct || p.db.HasWriters(v) {
		return nil, nil, false
	}
	for i := 0; i+1 < len(n.Inputs()); i += 2 {
		key, ok := n.Input(i).Constant()
		if !ok || key.Kind() != value.KindString && key.Kind() != value.KindInt {
			return nil, nil, false
		}
		for j, known := range keys {
			if value.EqualConstants(known, key) { // the last one counts
				keys, items = append(keys[:j], keys[j+1:]...), append(items[:j], items[j+1:]...)
				break
			}
		}
		keys, items = append(keys, key), append(items, n.Input(i+1))
	}
	return keys, items, true
}

// dictItem returns what a dictionary that never changes has at a constant key.
func (p *peepholes) dictItem(n *ir.Node) *ir.Value {
	if len(n.Inputs()) != 2 {
		return nil
	}
	key, ok := n.Input(1).Constant()
	keys, items, known := p.entriesOf(n.Input(0))
	if !ok || !known {
		return nil
	}
	for i := range keys {
		if value.EqualConstants(keys[i], key) {
			return items[i]
		}
	}
	return nil
}

// length knows how many keys a dictionary has that never changes, and how many sizes a tensor of known dimensions.
func (p *peepholes) length(n *ir.Node) *ir.Value {
	if keys, _, known := p.entriesOf(n.Input(0)); known {
		return p.constant(n, value.Int(int64(len(keys))))
	}
	made := n.Input(0).Node()
	if !p.shapes || made.Kind() != aten.Size || len(made.Inputs()) != 1 || p.db.HasWriters(made.Input(0)) || p.db.HasWriters(n.Input(0)) {
		return nil
	}
	t, ok := made.Input(0).Type().(*types.TensorInfo)
	switch {
	case ok && t.Sizes != nil:
		return p.constant(n, value.Int(int64(len(t.Sizes))))
	case ok && t.Dims != nil:
		return p.constant(n, value.Int(int64(*t.Dims)))
	}
	return nil
}

// arithmetic removes an operation with its neutral number, and joins those of ints with constants.
func (p *peepholes) arithmetic(n *ir.Node, neutral float64) *ir.Value {
	if v := integerIdentity(n, neutral); v != nil {
		return v
	}
	if v := p.chain(n); v != nil {
		return v
	}
	x := n.Input(0)
	if x.Type().Kind() != types.KindTensor || n.Output().Type().Kind() != types.KindTensor || !p.db.MayShare(x, n.Output()) {
		return nil
	}
	operands := len(n.Inputs())
	if alpha := n.Operator().Schema().ArgumentIndex("alpha"); alpha >= 0 && isNumber(n.Input(alpha), 1) {
		operands--
	}
	if operands != 2 || !isNumber(n.Input(1), neutral) || !p.keepsType(n, x) {
		return nil
	}
	return x
}

// keepsType reports whether the result has x's element type: a float tensor's always, an integral one's where the number is an int and the
// operation no division. One of which nothing is known is taken for one of numbers, as in PyTorch, which takes one of truth values for that too.
func (p *peepholes) keepsType(n *ir.Node, x *ir.Value) bool {
	dtype := ""
	if t, ok := x.Type().(*types.TensorInfo); ok {
		dtype = t.DType
	}
	switch dtype {
	case "float16", "bfloat16", "float32", "float64", "complex64", "complex128":
		return true
	case "":
		return producesFloat(x.Node(), 0) || n.Kind() != aten.Div && n.Input(1).Type().Kind() == types.KindInt
	case "bool":
		return false
	}
	return n.Kind() != aten.Div && n.Input(1).Type().Kind() == types.KindInt
}

// maxDepth is how far back the origin of a tensor is followed.
const maxDepth = 16

// producesFloat reports whether a node's result is a floating point tensor whatever its inputs are.
func producesFloat(n *ir.Node, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch how, _ := n.Fact("floats"); how {
	case "always":
		return true
	case "like_input":
		return producesFloat(n.Input(0).Node(), depth+1)
	}
	return false
}

func isNumber(v *ir.Value, want float64) bool {
	c, ok := v.Constant()
	if !ok {
		return false
	}
	switch c.Kind() {
	case value.KindInt:
		return float64(c.Int()) == want
	case value.KindFloat:
		return c.Float() == want
	}
	return false
}

// twice removes a transposition that undoes one.
func (p *peepholes) twice(n *ir.Node) *ir.Value {
	first := n.Input(0).Node()
	if first.Kind() != aten.Transpose || len(first.Inputs()) != 3 || len(n.Inputs()) != 3 {
		return nil
	}
	a, ok := ConstantInts(n.Inputs()[1:])
	b, ok2 := ConstantInts(first.Inputs()[1:])
	if !ok || !ok2 || (a[0] != b[0] || a[1] != b[1]) && (a[0] != b[1] || a[1] != b[0]) || !p.db.MayShare(first.Input(0), n.Output()) {
		return nil
	}
	return first.Input(0)
}

func ConstantInts(vs []*ir.Value) ([]int64, bool) {
	out := make([]int64, len(vs))
	for i, v := range vs {
		c, ok := v.Constant()
		if !ok || c.Kind() != value.KindInt {
			return nil, false
		}
		out[i] = c.Int()
	}
	return out, true
}

// conditionOutputs replaces the outputs of an If that are True in the first branch and False in the second by its condition.
func conditionOutputs(n *ir.Node) bool {
	if n.Kind() != prim.If {
		return false
	}
	changed := false
	for i, out := range n.Outputs() {
		if out.HasUses() && isConstantBool(n.Blocks()[0].Outputs()[i], true) && isConstantBool(n.Blocks()[1].Outputs()[i], false) {
			out.ReplaceAllUsesWith(n.Input(0))
			changed = true
		}
	}
	return changed
}

func isConstantBool(v *ir.Value, want bool) bool {
	c, ok := v.Constant()
	return ok && c.IsBool() && c.Bool() == want
}

// dim knows the dimensions of what a convolution gives, also behind a normalization.
func (p *peepholes) dim(n *ir.Node) *ir.Value {
	from := n.Input(0)
	for from.Node().Kind() == aten.BatchNorm {
		from = from.Node().Input(0)
	}
	if dims, ok := ConvolutionDims(from.Node()); ok && !p.db.HasWriters(n.Input(0)) {
		return p.constant(n, value.Int(int64(dims)))
	}
	if p.shapes {
		return p.shape(n)
	}
	return nil
}

// sumToSize removes a sum to no size, and the first of two sums.
func (p *peepholes) sumToSize(n *ir.Node) *ir.Value {
	if n.Input(1).MustBeNone() {
		return n.Input(0)
	}
	if first := n.Input(0).Node(); first.Kind() == aten.GradSumToSize {
		n.ReplaceInput(0, first.Input(0))
		p.changed = true
	}
	return nil
}

// equalSizes reports whether a constant is the list of sizes.
func equalSizes(c value.Value, sizes []int) bool {
	if c.Kind() != value.KindList || len(c.List().Items) != len(sizes) {
		return false
	}
	for i, n := range c.List().Items {
		if !n.IsInt() || n.Int() != int64(sizes[i]) {
			return false
		}
	}
	return true
}

// shape answers what a tensor's type tells, where nothing can change it.
func (p *peepholes) shape(n *ir.Node) *ir.Value {
	if len(n.Inputs()) == 0 {
		return nil
	}
	t, ok := n.Input(0).Type().(*types.TensorInfo)
	if !ok || p.db.HasWriters(n.Input(0)) && n.Kind() != aten.Expand {
		return nil
	}
	known := t.Sizes != nil
	for _, s := range t.Sizes {
		known = known && s >= 0
	}
	switch n.Kind() {
	case aten.Dim:
		if t.Sizes != nil {
			return p.constant(n, value.Int(int64(len(t.Sizes))))
		}
		if t.Dims != nil {
			return p.constant(n, value.Int(int64(*t.Dims)))
		}
	case aten.Size:
		if known && len(n.Inputs()) == 1 && !p.db.HasWriters(n.Output()) && !p.db.Escapes(n.Output()) {
			return p.constant(n, value.OfList(value.Ints(t.Sizes)))
		}
		if i, ok := sizeIndex(n, t); ok {
			return p.constant(n, value.Int(int64(t.Sizes[i])))
		}
	case aten.Numel:
		if known {
			total := int64(1)
			for _, s := range t.Sizes {
				total *= int64(s)
			}
			return p.constant(n, value.Int(total))
		}
	case aten.Expand:
		if c, ok := n.Input(1).Constant(); ok && known && equalSizes(c, t.Sizes) {
			return n.Input(0)
		}
	case aten.TypeAs:
		if other, ok := n.Input(1).Type().(*types.TensorInfo); ok && t.DType != "" && t.DType == other.DType && t.Device == other.Device &&
			t.Device != "" && !p.db.HasWriters(n.Output()) {
			return n.Input(0)
		}
	}
	return p.element(n, t)
}

// element answers what a tensor's type tells of its elements and where they are.
func (p *peepholes) element(n *ir.Node, t *types.TensorInfo) *ir.Value {
	switch n.Kind() {
	case prim.Dtype:
		if d, ok := tensor.ParseDType(t.DType); ok && t.DType != "" {
			return p.constant(n, value.Int(int64(d)))
		}
	case prim.Device:
		if d, err := tensor.ParseDevice(t.Device); err == nil && t.Device != "" {
			return p.constant(n, value.OfDevice(d))
		}
	case aten.IsComplex:
		if d, ok := tensor.ParseDType(t.DType); ok && t.DType != "" {
			return p.constant(n, value.Bool(d.IsComplex()))
		}
	case aten.IsFloatingPoint:
		if d, ok := tensor.ParseDType(t.DType); ok && t.DType != "" {
			return p.constant(n, value.Bool(d.IsFloating()))
		}
	case prim.IsCuda:
		if t.Device != "" {
			return p.constant(n, value.Bool(len(t.Device) >= 4 && t.Device[:4] == "cuda"))
		}
	}
	return nil
}

// sizeIndex returns the dimension that aten::size(x, dim) asks for where its size is known.
func sizeIndex(n *ir.Node, t *types.TensorInfo) (int, bool) {
	if len(n.Inputs()) != 2 || t.Sizes == nil {
		return 0, false
	}
	index, ok := ConstantInts(n.Inputs()[1:])
	if !ok {
		return 0, false
	}
	i := int(index[0])
	if i < 0 {
		i += len(t.Sizes)
	}
	return i, i >= 0 && i < len(t.Sizes) && t.Sizes[i] >= 0
}

// ConvolutionDims returns the dimensions of what a convolution of a batch gives; ok is false for other nodes.
func ConvolutionDims(n *ir.Node) (dims int, ok bool) {
	if fact, ok := ops.FactOf(n.Kind(), "convolution"); ok {
		dims, err := strconv.Atoi(fact)
		return dims, err == nil
	}
	return 0, false
}
