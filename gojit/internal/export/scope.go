package export

import (
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// handle is a tensor of the captured program: the node that computes it. A view knows what it is a view of, so that what is written to
// one is seen in the others.
type handle struct {
	node   *exportir.Node
	metas  []*tensor.Tensor // what it is in the runs
	device tensor.Device
	input  int // the position among the inputs, counted from 1; 0 for others

	parent  *handle // what it is a view of
	step    *step   // how
	version int     // of what is not a view: how often it has been written; of a view: which version of that node is
}

// step makes a view.
type step struct {
	operator *ops.Operator
	args     []run
	position int // of what is viewed, among the arguments
	item     int // of the results
}

// root is what h is a view of in the end.
func (h *handle) root() *handle {
	for h.parent != nil {
		h = h.parent
	}
	return h
}

// scope is a graph that is being made.
type scope struct {
	graph   *exportir.Graph
	names   *namer
	outer   *scope
	handles map[*tensor.Tensor]*handle // by the tensors of the first run
	byNode  map[string]*handle
	numbers map[string]exportir.Argument // nodes of sizes, by expressions
	sources map[string]sizeOf            // tensors that have sizes that are symbols
}

// sizeOf is a dimension of what a node gives.
type sizeOf struct {
	handle *handle
	dim    int
	size   symbolic.Size
}

func newScope(g *exportir.Graph, outer *scope) *scope {
	return &scope{graph: g, names: newNamer(), outer: outer, handles: map[*tensor.Tensor]*handle{}, byNode: map[string]*handle{},
		numbers: map[string]exportir.Argument{}, sources: map[string]sizeOf{}}
}

func (s *scope) add(n *exportir.Node) { s.graph.Nodes = append(s.graph.Nodes, n) }

// bind makes a node that of the tensors that it gives in the runs.
func (s *scope) bind(metas []*tensor.Tensor, n *exportir.Node) *handle {
	h := &handle{node: n, metas: metas, device: tensor.NewDevice(tensor.CPU, -1)}
	s.handles[metas[0]] = h
	s.byNode[n.Name] = h
	return h
}

// read returns the node that has the present elements of a tensor: views of what has been written are made again.
func (c *capture) read(h *handle) *exportir.Node {
	root := h.root()
	if h == root || h.version == root.version {
		return h.node
	}
	c.read(h.parent)
	args := append([]run(nil), h.step.args...)
	args[h.step.position] = tensors(h.parent.metas)
	made := c.emit(h.step.operator, args)
	h.node, h.version = made.handles[h.step.item].node, root.version
	return h.node
}

// write makes a new tensor that of h, and of all that h shares memory with.
func (c *capture) write(h, to *handle) {
	if h.parent == nil {
		h.node = to.node
		h.version++
		return
	}
	c.write(h.parent, c.scatter(h, to))
	h.node, h.version = to.node, h.root().version
}

// scatter returns what h is a view of, with a new tensor in the place of h.
func (c *capture) scatter(h, to *handle) *handle {
	parent, s := h.parent, h.step
	into := []run{tensors(parent.metas), tensors(to.metas)}
	switch how, ok := s.operator.Fact("scatter"); {
	case !ok:
	case how == "itself":
		args := append([]run(nil), s.args...)
		args[0] = tensors(to.metas)
		return c.emit(s.operator, args).handles[0]
	case how == "permutation":
		return c.emit(s.operator, []run{tensors(to.metas), c.inversePermutation(s.args[1])}).handles[0]
	case how == "item":
		return c.emit(ops.Find(aten.SelectScatter), append(into, s.args[1], c.all(intValue(s.item)))).handles[0]
	case how == "part":
		return c.scatterPart(h, into)
	default:
		return c.emit(ops.Find("aten::"+how), append(into, s.args[1:]...)).handles[0]
	}
	if s.operator.Has(ops.Reshapes) && h.metas[0].Numel() == parent.metas[0].Numel() {
		return c.reshape(to, parent)
	}
	c.fail(source.RuntimeError, "The program writes to the result of %s, which is a view that has no functional form here: write to a copy, or use index_put", s.operator.BaseName())
	return nil
}

// reshape gives a tensor the sizes of another.
func (c *capture) reshape(from, like *handle) *handle {
	sizes := make(run, c.runs)
	for r := range sizes {
		sizes[r] = intsValue(like.metas[r].Shape())
	}
	name := aten.View
	for _, m := range from.metas {
		if !m.IsContiguous() {
			name = aten.Reshape
		}
	}
	return c.emit(ops.Find(name), []run{tensors(from.metas), sizes}).handles[0]
}

// scatterPart is scatter for a run of indices of one dimension.
func (c *capture) scatterPart(h *handle, into []run) *handle {
	at := h.step.operator.Schema().ArgumentIndex("dim")
	dim, start, end := make(run, c.runs), make(run, c.runs), make(run, c.runs)
	for r := range c.runs {
		parent, part := h.parent.metas[r], h.metas[r]
		d := int(h.step.args[at][r].Int())
		if d < 0 {
			d += parent.Dim()
		}
		from := 0
		if stride := parent.Strides()[d]; stride > 0 {
			from = (part.Offset() - parent.Offset()) / stride
		}
		dim[r], start[r], end[r] = intValue(d), intValue(from), intValue(from+part.Size(d))
	}
	return c.emit(ops.Find(aten.SliceScatter), append(into, dim, start, end, c.all(intValue(1)))).handles[0]
}

func (c *capture) inversePermutation(dims run) run {
	out := make(run, c.runs)
	for r := range out {
		given := dims[r].List().Items
		inverse := make([]int, len(given))
		for i, d := range given {
			n := int(d.Int())
			if n < 0 {
				n += len(given)
			}
			inverse[n] = i
		}
		out[r] = intsValue(inverse)
	}
	return out
}

// writes captures an operator that writes to tensors, and reports whether it is one.
func (c *capture) writes(n nodeOutputs, o *ops.Operator, args []run) bool {
	if c.hiddenWrites(n, o, args) {
		return true
	}
	s := o.Schema()
	var written []int
	for i := range s.Arguments {
		if a := s.Arguments[i].Alias; a != nil && a.IsWrite {
			written = append(written, i)
		}
	}
	if len(written) == 0 {
		return false
	}
	for _, i := range written {
		if !args[i][0].IsTensor() {
			c.fail(source.RuntimeError, "%s writes to more than one tensor, which cannot be exported", s.QualifiedName())
		}
	}
	if o.Has(ops.ReshapesInPlace) {
		c.reshapeInPlace(n, o, args)
		return true
	}
	f, taken := functional(o, written)
	if f == nil {
		c.fail(source.RuntimeError, "%s writes to its argument, and there is no operator that makes a new tensor instead", s.QualifiedName())
	}
	var values []run
	for _, i := range taken {
		values = append(values, args[i])
	}
	made := c.emit(f, values)
	outs := c.perform(o, args)
	_, detached := c.node.Attr(trace.Detached)
	for k, i := range written {
		target, from := c.handleOf(args[i]), made.handles[k]
		if detached {
			from = c.emit(ops.Find(aten.Detach), []run{tensors(from.metas)}).handles[0]
		}
		c.write(target, c.castLike(from, target))
	}
	for i, v := range n.Outputs() {
		c.env[v] = outs[i]
	}
	return true
}

// castLike converts a new tensor to the element type of the one that it is written to.
func (c *capture) castLike(from, like *handle) *handle {
	if from.metas[0].DType() != like.metas[0].DType() {
		o := ops.Find(aten.ToCopy)
		args := []run{tensors(from.metas)}
		for i := 1; i < len(o.Schema().Arguments); i++ {
			args = append(args, c.all(o.Schema().Arguments[i].Default))
		}
		args[o.Schema().ArgumentIndex("dtype")] = c.all(intValue(int(like.metas[0].DType())))
		from = c.emit(o, args).handles[0]
	}
	for r := range from.metas {
		if !tensor.SameShape(from.metas[r].Shape(), like.metas[r].Shape()) {
			o := ops.Find(aten.Expand)
			sizes := make(run, c.runs)
			for k := range sizes {
				sizes[k] = intsValue(like.metas[k].Shape())
			}
			return c.emit(o, []run{tensors(from.metas), sizes, c.all(boolValue(false))}).handles[0]
		}
	}
	return from
}

// reshapeInPlace makes a tensor a view of what it was.
func (c *capture) reshapeInPlace(n nodeOutputs, o *ops.Operator, args []run) {
	h := c.handleOf(args[0])
	former := *h
	former.metas = make([]*tensor.Tensor, c.runs)
	for r, m := range h.metas {
		former.metas[r] = m.Alias()
	}
	if former.input > 0 {
		c.fail(source.RuntimeError, "The program changes the shape of an input in place, which an exported program cannot do")
	}
	c.scope.handles[former.metas[0]] = &former
	f, _ := functional(o, []int{0})
	values := append([]run(nil), args...)
	values[0] = tensors(former.metas)
	made := c.emit(f, values)
	outs := c.perform(o, args)
	*h = *made.handles[0]
	h.metas = make([]*tensor.Tensor, c.runs)
	for r := range h.metas {
		h.metas[r] = args[0][r].Tensor()
	}
	c.env[n.Outputs()[0]] = outs[0]
}

// functional returns the operator that makes new tensors where o writes to those at the given positions, and which arguments it takes.
func functional(o *ops.Operator, written []int) (f *ops.Operator, taken []int) {
	s := o.Schema()
	for i := range s.Arguments {
		if !s.Arguments[i].IsOut() {
			taken = append(taken, i)
		}
	}
	base := o.BaseName()
	var bases []string
	if len(taken) < len(s.Arguments) {
		bases = []string{base}
	} else if n := len(base) - 1; base[n] == '_' {
		bases = []string{base[:n], base[:n] + "_functional"}
	}
	for _, name := range bases {
		for _, candidate := range ops.Overloads(name) {
			if sameArguments(candidate, o, taken) && len(candidate.Schema().Returns) >= len(written) {
				return candidate, taken
			}
		}
	}
	return nil, nil
}

// sameArguments reports whether an operator that writes nothing takes those of another's arguments.
func sameArguments(f, o *ops.Operator, taken []int) bool {
	s, t := f.Schema(), o.Schema()
	if len(s.Arguments) != len(taken) || s.IsMutable() || f.Run == nil {
		return false
	}
	for i, from := range taken {
		if s.Arguments[i].Type.String() != t.Arguments[from].Type.String() {
			return false
		}
	}
	return true
}

// handleOf returns the handle of an argument that is a tensor.
func (c *capture) handleOf(a run) *handle {
	h := c.scope.handles[a[0].Tensor()]
	if h == nil {
		c.fail(source.RuntimeError, "the program writes to a tensor that it has not made in this branch: an operand of control flow cannot be written")
	}
	return h
}

// hiddenWrites captures operators that write to tensors without their schemas saying so: the statistics of normalizations.
func (c *capture) hiddenWrites(n nodeOutputs, o *ops.Operator, args []run) bool {
	s := o.Schema()
	mean, training := s.ArgumentIndex("running_mean"), s.ArgumentIndex("training")
	if training < 0 {
		training = s.ArgumentIndex("use_input_stats")
	}
	if o.BaseName() == functionalBatchNorm || mean < 0 || training < 0 || !args[mean][0].IsTensor() || !args[training][0].Bool() {
		return false
	}
	if o.BaseName() != aten.BatchNorm && o.BaseName() != aten.NativeBatchNorm {
		c.fail(source.RuntimeError, "%s writes to its statistics and cannot be exported: use track_running_stats=False, or eval()", s.QualifiedName())
	}
	f := ops.Find(functionalBatchNorm)
	made := c.emit(f, args[:8])
	c.write(c.handleOf(args[mean]), made.handles[3])
	c.write(c.handleOf(args[mean+1]), made.handles[4])
	for i, v := range n.Outputs() {
		c.env[v] = tensors(made.handles[i].metas)
	}
	return true
}
