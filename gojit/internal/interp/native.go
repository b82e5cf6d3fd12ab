package interp

import (
	"fmt"
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/routine"
	"github.com/torchjit/torchjit/gojit/internal/kernel/function"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// machineLoop is a loop over numbers as machine code.
type machineLoop struct {
	code      *routine.Routine
	results   []class
	divisions map[kernel.Value]source.Range
	raises    []raising // by the code of the trap
}

// raising is a raise statement: its message and class, and its place; or an operator that fails with an error.
type raising struct {
	err   error
	args  []value.Value
	place source.Range
}

// native lowers a loop that computes with numbers alone to machine code and reports whether it has done
// so: the machine wants it, the processor can, and there are only operators that functions have.
func (l *lowering) native(n *ir.Node, dead []*ir.Value) bool {
	if !l.options.Native || asm.Target() == asm.None || !l.options.isNumeric(n) {
		return false
	}
	inputs := outsideOf(n)
	t := translation{of: map[*ir.Value]kernel.Value{}, constants: map[constantKey]kernel.Value{}, divisions: map[kernel.Value]source.Range{}}
	t.FunctionBuilder = function.NewFunction(typesOfNumbers(inputs)...)
	for i, v := range inputs {
		t.of[v] = t.Param(0, i)
	}
	t.loop(n)
	t.Return(t.values(n.Outputs())...)
	f := t.Function()
	if err := f.Verify(); err != nil {
		panic(fmt.Sprintf("interp: %v\n%s\n%s", err, f, n))
	}
	code, err := routine.CompileFunction(f, asm.Target())
	if err != nil { // the system gives no more executable memory
		return false
	}
	r := &machineLoop{code: code, divisions: t.divisions, raises: t.raises}
	for _, v := range n.Outputs() {
		r.results = append(r.results, classOf(v.Type()))
	}
	l.call(opNative, &site{name: "loop", event: "native loop", routine: r}, n, inputs, dead)
	return true
}

// isNumeric reports whether a node, and all that it holds, computes with numbers only.
func (w *Options) isNumeric(n *ir.Node) bool {
	if n.Kind() == prim.Constant { // its uses decide
		return true
	}
	if n.Kind() == prim.RaiseException {
		return !slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return !isConstant(v) })
	}
	if !areNumbers(n.Outputs()) || !areNumbers(n.Inputs()) {
		return false
	}
	switch n.Kind() {
	case prim.Uninitialized:
		return true
	case prim.If:
		return !ends(n) && w.areNumeric(n.Blocks())
	case prim.Loop:
		counted, conditional := loopKind(n)
		return (counted || conditional) && !endsIn(n.Blocks()[0]) && w.areNumeric(n.Blocks())
	}
	if w.Runners[n.Kind()] != nil {
		return false
	}
	o := n.Operator()
	if o == nil || len(n.Outputs()) != 1 {
		return false
	}
	how := numericOperators()[o.Name]
	return how.make != nil && (how.fits == nil || how.fits(n))
}

// endsIn reports whether control does not come to the end of a block.
func endsIn(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() == prim.RaiseException || n.Kind() == prim.If && ends(n) {
			return true
		}
	}
	return false
}

// ends reports whether control does not come to the end of either block of an if.
func ends(n *ir.Node) bool { return endsIn(n.Blocks()[0]) && endsIn(n.Blocks()[1]) }

func (w *Options) areNumeric(blocks []*ir.Block) bool {
	for _, b := range blocks {
		for n := b.First(); n != nil; n = n.Next() {
			if !w.isNumeric(n) {
				return false
			}
		}
		if !areNumbers(b.Outputs()) {
			return false
		}
	}
	return true
}

// areNumbers reports whether values are numbers or truth values.
func areNumbers(vs []*ir.Value) bool {
	for _, v := range vs {
		c := classOf(v.Type())
		if c == classAny || isConstant(v) && classOf(value.TypeOf(constantOf(v))) != c {
			return false
		}
	}
	return true
}

