package autograd

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// plan is how an operator is recorded.
type plan struct {
	notDifferentiable bool // it is not recorded
	writes            bool // its first argument
	shapeOnly         bool // only its first argument has a gradient
	savesOperand      bool // the gradient of one argument needs another
	ignoresSelf       bool // the derivative does without the elements of the first argument
	selfIgnoresSelf   bool // so does that of the first argument, but not that of the second
	hasOut            bool
	makes             bool // it takes no tensor but those that it writes its results to
	views             bool // a result is a view of an argument, as its schema says
	// withoutGrad are the positions of results without gradients, and ofIntegers says that none has one.
	withoutGrad []int
	ofIntegers  bool
	backward    derivative
	reads       ops.Slots // by backward
	decompose   ops.Decomposition
	// whole says that the operator is recorded as one node though it has only a decomposition, through which its derivative goes.
	whole      bool
	functional string // the name without its namespace of the overload that computes the same without writing
	// conjugates says that complex gradients are conjugated before and after backward.
	conjugates bool
	node       string                          // what its nodes are called
	wrapped    string                          // the same, where a number has become a tensor
	nodeOf     func(args []value.Value) string // the same, where that depends on the arguments
}

var plans sync.Map // of *plan by *ops.Operator

// needsNoCopy reports whether a node that writes its first argument needs no copy of it.
func (p *plan) needsNoCopy(args []value.Value) bool {
	return p.backward != nil && !args[0].Tensor().Dispatches() && (p.ignoresSelf || p.selfIgnoresSelf && !anyRequiresGrad(args[1:]))
}

func planOf(op *ops.Operator) *plan {
	if p, ok := plans.Load(op); ok {
		return p.(*plan)
	}
	s := op.Schema()
	d := op.Def()
	p := &plan{shapeOnly: d.Has(ops.ShapeOnly)}
	takes, gives := false, false
	p.makes = true
	for i := range s.Arguments {
		a := &s.Arguments[i]
		takes = takes || mentionsTensor(a.Type)
		p.makes = p.makes && (a.IsOut() || !mentionsTensor(a.Type))
		p.hasOut = p.hasOut || a.IsOut()
		p.writes = p.writes || i == 0 && !a.KwargOnly && a.Alias != nil && a.Alias.IsWrite
	}
	for i := range s.Returns {
		gives = gives || mentionsTensor(s.Returns[i].Type)
		p.views = p.views || s.Returns[i].Alias != nil
	}
	p.notDifferentiable = !takes || !gives || op.Has(ops.NotDifferentiable)
	if d.Grad != nil {
		p.backward, p.reads = func(c *gradient) { d.Grad(ops.Gradient{Engine: c}) }, d.Reads
	}
	p.functional = functionalName(op)
	if p.backward == nil {
		callsItself := false
		if p.decompose = d.Decomp; p.decompose == nil {
			if given, ok := decompositions[p.functional]; ok {
				p.decompose, callsItself = given.as, given.calls()
			}
		}
		p.whole = p.decompose != nil && !callsItself && runsWhole(ops.Find("aten::"+p.functional))
	}
	p.savesOperand = d.Has(ops.SavesOperand)
	p.withoutGrad, p.ofIntegers = d.WithoutGrad, strings.HasPrefix(op.Name, "quantized::")
	p.ignoresSelf, p.selfIgnoresSelf = d.Has(ops.IgnoresSelf), d.Has(ops.SelfIgnoresSelf)
	p.conjugates = !d.Has(ops.AsWritten)
	if as := p.decompose; as != nil && op.Check != nil {
		p.decompose = func(e Emitter, args []value.Value) []value.Value {
			succeed(op.Check(args))
			return as(e, args)
		}
	}
	if p.whole {
		p.conjugates, p.reads = false, ops.ReadsNothing
		for i := range s.Arguments {
			p.reads = p.reads.And(i)
		}
	}
	p.nameNodes(op)
	plans.Store(op, p)
	return p
}

func mentionsTensor(t types.Type) bool {
	return t.Kind() == types.KindTensor || slices.ContainsFunc(types.Contained(t), mentionsTensor)
}

// functionalName returns the name without its namespace of the overload that computes the same without writing.
func functionalName(op *ops.Operator) string {
	if op.Record != nil {
		return op.Record.Name
	}
	s := op.Schema()
	name := strings.TrimPrefix(s.Name, "aten::")
	if a := s.Arguments; len(a) > 0 && a[0].Alias != nil && a[0].Alias.IsWrite {
		name = strings.TrimSuffix(name, "_")
	}
	if s.Overload != "" {
		name += "." + s.Overload
	}
	return name
}

// Modal reports whether the mode matters to an operator: the others need not go through OperationOf.
func Modal(op *ops.Operator) bool {
	return readsMode[op.Name] != nil || !planOf(op).notDifferentiable || slices.ContainsFunc(op.Schema().Returns, func(r schema.Argument) bool { return mentionsTensor(r.Type) })
}

// Kind tells how the gradient of an operator is found: "d" by a derivative of its own, "c" from what it is
// made of, "" not at all.
func Kind(op *ops.Operator) string {
	switch p := planOf(op); {
	case p.notDifferentiable:
		return ""
	case p.backward != nil:
		return "d"
	case p.decompose != nil:
		return "c"
	}
	return ""
}
