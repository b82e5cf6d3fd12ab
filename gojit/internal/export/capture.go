package export

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Input is what a parameter of the captured graph is.
type Input struct {
	Spec      exportir.InputSpec
	Value     value.Value           // an example; the value itself where it is no tensor
	Parameter *ir.Value             // of the graph, nil where the graph does not take the input
	Dims      map[int]symbolic.Size // what sizes of the tensor are, by dimension: symbols, or expressions over them
}

// Result is one output of the program.
type Result struct {
	Spec     exportir.OutputSpec
	Constant *exportir.Argument // the value; nil: the next output of the captured graph
}

// Options say what the parameters and outputs of a captured graph are.
type Options struct {
	Inputs  []Input
	Results []Result
	Symbols []exportir.Symbol
	Script  *Script // of a compiled method
	// Bare lets the output be one value instead of a tuple of all.
	Bare bool
	// Known are symbols that have been found to be constants, or expressions over other symbols.
	Known map[string]symbolic.Size
	// Ranges are the ranges of unbacked symbols that the program checks, by their numbers.
	Ranges map[int]valueRange
	factor int // what unknown numbers are multiples of, where that is not 0
}

// Lift adds tensors that the captured graph had to be given because its program uses them, before the user's inputs.
func (o *Options) Lift(tensors []*tensor.Tensor, parameters []*ir.Value) {
	at := slices.IndexFunc(o.Inputs, func(in Input) bool { return in.Spec.Kind == exportir.UserInput })
	if at < 0 {
		at = len(o.Inputs)
	}
	var lifted []Input
	for i, t := range tensors {
		name := "lifted_tensor_" + itoa(i)
		lifted = append(lifted, Input{Spec: exportir.InputSpec{Kind: exportir.ConstantTensor, Name: "c_" + name, Target: name}, Value: value.OfTensor(t), Parameter: parameters[i]})
	}
	o.Inputs = slices.Insert(o.Inputs, at, lifted...)
}

// Capture makes a program of a graph, which it changes. Nodes of Python and calls of functions that cannot be inlined,
// operators that write memory in a way that has no functional form, loops whose number of turns is not known, and
// decisions that depend on sizes that are to be symbols fail, with the place in the captured program.
func Capture(g *ir.Graph, o *Options) (p *exportir.Program, err error) {
	if len(o.Symbols) == 0 {
		if p, err = captureRuns(g, o, 1); err != error(needsRuns) {
			return p, err
		}
	}
	p, err = captureRanges(g, o)
	var c *conflict
	if errors.As(err, &c) {
		return solve(g, o, c)
	}
	return p, err
}

// steps are what is added to the hint of a symbol in each of the runs. The first run is that of the example.
var steps = [...]int{0, 1, 2, 3, 5, 12}

func captureRuns(g *ir.Graph, o *Options, runs int) (p *exportir.Program, err error) {
	defer source.Catch(&err)
	c := &capture{options: o, runs: runs, env: map[*ir.Value]run{}, predicates: map[*ir.Value]*handle{}, given: givenTensors{}}
	c.unbackedSymbols, c.floats = map[string]int{}, map[float64]*exportir.Node{}
	c.program = &exportir.Program{Graph: &exportir.Graph{}}
	c.fit = symbolic.NewFitter(c.freshSymbol)
	c.scope = newScope(c.program.Graph, nil)
	c.inputs()
	c.bindScript(g)
	c.block(g.Block())
	c.Outputs(g)
	exportir.Sweep(c.program.Graph)
	return c.program, c.program.Check()
}

var anyType types.Type = types.Any

// run is what a value is in each of the runs.
type run []value.Value

// capture is the state of one Capture.
type capture struct {
	options    *Options
	program    *exportir.Program
	runs       int
	env        map[*ir.Value]run
	predicates map[*ir.Value]*handle // truth values that depend on elements
	fit        *symbolic.Fitter
	scope      *scope
	node       *ir.Node // that is being captured
	made       int      // symbols
	reached    int      // nodes that have been captured
	given      givenTensors
	// unbackedSymbols are the symbols for numbers that elements tell, with the places in the order of symbols by which their ranges are known.
	unbackedSymbols map[string]int
	floats          map[float64]*exportir.Node // of floats that elements tell, by what they are in the first run
}

