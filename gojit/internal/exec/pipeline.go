package exec

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/passlog"
	"github.com/torchjit/torchjit/gojit/internal/plan"
	"github.com/torchjit/torchjit/gojit/internal/replay"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Step is one thing that happens to a graph on its way to code.
type Step struct {
	Name string
	// Does says what the step does, and Place why it stands where it stands.
	Does, Place string

	ways way // in which it happens
	run  func(*job) error
}

// job is a graph on its way.
type job struct {
	engine    *Engine
	way       way
	function  *ir.Function
	args      []value.Value // of the call that the plan is made for, none where they are not known
	graph     *ir.Graph
	optimized *ir.Graph // the graph as it was before regions

	notes    *notes   // that calls fill
	settings Settings // for which the graph is specialized
	depth    int      // how many more graphs may be made where its guards fail
	code     *interp.Code

	ofGradients bool // the function's graph is that of a gradient
	gradients   map[*ir.Node]*differentiableGraph
}

// firstOfCode is the name of the first step that serves the code: what stands before it is shown as the optimized graph.
const firstOfCode = "likely"

// Pipeline is what happens to the graph of a function, in order, from its definition to its code. A function that runs as it is defined meets only
// "float32" and "lower"; one that is specialized starts from the optimized graph with its notes.
//
// The steps up to "sweep" are those of PyTorch's executor in its order, as the graphs that it shows are compared with ours.
var Pipeline = []Step{
	{"inline", "calls become the bodies of what they call", "all other steps look at one graph",
		optimized | profiled, graphStep(passes.Inline)},
	{"float32", "nodes note where the static types of what they read exclude float32, which an autocast asks for", "types are erased next",
		optimized | profiled | defined | needed, graphStep(noteFloat32)},
	{"numbers", "constant tensors that stand for numbers beside tensors become numbers", "a tensor that folding makes has a type of its own",
		optimized | profiled | needed, changing(fuse.ConstantsToNumbers)},
	{"erase", "tensor types say nothing of elements and sizes", "types of traces are those of one call; no later step may count on them",
		optimized | profiled | needed, graphStep(passes.EraseShapeInformation)},
	{"constants", "nodes of constant numbers and strings run, branches that are known go", "what callees were given is known behind inlining",
		optimized | profiled, changing(passes.ConstantPropagationImmutableTypes)},
	{"decompose", "addmm and norms that PyTorch takes apart become what they are made of", "constants tell which are",
		optimized | profiled, changing(passes.DecomposeOps)},
	{"unused", "nodes that nothing reads go", "decomposing leaves arguments behind",
		optimized | profiled, changing(passes.DCE)},
	{"equal", "of equal nodes one stays", "fewer nodes to compare behind \"unused\"",
		optimized | profiled, changing(passes.CSE)},
	{"pool", "of equal constants one stays, at the start", "the steps behind compare inputs by identity",
		optimized | profiled, graphStep(passes.ConstantPooling)},
	{"peephole", "nodes whose outcome their inputs tell become that", "constants are pooled",
		optimized | profiled, changing(passes.Peephole)},
	{"tuples", "tuples that are only taken apart go", "inlining leaves those of results",
		optimized | profiled, graphStep(passes.LowerSimpleTuples)},
	{"ranks", "what is asked of the number of dimensions of what convolutions give is answered", "the bounds of loops over sizes follow",
		optimized | profiled, changing(plan.FoldRanks)},
	{"unroll", "small loops become their rounds", "bounds are constants by now",
		optimized, graphStep(unroll)},
	{"repeat", "small loops of a known number of rounds become these", "other loops stay while their tensors are noted, and are unrolled behind that",
		profiled, graphStep(unrollConstant)},
	{"fold", "peephole, constants (of tensors and containers too, where no mode decides them) and equal, until nothing changes", "unrolled rounds have constant numbers",
		optimized | profiled, (*job).fold},
	{"select", "branches without nodes become prim::IfThenElse", "folding empties branches",
		optimized | profiled, changing(passes.SelectBranches)},
	{"sweep", "nodes that nothing reads go", "the graph is shown from here on",
		optimized | profiled, changing(passes.DCE)},

	{"parts", "chunks with known arguments whose parts are used alone become one node each", "it has no list, so that what is around it is one group or graph",
		profiled, changing(passes.ConstantChunks)},
	{"notes", "a prim::profile before the uses of tensors notes what these are", "it notes the tensors of the graph that is specialized later",
		profiled | needed, (*job).addNotes},
	{"specialize", "the notes go; what is differentiable, and met a gradient, becomes guarded differentiable graphs, what is elementwise guarded groups where they are asked for", "regions are found inside of those",
		specialized | needed, (*job).specialize},

	{"likely", "a graph of convolutions and products gets a second body for calls like this one, of modules that are not in training, without the branches that hang on bools, missing arguments, numbers of dimensions and types of elements", "constants are folded; only code gains by it, and the general body is what is shown",
		optimized, func(j *job) error { plan.SplitLikely(j.graph, j.args); return nil }},
	{"layers", "a layer of a transformer that is one operator becomes those that it consists of", "the masks that it has not are known to be None; only code gains by it",
		optimized | specialized, changing(plan.DecomposeLayers)},
	{"cells", "the operators that traces have of a step of an LSTM get a branch in which they are one operator, for calls that record gradients", "nothing but code gains by it, and the operators of the other branch are planned next",
		optimized, changing(plan.RestoreCells)},
	{"branches", "tuples that branches give and that are only taken apart go", "nodes own the tensors that they read one by one; only code gains by it",
		optimized | specialized, changing(passes.SplitBranchTuples)},
	{"operands", "what reads the result of an operator in place reads its operand", "one value has the tensor then, and memory goes back behind its last use; only code gains by it",
		optimized | specialized, changing(passes.ReadOperands)},
	{"plans", "operators that follow each other, a convolution or a product among them, join into one node each, which runs by a plan", "what is done to the elements of such a result belongs to it, not to a kernel of its own",
		optimized | specialized, (*job).plannedRegions},
	{"regions", "elementwise nodes that follow each other join into one node each, which runs as a kernel", "no step behind moves nodes",
		optimized | specialized, (*job).regions},
	{"lower", "nodes become instructions over registers", "nothing changes the graph of code that runs",
		everyWay | needed, nil},
}

