package plan

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// unplanned says why values, or a call, cannot be computed in the plan's way: the nodes run one by one then, and refuse what is wrong.
type unplanned string

func (u unplanned) Error() string { return string(u) }

// fact is what is known of a value before a call, from the sizes of what the region is given.
type fact struct {
	number value.Value // where isNumber: a number, a list of numbers, or a tensor made of numbers alone
	list   []int       // of a list of tensors, the values
	parts  []fact      // of a list of views that are to be taken apart, these
	// logical and physical are tensors without elements: as the nodes would lay the value out, and as the plan does. Views have the storage, and an
	// offset in it, of what they are views of. Nil where the value is no tensor.
	logical, physical *tensor.Tensor
	isNumber          bool
	isBrought         bool // a list of tensors that calls bring
	isImage           bool // four dimensions of which the channels, the second, lie together
	root              int  // the value that this one is a view of, or itself
	at                int  // the node behind which it is known, -1 for what is given
}

// given are the arguments of a call: tensors, nil for None, and what is no tensor.
type given struct {
	tensors []*tensor.Tensor
	numbers []value.Value
}

// infer finds the facts of all values.
func (b *builder) infer(in given) error {
	b.facts = make([]fact, b.values)
	images := b.images()
	isKnown := false
	for v := range b.inputs + len(b.constants) {
		f := &b.facts[v]
		f.root, f.at = v, -1
		t := in.tensors[v]
		if t == nil {
			if v < b.inputs {
				f.isBrought = in.numbers[v].Kind() == value.KindList
				f.isNumber, f.number = !f.isBrought, in.numbers[v]
			}
			continue
		}
		isLast := !t.IsContiguous() && t.IsContiguousFormat(tensor.ChannelsLast)
		if images[v] {
			if t.DType() != tensor.Float32 || t.Dim() != 4 || t.Numel() == 0 {
				return unplanned("an image is not one of float32 in four dimensions")
			}
			if isKnown && isLast != b.last {
				return unplanned("images lie in different ways")
			}
			b.last, isKnown = isLast, true
		}
		var err error
		if f.logical, err = metaOf(t.Shape(), t.Strides(), t.DType()); err != nil {
			return err
		}
		f.physical = f.logical
		f.isImage = images[v] && t.IsContiguousFormat(tensor.ChannelsLast)
	}
	for i := range b.nodes {
		if err := b.inferNode(i); err != nil {
			return err
		}
	}
	return nil
}

// images returns which of what is given are images: what a convolution reads.
func (p *program) images() []bool {
	found := make([]bool, p.values)
	for i := range p.nodes {
		if n := &p.nodes[i]; n.kind == convolution && n.refs[0] >= 0 {
			found[n.refs[0]] = true
		}
	}
	return found
}

// metaOf returns a tensor without elements.
func metaOf(shape, strides []int, dtype tensor.DType) (*tensor.Tensor, error) {
	t, err := tensor.EmptyMeta(shape, dtype)
	if err == nil && strides != nil {
		err = t.SetGeometry(0, shape, strides)
	}
	return t, err
}

// lastStrides returns the strides of images whose channels lie together.
func lastStrides(shape []int) []int {
	return []int{shape[1] * shape[2] * shape[3], 1, shape[3] * shape[1], shape[1]}
}

// inferNode finds the facts of what node i gives.
func (b *builder) inferNode(i int) error {
	n := &b.nodes[i]
	n.args = slices.Clone(n.args)
	isKnown, isList, hasNumber := true, false, false
	for k, v := range n.refs {
		if same, ok := b.same[v]; ok {
			v, n.refs[k] = same, same
		}
		switch f := b.factOf(v); {
		case f == nil:
		case f.isNumber:
			n.args[k], n.refs[k], hasNumber = f.number, -1, true
		case f.isBrought, f.parts != nil:
			isKnown = false
		case f.logical == nil && f.list == nil: // None
			n.args[k], n.refs[k] = value.None, -1
		case v >= b.inputs && b.isGiven(v) && f.logical.Dim() == 0:
			n.args[k] = value.OfTensor(b.constants[v-b.inputs])
		default:
			isKnown, isList = false, isList || f.list != nil
		}
	}
	for k := range n.at.Outputs() {
		b.facts[n.out+k] = fact{root: n.out + k, at: i}
	}
	out := &b.facts[n.out]
	switch {
	case n.kind == recurrence:
		return b.inferRecurrent(n)
	case n.at.Kind() == prim.ListConstruct:
		if !isKnown {
			out.list = slices.Clone(n.refs)
			if slices.Contains(out.list, -1) {
				return unplanned("a list of tensors has something else")
			}
			return nil
		}
		made := value.NewList(n.at.Output().Type().(*types.List).Elem)
		made.Items = append(made.Items, n.args...)
		out.isNumber, out.number = true, value.OfList(made)
		return nil
	case n.at.Kind() == prim.ListUnpack:
		return b.unpack(i, isKnown)
	case isKnown && hasNumber:
		return b.runNumbers(n, n.args)
	case isList:
		return b.inferJoined(n)
	case n.kind.computes():
		return b.inferComputed(n)
	case n.at.AsksSize():
		args := slices.Clone(n.args)
		args[0] = value.OfTensor(b.facts[n.refs[0]].logical)
		return b.runNumbers(n, args)
	case isView(n.at):
		return b.inferView(n)
	case isParts(n.at):
		return b.inferParts(n)
	}
	return unplanned(n.op.Name + " of a tensor")
}

