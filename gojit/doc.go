// Package gojit compiles and runs TorchScript programs: it loads the archives that torch.jit.save
// writes and compiles functions from source text, with neither Python nor libtorch.
//
// A program becomes a graph (internal/frontend), a graph becomes code (internal/exec), code calls operators:
//
//	source text   internal/syntax/{lexer,parser}.go ----\
//	Python        torchjit/frontend.py, gojit/bind ------+- Tree -> internal/frontend/compile.go -> ir.Graph
//	.pt archive   internal/archive/load.go -- its source-/                                            |
//	traces        internal/trace/trace.go ---------------------------------------------- ir.Graph ----+
//	                                                                                                  |
//	internal/exec/function.go    which plan a call runs <---------------------------------------------+
//	internal/exec/pipeline.go    the steps of a plan, in order, each with the reason of its place:
//	    clean        inline calls, note float32, numbers, erase, constants, decompose, unused, equal, pool, peephole,
//	                 tuples, unroll, fold, select, sweep        (internal/passes, one file each)
//	    specialize   notes (exec/profile.go), guards and differentiable graphs (exec/guard.go); only where profiles are on
//	    regions      operands, regions                          (internal/fuse/region.go)
//	    lower        instructions over registers                (internal/interp/lower.go)
//	                                         |
//	internal/interp/run.go       runs the instructions
//	    a region  -> internal/fuse/run.go -> kernels (internal/fuse/plan.go, internal/kernel)
//	    an operator -> internal/autograd/layers.go: autocast, profile, expand, forward, inference, tape, dispatch
//	                -> internal/ops/aten, internal/ops/prim -> internal/kernel/launch, internal/linalg -> tensor
//
// Load and LoadBytes give a Module, Compile a Program; their functions are called with Go values. They use an engine of
// the package's own; New makes others, which share nothing with it. All are safe for use by many goroutines at once.
package gojit
