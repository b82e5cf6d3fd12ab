package plan

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// kind is what a plan does with an operator.
type kind int

const (
	notPlanned       kind = iota
	convolution           // in two dimensions
	normalization         // by running statistics, element by element with a factor and a term for each channel
	pointwise             // the same for each element
	windowed              // images from images: pooling, resampling
	product               // of matrices
	rowNormalization      // of what lies along the last dimensions, by its mean and deviation
	rowDistribution       // of what lies along the last dimension, as exponentials over their sum
	lookup                // rows of a table
	joined                // tensors side by side
	recurrence            // layers of recurrent cells
	attending             // values weighed by what queries and keys have in common
)

// products returns how many of what plans are made for a node of a kind counts as.
func (k kind) products() int {
	switch k {
	case convolution, product:
		return 1
	case recurrence, attending:
		return fewestProducts
	}
	return 0
}

// kindOf says what a plan does with a node.
func kindOf(n *ir.Node) kind {
	o := n.Operator()
	if o == nil {
		return notPlanned
	}
	fact, ok := o.Fact("plan")
	if !ok {
		if f := functional(o); f != nil && f.IsElementwise() {
			return pointwise
		}
		return notPlanned
	}
	k := kinds[fact]
	switch o.BaseName() {
	case aten.Conv2d:
		ok = areKnown(n, 3, 4, 5, 6)
	case aten.Convolution:
		dims, known := ints(n.Input(3))
		ok = known && len(dims) == 2 && isFalse(n.Input(6)) && areKnown(n, 4, 5, 8)
	case aten.BatchNorm:
		ok = isFalse(n.Input(5))
	case aten.PrivateScaledDotProductAttention: // neither the weights are read nor drawn from
		dropout, known := constant(n.Input(4))
		ok = known && dropout.IsFloat() && dropout.Float() == 0 && isFalse(n.Input(6)) && !n.Outputs()[1].HasUses()
	case aten.ScaledDotProductAttention: // nothing is masked, drawn from or shared by heads; rows without keys, which masks make, are zeros
		dropout, known := constant(n.Input(4))
		mask, isFixed := constant(n.Input(3))
		ok = known && dropout.IsFloat() && dropout.Float() == 0 && isFixed && mask.IsNone() && isFalse(n.Input(5)) && isFalse(n.Input(7)) && areKnown(n, 6)
	case aten.Mean:
		dims, known := ints(n.Input(1))
		ok = known && len(dims) == 2 && (dims[0]+4)%4 == 2 && (dims[1]+4)%4 == 3
	}
	if !ok {
		return notPlanned
	}
	return k
}

// kinds are the kinds by what stands behind the schemas of operators. Views are no work.
var kinds = map[string]kind{"convolution": convolution, "normalization": normalization, "windowed": windowed, "product": product,
	"row_normalization": rowNormalization, "row_distribution": rowDistribution, "lookup": lookup, "joined": joined, "recurrence": recurrence, "attending": attending, "view": notPlanned, "parts": notPlanned}

// areKnown reports whether some arguments of a node are constants.
func areKnown(n *ir.Node, arguments ...int) bool {
	return !slices.ContainsFunc(arguments, func(i int) bool {
		_, known := constant(n.Input(i))
		return !known
	})
}

// functional returns the operator that computes what o does without writing its first argument; nil where there is none.
func functional(o *ops.Operator) *ops.Operator {
	s := o.Schema()
	if !s.IsMutable() {
		return o
	}
	a := &s.Arguments[0]
	if a.Alias == nil || !a.Alias.IsWrite || a.KwargOnly || !strings.HasSuffix(s.Name, "_") {
		return nil
	}
	name := strings.TrimSuffix(s.Name, "_")
	if s.Overload != "" {
		name += "." + s.Overload
	}
	f := ops.Find(name)
	if f == nil || f.Run == nil || f.Schema().IsMutable() || len(f.Schema().Arguments) != len(s.Arguments) {
		return nil
	}
	return f
}

// writes reports whether n writes its first argument.
func writes(n *ir.Node) bool { return n.Operator().Schema().IsMutable() }

// constant returns the value of v where it does not change: a constant, or a list of constants that nothing writes.
func constant(v *ir.Value) (value.Value, bool) {
	if c, ok := v.Constant(); ok {
		return c, true
	}
	n := v.Node()
	l, isList := v.Type().(*types.List)
	if n.Kind() != prim.ListConstruct || !isList || l.Elem.Kind() != types.KindInt || len(v.Uses()) == 0 {
		return value.None, false
	}
	made := value.NewList(l.Elem)
	for _, in := range n.Inputs() {
		c, ok := in.Constant()
		if !ok || !c.IsInt() {
			return value.None, false
		}
		made.Items = append(made.Items, c)
	}
	for _, u := range v.Uses() {
		if o := u.User.Operator(); o == nil || !strings.HasPrefix(o.Name, "aten::") || fuse.IsBarrier(u.User) && u.Index == 0 {
			return value.None, false
		}
	}
	return value.OfList(made), true
}

