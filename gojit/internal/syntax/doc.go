// Package syntax turns program text into Trees and knows nothing of types or graphs.
//
// A Tree is a node of the abstract syntax: a Kind, a source range, and either text or children.
// Views (Def, Apply, If ...) are thin wrappers that give the children names. There are two doors to
// a Tree: the Lexer and Parser here (ParseFile, ParseDef, ParseExpr), and the Python package's
// frontend, whose bytes Decode reads. Both give equal Trees with equal ranges for the same text.
//
// Ranges follow the convention of the Python door: a compound node covers its children and
// whatever keyword or operand it begins with, and leaves out the bracket that closes it.
//
// Invariant: every Tree that leaves this package has the children that the table of kinds states,
// so that views never fail on it.
package syntax
