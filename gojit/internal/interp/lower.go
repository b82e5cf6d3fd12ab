package interp

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Lower makes code of a graph for a function called name. It fails on a node that nothing runs;
// one that is known but not implemented fails when it is reached.
func Lower(name string, g *ir.Graph, o *Options) (*Code, error) { return lowerAs(name, g, o, false) }

// lowerAs is Lower; isEvent says that profiles show a run of the code as one event, and what it runs together as none.
func lowerAs(name string, g *ir.Graph, o *Options, isEvent bool) (*Code, error) {
	l := &lowering{
		options:   o,
		isEvent:   isEvent,
		code:      &Code{name: name, options: o, numInputs: len(g.Inputs()), numOutputs: len(g.Outputs()), constants: map[int32]string{}},
		registers: newAllocator(),
		hints:     map[*ir.Value]int32{},
		gathered:  map[*ir.Value][]bool{},
	}
	l.registers.block(g.Inputs())
	for _, in := range g.Inputs() {
		l.code.parameters = append(l.code.parameters, parameter{in.Name(), in.Type()})
	}
	if err := l.block(g.Block(), nil); err != nil {
		return nil, err
	}
	l.ret(g.Block())
	l.code.template = l.registers.template
	l.code.numRegisters = len(l.registers.template)
	for r := range l.registers.fixed {
		l.code.constants[r] = value.Repr(l.registers.template[r], nil)
	}
	if err := l.code.verify(); err != nil {
		panic(fmt.Sprintf("interp: %v\n%s\n%s", err, l.code, g))
	}
	return l.code, nil
}

// lowering is the state of one Lower.
type lowering struct {
	options   *Options
	code      *Code
	isEvent   bool
	registers *allocator
	hints     map[*ir.Value]int32  // registers in which values had better be
	at        source.Range         // of the node being lowered
	calls     *ir.InlinedCall      // of that node
	lastNode  *ir.Node             // the last node that has been lowered whole
	gathered  map[*ir.Value][]bool // lists that are made for the operator behind them: which elements were moved into them
}

func (l *lowering) emit(op Opcode, a, b, c int32) int {
	l.code.instructions = append(l.code.instructions, Instruction{op, a, b, c})
	if l.calls != nil {
		if l.code.calls == nil {
			l.code.calls = map[int]*ir.InlinedCall{}
		}
		l.code.calls[len(l.code.ranges)] = l.calls
	}
	l.code.ranges = append(l.code.ranges, l.at)
	return len(l.code.instructions) - 1
}

// emitTest emits a jump that depends on v: unless v is true, or, with loop, if it is. A comparison
// just made for this jump alone becomes part of it; the last comparison in a block does not, as other
// ways lead past it.
func (l *lowering) emitTest(target int32, v *ir.Value, r int32, loop bool) int {
	op := opJumpIfNot
	if loop {
		op = opLoopIf
	}
	if n := len(l.code.instructions); n > 0 && len(v.Uses()) == 1 {
		last := &l.code.instructions[n-1]
		fused, ok := fusedJumps[last.Op]
		if ok && last.A == r && l.lastNode == v.Node() && len(v.Node().Blocks()) == 0 {
			op = fused.unless
			if loop {
				op = fused.loop
			}
			*last = Instruction{op, target, last.B, last.C}
			return n - 1
		}
	}
	return l.emit(op, target, r, 0)
}

func (l *lowering) here() int32 { return int32(len(l.code.instructions)) }

// jumpTo sets the target of the jump at index i to the next instruction.
func (l *lowering) jumpTo(i int) { l.code.instructions[i].A = l.here() }

func (l *lowering) site(s *site) int32 {
	l.code.sites = append(l.code.sites, s)
	l.code.numArguments = max(l.code.numArguments, len(s.inputs))
	return int32(len(l.code.sites) - 1)
}

// reg returns the register of v; a constant gets one on first use.
func (l *lowering) reg(v *ir.Value) int32 {
	if r, ok := l.registers.of[v]; ok {
		return r
	}
	if v.Node().Kind() != prim.Constant {
		panic(fmt.Sprintf("interp: %%%s has no register", v.Name()))
	}
	r := l.registers.constant(constantOf(v))
	l.registers.of[v] = r
	return r
}

