package bytecode

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// The versions of bytecode that are written. From 6 on operators say with how many arguments they are called, and those behind that have
// their defaults are left out; from 7 on also where outputs follow; from 8 on common operators are instructions of their own.
const (
	Oldest               = 4
	SharesTensors        = 5
	OmitsDefaults        = 6
	bytecodeOmitsBefore  = 7
	bytecodeInstructions = 8
	Newest               = 8
)

// Bytecode is a function as the lite interpreter runs it: on a stack and registers, which are numbered from 1 on.
type Bytecode struct {
	Name         string
	Schema       *schema.FunctionSchema
	Instructions []Instruction
	Operators    []CalledOperator
	Constants    []value.Value
	Types        []string
	Registers    int
}

// Instruction has a name and two operands; node is what it was made for.
type Instruction struct {
	Name string
	X, N int
	Node *ir.Node
}

// CalledOperator is an operator and the number of arguments that it is called with, -1 where that is part of the call.
type CalledOperator struct {
	Name, Overload string
	Arguments      int
}

// unavailable are the instructions that the lite interpreter does not have.
var unavailable = code.NameSet("CALL ENTER EXIT FORK WAIT")

// assembler makes the bytecode of one graph.
type assembler struct {
	Code      *Bytecode
	rename    types.Renamer
	version   int
	inline    treeOrder
	register  map[*ir.Value]int
	constant  map[*ir.Value]int
	used      map[*ir.Value]int
	classes   []string       // among the types: the lite interpreter knows none
	necessary map[string]int // how many arguments before the outputs the calls of an operator need
	operator  map[string]int // position among the operators
	// interfaceCall is told of the calls of methods that are not known before they run.
	interfaceCall func(method string, receiver types.Type)
	at            *ir.Node
}

// NewAssembler returns an assembler of a version's bytecode.
func NewAssembler(name string, version int, rename types.Renamer, interfaceCall func(string, types.Type)) *assembler {
	return &assembler{
		Code: &Bytecode{Name: name}, rename: rename, version: version, interfaceCall: interfaceCall,
		register: map[*ir.Value]int{}, constant: map[*ir.Value]int{}, used: map[*ir.Value]int{},
		necessary: map[string]int{}, operator: map[string]int{},
	}
}

// Function assembles a function, with all that it calls inlined.
func (a *assembler) Function(f *ir.Function) error {
	if err := f.EnsureDefined(); err != nil {
		return err
	}
	a.Code.Schema = f.Schema
	return a.graph(f.Graph().Copy())
}

// graph assembles a graph, which it changes.
func (a *assembler) graph(g *ir.Graph) error {
	passes.Inline(g)
	insertDrops(g)
	a.inline = inTreeOrder(g)
	g.Block().Walk(a.countArguments)
	if err := a.block(g.Block()); err != nil {
		return err
	}
	a.emit("RET", 0, 0)
	return nil
}

// Check fails where the code needs what the lite interpreter lacks.
func (a *assembler) Check() error {
	for _, in := range a.Code.Instructions {
		if unavailable[in.Name] {
			return source.Errorf(source.RuntimeError, source.Range{}, "%s is not supported in mobile module.", in.Name)
		}
	}
	if len(a.classes) > 0 {
		return source.Errorf(source.RuntimeError, source.Range{}, "__torch__ types other than custom c++ classes (__torch__.torch.classes)"+
			"are not supported in lite interpreter. Workaround: instead of using arbitrary class type (class Foo()), "+
			"define a pytorch class (class Foo(torch.nn.Module)). The problematic type is: %s", a.classes[0])
	}
	return nil
}

// countArguments notes how many arguments a call of an operator needs: those behind have their defaults.
func (a *assembler) countArguments(n *ir.Node) {
	o := n.Operator()
	if o == nil || o.Schema().IsVararg {
		return
	}
	arguments := o.Schema().Arguments
	count := len(arguments) - a.outputsOf(arguments)
	for count > 0 && a.version >= OmitsDefaults {
		c, ok := n.Input(count - 1).Constant()
		if argument := &arguments[count-1]; !ok || !argument.HasDefault || !value.EqualConstants(c, argument.NewDefault()) {
			break
		}
		count--
	}
	a.necessary[o.Schema().QualifiedName()] = max(a.necessary[o.Schema().QualifiedName()], count)
}

