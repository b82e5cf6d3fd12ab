package autograd

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// SavedHooks are what becomes of tensors that nodes save for their derivatives: Pack gets one when it is saved, Unpack what
// Pack gave when it is needed.
type SavedHooks struct {
	Pack   func(m *Mode, t *tensor.Tensor) (any, error)
	Unpack func(m *Mode, packed any) (*tensor.Tensor, error)
}

// PushSavedHooks has the nodes that are recorded from now on save by hooks.
func (m *Mode) PushSavedHooks(h *SavedHooks) {
	m.saving = append(m.saving[:len(m.saving):len(m.saving)], h)
}

// PopSavedHooks ends what the last PushSavedHooks began.
func (m *Mode) PopSavedHooks() {
	if n := len(m.saving); n > 0 {
		m.saving = m.saving[:n-1]
	}
}

// SavedHooks returns the hooks that are in force, nil where there are none.
func (m *Mode) SavedHooks() *SavedHooks {
	if n := len(m.saving); n > 0 {
		return m.saving[n-1]
	}
	return nil
}

// slot is a place of a tensor that a node saves: an argument, an element of one (element is -1 where that is no list), or an output.
type slot struct {
	output            bool
	argument, element int
}

// packed is what hooks made of a saved tensor.
type packed struct {
	at      slot
	content any
	hooks   *SavedHooks
	made    edge // where gradients of the tensor go
}

// packHeld is pack for a node that holds what it keeps.
func (n *Node) packHeld(m *Mode, h *SavedHooks) error {
	var before []*tensor.Tensor
	note := func(t *tensor.Tensor) bool { before = append(before, t); return true }
	n.eachHeldArgument(note)
	n.eachHeldResult(note)
	err := n.pack(m, h)
	n.spared = 0
	n.eachHeldArgument(hold)
	n.eachHeldResult(hold)
	for _, t := range before {
		t.LetGo()
	}
	return err
}

// pack gives the tensors that the node's derivative reads to the hooks, and lets go of all others.
func (n *Node) pack(m *Mode, h *SavedHooks) error {
	read := n.slotsRead()
	n.rarely().packed = nil
	for i, v := range n.args {
		switch {
		case v.IsTensor():
			made := n.edgeFrom(i, -1)
			t, err := n.packOne(m, h, read, slot{argument: i, element: -1}, v.Tensor(), made)
			if err != nil {
				return err
			}
			n.args[i] = value.OfTensor(t)
		case v.Kind() == value.KindList:
			for j, x := range v.List().Items {
				if !x.IsTensor() {
					continue
				}
				t, err := n.packOne(m, h, read, slot{argument: i, element: j}, x.Tensor(), n.edgeFrom(i, j))
				if err != nil {
					return err
				}
				v.List().Items[j] = value.OfTensor(t)
			}
		}
	}
	for i, v := range n.out {
		if !v.IsTensor() {
			continue
		}
		t, err := n.packOne(m, h, read, slot{output: true, argument: i, element: -1}, v.Tensor(), edge{n, i})
		if err != nil {
			return err
		}
		n.out[i] = value.OfTensor(t)
	}
	return nil
}

func (n *Node) edgeFrom(argument, element int) edge {
	for i := range n.inputs {
		if in := &n.inputs[i]; in.argument == argument && in.element == element {
			return in.edge
		}
	}
	return edge{}
}

// packOne returns what stays in the node for a tensor: a tensor without elements, unless the derivative looks at its layout.
func (n *Node) packOne(m *Mode, h *SavedHooks, read map[slot]bool, at slot, t *tensor.Tensor, made edge) (*tensor.Tensor, error) {
	needed, known := read[at]
	if known && !needed {
		return t, nil
	}
	if needed {
		version := t.Version()
		content, err := h.Pack(m, detachedFrom(t, made, n))
		if err != nil {
			return nil, err
		}
		if t.Version() != version {
			return nil, errorf("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place operations on the input to a pack hook.")
		}
		n.rare.packed = append(n.rare.packed, packed{at, content, h, made})
	}
	return tensor.EmptyMeta(t.Shape(), t.DType())
}

// detachedFrom shows t as hooks get it: a leaf where a leaf is saved, else a tensor that the node made does not hold.
func detachedFrom(t *tensor.Tensor, made edge, n *Node) *tensor.Tensor {
	if made.node == nil || made.node.leaf != nil || made.node != n {
		return t
	}
	return t.Detach()
}

// unpack has each tensor that hooks packed given back once, in the order in which they got them.
func (c *gradient) unpack() {
	if c.node.rare == nil || len(c.node.rare.packed) == 0 {
		return
	}
	c.unpacked = make(map[slot]*tensor.Tensor, len(c.node.rare.packed))
	for _, p := range c.node.rare.packed {
		c.unpacked[p.at] = p.unpack(c.Emitter.(*emitter).mode)
	}
}

// unpack returns the saved tensor, with the history that it had.
func (p packed) unpack(m *Mode) *tensor.Tensor {
	t := must(p.hooks.Unpack(m, p.content)).Detach()
	if p.made.node != nil {
		t.SetHistory(&history{edge: p.made})
		_ = t.SetRequiresGrad(true) // the type is that of a tensor that does
	}
	return t
}

// slotsRead returns the slots that the derivative reads by running it on zeros: true where it reads the elements, false where it
// looks at the layout alone. Where that fails all are read.
func (n *Node) slotsRead() (read map[slot]bool) {
	read = map[slot]bool{}
	c := &gradient{Emitter: unrecorded(), node: n, read: read}
	defer func() {
		if recover() != nil {
			for _, in := range n.inputs {
				read[slot{argument: in.argument, element: in.element}] = true
			}
			for i := range n.out {
				read[slot{output: true, argument: i, element: -1}] = true
			}
		}
	}()
	if n.backward != nil {
		for _, o := range n.outputs {
			var zeros *tensor.Tensor
			if o.dtype.IsDifferentiable() {
				zeros = must(tensor.Zeros(o.shape, o.dtype))
			}
			c.grads = append(c.grads, zeros)
		}
		c.run()
	}
	return read
}