// ints returns the numbers of a constant list.
func ints(v *ir.Value) ([]int, bool) {
	c, ok := constant(v)
	if !ok || c.Kind() != value.KindList {
		return nil, false
	}
	return intsOf(c)
}

func intsOf(c value.Value) (found []int, ok bool) {
	if c.IsInt() {
		return []int{int(c.Int())}, true
	}
	if c.Kind() != value.KindList {
		return nil, false
	}
	for _, item := range c.List().Items {
		if !item.IsInt() {
			return nil, false
		}
		found = append(found, int(item.Int()))
	}
	return found, true
}

func isFalse(v *ir.Value) bool {
	c, ok := v.Constant()
	return ok && c.IsBool() && !c.Bool()
}

// program is the nodes of a region over numbered values: its inputs, its constants that are tensors, and what the nodes give. A node that
// writes its argument gives a value of its own: what is read behind it.
type program struct {
	inputs    int
	weights   []bool           // of the inputs: those that are likely to be the same tensors in all calls
	constants []*tensor.Tensor // the values behind the inputs
	nodes     []node
	outputs   []int
	values    int
}

// node is an operator of a program, or one of the nodes that are light.
type node struct {
	at   *ir.Node
	op   *ops.Operator // that writes nothing; nil where a list is made or taken apart
	kind kind
	args []value.Value // constants; where refs has a value, what that is where it is a number
	refs []int         // which value each argument is, -1 for constants
	out  int           // the first value that it gives
}

// newProgram reads the block of a region. why says what forbids a plan, "" where there is one.
func newProgram(n *ir.Node) (p *program, why string) {
	p = &program{inputs: len(n.Inputs())}
	current := map[*ir.Value]int{} // what a value is at this place
	for i, v := range n.Inputs() {
		current[v] = i
		p.weights = append(p.weights, isWeight(v))
	}
	body := n.Blocks()[0]
	known := map[*ir.Value]bool{}
	body.Walk(func(m *ir.Node) {
		for _, v := range m.Inputs() {
			if c, isConstant := constant(v); isConstant && c.IsTensor() && !known[v] {
				known[v], current[v] = true, p.inputs+len(p.constants)
				p.constants = append(p.constants, c.Tensor())
			}
		}
	})
	p.values = p.inputs + len(p.constants)
	if !p.addAll(body, current) {
		return nil, "an argument is not known"
	}
	seen := map[int]bool{}
	for _, v := range body.Outputs() {
		out := current[v]
		if seen[out] || out < p.inputs+len(p.constants) {
			return nil, sharedResult
		}
		seen[out] = true
		p.outputs = append(p.outputs, out)
	}
	return p, ""
}

const sharedResult = "a result may be the tensor of another one or of an argument, which a plan does not keep so"

// addAll adds the nodes of a block, and those of the groups in it, which are for calls that run nodes one by one.
func (p *program) addAll(body *ir.Block, current map[*ir.Value]int) bool {
	for m := body.First(); m != nil; m = m.Next() {
		if m.Kind() != interp.GroupKind {
			if !p.add(m, current) {
				return false
			}
			continue
		}
		inner := m.Blocks()[0]
		if !p.addAll(inner, current) {
			return false
		}
		for i, v := range inner.Outputs() {
			current[m.Outputs()[i]] = current[v]
		}
	}
	return true
}

// add adds a node of the block.
func (p *program) add(m *ir.Node, current map[*ir.Value]int) bool {
	added := node{at: m, kind: kindOf(m), args: make([]value.Value, len(m.Inputs())), refs: make([]int, len(m.Inputs())), out: p.values}
	if o := m.Operator(); o != nil && m.Kind() != prim.ListConstruct && m.Kind() != prim.ListUnpack {
		if added.op = functional(o); added.op == nil {
			return false
		}
	}
	for i, v := range m.Inputs() {
		at, isValue := current[v]
		if added.refs[i] = -1; isValue {
			added.refs[i] = at
			continue
		}
		c, isConstant := constant(v)
		if !isConstant {
			return false
		}
		added.args[i] = c
	}
	p.nodes = append(p.nodes, added)
	for i, v := range m.Outputs() {
		current[v] = p.values + i
	}
	p.values += len(m.Outputs())
	if added.op != nil && writes(m) {
		current[m.Input(0)] = added.out
	}
	return true
}

// isOutput reports whether the region gives a value.
func (p *program) isOutput(v int) bool { return slices.Contains(p.outputs, v) }

// isGiven reports whether a value is an input or a constant.
func (p *program) isGiven(v int) bool { return v < p.inputs+len(p.constants) }

// isWeight reports whether a value is likely to be the same tensor in all calls.
func (p *program) isWeight(v int) bool {
	return v >= p.inputs && p.isGiven(v) || v >= 0 && v < p.inputs && p.weights[v]
}

// hasConstantWeights reports whether the weights of all convolutions are constants.
func (p *program) hasConstantWeights() bool {
	for i := range p.nodes {
		if n := &p.nodes[i]; n.kind == convolution && n.refs[1] < p.inputs {
			return false
		}
	}
	return true
}