func constantOf(v *ir.Value) value.Value {
	if f, ok := v.Type().(*types.Function); ok {
		return value.OfFunction(&value.Function{Name: f.Name, Target: f.Target})
	}
	c, _ := v.Constant()
	return c
}

func isConstant(v *ir.Value) bool { return v.Node().Kind() == prim.Constant }

// hint returns the register in which v had better be, or -1.
func (l *lowering) hint(v *ir.Value) int32 {
	if r, ok := l.hints[v]; ok {
		return r
	}
	return -1
}

// deaths finds where in b values are used last: those of b and the outer ones that may die there.
// Those that are not used in b at all are returned as unused; a value that b returns dies nowhere.
func deaths(b *ir.Block, outer []*ir.Value) (last map[*ir.Node][]*ir.Value, unused []*ir.Value) {
	last = map[*ir.Node][]*ir.Value{}
	add := func(v *ir.Value, defined *ir.Node) {
		at := defined
		for _, u := range v.Uses() {
			if n := ancestorIn(b, u.User); n != nil && (at == nil || at.IsBefore(n)) {
				at = n
			}
		}
		if at == nil {
			unused = append(unused, v)
		} else {
			last[at] = append(last[at], v)
		}
	}
	for _, v := range outer {
		add(v, nil)
	}
	for _, v := range b.Inputs() {
		add(v, nil)
	}
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() == prim.Constant {
			continue
		}
		for _, v := range n.Outputs() {
			add(v, n)
		}
	}
	return last, unused
}

// ancestorIn returns the node of b that is n or holds it, nil where there is none.
func ancestorIn(b *ir.Block, n *ir.Node) *ir.Node {
	for n != nil && n.Block() != b {
		n = n.Block().Owner()
	}
	return n
}

// block lowers the nodes of b. Outer values in dying are not used after b and may be given up in
// it. The results of b keep their registers.
func (l *lowering) block(b *ir.Block, dying []*ir.Value) error {
	last, unused := deaths(b, dying)
	for _, v := range unused {
		l.drop(v)
	}
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() == prim.Constant {
			continue
		}
		l.at, l.calls = n.Range, n.Calls
		l.line(n)
		if err := l.node(n, last[n]); err != nil {
			return err
		}
		l.lastNode = n
	}
	l.at, l.calls = b.ReturnNode().Range, nil
	return nil
}

// holdsMemory reports whether a register of type t is worth clearing.
func holdsMemory(t types.Type) bool {
	switch t.Kind() {
	case types.KindInt, types.KindFloat, types.KindBool, types.KindNone, types.KindString, types.KindDevice,
		types.KindFunction, types.KindEnum:
		return false
	case types.KindClass:
		return !t.(*types.Class).IsModule
	}
	return true
}

// drop gives up the register of a value that is not used any more, and clears it.
func (l *lowering) drop(v *ir.Value) {
	r, ok := l.registers.of[v]
	if !ok || l.registers.fixed[r] {
		return
	}
	if holdsMemory(v.Type()) {
		l.emit(opDrop, r, 0, 0)
	}
	l.registers.release(v)
}

// node lowers n; dead are the values whose last use it is, its own unused outputs included.
func (l *lowering) node(n *ir.Node, dead []*ir.Value) error {
	l.code.steps = append(l.code.steps, n.Kind())
	switch n.Kind() {
	case prim.If:
		return l.branch(n, dead)
	case prim.Loop:
		if l.native(n, dead) {
			l.code.steps = append(l.code.steps, kindsIn(n)...)
			return nil
		}
		return l.loop(n, dead)
	case GroupKind:
		if n.GraphAttr("Subgraph") != nil {
			return l.subgraph(n, dead)
		}
		return l.group(n, dead)
	}
	if lower, ok := nodeLowerings[n.Kind()]; ok && l.options.Runners[n.Kind()] == nil {
		return lower(l, n, dead)
	}
	return l.operator(n, dead)
}

