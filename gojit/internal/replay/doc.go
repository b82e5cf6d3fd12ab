// Package replay runs code whose tensors are on a device by one launch, where a call does the same as calls before it.
//
// Central type: Function, which runs the code of one graph. A call has a kind: the shapes, layouts and types of its tensors, its other arguments, the
// attributes that the graph reads, and what programs chose that results depend on. The third call of a kind has the device put down what it is given to do (kernel.Capturer) over tensors that stay; further
// ones copy their arguments into these, have the work done again, and copy the results out, so that a result is the caller's as that of any call.
//
// Invariant: what a call cannot be told by its kind, or does besides giving results, is never replayed. What a graph may not hold is told by its
// nodes (refusal), and what a run may not do by the device, which refuses to put it down, and by what was written.
package replay
