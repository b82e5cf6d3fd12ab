// Package function holds programs over single numbers: blocks of kernel instructions with branches, the text form, the
// checks and the evaluator, which is their meaning. Package amd64/routine compiles them.
package function