// kindsIn returns the kinds of the nodes in the blocks of n, without constants.
func kindsIn(n *ir.Node) []string {
	var kinds []string
	for _, b := range n.Blocks() {
		b.Walk(func(inner *ir.Node) {
			if inner.Kind() != prim.Constant {
				kinds = append(kinds, inner.Kind())
			}
		})
	}
	return kinds
}

// nodeLowerings are the kinds of node that are no operators. It is filled by init because its
// functions refer to it.
var nodeLowerings map[string]func(*lowering, *ir.Node, []*ir.Value) error

func init() {
	nodeLowerings = map[string]func(*lowering, *ir.Node, []*ir.Value) error{
		prim.TupleConstruct:          (*lowering).tuple,
		prim.TupleUnpack:             (*lowering).tupleUnpack,
		prim.TupleIndex:              (*lowering).tupleIndex,
		prim.TupleSlice:              (*lowering).tupleSlice,
		prim.ListConstruct:           (*lowering).list,
		prim.ListUnpack:              (*lowering).listUnpack,
		prim.DictConstruct:           (*lowering).dict,
		prim.GetAttr:                 (*lowering).getAttr,
		prim.SetAttr:                 (*lowering).setAttr,
		prim.CreateObject:            (*lowering).createObject,
		prim.CallFunction:            (*lowering).callFunction,
		prim.DifferentiableGraph:     (*lowering).differentiable,
		prim.FunctionalGraph:         (*lowering).subgraph,
		prim.FallbackGraph:           (*lowering).subgraph,
		prim.TypeCheck:               (*lowering).typeCheck,
		prim.TensorExprDynamicGuard:  (*lowering).anySizeGuard,
		prim.RequiresGradCheck:       (*lowering).gradientCheck,
		prim.ConstantChunk:           (*lowering).parts,
		prim.MMBatchSide:             (*lowering).productsOfSide,
		prim.CallMethod:              (*lowering).callMethod,
		prim.Isinstance:              (*lowering).isInstance,
		prim.UncheckedCast:           (*lowering).cast,
		prim.UncheckedUnwrapOptional: (*lowering).cast,
		aten.UnwrapOptional:          (*lowering).unwrap,
		prim.RaiseException:          (*lowering).raise,
		prim.Uninitialized:           (*lowering).uninitialized,
		prim.Closure:                 (*lowering).uninitialized,
		prim.Enter:                   (*lowering).enter,
		prim.Exit:                    (*lowering).exit,
		prim.Fork:                    (*lowering).fork,
		prim.Awaitable:               (*lowering).fork,
		aten.Warn:                    (*lowering).warn,
		aten.Sort:                    (*lowering).sort,
		aten.Sorted:                  (*lowering).sort,
	}
}

// inputs returns what a site reads: registers of values that die with it are moved out of.
func (l *lowering) inputs(vs []*ir.Value, dead []*ir.Value) []input {
	ins := make([]input, len(vs))
	dies := membersOf(dead)
	var later members
	for i := len(vs) - 1; i >= 0; i-- {
		v := vs[i]
		r := l.reg(v)
		ins[i] = input{r, holdsMemory(v.Type()) && !l.registers.fixed[r] && dies.has(v) && !later.has(v)}
		later.add(v)
	}
	return ins
}

// members are different values; asking for one takes the same time however many there are.
type members struct {
	few  []*ir.Value
	many map[*ir.Value]bool
}

// maxFew is how many values are looked through.
const maxFew = 16

func membersOf(vs []*ir.Value) members {
	if len(vs) <= maxFew {
		return members{few: vs[:len(vs):len(vs)]}
	}
	m := members{many: make(map[*ir.Value]bool, len(vs))}
	for _, v := range vs {
		m.many[v] = true
	}
	return m
}

func (m *members) add(v *ir.Value) {
	switch {
	case m.many != nil:
		m.many[v] = true
	case len(m.few) == maxFew:
		*m = membersOf(append(m.few, v))
	default:
		m.few = append(m.few, v)
	}
}

func (m *members) has(v *ir.Value) bool {
	if m.many != nil {
		return m.many[v]
	}
	return slices.Contains(m.few, v)
}

