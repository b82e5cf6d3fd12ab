// Package gojit compiles and runs TorchScript programs: it loads the archives that torch.jit.save
// writes and compiles functions from source text, with neither Python nor libtorch.
//
//	.pt archive --> serialize --\
//	source text --> syntax -----+--> frontend --> passes --> ir.Graph --> interp --> ops/aten, ops/prim
//	Python (pybind, torchjit) --/
//
// Load and LoadBytes give a Module, Compile a Program; their functions are called with Go values.
// Both are safe for use by many goroutines at once.
package gojit
