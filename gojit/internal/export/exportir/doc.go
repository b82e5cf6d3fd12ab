// Package exportir is Export IR: programs of functional operators without side effects, as data.
//
// A Program is a Graph of Nodes (placeholder, get_attr, call_function, output), what its inputs and outputs are
// (Signature), and the symbols that stand for sizes that are not known. Parameters and buffers are inputs; what the
// captured program writes to them, or to what it was given, are outputs. Control flow is a call of a higher-order operator
// with graphs of its own. Check refuses what Export IR does not allow. Write and Read keep programs in archives.
//
// The package knows nothing of Python: what containers inputs and outputs form is a text that it only keeps.
package exportir