// finish gives up the dead values, of which those that were moved out of are clear already.
func (l *lowering) finish(dead []*ir.Value, vs []*ir.Value, ins []input) {
	var moved members
	for i, in := range ins {
		if in.move {
			moved.add(vs[i])
		}
	}
	for _, v := range dead {
		if moved.has(v) {
			l.registers.release(v)
		} else {
			l.drop(v)
		}
	}
}

// call emits an instruction with a site for n: the values vs go in, all outputs come out.
func (l *lowering) call(op Opcode, s *site, n *ir.Node, vs, dead []*ir.Value) {
	s.inputs = l.inputs(vs, dead)
	if s.owned == nil && (op == opCall || op == opCallIn) {
		s.owned = escaping(vs)
	}
	if s.name == "" {
		s.name = n.Kind()
	}
	outs := n.Outputs()
	s.numOutputs = len(outs)
	switch len(outs) {
	case 0:
	case 1:
		l.releaseRead(s.inputs, vs, dead)
		s.output = l.registers.define(outs[0], l.hint(outs[0]))
	default:
		s.output = l.registers.block(outs)
	}
	l.emit(op, l.site(s), 0, 0)
	l.finish(dead, vs, s.inputs)
}

// releaseRead frees the registers of dead inputs that need no clearing, so that the output can have
// one: the inputs are in the argument area by the time it is written.
func (l *lowering) releaseRead(ins []input, vs, dead []*ir.Value) {
	dies := membersOf(dead)
	for i, v := range vs {
		r, ok := l.registers.of[v]
		if ok && !l.registers.fixed[r] && dies.has(v) && (ins[i].move || !holdsMemory(v.Type())) {
			l.registers.release(v)
			delete(l.registers.of, v)
		}
	}
}

// simple emits an instruction of registers: the output of n, then the inputs vs.
func (l *lowering) simple(op Opcode, n *ir.Node, vs, dead []*ir.Value) {
	var r [3]int32
	for i, v := range vs {
		r[i+1] = l.reg(v)
	}
	r[0] = l.defineOver(n.Output(), dead)
	l.emit(op, r[0], r[1], r[2])
	l.finish(dead, nil, nil)
}

// defineOver gives v a register, preferring one of the dead values' where they are typed: a typed
// instruction reads its operands before it writes.
func (l *lowering) defineOver(v *ir.Value, dead []*ir.Value) int32 {
	c := classOf(v.Type())
	if c == classAny {
		return l.registers.define(v, l.hint(v))
	}
	for _, d := range dead {
		if r, ok := l.registers.of[d]; ok && d != v && !l.registers.fixed[r] && classOf(d.Type()) == c {
			l.registers.release(d)
			delete(l.registers.of, d)
		}
	}
	return l.registers.define(v, l.hint(v))
}

// operator lowers a node that applies an operator.
func (l *lowering) operator(n *ir.Node, dead []*ir.Value) error {
	if make := l.options.Runners[n.Kind()]; make != nil {
		run, err := make(n)
		if err != nil {
			return err
		}
		l.call(opCallIn, &site{runIn: run}, n, n.Inputs(), dead)
		return nil
	}
	o := n.Operator()
	if o == nil {
		return source.Errorf(source.RuntimeError, n.Range, "no operator runs %s with inputs of the types (%s)", n.Kind(), typesOf(n.Inputs()))
	}
	o, err := o.For(n)
	if err != nil {
		return err
	}
	l.checkedWrites(n, o)
	if op, ok := typedOpcodes[o.Name]; ok {
		l.simple(op, n, n.Inputs(), dead)
		return nil
	}
	s := &site{name: o.Name, owned: l.owned(n)}
	op := opCallIn
	switch {
	case o.Run == nil:
		s.runIn = notImplemented(o)
	case autograd.Modal(o):
		s.runIn = autograd.CompiledOperationOf(o, staticTypes(n.Inputs()), !n.ReadsNoFloat32, l.options.castsAsCompiled)
		if !autograd.ReadsMode(o) {
			s.direct = o.Run
		}
	default:
		op, s.run = opCall, o.Run
	}
	l.call(op, s, n, n.Inputs(), dead)
	return nil
}

func staticTypes(vs []*ir.Value) []types.Type {
	ts := make([]types.Type, len(vs))
	for i, v := range vs {
		ts[i] = v.Type()
	}
	return ts
}