// note keeps that a slot was read.
func (c *gradient) note(at slot, elements bool) {
	if c.read != nil {
		c.read[at] = c.read[at] || elements
	}
}

var errReleased = errorf("Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward.")

// savedNames has the names of what PyTorch's nodes keep, by the names of the nodes: "*" stands before the name of a tensor.
var savedNames = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	for op, fact := range ops.WithFact("saves") {
		names[planOf(op).node] = strings.Split(fact, ",")
	}
	return names
})

// SavedNames returns the names of what PyTorch's node keeps, with "*" before those of tensors; nil where that is not known.
func (n *Node) SavedNames() []string { return savedNames()[n.name] }

// Saved returns what the node keeps by the name of an argument of its operator, or "result" for an output. ok is false where it
// keeps nothing of that name. It fails where that was let go.
func (n *Node) Saved(m *Mode, name string) (v value.Value, ok bool, err error) {
	defer source.Catch(&err)
	op := ops.Find(n.op)
	if known := n.SavedNames(); known != nil && !slices.Contains(known, name) && !slices.Contains(known, "*"+name) {
		return value.None, false, nil
	}
	if n.released {
		return value.None, true, errReleased
	}
	if op == nil || n.args == nil {
		return value.None, false, nil
	}
	if at, found := n.slotOf(op, name); found {
		return n.savedIn(m, op, at)
	}
	s := op.Schema()
	if i := s.ArgumentIndex(name); i >= 0 && i < len(n.args) {
		return n.args[i], true, nil
	}
	v, ok = n.savedGeometry(s, name)
	return v, ok, nil
}

// slotOf returns the place of a tensor that is kept by a name.
func (n *Node) slotOf(op *ops.Operator, name string) (at slot, found bool) {
	s := op.Schema()
	if i := s.ArgumentIndex(name); i >= 0 {
		return slot{argument: i, element: -1}, i < len(n.args) && n.args[i].IsTensor()
	}
	for i := range s.Returns {
		numbered := s.Returns[i].Name == "" && (name == "result"+strconv.Itoa(i) || name == "result" && i == 0)
		if (name == s.Returns[i].Name || numbered) && i < len(n.out) && n.out[i].IsTensor() {
			return slot{output: true, argument: i, element: -1}, true
		}
	}
	return slot{}, false
}

func (n *Node) savedIn(m *Mode, op *ops.Operator, at slot) (v value.Value, ok bool, err error) {
	c, i := &gradient{Emitter: &emitter{mode: m}, node: n}, at.argument
	if at.output {
		if n.reads.SparesResult(i) {
			return value.None, false, nil
		}
		return value.OfTensor(n.Output(i, asTensor(c.Out(i)))), true, nil
	}
	if i == 0 && n.args[0].Tensor().Device().Type == tensor.Meta && planOf(op).writes { // it was not kept
		return value.None, true, nil
	}
	if n.reads.Spares(i) {
		return value.None, false, nil
	}
	return value.OfTensor(asTensor(c.In(i))), true, nil
}

// savedGeometry returns what a node keeps of an argument's shape: "self_sizes", "self_sym_sizes", "self_numel" or "batch1_argsize_0".
func (n *Node) savedGeometry(s *schema.FunctionSchema, name string) (value.Value, bool) {
	argument, what, _ := strings.Cut(name, "_sizes")
	argument, _ = strings.CutSuffix(argument, "_sym")
	base, place, sized := strings.Cut(name, "_argsize_")
	numbered, counts := strings.CutSuffix(name, "_numel")
	switch {
	case sized:
		argument = base
	case counts:
		argument = strings.TrimSuffix(numbered, "_sym")
	case what != "" || argument == name:
		return value.None, false
	}
	at := s.ArgumentIndex(argument)
	if at < 0 {
		return value.None, false
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.argument != at || in.element > 0 {
			continue
		}
		if sized {
			d, err := strconv.Atoi(place)
			if err != nil || d < 0 || d >= len(in.shape) {
				return value.None, false
			}
			return value.Int(int64(in.shape[d])), true
		}
		if counts {
			return value.Int(int64(must(tensor.Numel(in.shape)))), true
		}
		sizes := value.NewTuple()
		for _, size := range in.shape {
			sizes.Items = append(sizes.Items, value.Int(int64(size)))
		}
		return value.OfTuple(sizes), true
	}
	return value.None, false
}

// PackSaved gives a tensor that the node keeps by a name to hooks. ok is false where it keeps no tensor of that name.
func (n *Node) PackSaved(m *Mode, name string, h *SavedHooks) (ok bool, err error) {
	defer source.Catch(&err)
	if n.released {
		return true, errorf("Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved variables after calling backward.")
	}
	op := ops.Find(n.op)
	if op == nil || n.args == nil {
		return false, nil
	}
	at, found := n.slotOf(op, name)
	if !found {
		return false, nil
	}
	r := n.rarely()
	if slices.ContainsFunc(r.packed, func(p packed) bool { return p.at == at }) {
		return true, errorf("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time.")
	}
	kept, made := n.args, n.edgeFrom(at.argument, -1)
	if at.output {
		kept, made = n.out, edge{n, at.argument}
	}
	_, err = n.packOne(m, h, map[slot]bool{at: true}, at, kept[at.argument].Tensor(), made)
	return true, err
}

// Released reports whether what the node kept was let go.
func (n *Node) Released() bool { return n.released }