// outputsOf returns how many of the last arguments are outputs that calls write: arguments before them may be left out.
func (a *assembler) outputsOf(arguments []schema.Argument) int {
	count := 0
	for a.version >= bytecodeOmitsBefore && count < len(arguments) && arguments[len(arguments)-1-count].IsOut() {
		count++
	}
	return count
}

func (a *assembler) emit(name string, x, n int) int {
	a.Code.Instructions = append(a.Code.Instructions, Instruction{name, x, n, a.at})
	return len(a.Code.Instructions) - 1
}

// here is the position of the next instruction.
func (a *assembler) here() int { return len(a.Code.Instructions) }

func (a *assembler) block(b *ir.Block) error {
	a.at = b.ParamNode()
	a.store(b.Inputs())
	for n := b.First(); n != nil; n = n.Next() {
		switch {
		case n.Is(prim.Constant):
			a.define(n)
		case !a.inline[n]:
			if err := a.node(n); err != nil {
				return err
			}
			a.at = n
			a.store(n.Outputs())
		}
	}
	a.at = b.ReturnNode()
	return a.load(b.Outputs()...)
}

// define gives a constant its place; functions are known by their names.
func (a *assembler) define(n *ir.Node) {
	if c, ok := n.Output().Constant(); ok && n.Output().Type().Kind() != types.KindFunction {
		a.constant[n.Output()] = a.addConstant(c)
	}
}

func (a *assembler) addConstant(c value.Value) int {
	a.Code.Constants = append(a.Code.Constants, c)
	return len(a.Code.Constants) - 1
}

// store gives values registers and moves them there from the stack.
func (a *assembler) store(vs []*ir.Value) {
	first := a.Code.Registers + 1
	for _, v := range vs {
		a.Code.Registers++
		a.register[v] = a.Code.Registers
	}
	switch len(vs) {
	case 0:
	case 1:
		a.emit("STORE", first, 0)
	default:
		a.emit("STOREN", first, len(vs))
	}
}

// load pushes values.
func (a *assembler) load(vs ...*ir.Value) error {
	for _, v := range vs {
		if err := a.use(v, "MOVE"); err != nil {
			return err
		}
	}
	return nil
}

// use pushes a value: by computing it here, as a constant or from its register. The instruction last is for the last use of a register.
func (a *assembler) use(v *ir.Value, last string) error {
	if a.inline[v.Node()] {
		return a.node(v.Node())
	}
	if c, ok := a.constant[v]; ok {
		a.emit("LOADC", c, 0)
		return nil
	}
	r, ok := a.register[v]
	if !ok {
		return source.Errorf(source.RuntimeError, v.Node().Range, "the value %%%s of type %s has no place in bytecode", v.Name(), v.Type())
	}
	if a.used[v]++; a.used[v] < len(v.Uses()) {
		last = "LOAD"
	}
	a.emit(last, r, 0)
	return nil
}

// node emits what n does: its results are on the stack then.
func (a *assembler) node(n *ir.Node) error {
	outer := a.at
	a.at = n
	defer func() { a.at = outer }()
	switch n.Kind() {
	case prim.If:
		return a.branch(n)
	case prim.Loop:
		return a.loop(n)
	case dropKind:
		return a.drop(n)
	}
	return a.plain(n)
}

func (a *assembler) drop(n *ir.Node) error {
	for _, v := range n.Inputs() {
		if err := a.use(v, "DROPR"); err != nil {
			return err
		}
		if a.inline[v.Node()] {
			a.emit("DROP", 0, 0)
		}
	}
	return nil
}

func (a *assembler) branch(n *ir.Node) error {
	if err := a.load(n.Inputs()...); err != nil {
		return err
	}
	condition := a.emit("JF", 0, 0)
	if err := a.block(n.Blocks()[0]); err != nil {
		return err
	}
	a.at = n
	skip := a.emit("JMP", 0, 0)
	a.Code.Instructions[condition].X = a.here() - condition
	if err := a.block(n.Blocks()[1]); err != nil {
		return err
	}
	a.Code.Instructions[skip].X = a.here() - skip
	return nil
}