func typesOf(vs []*ir.Value) string {
	s := ""
	for i, v := range vs {
		if i > 0 {
			s += ", "
		}
		s += v.Type().String()
	}
	return s
}

// notImplemented runs an operator that has no implementation (yet): it may get one after the
// lowering.
func notImplemented(o *ops.Operator) autograd.Operation {
	return func(m *autograd.Mode, args, out []value.Value) error {
		if o.Run != nil {
			return m.Run(o, args, out)
		}
		return source.Errorf(source.NotImplementedError, source.Range{}, "the operator %s is not implemented", o.Name)
	}
}

// branch lowers prim::If. The registers of the outputs are chosen after the first block, so that
// what it computes is in them already where possible.
func (l *lowering) branch(n *ir.Node, dead []*ir.Value) error {
	outs := n.Outputs()
	dying, unusedOuts := l.split(n, dead)
	toElse := l.emitTest(0, n.Input(0), l.reg(n.Input(0)), false)
	if slices.Contains(dead, n.Input(0)) && !slices.Contains(dying, n.Input(0)) {
		l.registers.release(n.Input(0))
	}
	before, made := l.registers.save(), len(l.registers.template)
	registers := l.savedValues(dying)

	yes, no := n.Blocks()[0], n.Blocks()[1]
	for i, v := range yes.Outputs() {
		l.prefer(v, yes, l.hint(outs[i]))
	}
	if err := l.block(yes, dying); err != nil {
		return err
	}
	targets := l.targets(n, yes, before, made, registers)
	l.moves(targets, yes.Outputs(), yes, dying)
	toEnd := l.emit(opJump, 0, 0, 0)

	l.jumpTo(toElse)
	l.restoreValues(registers)
	l.registers.restore(before, made)
	for i, v := range no.Outputs() {
		l.prefer(v, no, targets[i])
	}
	if err := l.block(no, dying); err != nil {
		return err
	}
	l.moves(targets, no.Outputs(), no, dying)
	l.jumpTo(toEnd)

	l.leaveBlocks(n, before, made, registers, targets)
	for _, v := range unusedOuts {
		l.drop(v)
	}
	return nil
}

// leaveBlocks frees the registers that the blocks of n have used, and those of the values that died in them, and gives
// the outputs theirs.
func (l *lowering) leaveBlocks(n *ir.Node, before saved, made int, dying map[*ir.Value]int32, targets []int32) {
	l.registers.restore(before, made)
	for _, r := range dying {
		if !l.registers.fixed[r] {
			l.registers.give(r)
		}
	}
	for i, v := range n.Outputs() {
		l.registers.of[v] = targets[i]
		l.registers.reserve(targets[i])
	}
}

// split separates what dies with a node that holds blocks: values that the blocks use, and its own
// outputs.
func (l *lowering) split(n *ir.Node, dead []*ir.Value) (inBlocks, outs []*ir.Value) {
	for _, v := range dead {
		switch {
		case v.Node() == n:
			outs = append(outs, v)
		case usedInBlocks(v, n):
			inBlocks = append(inBlocks, v)
		}
	}
	return inBlocks, outs
}

func usedInBlocks(v *ir.Value, n *ir.Node) bool {
	for _, u := range v.Uses() {
		if u.User != n && ancestorIn(n.Block(), u.User) == n {
			return true
		}
	}
	return false
}

// prefer asks that v, if b defines it, be put in a register.
func (l *lowering) prefer(v *ir.Value, b *ir.Block, r int32) {
	if r >= 0 && v.Node().Block() == b {
		l.hints[v] = r
	}
}

func (l *lowering) savedValues(vs []*ir.Value) map[*ir.Value]int32 {
	m := map[*ir.Value]int32{}
	for _, v := range vs {
		if r, ok := l.registers.of[v]; ok {
			m[v] = r
		}
	}
	return m
}

func (l *lowering) restoreValues(m map[*ir.Value]int32) {
	for v, r := range m {
		l.registers.of[v] = r
	}
}

