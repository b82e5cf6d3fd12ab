// Package plan runs regions of convolutions, matrix products and the operators around them as one thing.
//
//	likely.go, forms.go        a second body without branches for likely calls
//	layers.go                  layers that are one operator, as those that they consist of
//	region.go                  which nodes of a graph join into a region
//	program.go                 a region as operators over numbered values
//	facts.go                   what the values are, from the sizes that a call brings
//	build.go                   the steps of a plan
//	conv.go, expanded.go, product.go, attention.go, rows.go, window.go, elementwise.go, recurrent.go, steps.go   kinds of steps
//	weights.go                 packed weights
//	memory.go                  where values lie in the arena of a call, on the processor and on devices
//	run.go, explain.go         calls
//
// For the sizes, layouts and numbers that it meets a region has a Plan: a list of steps, each with the place of its result in one block of memory,
// the arena, that a call takes and gives back. Images lie with their channels together inside. A convolution, or a product with a matrix of
// weights, is a step with its weights packed once, a normalization behind it folded into them, and what is computed of its result element by
// element done before that is stored. Views cost nothing. What has no step of its own is a step that runs the operator.
//
// Invariants: packed weights are made anew where one of the tensors that they come from has been written (tensor.Storage.Writes), so a plan
// never computes with old weights. A region that cannot be planned (a gradient is wanted, other element types or devices, a mode that looks at
// operators) runs its nodes one by one, and Report says why. Results are laid out as the nodes would lay them out, and no two of them share
// memory; they differ from those of the nodes by rounding, and in frozen modules by the error of Winograd's algorithm: see NewRegion. They do not
// depend on the number of threads. A region keeps a bounded number of plans.
package plan
