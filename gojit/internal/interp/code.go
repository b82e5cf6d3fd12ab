package interp

import (
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Code is a graph made ready to run.
type Code struct {
	name         string
	instructions []Instruction
	ranges       []source.Range          // of the node that each instruction comes from
	calls        map[int]*ir.InlinedCall // of the nodes that were inlined, by instruction
	sites        []*site
	template     []value.Value // what a frame's registers hold before the inputs are put in
	constants    map[int32]string
	parameters   []parameter
	numInputs    int
	numOutputs   int
	numRegisters int
	numArguments int // size of the argument area behind the registers
}

// Name returns the name of the function that the code runs.
func (c *Code) Name() string { return c.name }

// NumInputs returns how many arguments Run takes.
func (c *Code) NumInputs() int { return c.numInputs }

// NumOutputs returns how many results Run gives.
func (c *Code) NumOutputs() int { return c.numOutputs }

// parameter is what an argument of Run must be.
type parameter struct {
	name string
	typ  types.Type
}

// accepts reports whether v is a value of the parameter's type.
func (p *parameter) accepts(v value.Value) bool {
	switch p.typ.Kind() {
	case types.KindTensor:
		return v.IsTensor()
	case types.KindAny:
		return true
	}
	return value.Conforms(v, p.typ)
}

// site is what an instruction with more than three operands refers to.
type site struct {
	name       string
	inputs     []input
	output     int32 // register of the first output; the others follow it
	numOutputs int

	run     ops.Operation      // opCall
	runIn   autograd.Operation // opCallIn
	owned   *ownership         // opCall, opCallIn; nil where there is nothing to do
	gives   bool               // a container whose elements go on with it: opTuple, opList; opTupleUnpack, calls: results that are tuples are taken apart
	lends   bool               // opList: the next operator alone reads the list
	machine *Machine           // opCallFunction, opCallMethod, opFork: who lowers the callee
	group   *groupSite         // opGroup
	callee  *ir.Function       // opCallFunction
	code    atomic.Pointer[Code]
	cached  atomic.Pointer[methodCache]
	class   *types.Class // opCreateObject
	list    types.Type   // opList: of the elements; opDict: of the values; opFork: of the result
	key     types.Type   // opDict
	tuple   *types.Tuple // opTuple
	types   []types.Type // opIsInstance
	slot    int          // opGetAttr, opSetAttr
	body    *Code        // opFork
	at      source.Range // opFork, opLine
	routine *routine     // opNative
}

// input is a register that a site reads; move: it is not used again, and cleared.
type input struct {
	register int32
	move     bool
}

// methodCache is the method that a site found for the class it saw last.
type methodCache struct {
	class *types.Class
	code  *Code
}

// Runner makes the operation for a node whose kind has no operator: a fused or differentiable
// group.
type Runner func(*ir.Node) (autograd.Operation, error)

// Machine lowers graphs and functions. The zero Machine runs functions as they are defined.
type Machine struct {
	// Graph returns the body to run for a function; nil: the function's own.
	Graph func(*ir.Function) (*ir.Graph, error)
	// Runners makes operations by the kind of node. They come before everything else.
	Runners map[string]Runner
	// Native makes loops that compute with numbers alone machine code where the processor allows.
	Native bool
	// Group makes the operation that tries to do the work of a GroupKind node at once; nil where its nodes
	// run one by one.
	Group func(*ir.Node) Attempt
	// CheckForks makes code fail that writes a tensor, container or object which a forked call can see
	// that has not been waited for. It is meant for debugging: every write takes a lock.
	CheckForks bool
	// Profiled says that the element types of tensors in graphs are those of earlier calls.
	Profiled bool
	// Lines makes code that counts the lines it runs, for profiles of lines.
	Lines bool

	lowering sync.Mutex
}

// CodeOf returns the code of a function, lowered on first use.
func (m *Machine) CodeOf(f *ir.Function) (*Code, error) {
	if c, ok := f.Compiled.Load(m); ok {
		return c.(*Code), nil
	}
	if err := m.define(f); err != nil {
		return nil, err
	}
	// One at a time: lowering notes in the graph which operators its nodes run.
	m.lowering.Lock()
	defer m.lowering.Unlock()
	if c, ok := f.Compiled.Load(m); ok {
		return c.(*Code), nil
	}
	g, err := m.graphOf(f)
	if err != nil {
		return nil, err
	}
	c, err := m.Lower(f.ShortName(), g)
	if err != nil {
		return nil, err
	}
	f.Compiled.Store(m, c)
	return c, nil
}

// define makes the function's own graph.
func (m *Machine) define(f *ir.Function) error {
	if err := f.CheckExposed(); err != nil {
		return err
	}
	return f.EnsureDefined()
}

// graphOf returns the body to run. The lock is held: it may note operators in the graph too.
func (m *Machine) graphOf(f *ir.Function) (*ir.Graph, error) {
	g := f.Graph()
	if m.Graph != nil {
		var err error
		if g, err = m.Graph(f); err != nil {
			return nil, err
		}
	}
	if g == nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "The function %s has no body", f.Name)
	}
	return g, nil
}
