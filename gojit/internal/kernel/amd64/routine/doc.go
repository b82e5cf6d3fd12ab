// Package routine compiles programs over single numbers (kernel.Function) to machine code: a linear scan over intervals
// gives every value one place for its whole life, and branches, calls and loops are written as they stand.
package routine
