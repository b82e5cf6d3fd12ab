// Package exec decides how functions run: it takes a graph to code, and says which code the next call runs.
//
//	pipeline.go   the steps from a function's graph to its code, in order, with the reason of each place
//	engine.go     Engine: options, settings, what it has made of functions
//	function.go   Function: the choice of what a call runs, and Plan, what it has chosen among
//	facts.go      what callers have to know of a plan
//	profile.go    graphs that note the tensors which they meet
//	guard.go      graphs for the tensors that were met, with a guard that leads back
//	explain.go    what is shown of all this
//
// An Engine is a value: programs and tests make their own. Nothing here is shared between engines.
//
// Invariant: what is shown of a call (Function.Executed, Explain) is the graph that its code was made of.
package exec