// conflict is an error that only some of the runs have: sizes cannot be what they are said to be.
type conflict struct {
	err     *source.Error
	run     int
	reached int    // how many nodes had been captured
	guard   *guard // what a decision asks of a symbol
	// unbacked tells that there are numbers which elements tell.
	unbacked bool
}

func (e *conflict) Error() string { return e.err.Error() }

// fail ends the capture with an error at the place of the current node.
func (c *capture) fail(class source.Class, format string, args ...any) {
	place := source.Range{}
	if c.node != nil {
		place = c.node.Range
	}
	source.Throw(source.Errorf(class, place, format, args...))
}

// all is a value that is the same in all runs.
func (c *capture) all(v value.Value) run { return slices.Repeat(run{v}, c.runs) }

// Outputs makes the output node: what has been written first, then what the program returns.
func (c *capture) Outputs(g *ir.Graph) {
	c.node = g.Block().ReturnNode()
	var items []exportir.Argument
	add := func(spec exportir.OutputSpec, a exportir.Argument) {
		if a.Kind == exportir.NodeArgument {
			spec.Name = a.Text
		}
		items = append(items, a)
		c.program.Signature.Outputs = append(c.program.Signature.Outputs, spec)
	}
	if c.options.Script != nil {
		c.scriptResults(g, add)
	} else {
		c.traceResults(g, add)
	}
	n := &exportir.Node{Op: exportir.Output, Name: "output", Target: "output", Args: []exportir.Argument{{Kind: exportir.TupleArgument, Items: items}}}
	if c.options.Bare && len(items) == 1 {
		n.Args = items
	}
	c.scope.names.name("output")
	n.Meta = c.place()
	n.Meta.Val = c.valueOf(n.Args[0])
	c.scope.add(n)
}

// traceResults are the results of a trace, as the options describe them.
func (c *capture) traceResults(g *ir.Graph, add func(exportir.OutputSpec, exportir.Argument)) {
	next := 0
	var user []func()
	for _, result := range c.options.Results {
		a := result.Constant
		if a == nil {
			given := c.result(g.Outputs()[next])
			a = &given
			next++
		}
		if result.Spec.Kind == exportir.Point {
			c.program.Points = append(c.program.Points, *a)
			continue
		}
		if result.Spec.Kind == exportir.UserOutput {
			user = append(user, func() { add(result.Spec, *a) })
		} else {
			add(result.Spec, *a)
		}
	}
	c.mutations(add)
	for _, f := range user {
		f()
	}
}

// mutations adds the outputs that the program has written to its inputs.
func (c *capture) mutations(add func(exportir.OutputSpec, exportir.Argument)) {
	for _, n := range c.scope.graph.Placeholders() {
		h := c.scope.byNode[n.Name]
		if h == nil || h.version == 0 {
			continue
		}
		spec := c.program.Signature.Inputs[h.input-1]
		switch spec.Kind {
		case exportir.Buffer:
			add(exportir.OutputSpec{Kind: exportir.BufferMutation, Target: spec.Target}, exportir.Ref(h.node.Name))
		case exportir.UserInput:
			add(exportir.OutputSpec{Kind: exportir.UserInputMutation, Target: spec.Name}, exportir.Ref(h.node.Name))
		default:
			c.fail(source.RuntimeError, "The program writes to %s, which is no buffer: only buffers and inputs can be written by an exported program", spec.Target)
		}
	}
}

// result is what a graph returns, as an argument of the output node.
func (c *capture) result(v *ir.Value) exportir.Argument {
	if h := c.predicates[v]; h != nil {
		return exportir.Ref(c.read(h).Name)
	}
	return c.argument(c.env[v], v.Type(), types.Any)
}

// block captures the nodes of a block.
func (c *capture) block(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		c.node = n
		c.reached++
		c.capture(n)
	}
}

// capture captures one node.
func (c *capture) capture(n *ir.Node) {
	if special, ok := specials[n.Kind()]; ok {
		special(c, n)
		return
	}
	o := operatorOf(n)
	if o == nil || strings.HasPrefix(n.Kind(), prim.Call) || o.Schema().IsVararg || o.Schema().IsVarret {
		c.fail(source.RuntimeError, "%s cannot be exported", n.Kind())
	}
	args := make([]run, len(n.Inputs()))
	for i, in := range n.Inputs() {
		if c.predicates[in] != nil {
			c.predicate(n)
			return
		}
		args[i] = c.known(in)
	}
	c.call(n, o, args)
}

