// Package executor runs functions in the way of PyTorch's profiling executor: the first calls note the tensors that
// they meet, the later ones run a graph made for these, with a guard that leads back to the general form.
//
// Nothing needs it to be fast: without it functions run on interp.Machine from the first call on. It is there, and is
// switched on, for programs that look at such graphs.
package executor

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
)

// Settings are what programs may change.
type Settings struct {
	// Enabled says that functions run by way of executors.
	Enabled bool
	// ProfiledRuns is how many calls note what they meet.
	ProfiledRuns int
	// Inlining leaves single operators outside of differentiable graphs.
	Inlining bool
}

var settings atomic.Pointer[Settings]

func init() { settings.Store(&Settings{ProfiledRuns: 1, Inlining: true}) }

// Current returns the settings.
func Current() Settings { return *settings.Load() }

// Change sets them. Functions that have their final graph keep it.
func Change(s Settings) { settings.Store(&s) }

// Executor is the state of one function.
type Executor struct {
	mu       sync.Mutex
	function *ir.Function
	runs     int
	profile  *profile
	code     *interp.Code // the final one
	graph    *ir.Graph    // what the last call ran
}

// sideTable is under what functions keep their executors.
var sideTable = new(int)

// Of returns the executor of a function that is defined.
func Of(f *ir.Function) *Executor {
	e, _ := f.Compiled.LoadOrStore(sideTable, &Executor{function: f})
	return e.(*Executor)
}

// Next returns the code for the next call, for what base runs besides. It fails where the function's graph cannot be run.
func (e *Executor) Next(base *interp.Machine) (*interp.Code, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.code != nil {
		return e.code, nil
	}
	s := Current()
	if e.profile == nil {
		p, err := newProfile(e.function, base)
		if err != nil {
			return nil, err
		}
		e.profile, e.graph = p, p.graph
	}
	if e.runs < s.ProfiledRuns {
		e.runs++
		return e.profile.code, nil
	}
	g := e.profile.specialize(s.Inlining)
	code, err := lower(e.function.ShortName(), g, base)
	if err != nil {
		return nil, err
	}
	e.code, e.graph, e.profile = code, g, nil
	return code, nil
}

// Graph returns what the last call ran, nil before the first.
func (e *Executor) Graph() *ir.Graph {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.graph
}

// machines are those that run graphs with notes, and graphs with guards, by the ones that they are made after.
var machines sync.Map

type pair struct{ profiling, specialized *interp.Machine }

func machinesFor(base *interp.Machine) pair {
	if found, ok := machines.Load(base); ok {
		return found.(pair)
	}
	with := func(kind string, make interp.Runner) *interp.Machine {
		runners := map[string]interp.Runner{kind: make}
		maps.Copy(runners, base.Runners)
		return &interp.Machine{Graph: base.Graph, Group: base.Group, Native: base.Native, CheckForks: base.CheckForks, Runners: runners, Profiled: true}
	}
	found, _ := machines.LoadOrStore(base, pair{with(profileKind, runNote), with(guardKind, runGuard)})
	return found.(pair)
}

// lower makes a specialized graph ready to run, fused outside and inside of its differentiable graphs.
func lower(name string, g *ir.Graph, base *interp.Machine) (*interp.Code, error) {
	c := g.Copy()
	fuse.ConstantsToNumbers(c)
	fuse.Fuse(c)
	c.Block().Walk(func(n *ir.Node) {
		if n.Kind() == passes.DifferentiableKind {
			fuse.Fuse(n.GraphAttr("Subgraph"))
		}
	})
	return machinesFor(base).specialized.Lower(name, c)
}
