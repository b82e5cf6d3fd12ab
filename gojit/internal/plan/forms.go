package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ranked returns the tensor whose number of dimensions a node gives, nil for other nodes.
func ranked(n *ir.Node) *ir.Value {
	switch n.Kind() {
	case aten.Dim:
		return n.Input(0)
	case aten.Len:
		return sized(n.Input(0))
	}
	return nil
}

// sized returns the tensor whose sizes are in a list as long as that lives, nil for other lists.
func sized(list *ir.Value) *ir.Value {
	if n := list.Node(); n.Kind() == aten.Size && len(n.Inputs()) == 1 && isNeverWritten(list) {
		return n.Input(0)
	}
	return nil
}

// keepsRanks reports whether no operator of a graph changes how many dimensions a tensor has that others see.
func keepsRanks(g *ir.Graph) bool {
	keeps := true
	g.Block().Walk(func(n *ir.Node) {
		if o := n.Operator(); o != nil && len(n.Inputs()) > 0 && isTensor(n.Input(0)) && writes(n) {
			_, ofElements := o.Fact("plain_write")
			keeps = keeps && (ofElements || kindOf(n) == pointwise && strings.HasSuffix(o.BaseName(), "_"))
		}
	})
	return keeps
}

// knownForms are the numbers of dimensions and the types of the elements of tensors of a graph that follow from those of its inputs.
type knownForms struct {
	g      *ir.Graph
	args   []value.Value      // of a call, nil where nothing follows
	found  map[*ir.Value]int  // numbers of dimensions, -1 where that is not known
	asked  map[*ir.Value]bool // what answers about dimensions followed from
	dtypes map[*ir.Value]bool // the inputs that answers about elements followed from
}

// inputForms returns what follows from the tensors among the arguments of a call.
func inputForms(g *ir.Graph, args []value.Value) *knownForms {
	r := &knownForms{g: g, asked: map[*ir.Value]bool{}, dtypes: map[*ir.Value]bool{}}
	if keepsRanks(g) {
		r.args = args
	}
	return r
}

// given returns the input that v is, or is once it is known not to be None, and its tensor; nil for what is no input.
func (r *knownForms) given(v *ir.Value) (*ir.Value, *tensor.Tensor) {
	if v.Node().Kind() == prim.UncheckedCast {
		v = v.Node().Input(0)
	}
	i := slices.Index(r.g.Inputs(), v)
	if i < 0 || i >= len(r.args) || r.args[i].Kind() != value.KindTensor || !isTensor(v) && !isOptionalTensor(v) {
		return nil, nil
	}
	return v, r.args[i].Tensor()
}

// assumptions says which inputs answers followed from.
func (r *knownForms) assumptions() (all []assumption) {
	for i, v := range r.g.Inputs() {
		if r.asked[v] {
			all = append(all, assumption{input: i, what: hasRank, known: value.Int(int64(r.args[i].Tensor().Dim()))})
		}
		if r.dtypes[v] {
			all = append(all, assumption{input: i, what: hasDType, known: value.Int(int64(r.args[i].Tensor().DType()))})
		}
	}
	return all
}

// fold answers what the graph asks, and reports whether it asked something.
func (r *knownForms) fold() bool {
	if r.args == nil {
		return false
	}
	changed := false
	r.found = map[*ir.Value]int{}
	r.g.Block().Walk(func(n *ir.Node) {
		changed = r.foldDType(n) || changed
		v := ranked(n)
		if v == nil || !n.Output().HasUses() {
			return
		}
		if rank := r.of(v); rank >= 0 {
			answer(n, value.Int(int64(rank)))
			r.ask(v)
			changed = true
		}
	})
	return changed
}

// foldDType answers what a node asks of the type of the elements of a tensor, and reports whether it does.
func (r *knownForms) foldDType(n *ir.Node) bool {
	if _, asks := n.Fact("asks_dtype"); !asks {
		return false
	}
	in, t := r.given(viewed(n.Input(0)))
	if in == nil || !n.Output().HasUses() {
		return false
	}
	var out [1]value.Value
	if err := n.Operator().Run([]value.Value{value.OfTensor(t)}, out[:]); err != nil {
		return false
	}
	answer(n, out[0])
	r.dtypes[in] = true
	return true
}

// viewed returns what a tensor is a view of, with the same elements, or the tensor itself.
func viewed(v *ir.Value) *ir.Value {
	for isView(v.Node()) && v.Node().Operator().Schema().ArgumentIndex("dtype") < 0 {
		v = v.Node().Input(0)
	}
	return v
}

// of returns how many dimensions a tensor has where that is known, else -1.
func (r *knownForms) of(v *ir.Value) int {
	rank, known := r.found[v]
	if known {
		return rank
	}
	rank = -1
	if in, t := r.given(v); in != nil {
		rank = t.Dim()
	}
	if c, isConstant := v.Constant(); isConstant && c.Kind() == value.KindTensor {
		rank = c.Tensor().Dim()
	}
	if list := listedSizes(v); list != nil {
		rank = len(list.Inputs())
	}
	for _, from := range follows(v) { // what they broadcast to
		one := r.of(from)
		if one < 0 {
			rank = -1
			break
		}
		rank = max(rank, one)
	}
	r.found[v] = rank
	return rank
}

// listedSizes returns the list of sizes that a view is made for, nil for other tensors.
func listedSizes(v *ir.Value) *ir.Node {
	n := v.Node()
	if n.Kind() != aten.View && n.Kind() != aten.Reshape || len(n.Inputs()) != 2 {
		return nil
	}
	if list := n.Input(1).Node(); list.Kind() == prim.ListConstruct && isNeverWritten(n.Input(1)) {
		return list
	}
	return nil
}

