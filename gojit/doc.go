// Package gojit compiles and runs TorchScript programs: it loads the archives that torch.jit.save
// writes and compiles functions from source text, with neither Python nor libtorch.
//
// # A tour
//
// Load reads an archive to a Module, Open whatever a model is stored as, Compile makes a Program of source text, CompileFile of a file of Python:
//
//	model, err := gojit.Load("model.pt")
//	out, err := model.Call(ctx, "forward", [][]float32{{1, 2}}, gojit.Keyword{Name: "scale", Value: 0.5}, gojit.WithThreads(2))
//	scores, err := gojit.As[[][]float32](out)
//
// Arguments are Go values or tensors (package tensor); see Module.Call for what a parameter takes. As gives results as Go values and fails on
// what a Go type does not hold; Outputs names the parts of a result; MarshalJSON writes it as JSON; package npy has NumPy's files. A call ends soon
// after its context. Nothing is recorded for differentiation unless WithGradients asks for it.
//
// Package errs says whose an error is: the program's (*errs.Error, with the lines that led to it), the caller's (*errs.CallError, *errs.FileError), or
// this library's (*errs.InternalError). A panic of the library is an error too.
//
// RegisterOperator and RegisterOperation add operators; CompileWith asks the caller what names of a program stand for; NewLexer, ParseGraph and
// FunctionOfGraph work on words and graphs.
//
// Package serve serves models over HTTP; the command gojit does all of this from the shell. The API of these packages is what testdata/api has.
//
// # Inside
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
//	    regions      operands, images, regions                  (internal/plan/region.go, internal/fuse/region.go)
//	    lower        instructions over registers                (internal/interp/lower.go)
//	                                         |
//	internal/interp/run.go       runs the instructions
//	    a region  -> internal/plan/run.go, internal/fuse/run.go -> kernels (internal/fuse/plan.go, internal/kernel)
//	    an operator -> internal/autograd/layers.go: autocast, profile, expand, forward, inference, tape, dispatch
//	                -> internal/ops/aten, internal/ops/prim -> internal/kernel/launch, internal/linalg -> tensor
//
// Load and LoadBytes give a Module, Compile a Program; their functions are called with Go values. They use an engine of
// the package's own; New makes others, which share nothing with it. All are safe for use by many goroutines at once.
package gojit
