// Package export makes programs of Export IR (package exportir) and runs them.
//
// Capture makes a Program of an ir.Graph, which a trace or a scripted module gave, by running it on tensors without elements:
// once for each of several sizes where sizes are symbols (package symbolic). Function makes an ir.Function of a Program, to be run.
package export