// outsideOf returns the values, constants left out, that a node and what it holds use and that are made
// outside.
func outsideOf(n *ir.Node) (outside []*ir.Value) {
	seen := map[*ir.Value]bool{}
	use := func(vs []*ir.Value) {
		for _, v := range vs {
			if !seen[v] && !isConstant(v) {
				outside = append(outside, v)
			}
			seen[v] = true
		}
	}
	var visit func(n *ir.Node)
	visit = func(n *ir.Node) {
		use(n.Inputs())
		for _, b := range n.Blocks() {
			for _, v := range b.Inputs() {
				seen[v] = true
			}
			for inner := b.First(); inner != nil; inner = inner.Next() {
				visit(inner)
				for _, v := range inner.Outputs() {
					seen[v] = true
				}
			}
			use(b.Outputs())
		}
	}
	visit(n)
	return outside
}

// numberTypes are the types of numbers in functions.
var numberTypes = [numClasses]tensor.DType{classInt: tensor.Int64, classFloat: tensor.Float64, classBool: tensor.Bool}

func typesOfNumbers(vs []*ir.Value) (all []tensor.DType) {
	for _, v := range vs {
		all = append(all, numberTypes[classOf(v.Type())])
	}
	return all
}

// translation makes a function of a loop.
type translation struct {
	*function.FunctionBuilder
	of        map[*ir.Value]kernel.Value
	constants map[constantKey]kernel.Value
	divisions map[kernel.Value]source.Range
	raises    []raising
	place     source.Range // of the operator that is being translated
}

// value returns what a value is in the function. Constants are made in the first block.
func (t *translation) value(v *ir.Value) kernel.Value {
	if made, ok := t.of[v]; ok {
		return made
	}
	c := constantOf(v)
	key := constantKey{kind: c.Kind(), bits: c.Bits()}
	made, ok := t.constants[key]
	if !ok {
		here := t.Current()
		t.Enter(0)
		switch c.Kind() {
		case value.KindInt:
			made = t.Const(tensor.Int64, tensor.Int(c.Int()))
		case value.KindFloat:
			made = t.Const(tensor.Float64, tensor.Float(c.Float()))
		default:
			made = t.Const(tensor.Bool, tensor.Boolean(c.Bool()))
		}
		t.Enter(here)
		t.constants[key] = made
	}
	return made
}

func (t *translation) values(vs []*ir.Value) []kernel.Value {
	all := make([]kernel.Value, len(vs))
	for i, v := range vs {
		all[i] = t.value(v)
	}
	return all
}

// bind says that values are the parameters of a block from number first on.
func (t *translation) bind(vs []*ir.Value, block, first int) {
	for i, v := range vs {
		t.of[v] = t.Param(block, first+i)
	}
}

// nodes translates the nodes of a block and reports whether control comes to its end.
func (t *translation) nodes(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		switch n.Kind() {
		case prim.Constant:
		case prim.If:
			t.branch(n)
		case prim.Loop:
			t.loop(n)
		case prim.RaiseException:
			var args []value.Value
			for _, v := range n.Inputs() {
				args = append(args, constantOf(v))
			}
			t.Trap(int32(len(t.raises)))
			t.raises = append(t.raises, raising{args: args, place: n.Range})
			return false
		case prim.Uninitialized:
			t.of[n.Output()] = t.Const(numberTypes[classOf(n.Output().Type())], tensor.Int(0))
		default:
			name := n.Operator().Name
			t.place = n.Range
			made := numericOperators()[name].make(t, t.values(n.Inputs()))
			t.of[n.Output()] = made
			if name == "aten::floordiv.int" || name == "aten::remainder.int" {
				t.divisions[made] = n.Range
			}
		}
	}
	return true
}

// isEmpty reports whether a block has nothing but constants.
func isEmpty(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() != prim.Constant {
			return false
		}
	}
	return true
}

// branch translates prim::If.
func (t *translation) branch(n *ir.Node) {
	c, yes, no := t.value(n.Input(0)), n.Blocks()[0], n.Blocks()[1]
	if isEmpty(yes) && isEmpty(no) {
		for i, v := range n.Outputs() {
			t.of[v] = t.Select(c, t.value(yes.Outputs()[i]), t.value(no.Outputs()[i]))
		}
		return
	}
	join := t.Block(typesOfNumbers(n.Outputs())...)
	var to [2]function.Edge
	var sides [2]int
	for i, b := range n.Blocks() {
		if isEmpty(b) {
			to[i] = function.Edge{Block: join, Args: t.values(b.Outputs())}
			continue
		}
		sides[i] = t.Block()
		to[i] = function.Edge{Block: sides[i]}
	}
	t.Branch(c, to[0], to[1])
	for i, b := range n.Blocks() {
		if sides[i] != 0 {
			t.Enter(sides[i])
			if t.nodes(b) {
				t.Jump(join, t.values(b.Outputs())...)
			}
		}
	}
	t.Enter(join)
	t.bind(n.Outputs(), join, 0)
}