// targets chooses the registers of the outputs of an if: those in which its first block has left
// them where nothing else lives there after the if, else the hinted ones, else free ones.
func (l *lowering) targets(n *ir.Node, yes *ir.Block, before saved, made int, dying map[*ir.Value]int32) []int32 {
	died := make([]int32, 0, len(dying))
	for _, r := range dying {
		died = append(died, r)
	}
	targets := make([]int32, 0, len(n.Outputs()))
	fits := func(r int32, c class) bool {
		if r < 0 || l.registers.classes[r] != c || slices.Contains(targets, r) {
			return false
		}
		if int(r) >= made || slices.Contains(died, r) {
			return !l.registers.fixed[r]
		}
		return slices.Contains(before[c], r)
	}
	for i, out := range n.Outputs() {
		c := classOf(out.Type())
		t := l.reg(yes.Outputs()[i])
		if !fits(t, c) {
			t = l.hint(out)
		}
		if !fits(t, c) {
			t = l.registers.fresh(c)
		}
		targets = append(targets, t)
	}
	return targets
}

// loop lowers prim::Loop. Inputs are the number of trips, the first condition and the carried
// values; the body takes the trip's number and the carried values, and returns the condition and
// the new carried values. No counter is kept where nothing asks for it.
func (l *lowering) loop(n *ir.Node, dead []*ir.Value) error {
	body := n.Blocks()[0]
	outs := n.Outputs()
	dying, _ := l.split(n, dead)
	trips, start, next := n.Input(0), n.Input(1), body.Outputs()[0]
	counted, conditional := loopKind(n)

	carried := l.enterLoop(n, body, dead, dying)
	counter := l.registers.take(classInt, -1)
	l.registers.of[body.Inputs()[0]] = counter
	l.registers.fixed[counter] = true
	limit := l.reg(trips)
	var exits []int
	if !isTrue(start) {
		exits = append(exits, l.emit(opJumpIfNot, 0, l.reg(start), 0))
	}
	if counted {
		exits = append(exits, l.emit(opLoopStart, 0, counter, limit))
	}

	before, made := l.registers.save(), len(l.registers.template)
	top := l.here()
	l.line(n)
	for i, v := range body.Outputs()[1:] {
		l.prefer(v, body, carried[i])
	}
	if err := l.block(body, nil); err != nil {
		return err
	}
	condition := l.endBody(body, carried)
	l.at, l.calls = n.Range, n.Calls
	switch {
	case counted && conditional:
		exits = append(exits, l.emitTest(0, next, condition, false))
		l.emit(opLoopNext, top, counter, limit)
	case counted:
		l.emit(opLoopNext, top, counter, limit)
	case conditional:
		l.emitTest(top, next, condition, true)
	default:
		l.emit(opPoll, 0, 0, 0)
		l.emit(opJump, top, 0, 0)
	}
	for _, i := range exits {
		l.jumpTo(i)
	}

	l.registers.restore(before, made)
	delete(l.registers.fixed, counter)
	l.registers.give(counter)
	for i, v := range outs {
		l.registers.of[v] = carried[i]
	}
	for _, v := range dead {
		l.drop(v)
	}
	return nil
}

func isTrue(v *ir.Value) bool {
	c, ok := v.Constant()
	return ok && c.IsBool() && c.Bool()
}

func isConstantInt(v *ir.Value, i int64) bool {
	c, ok := v.Constant()
	return ok && c.IsInt() && c.Int() == i
}

// enterLoop puts the carried values into registers of their own and returns these. The register
// of a value that only the loop's start uses is taken over.
func (l *lowering) enterLoop(n *ir.Node, body *ir.Block, dead, dying []*ir.Value) []int32 {
	initials := n.Inputs()[2:]
	params := body.Inputs()[1:]
	carried := make([]int32, len(initials))
	var pending []move
	for i, v := range initials {
		from := l.reg(v)
		c := classOf(params[i].Type())
		over := slices.Contains(dead, v) && !slices.Contains(dying, v) && !l.registers.fixed[from] &&
			!slices.Contains(initials[:i], v) && !slices.Contains(initials[i+1:], v) && v != n.Input(0) && v != n.Input(1)
		if over && l.registers.classes[from] == c {
			carried[i] = from
		} else {
			carried[i] = l.registers.take(c, l.hint(n.Outputs()[i]))
			pending = append(pending, move{carried[i], from, over})
			if over {
				defer l.registers.give(from)
			}
		}
		l.registers.of[params[i]] = carried[i]
		if over {
			delete(l.registers.of, v)
		}
	}
	l.parallel(pending)
	return carried
}