// Ordering says that a step must stand before another one.
type Ordering struct{ First, Then, Because string }

// Orderings are the orders that results, or the shown graphs, depend on. Other orders are PyTorch's habit.
var Orderings = []Ordering{
	{"inline", "float32", "the types of what was inlined are noted too"},
	{"float32", "erase", "it reads the types that erase takes away"},
	{"erase", "constants", "constants, peephole and decompose fold what types say; those of a trace are only those of one call"},
	{"erase", "peephole", "as constants"},
	{"inline", "unroll", "a loop is small or not with the bodies of its calls"},
	{"unroll", "fold", "the numbers of unrolled rounds are folded"},
	{"fold", "select", "a branch is empty only when what it computed is folded"},
	{"numbers", "fold", "a constant tensor that was converted decides the type, one that was written as a number does not"},
	{"numbers", "regions", "a constant tensor would take one of the tensors of a kernel, and decide its type"},
	{"sweep", "notes", "nothing is noted that nobody reads"},
	{"notes", "specialize", "it reads the notes"},
	{"specialize", "regions", "regions stay inside of differentiable graphs, and a guard is no part of a region"},
	{"likely", "plans", "a branch ends a region"},
	{"likely", "layers", "a layer whose mask may be there stays one operator"},
	{"cells", "plans", "plans take apart the operators of a step"},
	{"layers", "plans", "plans take apart what layers consist of"},
	{"ranks", "repeat", "as unroll"},
	{"ranks", "unroll", "a loop whose bound is known becomes its rounds alone"},
	{"operands", "plans", "as regions"},
	{"plans", "regions", "a kernel is no part of a plan"},
	{"operands", "regions", "whether a write stands between two nodes is told by who reads the operand"},
	{"regions", "lower", "a region is one instruction"},
}

