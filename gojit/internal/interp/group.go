package interp

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// GroupKind is the kind of a node that holds, in its only block, nodes whose work may be done at once. Its inputs
// are the values from outside that they use, constants aside; what the block returns are its outputs, new tensors
// that nobody else has.
const GroupKind = prim.TensorExprGroup

// PlannedAttr is the attribute of groups whose nodes run by a plan (package plan), not as one kernel.
const PlannedAttr = "region"

// FastPath does the work of a group's nodes, from the group's inputs to its outputs, or reports that they have to run
// one by one; then it has done nothing. It keeps neither slice.
type FastPath func(m *autograd.Mode, args, out []value.Value) bool

// groupSite is what an opGroup does besides trying.
type groupSite struct {
	attempt FastPath
	outputs []int32 // registers
	dying   []bool  // inputs that nothing uses behind the group
}

// attempt tries to do the work of a group and reports whether that is done.
func (s *site) attempt(frames *stack, regs, area []value.Value) bool {
	g := s.group
	args := s.read(regs, area)
	results := area[len(args):][:len(g.outputs)]
	var span autograd.Span
	if !frames.direct && s.event != "" {
		span = frames.mode.BeginEvent(s.event)
	}
	done := g.attempt(frames.mode, args, results)
	if done {
		span.End()
		for i, in := range s.inputs {
			if !g.dying[i] {
				continue
			}
			dropValue(args[i])
			regs[in.register] = value.None
		}
		for i, r := range g.outputs {
			if results[i].IsTensor() {
				if frames.mode.Inference() {
					results[i].Tensor().MakeInference()
				}
				results[i].Tensor().MarkTemporary()
			}
			regs[r] = results[i]
		}
	}
	clear(args)
	clear(results)
	return done
}

// group lowers a GroupKind node: the attempt, and behind it the nodes themselves.
func (l *lowering) group(n *ir.Node, dead []*ir.Value) error {
	dying, unusedOuts := l.split(n, dead)
	s, jump := l.tryGroup(n, dying)
	before, made := l.registers.save(), len(l.registers.template)
	registers := l.savedValues(dying)

	body := n.Blocks()[0]
	for i, v := range body.Outputs() {
		l.prefer(v, body, l.hint(n.Outputs()[i]))
	}
	if err := l.block(body, dying); err != nil {
		return err
	}
	targets := l.targets(n, body, before, made, registers)
	l.moves(targets, body.Outputs(), body, dying)
	if s != nil {
		s.group.outputs = targets
		l.jumpTo(jump)
	}
	l.leaveBlocks(n, before, made, registers, targets)
	for _, v := range unusedOuts {
		l.drop(v)
	}
	return nil
}

// tryGroup emits the attempt, which gets its outputs later; nil where there is none.
func (l *lowering) tryGroup(n *ir.Node, dying []*ir.Value) (*site, int) {
	if l.options.Group == nil {
		return nil, 0
	}
	attempt := l.options.Group(n)
	if attempt == nil {
		return nil, 0
	}
	g := &groupSite{attempt: attempt}
	s := &site{name: n.Kind(), inputs: l.inputs(n.Inputs(), nil), group: g}
	if !l.isEvent {
		s.event = groupName(n)
	}
	for _, v := range n.Inputs() {
		dies := slices.Contains(dying, v) && holdsMemory(v.Type()) && !l.registers.fixed[l.reg(v)]
		g.dying = append(g.dying, dies)
	}
	at := l.site(s)
	l.code.numArguments = max(l.code.numArguments, len(s.inputs)+len(n.Outputs()))
	return s, l.emit(opGroup, 0, at, 0)
}
