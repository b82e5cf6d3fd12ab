// Package passes holds the transformations of graphs that every function meets on its way to code, one per file.
//
// A pass is a function of a graph that keeps its meaning and its invariants (ir.Verify); some report whether they changed
// anything. exec/pipeline.go has their order. Package passes/freeze has what freezing a module asks for, package
// passes/parity what programs ask for by name, and the list of all passes.
package passes