// build takes a job through its steps.
func (e *Engine) build(j *job) (*Plan, error) {
	j.engine = e
	e.watch(j, "")
	for i := range Pipeline {
		s := &Pipeline[i]
		if s.Name == firstOfCode {
			j.optimized = j.graph
			if j.way&(optimized|specialized) != 0 {
				j.optimized = j.graph.Twin()
			}
		}
		if j.way&s.ways == 0 {
			continue
		}
		if s.ways&needed == 0 && !passlog.Allowed(s.Name) {
			continue
		}
		run := s.run
		if run == nil {
			run = e.lower
		}
		if err := passlog.Run(s.Name, j.graph, func() error { return run(j) }); err != nil {
			return nil, err
		}
		e.watch(j, s.Name)
	}
	p := &Plan{Code: j.code, Graph: j.graph, Optimized: j.optimized, notes: j.notes, gradients: j.gradients, Facts: factsOf(j.function.Graph(), j.graph)}
	if j.way == optimized && !p.Light {
		if p.replays = replay.New(j.function.ShortName(), j.graph); p.replays != nil {
			j.code.SetWhole(p.replays.Run)
		}
	}
	return p, nil
}

func (e *Engine) watch(j *job, step string) {
	if e.options.Watch != nil {
		e.options.Watch(j.function, step, j.graph)
	}
}

// lower is the last step. It depends on the engine: on its runners, and on what its code shares.
func (e *Engine) lower(j *job) (err error) {
	o := &e.optimized
	switch j.way {
	case defined:
		o = &e.defined
	case profiled:
		o = e.with(profileKind, j.notes.runner)
	case specialized:
		own := e.optimized
		own.Differentiable = j.attempt
		o = &own
	}
	if j.function.IgnoresAutocast.Load() {
		other := *o
		other.NoCompilerCasts = &j.function.IgnoresAutocast
		o = &other
	}
	j.code, err = interp.Lower(j.function.ShortName(), j.graph, o)
	return err
}

func graphStep(run func(*ir.Graph)) func(*job) error {
	return func(j *job) error { run(j.graph); return nil }
}

func changing(run func(*ir.Graph) bool) func(*job) error {
	return func(j *job) error { run(j.graph); return nil }
}

func noteFloat32(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		n.ReadsNoFloat32 = !slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return autograd.MayBeFloat32(v.Type()) })
	})
}

func unroll(g *ir.Graph) {
	if passes.UnrollShortLoops(g, false) {
		passes.RemoveListMutation(g)
	}
}

func unrollConstant(g *ir.Graph) {
	if passes.UnrollShortLoops(g, true) {
		passes.RemoveListMutation(g)
	}
}

// fold folds. What is noted, and shown, has the constants that folding made at its start, as those of the program.
func (j *job) fold() error {
	fold(j.graph)
	if j.way == profiled {
		passes.ConstantPooling(j.graph)
	}
	return nil
}

func fold(g *ir.Graph) {
	for changed := true; changed; {
		changed = passes.Peephole(g)
		changed = passes.ConstantPropagationInAnyMode(g) || changed
		changed = passes.CSE(g) || changed
	}
}

func (j *job) plannedRegions() error {
	if !j.isGrouped() {
		plan.Regions(j.graph)
	}
	return nil
}

// isGrouped reports whether all that runs as kernels stands in groups that are shown.
func (j *job) isGrouped() bool { return j.way == specialized && j.settings.Grouping }

// regions finds the regions of a graph, and of its differentiable graphs; those of groups that are shown in these alone.
func (j *job) regions() error {
	if j.isGrouped() {
		fuseGroups(j.graph)
		return nil
	}
	fuse.Fuse(j.graph)
	j.graph.Block().Walk(func(n *ir.Node) {
		if n.Kind() == passes.DifferentiableKind && j.gradients[n] == nil {
			fuse.Fuse(n.GraphAttr("Subgraph"))
		}
	})
	return nil
}

// fuseGroups finds the regions of the groups of a graph and of what it holds.
func fuseGroups(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		switch body := n.GraphAttr("Subgraph"); {
		case body == nil:
		case n.Kind() == interp.GroupKind:
			fuse.Fuse(body)
		default:
			fuseGroups(body)
		}
	})
}
