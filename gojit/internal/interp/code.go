package interp

import (
	"slices"
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
	options      *Options
	instructions []Instruction
	steps        []string                // the kinds of the nodes it was made of
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
	whole        Whole
}

// Whole does what a call of code from outside does, in a way of its own; run is the usual one. It reports whether it did: the call runs as usual where not.
// It fails where somebody interrupts run.
type Whole func(m *autograd.Mode, args, out []value.Value, run func(args, out []value.Value) error) (done bool, err error)

// SetWhole has calls from outside with tensors on devices ask w first. It is for code that has not run.
func (c *Code) SetWhole(w Whole) { c.whole = w }

// Name returns the name of the function that the code runs.
func (c *Code) Name() string { return c.name }

// NumInputs returns how many arguments Run takes.
func (c *Code) NumInputs() int { return c.numInputs }

// NumOutputs returns how many results Run gives.
func (c *Code) NumOutputs() int { return c.numOutputs }

// Steps returns the kinds of the nodes that the code was made of, in its order, without constants; what a node holds follows it.
func (c *Code) Steps() []string { return slices.Clone(c.steps) }

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
	direct  ops.Operation      // opCallIn: what runs where no layer has to do with operators; nil where the operation may change that
	owned   *ownership         // opCall, opCallIn; nil where there is nothing to do
	gives   bool               // a container whose elements go on with it: opTuple, opList; opTupleUnpack, calls: results that are tuples are taken apart
	lends   bool               // opList: the next operator alone reads the list
	options *Options           // opCallFunction, opCallMethod, opFork: of the callee
	group   *groupSite         // opGroup
	callee  *ir.Function       // opCallFunction
	event   string             // what profiles call it, "" for what is no event
	changes bool               // opCallFunction: other code may run for the callee next time
	code    atomic.Pointer[Code]
	cached  atomic.Pointer[methodCache]
	class   *types.Class // opCreateObject
	list    types.Type   // opList: of the elements; opDict: of the values; opFork: of the result
	key     types.Type   // opDict
	tuple   *types.Tuple // opTuple
	types   []types.Type // opIsInstance
	slot    int          // opGetAttr, opSetAttr
	body    *Code        // opFork
	lazy    bool         // opFork: the body runs when its result is waited for
	at      source.Range // opFork, opLine, opWarn
	routine *machineLoop // opNative
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

// Options say how graphs become code, and where code finds what it shares with other code. Package exec fills them; the zero Options lower a
// graph as it stands, and its calls of functions fail.
type Options struct {
	// Code returns the code of a function that a graph calls.
	Code func(*ir.Function) (*Code, error)
	// Runners makes operations by the kind of node. They come before everything else.
	Runners map[string]Runner
	// Group makes the operation that tries to do the work of a GroupKind node at once; nil where its nodes
	// run one by one.
	Group func(*ir.Node) FastPath
	// Differentiable makes the operation that tries to run a differentiable graph and puts one node on the tape, and returns the graph that runs
	// where that reports false; a nil operation never does. Without Differentiable its Subgraph runs.
	Differentiable func(*ir.Node) (*ir.Graph, FastPath)
	// Native makes loops that compute with numbers alone machine code where the processor allows.
	Native bool
	// Forks makes code fail that writes a tensor, container or object which a forked call can see
	// that has not been waited for. It is meant for debugging: every write takes a lock.
	Forks *Forks
	// Lines makes code that counts the lines it runs for these profiles.
	Lines *LineProfiles
	// Raised keeps the last exception that left code by a raise statement.
	Raised *LastRaised
	// NoCompilerCasts says that an autocast casts in compiled code as elsewhere, not by rules of its own.
	NoCompilerCasts *atomic.Bool
}

// codeOf returns the code of a function that a graph calls.
func (o *Options) codeOf(f *ir.Function) (*Code, error) {
	if o.Code == nil {
		return nil, errorf("nothing makes code of the function %s", f.Name)
	}
	return o.Code(f)
}

// castsAsCompiled reports whether an autocast casts in compiled code by rules of its own.
func (o *Options) castsAsCompiled() bool {
	return o.NoCompilerCasts == nil || !o.NoCompilerCasts.Load()
}
