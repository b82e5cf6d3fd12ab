// Package passes holds the transformations of graphs, one per file.
//
// A pass is a function of a graph that keeps its meaning and its invariants (ir.Verify); some
// report whether they changed anything. All lists them by name for the command line, for logs and
// for tests.
package passes

import "github.com/torchjit/torchjit/gojit/internal/ir"

// Pass is a transformation with the name by which it is asked for.
type Pass struct {
	Name string
	Run  func(*ir.Graph) bool
}

// All lists the passes.
var All = []Pass{
	{"autocast", func(g *ir.Graph) bool { changed, err := Autocast(g); return changed && err == nil }},
	{"batch-mm", BatchMM},
	{"canonicalize-outputs", changes(CanonicalizeOutputs)},
	{"constant-loop-unrolling", UnrollConstantLoops},
	{"constant-pooling", changes(ConstantPooling)},
	{"constant-propagation", ConstantPropagation},
	{"constant-propagation-immutable", ConstantPropagationImmutableTypes},
	{"create-differentiable-graphs", func(g *ir.Graph) bool { return len(CreateDifferentiableGraphs(g, 2)) > 0 }},
	{"create-functional-graphs", CreateFunctionalGraphs},
	{"conv1d-to-conv2d", Conv1dToConv2d},
	{"cse", CSE},
	{"dce", DCE},
	{"dce-without-effects", DCEWithoutEffects},
	{"decompose-ops", DecomposeOps},
	{"erase-number-types", changes(EraseNumberTypes)},
	{"erase-shape-information", changes(EraseShapeInformation)},
	{"fold-frozen-conv-add-or-sub", FoldFrozenConvAddOrSub},
	{"fold-frozen-conv-bn", FoldFrozenConvBatchNorm},
	{"fold-frozen-conv-mul-or-div", FoldFrozenConvMulOrDiv},
	{"functional-to-inplace-activation", FunctionalToInplaceActivation},
	{"fuse-add-relu", FuseAddRelu},
	{"fuse-addmm", FuseAddmm},
	{"fuse-clamp-with-prepacked", FuseClampWithPrepacked},
	{"fuse-linear", FuseLinear},
	{"fuse-tensorexprs", FuseTensorExprs},
	{"inline", changes(Inline)},
	{"inline-fork-wait", InlineForkWait},
	{"inline-functional-graphs", InlineFunctionalGraphs},
	{"inplace-to-functional-activation", InplaceToFunctionalActivation},
	{"insert-prepacked-ops", InsertPrepackedOps},
	{"lift-forks", changes(LiftForks)},
	{"loop-unrolling", UnrollLoops},
	{"lower-all-tuples", changes(LowerAllTuples)},
	{"lower-simple-tuples", changes(LowerSimpleTuples)},
	{"normalize-ops", changes(NormalizeOps)},
	{"peephole", Peephole},
	{"peephole-list-idioms", PeepholeListIdioms},
	{"refine-list-lengths", RefineListLengths},
	{"propagate-devices", PropagateDevices},
	{"propagate-dtypes", PropagateDTypes},
	{"propagate-shapes", PropagateShapes},
	{"read-operands", ReadOperands},
	{"refine-integers", RefineIntegers},
	{"refine-tuple-types", RefineTupleTypes},
	{"remove-dropout", RemoveDropout},
	{"remove-expands", RemoveExpands},
	{"remove-inplace-ops", RemoveInplaceOps},
	{"remove-mutation", RemoveMutation},
	{"replicate-dequantize", ReplicateDequantize},
	{"select-branches", SelectBranches},
	{"swap-functional-linear", SwapFunctionalLinear},
	{"transpose-frozen-linear", TransposeFrozenLinear},
}

// Find returns the named pass, or nil.
func Find(name string) *Pass {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

// changes makes a pass of one that does not tell whether it changed anything.
func changes(run func(*ir.Graph)) func(*ir.Graph) bool {
	return func(g *ir.Graph) bool {
		before := g.Text(false)
		run(g)
		return g.Text(false) != before
	}
}
