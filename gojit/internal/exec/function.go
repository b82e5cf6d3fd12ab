package exec

import (
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/replay"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// way is how a function runs. A function has a plan for each way that it was called in.
type way uint8

const (
	optimized   way = 1 << iota // the optimized graph, from the first call on
	defined                     // the graph as it is defined: lines are counted, or the engine's options say so
	profiled                    // the optimized graph with notes of the tensors that it meets
	specialized                 // the optimized graph for what the notes say

	everyWay = optimized | defined | profiled | specialized

	needed way = 1 << 7 // of a step: code without it would be wrong, so that no limit leaves it out
)

// Plan is a function made ready to run in one way.
type Plan struct {
	Code *interp.Code
	// Graph is the graph that the code was made of, and Optimized the same graph before its nodes were put into regions.
	Graph, Optimized *ir.Graph
	notes            *notes // that its code fills, or nil
	gradients        map[*ir.Node]*differentiableGraph
	replays          *replay.Function // of calls on devices; nil where there are none
	Facts
}

// Function is what an engine has made of a function.
type Function struct {
	engine             *Engine
	function           *ir.Function
	optimized, defined atomic.Pointer[Plan]
	last               atomic.Pointer[Plan] // of the last call

	// ofGradients says that the function computes gradients of those that it is given, of which some may be missing.
	ofGradients bool
	left        int // of a fallback: how many graphs may be made of it; -1 for other functions
	mu          sync.Mutex
	profiles    profiles
}

// Function returns what the engine has made of a function, nothing at first.
func (e *Engine) Function(f *ir.Function) *Function {
	if made, ok := f.Compiled.Load(e); ok {
		return made.(*Function)
	}
	made, _ := f.Compiled.LoadOrStore(e, &Function{engine: e, function: f, left: -1})
	return made.(*Function)
}

// Code returns the code for the next call of a function, with some arguments: see Next.
func (e *Engine) Code(f *ir.Function, args []value.Value) (*interp.Code, error) {
	p, err := e.Function(f).Next(false, args)
	if err != nil {
		return nil, err
	}
	return p.Code, nil
}

// Next returns what the next call of the function from outside runs; traced says that the call is recorded. Where that is made now it may have a body for
// calls like the one with some arguments, nil where they are not known.
func (f *Function) Next(traced bool, args []value.Value) (*Plan, error) {
	p := f.optimized.Load()
	if p == nil || f.engine.special.Load() {
		var err error
		if p, err = f.choose(traced, args); err != nil {
			return nil, err
		}
	}
	if f.last.Load() != p {
		f.last.Store(p)
	}
	return p, nil
}

// choose decides what the next call runs.
func (f *Function) choose(traced bool, args []value.Value) (*Plan, error) {
	s := f.engine.Settings()
	switch {
	case f.engine.lines.Count():
		return f.plan(defined, nil)
	case s.Profiling && !traced && !f.engine.options.AsDefined:
		return f.nextProfiled(s, args)
	}
	return f.plan(f.engine.usual(), args)
}

// plan returns the plan of the ways that need nothing but the function's graph, made on first use. Several goroutines may make it at once: no
// lock is held, as the functions that it calls may have to be defined.
func (f *Function) plan(w way, args []value.Value) (*Plan, error) {
	at := &f.optimized
	if w == defined {
		at = &f.defined
	}
	if p := at.Load(); p != nil {
		return p, nil
	}
	p, err := f.fresh(w, args)
	if err != nil {
		return nil, err
	}
	if !at.CompareAndSwap(nil, p) {
		p = at.Load()
	}
	return p, nil
}

// fresh is plan, made anew and not kept.
func (f *Function) fresh(w way, args []value.Value) (*Plan, error) {
	g, err := f.definition()
	if err != nil {
		return nil, err
	}
	if w == optimized && usesProfile(g) {
		w = defined
	}
	return f.engine.build(&job{way: w, function: f.function, args: args, graph: g.Copy()})
}

// profileClass is the class of programs whose methods have lines counted, or no more.
const profileClass = "__torch__.torch.jit._script._ScriptProfile"

// usesProfile reports whether a graph has a profile of lines: what stands behind its methods must count.
func usesProfile(g *ir.Graph) (found bool) {
	g.Block().Walk(func(n *ir.Node) {
		for _, v := range n.Inputs() {
			class, ok := v.Type().(*types.Class)
			found = found || ok && class.Name == profileClass
		}
	})
	return found
}

// definition returns the function's own graph. It fails where that cannot be made, or was changed by somebody and is not well formed.
func (f *Function) definition() (*ir.Graph, error) {
	if err := f.function.CheckExposed(); err != nil {
		return nil, err
	}
	if err := f.function.EnsureDefined(); err != nil {
		return nil, err
	}
	g := f.function.Graph()
	if g == nil {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "The function %s has no body", f.function.Name)
	}
	return g, nil
}

// Check fails where the function has no graph that could run.
func (f *Function) Check() error {
	_, err := f.definition()
	return err
}

// Forget drops all plans: the next call makes them of the graph as it is then.
func (f *Function) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.optimized.Store(nil)
	f.defined.Store(nil)
	f.profiles = profiles{}
}
