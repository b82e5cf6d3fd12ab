// Package expand writes functions of floats and of complex numbers in kernels as the primitives that every target has, with
// a stated bound of the error.
//
// expansions (expand.go) lists each function with its bounds; a file holds a family of them. The evaluator of package
// kernel computes the same functions directly, and the tests compare the two.
package expand