// computes reports whether a node of the kind computes elements.
func (k kind) computes() bool { return k != notPlanned }

// factOf returns the fact of an argument, nil for constants.
func (b *builder) factOf(v int) *fact {
	if v < 0 {
		return nil
	}
	return &b.facts[v]
}

// runNumbers runs an operator whose results are numbers.
func (b *builder) runNumbers(n *node, args []value.Value) error {
	out := make([]value.Value, len(n.at.Outputs()))
	if err := n.op.Run(args, out); err != nil {
		return err
	}
	for k, v := range out {
		b.facts[n.out+k].isNumber, b.facts[n.out+k].number = true, v
	}
	return nil
}

// unpack gives the elements of a list.
func (b *builder) unpack(i int, isKnown bool) error {
	n := &b.nodes[i]
	count := len(n.at.Outputs())
	if isKnown {
		items := n.args[0].List().Items
		if len(items) != count {
			return unplanned("a list has another length")
		}
		for k, item := range items {
			b.facts[n.out+k].isNumber, b.facts[n.out+k].number = true, item
		}
		return nil
	}
	if f := b.factOf(n.refs[0]); f != nil && f.parts != nil {
		if len(f.parts) != count {
			return unplanned("a list has another length")
		}
		for k := range f.parts {
			b.facts[n.out+k] = f.parts[k]
			b.facts[n.out+k].at = i
		}
		return nil
	}
	return unplanned("a list of tensors is taken apart")
}

// logicalArgs returns the arguments of a node with tensors without elements.
func (b *builder) logicalArgs(n *node) []value.Value {
	args := slices.Clone(n.args)
	for k, v := range n.refs {
		if v >= 0 {
			args[k] = value.OfTensor(b.facts[v].logical)
		}
	}
	return args
}

// inferComputed finds what an operator gives that computes elements.
func (b *builder) inferComputed(n *node) error {
	if n.kind == normalization {
		return b.give(n, b.facts[n.refs[0]].logical)
	}
	out := make([]value.Value, len(n.at.Outputs()))
	if err := n.op.Run(b.logicalArgs(n), out); err != nil {
		return err
	}
	if !out[0].IsTensor() {
		return unplanned(n.op.Name + " gives no tensor")
	}
	return b.give(n, out[0].Tensor())
}

// inferJoined is inferComputed of an operator that reads a list of tensors.
func (b *builder) inferJoined(n *node) error {
	if n.kind != joined {
		return unplanned(n.op.Name + " of a list")
	}
	args := slices.Clone(n.args)
	list := value.NewList(types.Tensor)
	for _, v := range b.facts[n.refs[0]].list {
		list.Items = append(list.Items, value.OfTensor(b.facts[v].logical))
	}
	args[0] = value.OfList(list)
	var out [1]value.Value
	if err := n.op.Run(args, out[:]); err != nil {
		return err
	}
	return b.give(n, out[0].Tensor())
}

// give notes that a node gives a tensor of its own, like t.
func (b *builder) give(n *node, t *tensor.Tensor) (err error) {
	if t.Numel() == 0 {
		return unplanned("a tensor has no elements")
	}
	if t.DType() != tensor.Float32 && n.kind != pointwise && n.kind != joined {
		return unplanned(fmt.Sprintf("%s gives elements of %s", n.op.Name, t.DType()))
	}
	f := &b.facts[n.out]
	f.isImage = b.givesImage(n, t)
	logical, physical := t.Strides(), []int(nil)
	if f.isImage {
		physical = lastStrides(t.Shape())
		if logical = nil; b.last {
			logical = physical
		}
	}
	if b.isTurnedNext(n, t.Dim()) {
		dims := t.Dim()
		heads, rows, columns := t.Size(dims-3), t.Size(dims-2), t.Size(dims-1)
		physical = []int{heads * rows * columns, columns, heads * columns, 1}[4-dims:]
	}
	if f.logical, err = metaOf(t.Shape(), logical, t.DType()); err != nil {
		return err
	}
	f.physical, err = metaOf(t.Shape(), physical, t.DType())
	return err
}

