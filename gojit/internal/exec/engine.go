package exec

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/plan"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Options are what an engine is made with.
type Options struct {
	// Runners makes operations for kinds of nodes that the host runs, such as prim::PythonOp.
	Runners map[string]interp.Runner
	// CheckForks makes code fail that writes what a forked call can see which has not been waited for. Every write takes a lock then.
	CheckForks bool
	// AsDefined has functions run as they are defined: no step changes their graphs. It is what other engines are compared with.
	AsDefined bool
	// Differentiate differentiates a graph, and leaves nothing in the gradient's graph that cannot run. Without it the operators of differentiable
	// graphs are recorded one by one.
	Differentiate func(*ir.Graph) (*Gradient, error)
	// Watch sees the graph of each function that is made ready, as it is at first (the step "") and after each step.
	Watch func(f *ir.Function, step string, g *ir.Graph)
}

// Settings are what programs may change while an engine runs.
type Settings struct {
	// Profiling says that functions note in their first calls what they meet, and run graphs made for that later.
	Profiling bool
	// ProfiledRuns is how many calls note what they meet.
	ProfiledRuns int
	// Inlining leaves single operators outside of differentiable graphs.
	Inlining bool
	// Grouping has functions that have noted what they meet run elementwise operators in groups that are shown, each with a guard, and nothing else as kernels.
	Grouping bool
	// GroupInlining leaves single operators outside of groups, Reductions has in them what combines elements along dimensions.
	GroupInlining, Reductions bool
	// Strategy says for what the graphs of a function are made, one after the other, each when the guards of the one before have failed.
	Strategy []Specializations
	// Fusing says that regions run as kernels.
	Fusing bool
	// CompilerCasts says that an autocast casts in compiled code by rules of its own.
	CompilerCasts bool
}

// Specializations are a number of graphs for the sizes that calls met, or for all sizes.
type Specializations struct {
	Dynamic bool
	Count   int
}

// Engine makes functions ready to run and keeps what it has made. Engines are safe for use by many goroutines at once.
type Engine struct {
	options  Options
	settings atomic.Pointer[Settings]
	fuser    fuse.Fuser
	regions  regionTable
	weights  plan.Weights
	lines    interp.LineProfiles
	raised   interp.LastRaised
	// lastGradient ran after the last call from outside.
	lastGradient atomic.Pointer[weak.Pointer[Function]]
	// special says that calls may run something else than the optimized graph.
	special         atomic.Bool
	noCompilerCasts atomic.Bool

	optimized, defined interp.Options // how the graphs of these ways become code
}

// New returns an engine.
func New(o Options) *Engine {
	e := &Engine{options: o}
	shared := interp.Options{Runners: o.Runners, Raised: &e.raised, NoCompilerCasts: &e.noCompilerCasts}
	if o.CheckForks {
		shared.Forks = interp.NewForks()
	}
	e.optimized, e.defined = shared, shared
	e.optimized.Code, e.optimized.Group, e.optimized.Native = e.calleeOf(optimized), e.attempt, true
	e.defined.Code = e.calleeOf(defined)
	if !o.AsDefined {
		e.defined.Lines = &e.lines
	}
	e.settings.Store(&Settings{ProfiledRuns: 1, Inlining: true, GroupInlining: true, Fusing: true, CompilerCasts: true,
		Strategy: []Specializations{{Count: 2}, {Dynamic: true, Count: 10}}})
	return e
}

// attempt makes the operation of a region: the plan of one of images, or the kernel of one of elementwise nodes.
func (e *Engine) attempt(n *ir.Node) interp.FastPath {
	if !plan.IsRegion(n) {
		return e.fuser.FastPath(n)
	}
	r := plan.NewRegion(n, &e.weights, func(why string) { e.fuser.Tell(n, why) })
	if r == nil {
		return nil
	}
	e.regions.add(n, r)
	return func(m *autograd.Mode, args, out []value.Value) bool {
		return e.settings.Load().Fusing && r.Run(m, args, out)
	}
}

// regionTable finds what runs the region of a node. It keeps neither.
type regionTable struct{ by sync.Map } // weak.Pointer[plan.Region] by weak.Pointer[ir.Node]

func (t *regionTable) add(n *ir.Node, r *plan.Region) {
	key := weak.Make(n)
	t.by.Store(key, weak.Make(r))
	runtime.AddCleanup(n, func(key weak.Pointer[ir.Node]) { t.by.Delete(key) }, key)
}

// regionOf returns what runs the region of a node, nil where there is no such.
func (e *Engine) regionOf(n *ir.Node) *plan.Region {
	if found, ok := e.regions.by.Load(weak.Make(n)); ok {
		return found.(weak.Pointer[plan.Region]).Value()
	}
	return nil
}

// calleeOf returns what finds the code of functions that are called by code of a way.
func (e *Engine) calleeOf(w way) func(*ir.Function) (*interp.Code, error) {
	return func(f *ir.Function) (*interp.Code, error) {
		made := e.Function(f)
		if made.left >= 0 { // where guards fail
			return e.Code(f, nil)
		}
		p, err := made.plan(w, nil)
		if err != nil {
			return nil, err
		}
		return p.Code, nil
	}
}

// usual is the way of calls that nothing special is asked of.
func (e *Engine) usual() way {
	if e.options.AsDefined {
		return defined
	}
	return optimized
}

// with returns how graphs become code that have nodes of a further kind.
func (e *Engine) with(kind string, make interp.Runner) *interp.Options {
	o := e.optimized
	o.Runners = map[string]interp.Runner{kind: make}
	maps.Copy(o.Runners, e.options.Runners)
	return &o
}

// Settings returns what is set.
func (e *Engine) Settings() Settings { return *e.settings.Load() }

// Change sets what programs may change. Functions that have a graph for what they met keep it.
func (e *Engine) Change(change func(*Settings)) {
	s := e.Settings()
	change(&s)
	e.settings.Store(&s)
	e.fuser.SetEnabled(s.Fusing)
	e.noCompilerCasts.Store(!s.CompilerCasts)
	e.noteSpecial()
}

func (e *Engine) noteSpecial() { e.special.Store(e.Settings().Profiling || e.lines.Count()) }

// CountLines has a profile count the lines that calls run from now on, or no more. While any does, functions run as they are defined.
func (e *Engine) CountLines(p *interp.LineProfile, on bool) {
	e.lines.Enable(p, on)
	e.noteSpecial()
}

// CountsLines reports whether a profile counts.
func (e *Engine) CountsLines(p *interp.LineProfile) bool { return e.lines.Enabled(p) }

// LastRaised returns the last exception that left a program by a raise statement; the zero Raised where none has.
func (e *Engine) LastRaised() interp.Raised { return e.raised.Get() }