// operatorOf returns the operator that a node calls: the one that a trace has noted, or that the types of the inputs choose.
func operatorOf(n *ir.Node) *ops.Operator {
	if name := n.StringAttr("overload"); name != "" {
		return ops.Find(name)
	}
	return n.Operator()
}

// known returns what a value is in the runs.
func (c *capture) known(v *ir.Value) run {
	if is, ok := c.env[v]; ok {
		return is
	}
	if constant, ok := v.Constant(); ok {
		c.env[v] = c.constant(constant)
		return c.env[v]
	}
	c.fail(source.RuntimeError, "a value of type %s is not known where the program is exported", v.Type().Annotation(nil))
	return nil
}

// call captures the call of an operator.
func (c *capture) call(n *ir.Node, o *ops.Operator, args []run) {
	switch {
	case !takesTensors(o):
		c.compute(n, o, args)
	case !c.hasNode(args) && (c.hasTensor(args) || !givesTensors(o)):
		c.compute(n, o, args)
	case len(o.Schema().Returns) == 0 && exportir.HasEffect(o):
		c.callNode(o, args).Meta.Val = &exportir.Value{Kind: exportir.NoneValue}
	case !givesTensors(o):
		c.inspect(n, o, args)
	case c.dependent(n, o, args):
	case c.writes(n, o, args):
	default:
		c.emitNode(n, o, args)
	}
}

// takesTensors reports whether an operator is one of tensors, not one of containers of any type.
func takesTensors(o *ops.Operator) bool {
	s := o.Schema()
	for i := range s.Arguments {
		if types.HasVars(s.Arguments[i].Type) {
			return false
		}
	}
	for _, list := range [][]schemaArgument{s.Arguments, s.Returns} {
		for i := range list {
			if elementOf(list[i].Type).Kind() == types.KindTensor {
				return true
			}
		}
	}
	return false
}

func givesTensors(o *ops.Operator) bool {
	s := o.Schema()
	for i := range s.Returns {
		if elementOf(s.Returns[i].Type).Kind() == types.KindTensor {
			return true
		}
	}
	return false
}

// elementOf is what a type holds: the tensors of Tensor?[] and Tensor.
func elementOf(t types.Type) types.Type {
	for {
		switch x := t.(type) {
		case *types.List:
			t = x.Elem
		case *types.Optional:
			t = x.Elem
		default:
			return t
		}
	}
}

// hasNode reports whether a tensor that the program computes is among the arguments.
func (c *capture) hasNode(args []run) bool {
	return slices.ContainsFunc(args, func(a run) bool {
		return holds(a[0], func(t *tensor.Tensor) bool { return c.scope.handles[t] != nil })
	})
}

// hasTensor reports whether a tensor is among the arguments: one that sizes were computed with, where hasNode says no.
func (c *capture) hasTensor(args []run) bool {
	return slices.ContainsFunc(args, func(a run) bool { return holds(a[0], func(*tensor.Tensor) bool { return true }) })
}

// holds reports whether a value has a tensor in it that is as asked for.
func holds(v value.Value, is func(*tensor.Tensor) bool) bool {
	switch v.Kind() {
	case value.KindTensor:
		return is(v.Tensor())
	case value.KindList:
		return slices.ContainsFunc(v.List().Items, func(item value.Value) bool { return holds(item, is) })
	case value.KindTuple:
		return slices.ContainsFunc(v.Tuple().Items, func(item value.Value) bool { return holds(item, is) })
	case value.KindDict:
		for _, item := range v.Dict().All {
			if holds(item, is) {
				return true
			}
		}
	}
	return false
}

// compute runs an operator whose arguments are known: on numbers and containers.
func (c *capture) compute(n *ir.Node, o *ops.Operator, args []run) {
	outs := c.perform(o, args)
	for i, v := range n.Outputs() {
		if len(c.floats) > 0 && !isFloating(outs[i][0]) && slices.ContainsFunc(n.Inputs(), c.comesOfFloat) {
			c.fail(source.RuntimeError, dependsOnElements+" Use torch.cond or torch.where for a decision")
		}
		c.env[v] = outs[i]
	}
}