// isTurnedNext reports whether all that is done with what a node gives is that the two dimensions before the last are exchanged: products of pairs
// of matrices can lay their results out so that the elements follow each other then.
func (b *builder) isTurnedNext(n *node, dims int) bool {
	users := b.users(n.out)
	switch {
	case len(users) != 1 || b.isOutput(n.out):
		return false
	case n.kind == attending && (dims == 3 || dims == 4):
	case n.kind == product && dims == 4 && n.refs[1] >= 0 && b.facts[n.refs[1]].logical.Dim() == dims: // else all rows are those of one matrix
	default:
		return false
	}
	u := &b.nodes[users[0]]
	if u.op == nil || u.op.Name != "aten::transpose.int" || !u.args[1].IsInt() || !u.args[2].IsInt() {
		return false
	}
	one, errOne := tensor.WrapDim(int(u.args[1].Int()), dims)
	other, errOther := tensor.WrapDim(int(u.args[2].Int()), dims)
	return errOne == nil && errOther == nil && min(one, other) == dims-3 && max(one, other) == dims-2
}

// givesImage reports whether what a node gives is an image: it has the dimensions of one, and is made of images.
func (b *builder) givesImage(n *node, t *tensor.Tensor) bool {
	if t.Dim() != 4 || t.DType() != tensor.Float32 {
		return false
	}
	switch n.kind {
	case convolution:
		return true
	case normalization, windowed:
		return b.facts[n.refs[0]].isImage
	case pointwise:
		return slices.ContainsFunc(n.refs, func(v int) bool {
			return v >= 0 && b.facts[v].isImage && tensor.SameShape(b.facts[v].logical.Shape(), t.Shape())
		})
	case joined:
		for _, v := range b.facts[n.refs[0]].list {
			if !b.facts[v].isImage {
				return false
			}
		}
		dim := n.args[1].Int()
		return dim == 1 || dim == -3
	}
	return false
}

// inferView finds what an operator gives that views its first argument. Where the plan lays that out so that there is no such view, the value
// becomes a copy.
func (b *builder) inferView(n *node) error {
	in, out := &b.facts[n.refs[0]], &b.facts[n.out]
	if isDropout(n) {
		if !n.args[2].IsBool() || n.args[2].Bool() {
			return unplanned("a dropout is in training")
		}
		b.same[n.out], b.done[out.at] = n.refs[0], true
		return nil
	}
	view := func(t *tensor.Tensor) (*tensor.Tensor, error) {
		args := slices.Clone(n.args)
		args[0] = value.OfTensor(t)
		var out [1]value.Value
		if err := n.op.Run(args, out[:]); err != nil {
			return nil, err
		}
		return out[0].Tensor(), nil
	}
	logical, err := view(in.logical)
	if err != nil {
		return err
	}
	if logical.Numel() == 0 {
		return unplanned("a tensor has no elements")
	}
	out.logical = logical
	if physical, err := view(in.physical); err == nil && physical.SharesStorage(in.physical) {
		out.physical, out.root = physical, in.root
		if physical == in.physical && logical == in.logical {
			b.same[n.out] = n.refs[0]
		}
		return nil
	}
	out.physical, err = metaOf(logical.Shape(), nil, logical.DType())
	return err
}

// inferParts finds the views of its first argument that an operator gives as a list.
func (b *builder) inferParts(n *node) error {
	in, out := &b.facts[n.refs[0]], &b.facts[n.out]
	views := func(t *tensor.Tensor) ([]value.Value, error) {
		args := slices.Clone(n.args)
		args[0] = value.OfTensor(t)
		var out [1]value.Value
		if err := n.op.Run(args, out[:]); err != nil {
			return nil, err
		}
		return out[0].List().Items, nil
	}
	logical, err := views(in.logical)
	if err != nil {
		return err
	}
	physical, err := views(in.physical)
	if err != nil {
		return err
	}
	out.parts = []fact{}
	for k, v := range logical {
		part := fact{logical: v.Tensor(), physical: physical[k].Tensor(), root: in.root}
		if part.logical.Numel() == 0 || !part.physical.SharesStorage(in.physical) {
			return unplanned("a part of a tensor has no elements, or is no view")
		}
		out.parts = append(out.parts, part)
	}
	return nil
}

func isDropout(n *node) bool {
	return n.op.Name == aten.Dropout || n.op.Name == aten.FeatureDropout
}