// ask notes what the rank of a tensor, which is known, followed from.
func (r *knownForms) ask(v *ir.Value) {
	if in, _ := r.given(v); in != nil {
		v = in
	}
	if r.asked[v] {
		return
	}
	r.asked[v] = true
	for _, from := range follows(v) {
		r.ask(from)
	}
}

// follows returns the tensors from whose numbers of dimensions that of a tensor, the largest of these, follows; none where it does not.
func follows(v *ir.Value) []*ir.Value {
	n := v.Node()
	if n.Operator() == nil || len(n.Inputs()) == 0 || !isTensor(v) {
		return nil
	}
	switch kindOf(n) {
	case attending:
		return n.Inputs()[:1]
	case convolution, normalization, windowed:
		if n.Kind() != aten.Mean {
			return n.Inputs()[:1]
		}
	case pointwise:
		if slices.ContainsFunc(n.Inputs(), isOptionalTensor) { // it may have more dimensions than the others, or be none
			return nil
		}
		return slices.DeleteFunc(slices.Clone(n.Inputs()), func(in *ir.Value) bool { return !isTensor(in) })
	case joined:
		if list := n.Input(0).Node(); list.Kind() == prim.ListConstruct {
			return list.Inputs()
		}
	default:
		if shape, _ := n.Operator().Fact("shape"); (shape == "unary" || shape == "transpose" || shape == "permute") && !writes(n) && isTensor(n.Input(0)) {
			return n.Inputs()[:1]
		}
	}
	return nil
}

// FoldRanks answers what a graph asks of the number of dimensions of images: how long lists of their sizes, and the ends of these, are. What a
// convolution in two dimensions gives has three or four. Loops over such lists become their rounds.
//
//	%s = aten::size(%image)
//	%n = aten::len(%s)                      ->   %b = prim::Constant[value=0]()
//	%b = aten::le(%n, %two)
func FoldRanks(g *ir.Graph) bool {
	changed := false
	if !keepsRanks(g) {
		return false
	}
	g.Block().Walk(func(n *ir.Node) {
		if c, ok := rankAnswer(n); ok {
			answer(n, c)
			changed = true
		}
	})
	if changed {
		simplify(g)
	}
	return changed
}

// rankAnswer returns what a node is known to give.
func rankAnswer(n *ir.Node) (value.Value, bool) {
	if len(n.Outputs()) != 1 || !n.Output().HasUses() {
		return value.None, false
	}
	switch n.Kind() {
	case prim.Min: // of a list of lengths
		return leastOf(n.Input(0).Node())
	case aten.Len:
		slice := n.Input(0).Node()
		if slice.Kind() != aten.Slice || len(slice.Inputs()) != 4 {
			return value.None, false
		}
		start, known := slice.Input(1).Constant()
		end, knownEnd := slice.Input(2).Constant()
		step, knownStep := slice.Input(3).Constant()
		if known && knownEnd && knownStep && start.IsInt() && start.Int() < 0 && end.IsNone() && step.IsInt() && step.Int() == 1 && leastLength(slice.Input(0)) >= -int(start.Int()) {
			return value.Int(-start.Int()), true
		}
	default:
		return comparisonAnswer(n)
	}
	return value.None, false
}

// comparisonAnswer returns what a comparison of a number of dimensions with a constant gives, where all numbers that it may be compare alike.
func comparisonAnswer(n *ir.Node) (value.Value, bool) {
	if len(n.Inputs()) != 2 || n.Output().Type().Kind() != types.KindBool || n.Operator() == nil || n.Operator().Run == nil {
		return value.None, false
	}
	of := ranked(n.Input(0).Node())
	limit, known := n.Input(1).Constant()
	if of == nil || !known || !limit.IsInt() {
		return value.None, false
	}
	least := int64(leastRank(of))
	var answer [1]value.Value
	for i, number := range []int64{least, limit.Int() - 1, limit.Int(), limit.Int() + 1, math.MaxInt32} {
		var out [1]value.Value
		if number < least {
			continue
		}
		if err := n.Operator().Run([]value.Value{value.Int(number), limit}, out[:]); err != nil || i > 0 && out != answer {
			return value.None, false
		}
		answer = out
	}
	return answer[0], true
}

// leastOf returns the least of a list of constants that is made for that alone.
func leastOf(list *ir.Node) (value.Value, bool) {
	if list.Kind() != prim.ListConstruct || len(list.Inputs()) == 0 || len(list.Output().Uses()) != 1 {
		return value.None, false
	}
	var least value.Value
	for i, v := range list.Inputs() {
		c, known := v.Constant()
		if !known || !c.IsInt() {
			return value.None, false
		}
		if i == 0 || c.Int() < least.Int() {
			least = c
		}
	}
	return least, true
}

// leastLength returns how many sizes there are at least in a list, 0 where that is not known.
func leastLength(v *ir.Value) int {
	if of := sized(v); of != nil {
		return leastRank(of)
	}
	return 0
}

// leastRank returns how many dimensions a tensor has at least, 0 where that is not known.
func leastRank(v *ir.Value) int {
	for range 64 {
		n := v.Node()
		if n.Operator() == nil {
			return 0
		}
		switch kindOf(n) {
		case convolution:
			return 3
		case normalization, pointwise:
			v = n.Input(0)
		case windowed:
			if n.Kind() == aten.Mean {
				return 0
			}
			v = n.Input(0)
		default:
			return 0
		}
	}
	return 0
}
