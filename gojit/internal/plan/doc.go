// Package plan runs regions of operators on images as one thing.
//
// Regions finds nodes of a graph that follow each other, convolutions among them, and puts them into groups; Attempt makes the operation
// that runs a group. For the shapes that it meets a group has a Plan: a list of steps on images whose channels lie together, so that layouts
// change at the rim of the region alone. A convolution is a step with its weights packed once, the normalization behind it folded into them,
// and what is computed of its result element by element done before that is stored. Everything else is a step that runs the operator.
//
// Invariants: packed weights are made anew where one of the tensors that they come from has been written (tensor.Storage.Writes), so a plan
// never computes with old weights. A group that cannot be planned (a gradient is wanted, other element types or devices, a mode that looks at
// operators) runs its nodes one by one, and Explain says why. Results are laid out as the nodes would lay them out; they differ from theirs by
// rounding, and in frozen modules by the error of Winograd's algorithm: see Attempt.
package plan