// isFloating reports whether a value is a float, a tensor of floats, or a list, which is asked of what it holds where that is taken out.
func isFloating(v value.Value) bool {
	return v.IsFloat() || v.IsTensor() && v.Tensor().DType().IsFloating() || v.Kind() == value.KindList
}

// inspect asks tensors for what is no tensor: sizes, element types.
func (c *capture) inspect(n *ir.Node, o *ops.Operator, args []run) {
	if ops.DependsOnElements(o.BaseName()) {
		c.element(n, o, args)
		return
	}
	if o.BaseName() == prim.Device {
		c.env[n.Output()] = c.all(value.OfDevice(c.scope.handles[args[0][0].Tensor()].device))
		return
	}
	c.compute(n, o, args)
}

// perform runs an operator in each of the runs and returns its results, each in all runs.
func (c *capture) perform(o *ops.Operator, args []run) []run {
	outs := make([]run, len(o.Schema().Returns))
	for i := range outs {
		outs[i] = make(run, c.runs)
	}
	for r := range c.runs {
		own := make([]value.Value, len(args))
		for i := range args {
			own[i] = args[i][r]
		}
		results, err := runMeta(o, own)
		if err != nil {
			c.refuse(err, r)
		}
		for i := range outs {
			outs[i][r] = results[i]
		}
	}
	return outs
}

// refuse ends the capture with the error of an operator in a run.
func (c *capture) refuse(err error, r int) {
	var e *source.Error
	if !errors.As(err, &e) {
		e = source.Errorf(source.RuntimeError, source.Range{}, "%s", err)
	}
	own := *e
	if !own.Range.IsValid() && c.node != nil {
		own.Range = c.node.Range
	}
	if len(c.unbackedSymbols) > 0 {
		own.Text += c.unknowns(r)
	}
	if r == 0 && len(c.unbackedSymbols) == 0 {
		source.Throw(&own)
	}
	source.Throw(&conflict{err: &own, run: r, reached: c.reached, unbacked: len(c.unbackedSymbols) > 0})
}

// unknowns says which numbers that elements tell a run has.
func (c *capture) unknowns(r int) string {
	var list []string
	for _, a := range c.fit.Atoms {
		if _, ok := c.unbackedSymbols[a.Size.Name]; ok {
			list = append(list, fmt.Sprintf("%s = %d", a.Size.Name, a.Profile[r]))
		}
	}
	return "\nSizes and numbers here follow from the elements of tensors; this is the error where " + strings.Join(list, ", ") +
		". Say with torch._check what holds for all elements."
}

// runMeta runs an operator so that it makes tensors without elements.
func runMeta(o *ops.Operator, args []value.Value) ([]value.Value, error) {
	s := o.Schema()
	if o.Run == nil {
		return nil, source.Errorf(source.NotImplementedError, source.Range{}, "The operator '%s' is not implemented", s.QualifiedName())
	}
	hasNumbers := false
	for _, a := range args {
		hasNumbers = hasNumbers || a.IsTensor() && a.Tensor().Device().Type != tensor.Meta
	}
	for i := range args {
		if t := elementOf(s.Arguments[i].Type); t.Kind() == types.KindDevice && !hasNumbers {
			args[i] = value.OfDevice(tensor.NewDevice(tensor.Meta, -1))
		}
	}
	out := make([]value.Value, len(s.Returns))
	if o.Name == "aten::repeat_interleave.self_int" {
		args = withOutputSize(args)
	}
	err := o.Run(args, out)
	return out, err
}

// withOutputSize says what the size is that repeat_interleave gives, which it does not compute itself for tensors without elements.
func withOutputSize(args []value.Value) []value.Value {
	if !args[3].IsNone() {
		return args
	}
	x, n := args[0].Tensor(), args[0].Tensor().Numel()
	if args[2].IsInt() {
		d := int(args[2].Int())
		if d < 0 {
			d += x.Dim()
		}
		if d < 0 || d >= x.Dim() {
			return args // the operator says what is wrong
		}
		n = x.Size(d)
	}
	args = slices.Clone(args)
	args[3] = intValue(n * int(args[1].Int()))
	return args
}
