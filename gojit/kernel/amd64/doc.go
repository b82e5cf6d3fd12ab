// Package amd64 makes machine code for x86-64 at run time.
//
// Central types: Assembler encodes instructions from one table (ops.go); Code is a function in
// executable memory; Call enters it. A kernel is a leaf that uses no stack: it receives one pointer
// to its arguments in RDI and may change every register but RSP, RBP and R14, which belong to Go.
//
// Three instruction sets are told apart: Baseline (what every amd64 has), AVX2 (with FMA, BMI2 and
// F16C) and AVX512 (F, BW, DQ, VL). The variable GOJIT_TARGET chooses a smaller one than the
// machine has, or "eval" for none.
package amd64