// loopKind returns whether a loop counts its trips and whether it has a condition.
func loopKind(n *ir.Node) (counted, conditional bool) {
	body := n.Blocks()[0]
	counted = !isConstantInt(n.Input(0), math.MaxInt64) || body.Inputs()[0].HasUses()
	return counted, !isTrue(n.Input(1)) || !isTrue(body.Outputs()[0])
}

// loop translates prim::Loop: a block that its head and the way back lead to, and one behind it.
func (t *translation) loop(n *ir.Node) {
	body := n.Blocks()[0]
	counted, _ := loopKind(n)
	first := t.values(n.Inputs()[2:])
	carried := typesOfNumbers(n.Outputs())
	head, exit := t.Block(headTypes(counted, carried)...), t.Block(carried...)
	var counter []kernel.Value
	if counted {
		t.bind(body.Inputs(), head, 0)
		counter = []kernel.Value{t.Const(tensor.Int64, tensor.Int(0))}
	} else {
		t.bind(body.Inputs()[1:], head, 0)
	}
	t.leave(n.Input(1), head, slices.Concat(counter, first), exit, first)
	t.Enter(head)
	if counted {
		inside := t.Block()
		more := t.Binary(kernel.Lt, t.Param(head, 0), t.value(n.Input(0)))
		t.Branch(more, function.Edge{Block: inside}, function.Edge{Block: exit, Args: t.values(body.Inputs()[1:])})
		t.Enter(inside)
	}
	t.nodes(body)
	again := t.values(body.Outputs()[1:])
	if counted {
		counter[0] = t.Binary(kernel.Add, t.Param(head, 0), t.Const(tensor.Int64, tensor.Int(1)))
	}
	t.leave(body.Outputs()[0], head, slices.Concat(counter, again), exit, again)
	t.Enter(exit)
	t.bind(n.Outputs(), exit, 0)
}

func headTypes(counted bool, carried []tensor.DType) []tensor.DType {
	if counted {
		return append([]tensor.DType{tensor.Int64}, carried...)
	}
	return carried
}

// leave goes to the head of a loop where a condition holds, else behind the loop.
func (t *translation) leave(condition *ir.Value, head int, args []kernel.Value, exit int, results []kernel.Value) {
	if isTrue(condition) {
		t.Jump(head, args...)
		return
	}
	t.Branch(t.value(condition), function.Edge{Block: head, Args: args}, function.Edge{Block: exit, Args: results})
}

// nativeBudget is how many jumps back machine code makes before it lets Go look after other things.
const nativeBudget = 1 << 12

// native runs a loop as machine code. An error has the place that it happened at.
func (s *stack) native(site *site, regs []value.Value, place source.Range) (source.Range, error) {
	if !s.direct {
		span := s.mode.BeginEvent(site.event)
		defer span.End()
	}
	r := site.routine
	if n := r.code.Words(); len(s.numbers) < n {
		s.numbers = make(routine.Frame, n)
	}
	args := r.code.Start(s.numbers)
	for i, in := range site.inputs {
		args[i] = regs[in.register].Bits()
	}
	for {
		results, outcome := r.code.Run(s.numbers, nativeBudget)
		switch outcome.Stop {
		case function.Finished:
			out := regs[site.output : int(site.output)+site.numOutputs]
			for i, c := range r.results {
				switch c {
				case classInt:
					out[i].SetInt(int64(results[i]))
				case classFloat:
					out[i].SetFloat(math.Float64frombits(results[i]))
				default:
					out[i].SetBool(results[i] != 0)
				}
			}
			return place, nil
		case function.DividedByZero:
			return r.divisions[outcome.At], errDivision
		case function.Trapped:
			raise := &r.raises[outcome.Code]
			if raise.err != nil {
				return raise.place, raise.err
			}
			return raise.place, raised(raise.args)
		}
		if err := s.poll(); err != nil {
			return place, err
		}
	}
}
