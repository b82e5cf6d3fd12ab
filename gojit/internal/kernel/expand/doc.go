// Package expand writes functions of floats and of complex numbers in kernels as the primitives that every target has, with
// a stated bound of the error.
//
// expansions (expand.go) joins the families: a file holds one, each function with its expansion, its bounds and, where there is one, the expansion
// for complex numbers. The evaluator of package
// kernel computes the same functions directly, and the tests compare the two.
package expand