// endBody moves what the body returns to the carried registers and returns the register of the
// condition, which is kept from being overwritten.
func (l *lowering) endBody(body *ir.Block, carried []int32) int32 {
	condition := l.reg(body.Outputs()[0])
	for _, r := range carried {
		if r == condition {
			condition = l.registers.fresh(classBool)
			l.emit(opCopyBits, condition, r, 0)
			break
		}
	}
	l.moves(carried, body.Outputs()[1:], body, nil)
	return condition
}

// move is a register to be copied to another; last: its value is not used any more.
type move struct {
	to, from int32
	last     bool
}

// moves copies the results of a block to target registers, all at once. Results that the block
// itself defines, and the dying outer ones, leave their registers clear.
func (l *lowering) moves(targets []int32, results []*ir.Value, b *ir.Block, dying []*ir.Value) {
	var pending []move
	for i, v := range results {
		from := l.reg(v)
		own := v.Node().Block() == b && !isConstant(v) || slices.Contains(dying, v)
		pending = append(pending, move{targets[i], from, own && holdsMemory(v.Type()) && !l.registers.fixed[from]})
	}
	l.parallel(pending)
}

// parallel emits copies so that all sources are read before any target is written.
func (l *lowering) parallel(pending []move) {
	stays := map[int32]bool{} // sources that are targets of themselves
	kept := pending[:0]
	for _, m := range pending {
		if m.to == m.from {
			stays[m.to] = true
		} else {
			kept = append(kept, m)
		}
	}
	pending = kept
	for len(pending) > 0 {
		i := unblocked(pending)
		if i < 0 {
			// Only cycles are left: set one source, which is a target, aside.
			from := pending[0].from
			aside := l.registers.fresh(l.registers.classes[from])
			l.copy(move{aside, from, true})
			for k := range pending {
				if pending[k].from == from {
					pending[k].from, pending[k].last = aside, true
				}
			}
			continue
		}
		m := pending[i]
		pending = append(pending[:i], pending[i+1:]...)
		goes := m.last || l.registers.classes[m.from] == classAny && isTarget(pending, m.from) // a typed register keeps its type
		m.last = goes && !stays[m.from] && !isSource(pending, m.from)
		l.copy(m)
	}
}

// unblocked returns the index of a move whose target no other one still reads, or -1.
func unblocked(pending []move) int {
	for i, m := range pending {
		blocked := false
		for k, other := range pending {
			blocked = blocked || k != i && other.from == m.to
		}
		if !blocked {
			return i
		}
	}
	return -1
}

// isTarget reports whether a register is about to be written: what it has goes.
func isTarget(pending []move, r int32) bool {
	for _, m := range pending {
		if m.to == r {
			return true
		}
	}
	return false
}

func isSource(pending []move, r int32) bool {
	for _, m := range pending {
		if m.from == r {
			return true
		}
	}
	return false
}

func (l *lowering) copy(m move) {
	switch {
	case l.registers.classes[m.to] != classAny && l.registers.classes[m.to] == l.registers.classes[m.from]:
		l.emit(opCopyBits, m.to, m.from, 0)
	case m.last:
		l.emit(opMove, m.to, m.from, 0)
	default:
		l.emit(opCopy, m.to, m.from, 0)
	}
}

// ret leaves the function with the results of its block.
func (l *lowering) ret(b *ir.Block) {
	if len(b.Outputs()) == 1 {
		l.emit(opReturnOne, l.reg(b.Outputs()[0]), 0, 0)
		return
	}
	s := &site{name: "return", inputs: l.inputs(b.Outputs(), nil)}
	l.code.sites = append(l.code.sites, s)
	l.code.numArguments = max(l.code.numArguments, len(s.inputs))
	l.emit(opReturn, int32(len(l.code.sites)-1), 0, 0)
}