func (a *assembler) loop(n *ir.Node) error {
	a.emit("LOADC", a.addConstant(value.Int(0)), 0)
	if err := a.load(n.Inputs()...); err != nil {
		return err
	}
	start := a.emit("LOOP", 0, len(n.Inputs()))
	if err := a.block(n.Blocks()[0]); err != nil {
		return err
	}
	a.at = n
	a.emit("JMP", start-a.here(), 0)
	a.Code.Instructions[start].X = a.here() - start
	return nil
}

// plain emits a node without blocks.
func (a *assembler) plain(n *ir.Node) error {
	emit, ok := assembled[n.Kind()]
	if !ok {
		_, own := ops.FactOf(n.Kind(), "instruction")
		if a.version < bytecodeInstructions || !own && !isDictIndex(n) {
			return a.call(n)
		}
		emit = (*assembler).promoted
	}
	if err := a.load(n.Inputs()...); err != nil {
		return err
	}
	return emit(a, n)
}

func isDictIndex(n *ir.Node) bool {
	return n.Is(aten.Getitem) && n.Input(0).Type().Kind() == types.KindDict
}

// promoted emits an operator that is an instruction of its own from version 8 on.
func (a *assembler) promoted(n *ir.Node) error {
	switch {
	case isDictIndex(n):
		a.emit("DICT_INDEX", 0, 0)
	case n.Is(aten.Format):
		a.emit("FORMAT", len(n.Inputs()), 0)
	default:
		name, _ := ops.FactOf(n.Kind(), "instruction")
		a.emit(name, 0, 0)
	}
	return nil
}

// call emits a call of an operator with the arguments that it needs.
func (a *assembler) call(n *ir.Node) error {
	o := n.Operator()
	if o == nil {
		return source.Errorf(source.RuntimeError, n.Range, "no operator of the lite interpreter runs %s", n.Kind())
	}
	s := o.Schema()
	called := CalledOperator{s.Name, s.Overload, -1}
	inputs := n.Inputs()
	if !s.IsVararg {
		outputs := a.outputsOf(s.Arguments)
		necessary := a.necessary[s.QualifiedName()]
		inputs = append(inputs[:necessary:necessary], inputs[len(inputs)-outputs:]...)
		called.Arguments = len(inputs)
	}
	if err := a.load(inputs...); err != nil {
		return err
	}
	at, ok := a.operator[s.QualifiedName()]
	if !ok {
		at = len(a.Code.Operators)
		a.operator[s.QualifiedName()] = at
		a.Code.Operators = append(a.Code.Operators, called)
	}
	if s.IsVararg {
		a.emit("OPN", at, len(inputs))
	} else {
		a.emit("OP", at, 0)
	}
	return nil
}

// CodeTable is the code of a graph, as the lite interpreter reads it.
type CodeTable struct {
	Instructions []TableInstruction
	Operators    []TableOperator
	Constants    []value.Value
	Types        []string
	Registers    int
}

// TableInstruction is a name and two operands.
type TableInstruction struct {
	Name string
	X, N int
}

// TableOperator is an operator and the number of arguments that it is called with.
type TableOperator struct {
	Name, Overload string
	Arguments      int
}

// CodeTableOf assembles a graph. It fails where a node has no code.
func CodeTableOf(name string, g *ir.Graph) (*CodeTable, error) {
	a := NewAssembler(name, Newest, func(c types.Type) (string, bool) { return "", false }, func(string, types.Type) {})
	if err := a.graph(g.Copy()); err != nil {
		return nil, err
	}
	t := &CodeTable{Constants: a.Code.Constants, Registers: a.Code.Registers}
	for _, name := range a.Code.Types {
		t.Types = append(t.Types, strings.ReplaceAll(name, ",", ", "))
	}
	for _, in := range a.Code.Instructions {
		t.Instructions = append(t.Instructions, TableInstruction{in.Name, in.X, in.N})
	}
	for _, o := range a.Code.Operators {
		t.Operators = append(t.Operators, TableOperator(o))
	}
	return t, nil
}
