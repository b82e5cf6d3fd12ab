package parity

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/freeze"
	"github.com/torchjit/torchjit/gojit/internal/passes/tensorexpr"
)

// Pass is a transformation with the name by which it is asked for.
type Pass struct {
	Name string
	Run  func(*ir.Graph) bool
}

// All lists the passes.
var All = []Pass{
	{"autocast", func(g *ir.Graph) bool { changed, err := Autocast(g); return changed && err == nil }},
	{"batch-mm", BatchMM},
	{"canonicalize-outputs", changes(passes.CanonicalizeOutputs)},
	{"constant-loop-unrolling", passes.UnrollConstantLoops},
	{"constant-pooling", changes(passes.ConstantPooling)},
	{"constant-propagation", passes.ConstantPropagation},
	{"constant-propagation-immutable", passes.ConstantPropagationImmutableTypes},
	{"create-differentiable-graphs", func(g *ir.Graph) bool { return passes.GroupDifferentiable(g, 2) }},
	{"create-functional-graphs", CreateFunctionalGraphs},
	{"conv1d-to-conv2d", freeze.Conv1dToConv2d},
	{"cse", passes.CSE},
	{"dce", passes.DCE},
	{"dce-without-effects", passes.DCEWithoutEffects},
	{"decompose-ops", DecomposeOps},
	{"erase-number-types", changes(EraseNumberTypes)},
	{"erase-shape-information", changes(passes.EraseShapeInformation)},
	{"fold-frozen-conv-add-or-sub", freeze.FoldFrozenConvAddOrSub},
	{"fold-frozen-conv-bn", freeze.FoldFrozenConvBatchNorm},
	{"fold-frozen-conv-mul-or-div", freeze.FoldFrozenConvMulOrDiv},
	{"functional-to-inplace-activation", FunctionalToInplaceActivation},
	{"fuse-add-relu", freeze.FuseAddRelu},
	{"fuse-addmm", FuseAddmm},
	{"fuse-clamp-with-prepacked", freeze.FuseClampWithPrepacked},
	{"fuse-linear", freeze.FuseLinear},
	{"fuse-tensorexprs", tensorexpr.FuseTensorExprs},
	{"inline", changes(passes.Inline)},
	{"inline-fork-wait", passes.InlineForkWait},
	{"inline-functional-graphs", InlineFunctionalGraphs},
	{"inplace-to-functional-activation", InplaceToFunctionalActivation},
	{"insert-prepacked-ops", freeze.InsertPrepackedOps},
	{"lift-forks", changes(passes.LiftForks)},
	{"loop-unrolling", passes.UnrollLoops},
	{"lower-all-tuples", changes(LowerAllTuples)},
	{"lower-simple-tuples", changes(passes.LowerSimpleTuples)},
	{"normalize-ops", changes(passes.NormalizeOps)},
	{"peephole", passes.Peephole},
	{"peephole-list-idioms", passes.PeepholeListIdioms},
	{"refine-list-lengths", RefineListLengths},
	{"propagate-devices", PropagateDevices},
	{"propagate-dtypes", PropagateDTypes},
	{"propagate-shapes", PropagateShapes},
	{"read-operands", passes.ReadOperands},
	{"refine-integers", RefineIntegers},
	{"refine-tuple-types", freeze.RefineTupleTypes},
	{"remove-dropout", freeze.RemoveDropout},
	{"remove-expands", passes.RemoveExpands},
	{"remove-inplace-ops", passes.RemoveInplaceOps},
	{"remove-mutation", passes.RemoveMutation},
	{"replicate-dequantize", freeze.ReplicateDequantize},
	{"select-branches", passes.SelectBranches},
	{"swap-functional-linear", freeze.SwapFunctionalLinear},
	{"transpose-frozen-linear", freeze.TransposeFrozenLinear},
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
